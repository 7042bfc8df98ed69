/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/parts.h"
#include "whatif/samples.h"

#include <stdlib.h>

/*
 * Finds the delays of a recording that do not depend on the program (struct kwhy_whatif_delays), mostly
 * medians of the recorded ones. Work is queued if it was launched before the work before it in its stream
 * ended.
 */

enum {
	KINDS = KWHY_ACTIVITY_KIND_COUNT,
	SAMPLES_MIN = 8,
	/*
	 * Gap in ns between queued kernels of a stream, and its quartiles, that are used if a recording has
	 * fewer than SAMPLES_MIN such gaps. Medians of traces (docs/projections.md): 1.0 us on a V100, 1.15
	 * on an A100 and an H200, 1.4 to 1.6 on H100s.
	 */
	QUEUED_NS = 1200,
	QUEUED_FAST_NS = 1000,
	QUEUED_SLOW_NS = 1600,
	/*
	 * In ns. Longer gaps before queued kernels of a name are left out, since they have other causes than
	 * the kernel.
	 */
	NAME_GAP_NS = 10000
};

/* Sum in ns and number of the gaps before the queued kernels of one name. */
struct name_gaps {
	int64_t sum_ns;
	uint32_t count;
};

struct sampled {
	struct kwhy_whatif_samples queued[KINDS][KINDS], issue[KINDS], launch_call, graph_queued;
	struct name_gaps *names; /* [names] gaps before kernels of each name */
};

/*
 * Adds the gap before a queued activity to the samples of the two kinds and of the kernel's name. A gap of 0
 * counts for the name only: the kernel started before the previous one ended.
 */
static void sample_queued(const struct kwhy_whatif_graph *graph, uint32_t before, uint32_t row,
	int64_t gap_ns, struct sampled *sampled)
{
	const struct kwhy_activities *rows = &graph->recording->activities;
	struct name_gaps *name = &sampled->names[rows->name[row]];

	if (gap_ns > 0)
		kwhy_whatif_sample(&sampled->queued[rows->kind[before]][rows->kind[row]], gap_ns);
	if (gap_ns < NAME_GAP_NS && rows->kind[row] == KWHY_ACTIVITY_KERNEL &&
		rows->kind[before] == KWHY_ACTIVITY_KERNEL) {
		name->sum_ns += gap_ns;
		name->count++;
	}
}

/* Adds the gap between two kernels of the same graph launch to the samples. */
static void sample_graph(const struct kwhy_whatif_graph *graph, uint32_t before, uint32_t row, int64_t gap_ns,
	struct sampled *sampled)
{
	const struct kwhy_activities *rows = &graph->recording->activities;

	if (gap_ns >= 0 && rows->graph_node[before] != KWHY_NONE && rows->call[before] == rows->call[row] &&
		rows->kind[before] == KWHY_ACTIVITY_KERNEL && rows->kind[row] == KWHY_ACTIVITY_KERNEL)
		kwhy_whatif_sample(&sampled->graph_queued, gap_ns);
}

static void sample_issue(const struct kwhy_whatif_graph *graph, uint32_t row, struct sampled *sampled)
{
	const struct kwhy_activities *rows = &graph->recording->activities;
	const struct kwhy_whatif_node *node = &graph->nodes[row];
	uint32_t before = node->from[KWHY_LINK_ORDER], issue = node->from[KWHY_LINK_ISSUE];

	if (issue == KWHY_NONE || rows->graph_node[row] != KWHY_NONE)
		return;
	if (before == KWHY_NONE || kwhy_whatif_recorded_start(graph, issue) >= rows->end_ns[before])
		kwhy_whatif_sample(&sampled->issue[rows->kind[row]],
			rows->start_ns[row] - kwhy_whatif_recorded_start(graph, issue));
}

/*
 * Whether an activity was queued when the one before it in its stream ended (free_ns): the call that issued
 * it (node `issue`) had returned by then, and on an idle stream the activity would have started by then.
 */
