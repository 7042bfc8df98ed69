/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "detect/families.h"
#include "detect/gaps.h"
#include "detect/held.h"
#include "detect/tally.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Detectors of the device's idle time by what the host did in it. */

static struct kwhy_occurrence occurrence_of(const struct kwhy_gap *gap, const struct kwhy_gap_cause *cause)
{
	struct kwhy_occurrence occurrence = kwhy_occurrence_at(
		cause->host_ns > 0 ? cause->host_end_ns : cause->start_ns, cause->end_ns);

	occurrence.row = gap->after;
	occurrence.call = cause->call;
	return occurrence;
}

/*
 * Appends the range name in which the host was for the longest time to the title, sets the headline to the
 * title without it, and sets the cure for the causes of the ranges.
 */
static void name_held(
	struct kwhy_tally *tally, const struct kwhy_held *held, struct kwhy_finding_terms *verdict)
{
	const char *words = kwhy_held_words(held, &tally->context->findings->arena, &verdict->place);

	verdict->headline = verdict->title;
	if (verdict->title && words)
		verdict->title = kwhy_tally_words(tally, "%s; %s", verdict->title, words);
	verdict->cure = kwhy_held_cure(
		held, &tally->context->findings->arena, tally->context->detector->cure);
}

/*
 * Counts the gaps during which the issuing thread was late and spent time launching. Gaps during which it
 * also waited are left out, because the detector sync-after-every-op counts them.
 */
static void tally_launches(struct kwhy_tally *tally, struct kwhy_held *held)
{
	const struct kwhy_detect_context *context = tally->context;
	const struct kwhy_device_view *seen = &context->view->devices[context->device];
	const double spacing_ns = kwhy_tally_threshold(tally, "spacing_us") * 1e3;

	for (size_t i = 0; i < seen->gap_count; i++) {
		struct kwhy_gap_cause cause;

		kwhy_gap_explain(context->view, &seen->gaps[i], spacing_ns, &cause);
		if (!cause.late || cause.wait != KWHY_NONE || cause.launch_ns == 0)
			continue;
		kwhy_tally_gap(tally, &seen->gaps[i], cause.launch_ns, seen->floor_ns);
		kwhy_tally_add_occurrence(tally, occurrence_of(&seen->gaps[i], &cause));
		kwhy_held_add(held, cause.call, cause.start_ns, cause.end_ns, cause.launch_ns);
		tally->count++;
	}
}

enum kwhy_status kwhy_detect_launch_bound(const struct kwhy_detect_context *context)
{
	struct kwhy_finding_terms verdict = kwhy_finding_terms_default();
	char time[KWHY_QUANTITY_BYTES], count[KWHY_QUANTITY_BYTES];
	struct kwhy_tally tally;
	struct kwhy_held held;

	kwhy_tally_init(&tally, context);
	tally.status = kwhy_held_init(&held, context->recording, context->error);
	tally_launches(&tally, &held);
	if ((double)tally.count < kwhy_tally_threshold(&tally, "min_count")) {
		kwhy_held_done(&held);
		return kwhy_tally_drop(&tally);
	}
	verdict.title = kwhy_tally_words(&tally, "Launch-bound: %s the device waited for a launch, %s",
		kwhy_quantity_times(count, tally.count), kwhy_quantity_time(time, tally.gap_ns));
	verdict.assumption = kwhy_tally_floor_words(&tally, "work is queued ahead or captured in a graph");
	name_held(&tally, &held, &verdict);
	kwhy_held_done(&held);
	return kwhy_tally_finish(&tally, verdict);
}

static void tally_host_gaps(struct kwhy_tally *tally, struct kwhy_held *held)
{
	const struct kwhy_detect_context *context = tally->context;
	const struct kwhy_device_view *seen = &context->view->devices[context->device];
	const double min_ns = kwhy_tally_threshold(tally, "min_us") * 1e3;
	const double max_ns = kwhy_tally_threshold(tally, "max_ms") * 1e6;

	for (size_t i = 0; i < seen->gap_count; i++) {
		struct kwhy_gap_cause cause;
		struct kwhy_occurrence occurrence;

		kwhy_gap_explain(context->view, &seen->gaps[i], min_ns, &cause);
		if (!cause.late || cause.host_ns == 0 || (double)(cause.end_ns - cause.start_ns) > max_ns)
			continue;
		kwhy_tally_gap(tally, &seen->gaps[i], cause.host_ns, 0);
		occurrence = kwhy_occurrence_at(cause.host_start_ns, cause.host_end_ns);
		occurrence.call = cause.call;
		occurrence.host = true;
		kwhy_tally_add_occurrence(tally, occurrence);
		kwhy_held_add(held, cause.call, cause.host_start_ns, cause.host_end_ns, cause.host_ns);
		tally->count++;
	}
}

enum kwhy_status kwhy_detect_host_gaps(const struct kwhy_detect_context *context)
{
	struct kwhy_finding_terms verdict = kwhy_finding_terms_default();
	char time[KWHY_QUANTITY_BYTES], count[KWHY_QUANTITY_BYTES];
	struct kwhy_tally tally;
	struct kwhy_held held;

