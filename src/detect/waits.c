/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "detect/families.h"
#include "detect/gaps.h"
#include "detect/tally.h"

/*
 * Detectors of calls in which the host waits for the device: synchronising calls of the runtime or the
 * driver, blocking copies, and frees that wait.
 */

/*
 * Counts a copy of at most max_bytes to the host for which the thread waits: the copy, and the device's idle
 * time from its end until new work arrives.
 */
static void visit_readback(const struct kwhy_detect_view *view, uint32_t call, uint32_t wait, void *context)
{
	struct kwhy_tally *tally = context;
	const struct kwhy_activities *rows = &view->recording->activities;
	uint32_t row = view->issued[call];
	struct kwhy_occurrence occurrence = kwhy_occurrence_at(rows->start_ns[row], rows->end_ns[row]);

	if (wait == KWHY_NONE || rows->kind[row] != KWHY_ACTIVITY_COPY ||
		rows->copy_kind[row] != KWHY_COPY_D2H || rows->bytes[row] == KWHY_UNKNOWN_BYTES ||
		(double)rows->bytes[row] > kwhy_tally_threshold(tally, "max_bytes"))
		return;
	kwhy_tally_mark(tally, row, 0);
	occurrence.end_ns = kwhy_tally_idle_after(tally, row, call, wait);
	occurrence.row = row;
	occurrence.call = call;
	occurrence.wait = wait == call ? KWHY_NONE : wait;
	kwhy_tally_add_occurrence(tally, occurrence);
	tally->count++;
}

enum kwhy_status kwhy_detect_scalar_readbacks(const struct kwhy_detect_context *context)
{
	struct kwhy_finding_terms verdict = kwhy_finding_terms_default();
	char limit[KWHY_QUANTITY_BYTES], count[KWHY_QUANTITY_BYTES];
	struct kwhy_tally tally;

	kwhy_tally_init(&tally, context);
	kwhy_detect_view_visit_issues(context->view, context->device, visit_readback, &tally);
	if ((double)tally.count < kwhy_tally_threshold(&tally, "min_count"))
		return kwhy_tally_drop(&tally);
	verdict.title = kwhy_tally_words(&tally,
		"Scalar read-backs: %s copies of at most %s, each followed by a wait",
		kwhy_quantity_count(count, tally.count),
		kwhy_quantity_bytes(limit, (uint64_t)kwhy_tally_threshold(&tally, "max_bytes")));
	verdict.assumption =
		"the values stay on the device or are read together later: the copies and the idle "
		"time that follows each vanish";
	return kwhy_tally_finish(&tally, verdict);
}

enum kwhy_status kwhy_detect_redundant_syncs(const struct kwhy_detect_context *context)
{
	const struct kwhy_detect_view *view = context->view;
	const struct kwhy_calls *calls = &context->recording->calls;
	struct kwhy_finding_terms verdict = kwhy_finding_terms_default();
	char count[KWHY_QUANTITY_BYTES];
	struct kwhy_tally tally;
	struct kwhy_walk walk;
	uint32_t call;

	kwhy_tally_init(&tally, context);
	kwhy_walk_init(&walk, view, tally.device);
	while (kwhy_walk_next(&walk, &call)) {
		int64_t start_ns = calls->start_ns[call], end_ns = calls->end_ns[call];
		struct kwhy_occurrence occurrence = kwhy_occurrence_at(start_ns, end_ns);

		if (calls->class[call] != KWHY_CALL_SYNC ||
			!kwhy_detect_view_process_idle(view,
				context->recording->threads[calls->thread[call]].process, start_ns, end_ns))
			continue;
		kwhy_tally_idle(&tally, start_ns, end_ns);
		occurrence.call = call;
		kwhy_tally_add_occurrence(&tally, occurrence);
		tally.count++;
	}
	if ((double)tally.count < kwhy_tally_threshold(&tally, "min_count"))
		return kwhy_tally_drop(&tally);
	verdict.title = kwhy_tally_words(&tally, "Redundant waits: %s found the device idle all the while",
		kwhy_quantity_count(count, tally.count));
	verdict.assumption = "every wait that found the device idle returns immediately";
	return kwhy_tally_finish(&tally, verdict);
}

static void visit_wait_pattern(
	const struct kwhy_detect_view *view, uint32_t call, uint32_t wait, void *context)
{
	struct kwhy_wait_pattern *wait_pattern = &view->wait_patterns[view->recording->calls.thread[call]];

	(void)context;
	wait_pattern->operations++;
	wait_pattern->waited_for += wait != KWHY_NONE;
}