static bool was_queued(const struct kwhy_whatif_graph *graph, uint32_t row, uint32_t issue, int64_t free_ns)
{
	int64_t issue_ns = graph->delays.issue_ns[graph->recording->activities.kind[row]];

	return kwhy_whatif_recorded_end(graph, issue) <= free_ns &&
		kwhy_whatif_recorded_start(graph, issue) + issue_ns <= free_ns;
}

static void sample_gap(const struct kwhy_whatif_graph *graph, uint32_t row, struct sampled *sampled)
{
	const struct kwhy_activities *rows = &graph->recording->activities;
	const struct kwhy_whatif_node *node = &graph->nodes[row];
	uint32_t before = node->from[KWHY_LINK_ORDER], issue = node->from[KWHY_LINK_ISSUE];
	int64_t gap_ns;

	if (issue == KWHY_NONE || before == KWHY_NONE)
		return;
	gap_ns = rows->start_ns[row] - rows->end_ns[before];
	if (rows->graph_node[row] != KWHY_NONE)
		sample_graph(graph, before, row, gap_ns, sampled);
	else if (gap_ns >= 0 && was_queued(graph, row, issue, rows->end_ns[before]))
		sample_queued(graph, before, row, gap_ns, sampled);
}

static void sample_calls(
	const struct kwhy_whatif_graph *graph, struct kwhy_whatif_samples *launches, int64_t *least_ns)
{
	const struct kwhy_calls *calls = &graph->recording->calls;

	for (size_t class = 0; class < KWHY_CALL_CLASS_COUNT; class ++)
		least_ns[class] = -1;
	for (size_t i = 0; i < calls->count; i++) {
		int64_t length_ns = calls->end_ns[i] - calls->start_ns[i];
		int64_t *least = &least_ns[calls->class[i]];

		if (graph->outer[i] != i)
			continue;
		*least = *least < 0 || length_ns < *least ? length_ns : *least;
		if (calls->class[i] == KWHY_CALL_LAUNCH)
			kwhy_whatif_sample(launches, length_ns);
	}
}

/*
 * Fills the median gaps of all pairs of kinds of activities, and the quartiles of that between kernels. A
 * pair with fewer than SAMPLES_MIN gaps gets the gap between kernels.
 */
static void fill_queued(struct kwhy_whatif_delays *delays, struct sampled *sampled)
{
	struct kwhy_whatif_samples *kernels = &sampled->queued[KWHY_ACTIVITY_KERNEL][KWHY_ACTIVITY_KERNEL];
	bool seen = kernels->count >= SAMPLES_MIN;
	int64_t kernels_ns = seen ? kwhy_whatif_quantile(kernels, 0.5) : QUEUED_NS;
	int64_t fast_ns = seen ? kwhy_whatif_quantile(kernels, 0.25) : QUEUED_FAST_NS;
	int64_t slow_ns = seen ? kwhy_whatif_quantile(kernels, 0.75) : QUEUED_SLOW_NS;

	delays->queued_fast_ratio = (double)fast_ns / (double)kernels_ns;
	delays->queued_slow_ratio = (double)slow_ns / (double)kernels_ns;

	for (size_t i = 0; i < KINDS * KINDS; i++) {
		struct kwhy_whatif_samples *samples = &sampled->queued[i / KINDS][i % KINDS];

		delays->queued_ns[i / KINDS][i % KINDS] = samples->count < SAMPLES_MIN
			? kernels_ns
			: kwhy_whatif_quantile(samples, 0.5);
	}
}

/*
 * Usual time in ns from the start of the call to the start of a kernel on an idle stream: the median. A first
 * launch loads code, so a median of KWHY_WHATIF_STALL_NS or more counts only with at least SAMPLES_MIN
 * samples. Else the result is the shortest time or, if that is too long as well, the length of a launch call.
 */
static int64_t usual_issue_ns(struct kwhy_whatif_samples *kernels, int64_t launch_call_ns)
{
	int64_t usual_ns = kwhy_whatif_quantile(kernels, 0.5), least_ns = kwhy_whatif_quantile(kernels, 0);

	if (usual_ns < KWHY_WHATIF_STALL_NS || kernels->count >= SAMPLES_MIN)
		return usual_ns;
	return least_ns < KWHY_WHATIF_STALL_NS ? least_ns : launch_call_ns;
}