	kwhy_tally_init(&tally, context);
	tally.takes_host_first = true;
	tally.status = kwhy_held_init(&held, context->recording, context->error);
	tally_host_gaps(&tally, &held);
	verdict.title = kwhy_tally_words(&tally, "Host gaps: %s the device waited for the host, %s",
		kwhy_quantity_times(count, tally.count), kwhy_quantity_time(time, tally.gap_ns));
	verdict.assumption = "the host prepares the next work while the device is busy: these gaps vanish";
	name_held(&tally, &held, &verdict);
	verdict.change = kwhy_held_change(&held);
	if (verdict.change && strcmp(verdict.change, "prefetch") != 0)
		verdict.assumption = "what holds the host there is gone: these gaps vanish";
	kwhy_held_done(&held);
	return kwhy_tally_finish(&tally, verdict);
}

/*
 * Finds work that the device starts more than KWHY_DELAYED_START_NS after its launch has returned. The host
 * is mostly waiting for that work already, so faster launches, graphs or more threads would not help.
 */
enum kwhy_status kwhy_detect_late_starts(const struct kwhy_detect_context *context)
{
	const struct kwhy_device_view *seen = &context->view->devices[context->device];
	struct kwhy_finding_terms verdict = kwhy_finding_terms_default();
	char time[KWHY_QUANTITY_BYTES], count[KWHY_QUANTITY_BYTES];
	struct kwhy_tally tally;
	int64_t sum_ns = 0;

	kwhy_tally_init(&tally, context);
	for (size_t i = 0; i < seen->gap_count; i++) {
		struct kwhy_gap_cause cause;
		struct kwhy_occurrence occurrence;

		kwhy_gap_explain(context->view, &seen->gaps[i], HUGE_VAL, &cause);
		if (!cause.delayed_ns ||
			(double)(cause.end_ns - cause.start_ns) >
				kwhy_tally_threshold(&tally, "max_ms") * 1e6)
			continue;
		kwhy_tally_idle(&tally, cause.end_ns - cause.delayed_ns, cause.end_ns);
		sum_ns += cause.delayed_ns;
		occurrence = kwhy_occurrence_at(cause.end_ns - cause.delayed_ns, cause.end_ns);
		occurrence.row = seen->gaps[i].after;
		occurrence.call = cause.call;
		kwhy_tally_add_occurrence(&tally, occurrence);
		tally.count++;
	}
	if ((double)tally.count < kwhy_tally_threshold(&tally, "min_count"))
		return kwhy_tally_drop(&tally);
	verdict.title = kwhy_tally_words(&tally,
		"Late starts: %s the device idled with work that had been launched, %s",
		kwhy_quantity_times(count, tally.count), kwhy_quantity_time(time, sum_ns));
	verdict.assumption = "work begins as soon as its launch has returned";
	return kwhy_tally_finish(&tally, verdict);
}

/*
 * Share of a device's idle energy that it would not draw without a context: 1 - clean idle power / context
 * idle power; 1 if one of these is unknown.
 */
static double released_share(const struct kwhy_tally *tally)
{
	const struct kwhy_device_energy *energy;

	if (!tally->source.known)
		return 1;
	energy = &tally->context->ledger->devices[tally->device].energy;
	if (isnan(energy->clean_idle_w) || isnan(energy->context_idle_w) || energy->context_idle_w <= 0)
		return 1;
	return fmax(0, 1 - energy->clean_idle_w / energy->context_idle_w);
}

enum kwhy_status kwhy_detect_idle_context(const struct kwhy_detect_context *context)
{
	const struct kwhy_device_view *seen = &context->view->devices[context->device];
	struct kwhy_finding_terms verdict = kwhy_finding_terms_default();
	char time[KWHY_QUANTITY_BYTES], count[KWHY_QUANTITY_BYTES];
	struct kwhy_tally tally;

	kwhy_tally_init(&tally, context);
	for (size_t i = 0; i < seen->gap_count; i++) {
		int64_t start_ns = kwhy_gap_start_ns(context->view, &seen->gaps[i]);
		int64_t end_ns = kwhy_gap_end_ns(context->view, &seen->gaps[i]);
		struct kwhy_occurrence occurrence = kwhy_occurrence_at(start_ns, end_ns);

		if ((double)(end_ns - start_ns) < kwhy_tally_threshold(&tally, "min_ms") * 1e6)
			continue;
		kwhy_tally_gap(&tally, &seen->gaps[i], end_ns - start_ns, 0);
		occurrence.host = true;
		kwhy_tally_add_occurrence(&tally, occurrence);
		tally.count++;
	}
	verdict.title = kwhy_tally_words(&tally,
		"Idle context: the device was held %s with nothing to do, %s",
		kwhy_quantity_times(count, tally.count), kwhy_quantity_time(time, tally.gap_ns));
	verdict.frees_device = true;
	verdict.idle_energy_share = released_share(&tally);
	verdict.assumption = verdict.idle_energy_share < 1
		? "the context is released meanwhile: the device falls to clean idle and is free for others; "
		  "the run itself is no shorter"
		: "the device is used by others meanwhile, who carry its idle energy; the run itself is no "
		  "shorter";
	return kwhy_tally_finish(&tally, verdict);
}
