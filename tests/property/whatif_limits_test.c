/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/savings.h"
#include "cmocka_all.h"
#include "import/import.h"
#include "property/time_plan.h"
#include "whatif/busy.h"
#include "whatif/change.h"
#include "whatif/project.h"
#include "whatif/whatif.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Checks limits that hold for any projected change, such as that no run is shorter than its longest activity,
 * on random recordings and on all real ones.
 */

enum { CASES = 4000, CHANGES_MAX = 32 };

static struct kwhy_error error;

#define OK(call)                                               \
	do {                                                   \
		enum kwhy_status status_ = (call);             \
		if (status_)                                   \
			fail_msg("%s: %s", #call, error.text); \
	} while (0)

/* A recording under test, and `where`, its name in messages. */
struct subject {
	struct kwhy_whatif *whatif;
	const char *where;
	const char *what; /* name of the change or plan under test */
};

static bool is_left(const struct kwhy_whatif_graph *graph, size_t row)
{
	return !(graph->nodes[row].flags & KWHY_NODE_DROPPED);
}

static void assert_no_less(const struct subject *subject, const char *what, int64_t time_ns, int64_t least_ns)
{
	if (time_ns < least_ns)
		fail_msg("%s: %s: the run takes %" PRId64 " ns, %s %" PRId64, subject->where, subject->what,
			time_ns, what, least_ns);
}

/*
 * Returns the longest time that one stream is busy with the work that a change leaves. Overlapping activities
 * of a stream count once. The run cannot be shorter.
 */
static int64_t longest_stream_ns(const struct kwhy_whatif *whatif)
{
	const struct kwhy_whatif_graph *graph = whatif->graph;
	int64_t longest_ns = 0;

	for (size_t s = 0; s < whatif->recording->stream_count; s++) {
		int64_t sum_ns = 0, until_ns = INT64_MIN;

		for (uint32_t row = whatif->first_of_stream[s]; row != KWHY_NONE; row = whatif->next[row]) {
			int64_t from_ns = graph->start_ns[row] > until_ns ? graph->start_ns[row] : until_ns;

			if (!is_left(graph, row) || graph->end_ns[row] <= from_ns)
				continue;
			sum_ns += graph->end_ns[row] - from_ns;
			until_ns = graph->end_ns[row];
		}
		longest_ns = sum_ns > longest_ns ? sum_ns : longest_ns;
	}
	return longest_ns;
}

/* Returns the time from the first start to the last end of the remaining work. */
static int64_t span_ns(const struct kwhy_whatif_graph *graph)
{
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;

	for (size_t row = 0; row < graph->activity_count; row++) {
		if (!is_left(graph, row))
			continue;
		first_ns = graph->start_ns[row] < first_ns ? graph->start_ns[row] : first_ns;
		last_ns = graph->end_ns[row] > last_ns ? graph->end_ns[row] : last_ns;
	}
	return last_ns > first_ns ? last_ns - first_ns : 0;
}

/* Returns the length of the longest remaining activity, which no run can undercut. */
static int64_t longest_row_ns(const struct kwhy_whatif_graph *graph)
{
	int64_t longest_ns = 0;

	for (size_t row = 0; row < graph->activity_count; row++)
		if (is_left(graph, row) && kwhy_whatif_own_ns(graph, &graph->nodes[row]) > longest_ns)
			longest_ns = kwhy_whatif_own_ns(graph, &graph->nodes[row]);
	return longest_ns;
}

static void check_played(const struct subject *subject)
{
	const struct kwhy_whatif *whatif = subject->whatif;
	int64_t time_ns = kwhy_whatif_as_played(whatif).time_ns;

	assert_no_less(subject, "its longest activity", time_ns, longest_row_ns(whatif->graph));
	assert_no_less(subject, "its busiest stream", time_ns, longest_stream_ns(whatif));
	if (time_ns != span_ns(whatif->graph))
		fail_msg("%s: %s: the run takes %" PRId64 " ns, from first start to last end %" PRId64,
			subject->where, subject->what, time_ns, span_ns(whatif->graph));
}

static void check_change(struct subject *subject, const struct kwhy_whatif_change *change)
{
	struct kwhy_whatif_request change_request = {change, change->number ? change->number : change->least};
	struct kwhy_whatif_effect effect;

	subject->what = change->id;
	OK(kwhy_whatif_make(subject->whatif, &change_request, &effect, &error));
	if (effect.places)
		check_played(subject);
	kwhy_whatif_undo(subject->whatif->graph, 0);
}

static void check_busy(const struct subject *subject, const struct kwhy_plan *plan)
{
	if (plan->busy_before_ratio > 1 || plan->busy_after_ratio > 1)
		fail_msg("%s: the device is busy for %g of the run, and %g with the plan", subject->where,
			plan->busy_before_ratio, plan->busy_after_ratio);
}

static void check_plan(struct subject *subject, bool numerics)
{
	struct kwhy_plan *plan;
	int64_t saved_ns = 0, saved_nj = 0;

	subject->what = numerics ? "the plan of all changes" : "the plan";
	OK(kwhy_whatif_plan(subject->whatif, 0, numerics, &plan, &error));
	OK(kwhy_whatif_play_plan(subject->whatif, plan, &error));
	check_played(subject);
	OK(kwhy_whatif_add_busy(subject->whatif, plan, &error));
	check_busy(subject, plan);
	for (size_t i = 0; i < plan->change_count; i++) {
		saved_ns += plan->changes[i].saved_ns;
		saved_nj += plan->changes[i].saved_nj == KWHY_UNKNOWN_NJ ? 0 : plan->changes[i].saved_nj;
	}
	assert_no_less(subject, "its parts save", plan->before.time_ns, saved_ns);
	assert_true(plan->before.energy_nj == KWHY_UNKNOWN_NJ || saved_nj <= plan->before.energy_nj);
	kwhy_plan_free(plan);
}

static const struct kwhy_whatif_change *cure_of(const struct kwhy_finding *finding)
{
	if (finding->change)
		return kwhy_whatif_change_find(finding->change);
	for (size_t i = 0; i < kwhy_whatif_change_count; i++)
		if (kwhy_whatif_changes[i].finding &&
			strcmp(kwhy_whatif_changes[i].finding, finding->id) == 0)
			return &kwhy_whatif_changes[i];
	return NULL;
}

static void check_finding(const struct subject *subject, const struct kwhy_finding *finding)
{
	const struct kwhy_whatif_change *change = cure_of(finding);
	struct kwhy_whatif_request change_request = {change, change ? change->number : 0};
	struct kwhy_plan *plan;

	if (!change || finding->credited_to)
		return;
	OK(kwhy_whatif_project(subject->whatif, &change_request, 1, &plan, &error));
	if (plan->change_count &&
		(plan->changes[0].saved_ns != finding->saving.time_ns ||
			plan->changes[0].bound != finding->saving.bound))
		fail_msg("%s: %s saves %" PRId64 " ns (%s) as a finding, %" PRId64 " (%s) in a plan",
			subject->where, change->id, finding->saving.time_ns,
			kwhy_bound_name(finding->saving.bound), plan->changes[0].saved_ns,
			kwhy_bound_name(plan->changes[0].bound));
	kwhy_plan_free(plan);
}

/* Checks that a finding whose saving exceeds its cost, in time or in energy, says why in its assumption. */
static void check_cost(const struct subject *subject, const struct kwhy_finding *finding)
{
	const struct kwhy_saving *saving = &finding->saving;
	bool saves_more = saving->time_ns > finding->time_ns ||
		(finding->energy_nj != KWHY_UNKNOWN_NJ && saving->energy_nj > finding->energy_nj);

	if (saves_more && !strstr(saving->assumption, "shortens more than what is counted here"))
		fail_msg("%s: %s costs %" PRId64 " ns and saves %" PRId64 ": %s", subject->where, finding->id,
			finding->time_ns, saving->time_ns, saving->assumption);
}

static const struct kwhy_finding *find(const struct kwhy_findings *findings, const char *id)
{
	for (size_t i = 0; i < findings->count; i++)
		if (strcmp(findings->items[i].id, id) == 0)
			return &findings->items[i];
	return NULL;
}

/*
 * Findings with the same cure must not each count its saving: one of them has it, and the others name that
 * one (credited_to) and save nothing. Checks this for finding number `at`.
 */
static void check_credit(const struct subject *subject, const struct kwhy_findings *findings, size_t at)
{
	const struct kwhy_finding *finding = &findings->items[at], *owner;

	if (finding->credited_to) {
		owner = find(findings, finding->credited_to);
		if (!owner || owner->credited_to || cure_of(owner) != cure_of(finding) ||
			finding->saving.time_ns != 0)
			fail_msg("%s: %s refers to %s", subject->where, finding->id, finding->credited_to);
		return;
	}
	for (size_t i = 0; i < at; i++)
		if (cure_of(finding) && findings->items[i].device == finding->device &&
			cure_of(&findings->items[i]) == cure_of(finding) && !findings->items[i].credited_to &&
			findings->items[i].saving.time_ns == finding->saving.time_ns)
			fail_msg("%s: %s and %s both save the %" PRId64 " ns of --%s", subject->where,
				findings->items[i].id, finding->id, finding->saving.time_ns,
				cure_of(finding)->id);
}

static size_t active_devices(const struct kwhy_recording *recording)
{
	size_t active = 0;

	for (size_t d = 0; d < recording->device_count; d++)
		active += recording->activities.first[d] != recording->activities.first[d + 1];
	return active;
}

/*
 * Checks the findings on the recording. Their savings are compared with those of a plan only if a single
 * device was active, as a finding is about one device and a plan about all.
 */
static void check_findings(const struct subject *subject)
{
	const struct kwhy_whatif *whatif = subject->whatif;
	struct kwhy_detect_options options = kwhy_detect_options_default();
	struct kwhy_findings *findings;

	OK(kwhy_detect_run(whatif->recording, whatif->ledger, whatif->profile, &options, &findings, &error));
	if (kwhy_savings_are_projected(whatif->recording, whatif->ledger))
		OK(kwhy_savings_project(subject->whatif, findings, &error));
	for (size_t i = 0; i < findings->count; i++) {
		check_cost(subject, &findings->items[i]);
		check_credit(subject, findings, i);
		if (active_devices(whatif->recording) == 1)
			check_finding(subject, &findings->items[i]);
	}
	kwhy_findings_free(findings);
}

static void check_recording(const struct kwhy_recording *recording, const struct kwhy_ledger *ledger,
	const struct kwhy_profile *profile, const char *where)
{
	struct subject subject = {.where = where};

	OK(kwhy_whatif_new(recording, ledger, profile, &subject.whatif, &error));
	for (size_t i = 0; i < kwhy_whatif_change_count; i++)
		check_change(&subject, &kwhy_whatif_changes[i]);
	check_plan(&subject, false);
	check_plan(&subject, true);
	check_findings(&subject);
	kwhy_whatif_free(subject.whatif);
}

static struct kwhy_profile cheap_graphs(void)
{
	struct kwhy_profile profile;

	kwhy_profile_init(&profile);
	profile.graph_launch_s.value = 2e-9;
	profile.graph_launch_node_s.value = 1e-9;
	profile.queued_kernel_s.value = 3e-9;
	profile.graph_node_s.value = 1e-9;
	return profile;
}

static void no_change_of_a_random_recording_does_the_impossible(void **state)
{
	struct kwhy_profile profile = cheap_graphs();

	(void)state;
	for (uint64_t seed = 1; seed <= CASES; seed++) {
		struct plan rows = plan_make(seed);
		struct plan_variant whole = plan_whole();
		struct kwhy_recording *recording = plan_build(&rows, &whole);
		char where[32];

		snprintf(where, sizeof(where), "seed %" PRIu64, seed);
		recording->lost.unmatched_launches = 0; /* savings are not projected for recordings with
							   unmatched launches, so this one must have none */
		check_recording(recording, NULL, seed % 2 ? &profile : NULL, where);
		kwhy_recording_free(recording);
	}
}

/*
 * Recordings in this repository, which must be there, and traces published by others, which may be missing.
 */
static const char *const real[] = {
	"examples/h200-decode/trace.json.zst",
	"examples/h200-train/trace.json.zst",
	"examples/h200-mix-burst/activities.csv",
	"examples/recordings/decode.kwhy",
	"examples/recordings/train.kwhy",
	"examples/recordings/transfer.kwhy",
	"../shared/data/traces/kineto-a100-nccl.json.gz",
	"../shared/data/traces/kineto-bare-list.json.gz",
	"../shared/data/traces/kineto-mi300-resnet.json.gz",
	"../shared/data/traces/kineto-v100-2021-format.json.gz",
	"../shared/data/traces/kineto-v100-df_index.json.gz",
	"../shared/data/traces/nsys-2xh100-after.sqlite",
	"../shared/data/traces/nsys-2xh100-before.sqlite",
	"../shared/data/traces/nsys-a100-cloverleaf.sqlite",
	"../shared/data/traces/nsys-gtx1060-concurrent.sqlite",
};

enum { REAL_COUNT = sizeof(real) / sizeof(*real), OWN_COUNT = 6 };

/* Returns the recording, or NULL if the file is missing. */
static struct kwhy_recording *read_real(const char *name)
{
	struct kwhy_import_options options = {0};
	struct kwhy_recording *recording;
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", KWHY_SOURCE_DIR, name);
	if (access(path, R_OK) != 0)
		return NULL;
	OK(kwhy_recording_new(&recording, &error));
	OK(kwhy_import_trace(recording, path, &options, &error));
	OK(kwhy_recording_finish(recording, &error));
	return recording;
}

static void check_real(
	const struct kwhy_recording *recording, const struct kwhy_profile *profile, const char *where)
{
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_ledger *ledger;

	options.profile = profile;
	OK(kwhy_ledger_new(recording, &options, &ledger, &error));
	check_recording(recording, ledger, profile, where);
	kwhy_ledger_free(ledger);
}

static size_t check_files(size_t begin, size_t end)
{
	struct kwhy_profile *profile;
	size_t checked = 0;

	OK(kwhy_import_profile(KWHY_SOURCE_DIR "/profiles/nvidia-h200.json", &profile, &error));
	for (size_t i = begin; i < end; i++) {
		struct kwhy_recording *recording = read_real(real[i]);

		if (!recording)
			continue;
		check_real(recording, NULL, real[i]);
		check_real(recording, profile, real[i]);
		kwhy_recording_free(recording);
		checked++;
	}
	kwhy_profile_free(profile);
	return checked;
}

static void no_change_of_an_example_does_the_impossible(void **state)
{
	(void)state;
	assert_int_equal(check_files(0, OWN_COUNT), OWN_COUNT);
}

static void no_change_of_a_foreign_trace_does_the_impossible(void **state)
{
	(void)state;
	if (!check_files(OWN_COUNT, REAL_COUNT))
		kwhy_skip("the traces of others are not there: ../shared/data/traces");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_change_of_a_random_recording_does_the_impossible),
		cmocka_unit_test(no_change_of_an_example_does_the_impossible),
		cmocka_unit_test(no_change_of_a_foreign_trace_does_the_impossible),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