static void fill_names(struct kwhy_whatif_graph *graph, const struct name_gaps *names)
{
	for (size_t i = 0; i < graph->recording->names.count; i++)
		graph->delays.queued_of_name[i] = names[i].count < SAMPLES_MIN
			? -1
			: (int32_t)(names[i].sum_ns / names[i].count);
}

static void sampled_free(struct sampled *sampled)
{
	if (sampled)
		free(sampled->names);
	free(sampled);
}

static void fill_issue(struct kwhy_whatif_delays *delays, struct sampled *sampled)
{
	int64_t any_ns = usual_issue_ns(&sampled->issue[KWHY_ACTIVITY_KERNEL], delays->launch_call_ns);

	for (size_t kind = 0; kind < KINDS; kind++) {
		delays->issue_ns[kind] = kwhy_whatif_quantile(&sampled->issue[kind], 0.5);
		/*
		 * A median of KWHY_WHATIF_STALL_NS or more is that of stalls. Such kinds, and kinds without
		 * samples, get the usual delay of kernels.
		 */
		if (delays->issue_ns[kind] < 0 ||
			(any_ns >= 0 && delays->issue_ns[kind] >= KWHY_WHATIF_STALL_NS))
			delays->issue_ns[kind] = any_ns;
	}
	/*
	 * The driver implements a memset as a launch. A program that makes few memsets makes each of them
	 * with cold caches, so the usual delay of kernels is used if it is shorter.
	 */
	if (any_ns >= 0 && delays->issue_ns[KWHY_ACTIVITY_MEMSET] > any_ns)
		delays->issue_ns[KWHY_ACTIVITY_MEMSET] = any_ns;
}

enum kwhy_status kwhy_whatif_find_delays(struct kwhy_whatif_graph *graph, struct kwhy_error *error)
{
	struct kwhy_whatif_delays *delays = &graph->delays;
	struct sampled *sampled = calloc(1, sizeof(*sampled));
	size_t names = graph->recording->names.count + 1;

	delays->queued_of_name = malloc(names * sizeof(*delays->queued_of_name));
	if (sampled)
		sampled->names = calloc(names, sizeof(*sampled->names));
	if (!sampled || !sampled->names || !delays->queued_of_name) {
		sampled_free(sampled);
		return kwhy_fail_memory(error, "delays");
	}
	sample_calls(graph, &sampled->launch_call, delays->least_call_ns);
	delays->launch_call_ns = kwhy_whatif_quantile(&sampled->launch_call, 0.5);
	for (size_t i = 0; i < graph->activity_count; i++)
		sample_issue(graph, (uint32_t)i, sampled);
	fill_issue(delays, sampled);
	for (size_t i = 0; i < graph->activity_count; i++)
		sample_gap(graph, (uint32_t)i, sampled);
	fill_queued(delays, sampled);
	delays->graph_queued_ns = sampled->graph_queued.count < SAMPLES_MIN
		? -1
		: kwhy_whatif_quantile(&sampled->graph_queued, 0.5);
	fill_names(graph, sampled->names);
	sampled_free(sampled);
	return KWHY_OK;
}

static int64_t known(int64_t delay_ns)
{
	return delay_ns < 0 ? 0 : delay_ns;
}

int64_t kwhy_whatif_queued_ns(const struct kwhy_whatif_graph *graph, uint32_t before, uint32_t after)
{
	const uint8_t *kind = graph->recording->activities.kind;
	int32_t of_name_ns = graph->delays.queued_of_name[graph->recording->activities.name[after]];

	if (of_name_ns >= 0 && kind[before] == KWHY_ACTIVITY_KERNEL && kind[after] == KWHY_ACTIVITY_KERNEL)
		return of_name_ns;
	return known(graph->delays.queued_ns[kind[before]][kind[after]]);
}

int64_t kwhy_whatif_issue_ns(const struct kwhy_whatif_graph *graph, uint32_t row)
{
	return known(graph->delays.issue_ns[graph->recording->activities.kind[row]]);
}
