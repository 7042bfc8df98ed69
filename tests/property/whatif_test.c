/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "import/import.h"
#include "ok.h"
#include "property/time_plan.h"
#include "traces.h"
#include "whatif/graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Checks what must hold for the dependency graph of any recording, on random ones. */

enum { CASES = 6000 };

static struct kwhy_error error;

static void assert_time(
	const char *what, size_t row, int64_t played_ns, int64_t recorded_ns, const char *where)
{
	if (played_ns != recorded_ns)
		fail_msg("%s: %s %zu is simulated at %" PRId64 ", recorded at %" PRId64, where, what, row,
			played_ns, recorded_ns);
}

static void assert_plays_as_recorded(const struct kwhy_whatif_graph *graph, const char *where)
{
	const struct kwhy_recording *recording = graph->recording;

	for (size_t i = 0; i < graph->activity_count; i++) {
		assert_time(
			"start of activity", i, graph->start_ns[i], recording->activities.start_ns[i], where);
		assert_time("end of activity", i, graph->end_ns[i], recording->activities.end_ns[i], where);
	}
	for (size_t i = 0; i < graph->call_count; i++) {
		uint32_t node = kwhy_whatif_call_node(graph, (uint32_t)i);

		if (graph->outer[i] != i)
			continue;
		assert_time("start of call", i, graph->start_ns[node], recording->calls.start_ns[i], where);
		assert_time("end of call", i, graph->end_ns[node], recording->calls.end_ns[i], where);
	}
}

static void an_unchanged_recording_plays_exactly_as_it_was(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= CASES; seed++) {
		struct plan plan = plan_make(seed);
		struct plan_variant whole = plan_whole();
		struct kwhy_recording *recording = plan_build(&plan, &whole);
		struct kwhy_whatif_graph *graph;
		char where[32];

		snprintf(where, sizeof(where), "seed %" PRIu64, seed);
		OK(kwhy_whatif_graph_new(recording, &graph, &error));
		assert_plays_as_recorded(graph, where);
		kwhy_whatif_graph_free(graph);
		kwhy_recording_free(recording);
	}
}

/*
 * Checks that two ways to simulate the graph give the same times: nodes in the topological order found at its
 * creation, and nodes as soon as all their predecessors have ended.
 */
static void assert_plays_alike_out_of_order(struct kwhy_whatif_graph *graph, uint64_t seed)
{
	const size_t bytes = graph->node_count * sizeof(*graph->end_ns), changed = graph->changed_count;
	int64_t *starts = malloc(bytes + 1), *ends = malloc(bytes + 1), last_ns = graph->last_ns;

	assert_true(starts && ends && !graph->unordered);
	memcpy(starts, graph->start_ns, bytes);
	memcpy(ends, graph->end_ns, bytes);
	graph->unordered = 1;
	OK(kwhy_whatif_play(graph, &error));
	graph->unordered = 0;
	if (memcmp(starts, graph->start_ns, bytes) != 0 || memcmp(ends, graph->end_ns, bytes) != 0 ||
		last_ns != graph->last_ns || changed != graph->changed_count)
		fail_msg("seed %" PRIu64 ": two ways to simulate differ", seed);
	free(starts);
	free(ends);
}

/*
 * If an activity is shortened or dropped, no other may end later; after an undo all times must be the
 * recorded ones.
 */
static void shorter_work_delays_nothing_and_can_be_undone(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= CASES; seed++) {
		struct plan plan = plan_make(seed);
		struct plan_variant whole = plan_whole();
		struct kwhy_recording *recording = plan_build(&plan, &whole);
		struct kwhy_whatif_graph *graph;
		uint64_t random = seed;

		OK(kwhy_whatif_graph_new(recording, &graph, &error));
		for (size_t i = 0; i < graph->activity_count; i++) {
			struct kwhy_whatif_node *node = kwhy_whatif_edit(graph, (uint32_t)i);

			assert_non_null(node);
			if (plan_random(&random) % 2)
				kwhy_whatif_set_own(graph, node, kwhy_whatif_own_ns(graph, node) / 2);
			else if (plan_random(&random) % 2)
				node->flags |= KWHY_NODE_DROPPED, node->own = 0;
		}
		OK(kwhy_whatif_play(graph, &error));
		for (size_t i = 0; i < graph->activity_count; i++)
			if (graph->end_ns[i] > recording->activities.end_ns[i])
				fail_msg("seed %" PRIu64 ": activity %zu ends later", seed, i);
		assert_plays_alike_out_of_order(graph, seed);
		kwhy_whatif_undo(graph, 0);
		OK(kwhy_whatif_play(graph, &error));
		assert_plays_as_recorded(graph, "after the undo");
		kwhy_whatif_graph_free(graph);
		kwhy_recording_free(recording);
	}
}

static void assert_trace_plays_as_recorded(const char *path)
{
	struct kwhy_import_options options = {0};
	struct kwhy_recording *recording;
	struct kwhy_whatif_graph *graph;

	OK(kwhy_recording_new(&recording, &error));
	OK(kwhy_import_trace(recording, path, &options, &error));
	OK(kwhy_recording_finish(recording, &error));
	OK(kwhy_whatif_graph_new(recording, &graph, &error));
	assert_plays_as_recorded(graph, path);
	kwhy_whatif_graph_free(graph);
	kwhy_recording_free(recording);
}

static void every_example_plays_exactly_as_it_was(void **state)
{
	(void)state;
	assert_trace_plays_as_recorded(EXAMPLES "h200-decode/trace.json.zst");
	assert_trace_plays_as_recorded(EXAMPLES "h200-train/trace.json.zst");
	assert_trace_plays_as_recorded(EXAMPLES "h200-mix-burst/activities.csv");
}

static void every_real_trace_plays_exactly_as_it_was(void **state)
{
	static const char *const traces[] = {"kineto-a100-nccl.json.gz", "kineto-bare-list.json.gz",
		"kineto-mi300-resnet.json.gz", "kineto-v100-2021-format.json.gz",
		"kineto-v100-df_index.json.gz", "nsys-2xh100-after.sqlite", "nsys-2xh100-before.sqlite",
		"nsys-a100-cloverleaf.sqlite", "nsys-gtx1060-concurrent.sqlite"};

	(void)state;
	need_traces();
	for (size_t i = 0; i < sizeof(traces) / sizeof(*traces); i++) {
		char path[4096];

		snprintf(path, sizeof(path), TRACES "%s", traces[i]);
		assert_trace_plays_as_recorded(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unchanged_recording_plays_exactly_as_it_was),
		cmocka_unit_test(shorter_work_delays_nothing_and_can_be_undone),
		cmocka_unit_test(every_example_plays_exactly_as_it_was),
		cmocka_unit_test(every_real_trace_plays_exactly_as_it_was),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
