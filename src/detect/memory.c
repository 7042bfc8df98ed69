/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "detect/families.h"
#include "detect/tally.h"

#include <inttypes.h>
#include <stdio.h>

/* Detectors of memory that is allocated, freed and cleared in the middle of the work. */

struct churn {
	/*
	 * free_run: number of frees of a thread since its last allocation or call that issued work; emptied:
	 * number of times that free_run reached the threshold empty_run, as it does when a cache is emptied
	 */
	uint64_t free_run, emptied;
	int64_t host_ns; /* total time of the counted calls within the device's window */
};

static bool is_memory_call(const struct kwhy_calls *calls, uint32_t call)
{
	return calls->class[call] == KWHY_CALL_ALLOC || calls->class[call] == KWHY_CALL_FREE;
}

static void follow_frees(struct churn *churn, bool is_free, bool issues, double run_length)
{
	if (is_free)
		churn->free_run++;
	else if (issues)
		churn->free_run = 0;
	churn->emptied += is_free && (double)churn->free_run == run_length;
}

/*
 * Counts a call that allocates or frees memory if a part of it lies in the device's window, from first start
 * to last end. The device's idle time during the call is waste.
 */
static void add_memory_call(struct kwhy_tally *tally, struct churn *churn, uint32_t call)
{
	const struct kwhy_calls *calls = &tally->context->recording->calls;
	const struct kwhy_device_view *seen = &tally->context->view->devices[tally->device];
	int64_t start_ns = calls->start_ns[call] > seen->first_ns ? calls->start_ns[call] : seen->first_ns;
	int64_t end_ns = calls->end_ns[call] < seen->last_ns ? calls->end_ns[call] : seen->last_ns;
	struct kwhy_occurrence occurrence = kwhy_occurrence_at(start_ns, end_ns);

	if (start_ns >= end_ns)
		return;
	churn->host_ns += end_ns - start_ns;
	kwhy_tally_idle(tally, start_ns, end_ns);
	occurrence.call = call;
	kwhy_tally_add_occurrence(tally, occurrence);
	tally->count++;
}

enum kwhy_status kwhy_detect_allocation_churn(const struct kwhy_detect_context *context)
{
	const struct kwhy_calls *calls = &context->recording->calls;
	struct kwhy_finding_terms verdict = kwhy_finding_terms_default();
	char time[KWHY_QUANTITY_BYTES], count[KWHY_QUANTITY_BYTES], emptied[48] = "";
	struct churn churn = {0};
	struct kwhy_tally tally;
	struct kwhy_walk walk;
	uint32_t call;

	kwhy_tally_init(&tally, context);
	kwhy_walk_init(&walk, context->view, tally.device);
	while (kwhy_walk_next(&walk, &call)) {
		if (walk.fresh)
			churn.free_run = 0;
		follow_frees(&churn, calls->class[call] == KWHY_CALL_FREE,
			context->view->issued[call] != KWHY_NONE || calls->class[call] == KWHY_CALL_ALLOC,
			kwhy_tally_threshold(&tally, "empty_run"));
		if (is_memory_call(calls, call))
			add_memory_call(&tally, &churn, call);
	}
	if ((double)tally.count < kwhy_tally_threshold(&tally, "min_count"))
		return kwhy_tally_drop(&tally);
	if (churn.emptied)
		snprintf(emptied, sizeof(emptied), "; cache emptied %" PRIu64 " times", churn.emptied);
	verdict.title = kwhy_tally_words(&tally, "Allocation churn: %s calls between work, %s on the host%s",
		kwhy_quantity_count(count, tally.count), kwhy_quantity_time(time, churn.host_ns), emptied);
	verdict.assumption = "memory is taken once and reused: the device no longer idles inside these calls";
	return kwhy_tally_finish(&tally, verdict);
}

enum kwhy_status kwhy_detect_memset_churn(const struct kwhy_detect_context *context)
{
	const struct kwhy_activities *rows = &context->recording->activities;
	const struct kwhy_calls *calls = &context->recording->calls;
	const struct kwhy_device_view *seen = &context->view->devices[context->device];
	struct kwhy_finding_terms verdict = kwhy_finding_terms_default();
	char count[KWHY_QUANTITY_BYTES];
	struct kwhy_tally tally;

	kwhy_tally_init(&tally, context);
	for (size_t i = seen->begin; i < seen->end; i++) {
		struct kwhy_occurrence occurrence = kwhy_occurrence_at(rows->start_ns[i], rows->end_ns[i]);

		if (rows->kind[i] != KWHY_ACTIVITY_MEMSET)
			continue;
		kwhy_tally_mark(&tally, i, 0);
		occurrence.row = (uint32_t)i;
		if (rows->call[i] != KWHY_NONE) {
			occurrence.call = context->view->outer[rows->call[i]];
			kwhy_tally_idle(
				&tally, calls->start_ns[occurrence.call], calls->end_ns[occurrence.call]);
		}
		kwhy_tally_add_occurrence(&tally, occurrence);
		tally.count++;
	}
	if ((double)tally.count < kwhy_tally_threshold(&tally, "min_count"))
		return kwhy_tally_drop(&tally);
	verdict.title = kwhy_tally_words(
		&tally, "Memset churn: %s memsets", kwhy_quantity_count(count, tally.count));
	verdict.assumption = "buffers are cleared by the kernels that fill them: memsets and the idle time "
			     "inside the calls that issue them vanish";
	return kwhy_tally_finish(&tally, verdict);
}
