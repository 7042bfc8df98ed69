/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "detect/families.h"
#include "detect/gaps.h"
#include "detect/held.h"
#include "detect/tally.h"
#include "model/host_time.h"

#include <stdlib.h>
#include <string.h>

/*
 * Detector of steps (ranges of the program) for most of which the device idles while the host launches work
 * or runs operators of the model. The host takes about as long for a step with more work in each launch, so
 * fewer and larger steps cost less host time for the same work.
 */

enum { STEPS_MIN = 4 };

/* Host time in PyTorch's ranges "Optimizer.step#...", divided by host time in steps; 0: there are none. */
static double optimizer_share(const struct kwhy_ledger *ledger, const struct kwhy_recording *recording)
{
	double optimizer_ns = 0, steps_ns = 0;

	for (size_t i = 0; i < ledger->range_count; i++)
		if (!strncmp(
			    kwhy_names_get(&recording->names, ledger->ranges[i].name), "Optimizer.step#", 15))
			optimizer_ns += (double)ledger->ranges[i].host_ns;
	for (size_t i = 0; i < ledger->step_count; i++)
		steps_ns += (double)ledger->steps[i].host_ns;
	return steps_ns > 0 ? optimizer_ns / steps_ns : 0;
}

/*
 * Whether the host time of a gap would stay the same if each launch did more work. It would not if the host
 * range around it is one of input, output or files (kwhy_held_is_ahead()).
 */
static bool is_shared(const struct kwhy_recording *recording, const struct kwhy_gap_cause *cause)
{
	uint32_t range;

	if (!recording->host_ranges.count)
		return true;
	range = kwhy_host_range_over(
		recording, recording->calls.thread[cause->call], cause->host_start_ns, cause->host_end_ns);
	return range == KWHY_NONE || !kwhy_held_is_ahead(kwhy_held_cause_of(recording, range));
}

/* Intervals in which at least one process is in a step; they are disjoint and in order of time. */
struct stepping {
	struct interval {
		int64_t start_ns, end_ns;
	} * items;
	size_t count;
	int64_t time_ns; /* total length */
};

static int by_start(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;

	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static enum kwhy_status find_stepping(
	struct stepping *out, const struct kwhy_ledger *ledger, struct kwhy_error *error)
{
	size_t kept = 0;

	*out = (struct stepping){.items = calloc(ledger->step_count, sizeof(*out->items))};
	if (!out->items)
		return kwhy_fail_memory(error, "steps");
	for (size_t i = 0; i < ledger->step_count; i++)
		out->items[i] = (struct interval){
			ledger->steps[i].start_ns, ledger->steps[i].start_ns + ledger->steps[i].host_ns};
	qsort(out->items, ledger->step_count, sizeof(*out->items), by_start);
	for (size_t i = 0; i < ledger->step_count; i++) {
		struct interval *last = kept ? &out->items[kept - 1] : NULL;

		if (last && out->items[i].start_ns <= last->end_ns)
			last->end_ns = out->items[i].end_ns > last->end_ns ? out->items[i].end_ns
									   : last->end_ns;
		else
			out->items[kept++] = out->items[i];
	}
	out->count = kept;
	for (size_t i = 0; i < kept; i++)
		out->time_ns += out->items[i].end_ns - out->items[i].start_ns;
	return KWHY_OK;
}

/* Whether [start_ns, end_ns) lies entirely in one of the intervals with steps. */
static bool is_in_steps(const struct stepping *stepping, int64_t start_ns, int64_t end_ns)
{
	size_t low = 0, high = stepping->count;

	while (low < high) { /* finds the number of intervals that start at or before start_ns */
		const size_t middle = low + (high - low) / 2;

		if (stepping->items[middle].start_ns <= start_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low && end_ns <= stepping->items[low - 1].end_ns;
}

/*
 * Counts the gaps inside steps for whose end the device waited for the issuing thread, and in which this
 * thread did not wait for the device. Waste is the time that the thread spent launching and, if is_shared(),
 * its other time.
 */
static void tally_gaps(struct kwhy_tally *tally, const struct stepping *stepping, struct kwhy_held *held)
{
	const struct kwhy_detect_context *context = tally->context;
	const struct kwhy_device_view *seen = &context->view->devices[context->device];
	const double spacing_ns = kwhy_tally_threshold(tally, "spacing_us") * 1e3;

	for (size_t i = 0; i < seen->gap_count; i++) {
		struct kwhy_gap_cause cause;
		int64_t waste_ns;

		kwhy_gap_explain(context->view, &seen->gaps[i], spacing_ns, &cause);
		if (!cause.late || cause.wait != KWHY_NONE ||
			!is_in_steps(stepping, cause.start_ns, cause.end_ns))
			continue;
		waste_ns = cause.launch_ns +
			(cause.host_ns && is_shared(context->recording, &cause) ? cause.host_ns : 0);
		if (!waste_ns)
			continue;
		kwhy_tally_gap(tally, &seen->gaps[i], waste_ns, 0);
		kwhy_held_add(held, cause.call, cause.start_ns, cause.end_ns, waste_ns);
		tally->count++;
	}
}

static void word(struct kwhy_tally *tally, const struct stepping *stepping, const struct kwhy_held *held,
	struct kwhy_finding_terms *terms)
{
	const struct kwhy_detect_context *context = tally->context;
	const double optimizer = optimizer_share(context->ledger, context->recording);
	char waited[KWHY_QUANTITY_BYTES], whole[KWHY_QUANTITY_BYTES], share[KWHY_QUANTITY_BYTES];
	const char *words = kwhy_held_words(held, &context->findings->arena, &terms->place);

	terms->title = kwhy_tally_words(tally,
		"Host-limited steps: for %s of the %s in steps the device waited for launches",
		kwhy_quantity_time(waited, tally->gap_ns), kwhy_quantity_time(whole, stepping->time_ns));
	terms->headline = terms->title;
	if (terms->title && words)
		terms->title = kwhy_tally_words(tally, "%s; %s", terms->title, words);
	if (optimizer > 0)
		terms->cure = kwhy_tally_words(tally,
			"do more work in each step: a larger batch, or gradients accumulated over several "
			"batches before a step of the optimizer, which takes %s of the host's time; this "
			"changes the numerical results",
			kwhy_quantity_percent(share, optimizer));
	terms->kept_share = 0.5;
	terms->assumption =
		"each step does the work of two in the host's time of one: half of these gaps vanish";
}

enum kwhy_status kwhy_detect_host_limited_steps(const struct kwhy_detect_context *context)
{
	struct kwhy_finding_terms terms = kwhy_finding_terms_default();
	struct kwhy_tally tally;
	struct stepping stepping;
	struct kwhy_held held;
	bool is_kept;

	if (!context->ledger || context->ledger->step_count < STEPS_MIN)
		return KWHY_OK;
	if (find_stepping(&stepping, context->ledger, context->error))
		return KWHY_E_MEMORY;
	kwhy_tally_init(&tally, context);
	tally.status = kwhy_held_init(&held, context->recording, context->error);
	tally_gaps(&tally, &stepping, &held);
	is_kept = (double)tally.gap_ns >=
		kwhy_tally_threshold(&tally, "min_share") * (double)stepping.time_ns;
	if (is_kept)
		word(&tally, &stepping, &held, &terms);
	free(stepping.items);
	kwhy_held_done(&held);
	return is_kept ? kwhy_tally_finish(&tally, terms) : kwhy_tally_drop(&tally);
}