/*
 * Fills the wait patterns of the threads that use a device: how many of their calls issued work (operations),
 * and for the work of how many of these they waited.
 */
static void learn_wait_patterns(const struct kwhy_detect_view *view, uint32_t device)
{
	struct kwhy_walk walk;
	uint32_t call;

	kwhy_walk_init(&walk, view, device);
	while (kwhy_walk_next(&walk, &call))
		if (walk.fresh)
			view->wait_patterns[view->recording->calls.thread[call]] = (struct kwhy_wait_pattern){
				0};
	kwhy_detect_view_visit_issues(view, device, visit_wait_pattern, NULL);
}

static bool is_cautious(const struct kwhy_wait_pattern *wait_pattern, double min_share)
{
	return wait_pattern->operations > 0 &&
		(double)wait_pattern->waited_for >= min_share * (double)wait_pattern->operations;
}

/*
 * Adds the waits of the threads that waited for at least the share min_share of their operations to
 * tally->count, and returns the number of operations of these threads.
 */
static uint64_t count_waits(struct kwhy_tally *tally)
{
	const struct kwhy_detect_view *view = tally->context->view;
	uint32_t thread = KWHY_NONE, call;
	const double min_share = kwhy_tally_threshold(tally, "min_share");
	uint64_t operations = 0;
	struct kwhy_walk walk;

	kwhy_walk_init(&walk, view, tally->device);
	while (kwhy_walk_next(&walk, &call)) {
		const struct kwhy_wait_pattern
			*wait_pattern = &view->wait_patterns[view->recording->calls.thread[call]];

		if (view->recording->calls.thread[call] == thread)
			continue;
		thread = view->recording->calls.thread[call];
		if (!is_cautious(wait_pattern, min_share))
			continue;
		tally->count += wait_pattern->waited_for;
		operations += wait_pattern->operations;
	}
	return operations;
}

/*
 * For threads that waited for at least the share min_share of their operations: counts, in the gaps before
 * their operations in which they waited, the time in which they waited or launched.
 */
static void add_drained_gaps(struct kwhy_tally *tally)
{
	const struct kwhy_detect_view *view = tally->context->view;
	const struct kwhy_device_view *seen = &view->devices[tally->device];
	const double spacing_ns = kwhy_tally_threshold(tally, "spacing_us") * 1e3;
	const double min_share = kwhy_tally_threshold(tally, "min_share");

	for (size_t i = 0; i < seen->gap_count; i++) {
		struct kwhy_gap_cause cause;
		struct kwhy_occurrence occurrence;

		kwhy_gap_explain(view, &seen->gaps[i], spacing_ns, &cause);
		if (!cause.late || cause.wait == KWHY_NONE ||
			!is_cautious(
				&view->wait_patterns[view->recording->calls.thread[cause.call]], min_share))
			continue;
		kwhy_tally_gap(tally, &seen->gaps[i], cause.launch_ns + cause.wait_ns, seen->floor_ns);
		occurrence = kwhy_occurrence_at(
			cause.start_ns, cause.host_ns > 0 ? cause.host_start_ns : cause.end_ns);
		occurrence.row = seen->gaps[i].before;
		occurrence.wait = cause.wait;
		kwhy_tally_add_occurrence(tally, occurrence);
	}
}

enum kwhy_status kwhy_detect_sync_after_every_op(const struct kwhy_detect_context *context)
{
	struct kwhy_finding_terms verdict = kwhy_finding_terms_default();
	char count[KWHY_QUANTITY_BYTES], all[KWHY_QUANTITY_BYTES];
	struct kwhy_tally tally;
	uint64_t operations;

	kwhy_tally_init(&tally, context);
	learn_wait_patterns(context->view, context->device);
	operations = count_waits(&tally);
	if (tally.count == 0 || (double)tally.count < kwhy_tally_threshold(&tally, "min_count"))
		return kwhy_tally_drop(&tally);
	add_drained_gaps(&tally);
	verdict.title = kwhy_tally_words(&tally, "A wait after every operation: %s of %s",
		kwhy_quantity_count(count, tally.count), kwhy_quantity_count(all, operations));
	verdict.assumption = kwhy_tally_floor_words(&tally, "the host waits once, at the end");
	return kwhy_tally_finish(&tally, verdict);
}
