/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "detect/families.h"
#include "detect/tally.h"
#include "model/gpu_generation.h"

#include <math.h>
#include <stdio.h>

/*
 * Detectors of copies between host and device that are too small, use pageable memory, or do not overlap with
 * kernels.
 */

static bool is_host_copy(const struct kwhy_activities *rows, size_t row)
{
	return rows->kind[row] == KWHY_ACTIVITY_COPY &&
		(rows->copy_kind[row] == KWHY_COPY_H2D || rows->copy_kind[row] == KWHY_COPY_D2H);
}

/*
 * Adds a copy to the waste: the part of its duration beyond kept_ns (in ns, what it would still take with the
 * cure), and the device's idle time while the host is inside the outermost call that issues it.
 */
static void add_copy(struct kwhy_tally *tally, size_t row, double kept_ns)
{
	const struct kwhy_detect_view *view = tally->context->view;
	const struct kwhy_activities *rows = &view->recording->activities;
	const struct kwhy_calls *calls = &view->recording->calls;
	struct kwhy_occurrence occurrence = kwhy_occurrence_at(rows->start_ns[row], rows->end_ns[row]);

	kwhy_tally_mark(tally, row, kept_ns);
	occurrence.row = (uint32_t)row;
	if (rows->call[row] != KWHY_NONE) {
		occurrence.call = view->outer[rows->call[row]];
		kwhy_tally_idle(tally, calls->start_ns[occurrence.call], calls->end_ns[occurrence.call]);
	}
	kwhy_tally_add_occurrence(tally, occurrence);
	tally->count++;
}

struct small_run {
	/*
	 * number of series of small copies in one direction; a series ends where a kernel or a graph starts
	 */
	uint64_t runs;
	uint64_t bytes;
	bool open[KWHY_COPY_KIND_COUNT];
};

static void follow_run(struct small_run *run, const struct kwhy_activities *rows, size_t row)
{
	run->bytes += rows->bytes[row];
	run->runs += !run->open[rows->copy_kind[row]];
	run->open[rows->copy_kind[row]] = true;
}

static void break_run(struct small_run *run)
{
	for (size_t i = 0; i < KWHY_COPY_KIND_COUNT; i++)
		run->open[i] = false;
}

enum kwhy_status kwhy_detect_small_copies(const struct kwhy_detect_context *context)
{
	const struct kwhy_activities *rows = &context->recording->activities;
	const struct kwhy_device_view *seen = &context->view->devices[context->device];
	struct kwhy_finding_terms verdict = kwhy_finding_terms_default();
	char limit[KWHY_QUANTITY_BYTES], bytes[KWHY_QUANTITY_BYTES], count[KWHY_QUANTITY_BYTES];
	const double max_bytes = kwhy_detect_threshold(context, "max_bytes");
	struct small_run run = {0};
	struct kwhy_tally tally;

	kwhy_tally_init(&tally, context);
	for (size_t i = seen->begin; i < seen->end; i++) {
		if (rows->kind[i] != KWHY_ACTIVITY_COPY && rows->kind[i] != KWHY_ACTIVITY_MEMSET)
			break_run(&run);
		if (!is_host_copy(rows, i) || rows->bytes[i] == KWHY_UNKNOWN_BYTES ||
			(double)rows->bytes[i] >= max_bytes)
			continue;
		add_copy(&tally, i, 0);
		follow_run(&run, rows, i);
	}
	if (tally.count == 0 || (double)tally.count < kwhy_tally_threshold(&tally, "min_count"))
		return kwhy_tally_drop(&tally);
	/* share of the copies that remains with the cure: one packed copy for each series */
	verdict.kept_share = (double)run.runs / (double)tally.count;
	verdict.title = kwhy_tally_words(&tally,
		"Small copies: %s under %s between host and device, %s in all",
		kwhy_quantity_count(count, tally.count), kwhy_quantity_bytes(limit, (uint64_t)max_bytes),
		kwhy_quantity_bytes(bytes, run.bytes));
	verdict.assumption = kwhy_tally_words(&tally,
		"copies of one direction with no kernel between are packed into one: %s remain",
		kwhy_quantity_count(count, run.runs));
	return kwhy_tally_finish(&tally, verdict);
}

static bool is_pageable(const struct kwhy_activities *rows, size_t row)
{
	return is_host_copy(rows, row) &&
		(rows->src_memory[row] == KWHY_MEMORY_PAGEABLE ||
			rows->dst_memory[row] == KWHY_MEMORY_PAGEABLE);
}

/* Rates of copies with pinned host memory, indexed by enum kwhy_copy_kind; NAN: unknown. */
struct pinned_rates {
	double bytes_per_ns[KWHY_COPY_KIND_COUNT];
	/*
	 * link between host and device; where a rate is unknown, copies are assumed to run at this link's
	 * nominal rate
	 */
	const struct kwhy_gpu_generation *link;
};

/*
 * Least size in bytes of a copy from which a rate is taken; the time of smaller copies is mostly latency.
 */
enum { RATE_COPY_BYTES = 1 << 20 };

static void see_pinned(struct pinned_rates *rates, const struct kwhy_activities *rows, size_t row)
{
	int64_t length_ns = rows->end_ns[row] - rows->start_ns[row];
	double *rate = &rates->bytes_per_ns[rows->copy_kind[row]];

	if (!is_host_copy(rows, row) || rows->bytes[row] == KWHY_UNKNOWN_BYTES ||
		rows->bytes[row] < RATE_COPY_BYTES || length_ns <= 0 ||
		(rows->src_memory[row] != KWHY_MEMORY_PINNED && rows->dst_memory[row] != KWHY_MEMORY_PINNED))
		return;
	*rate = fmax(*rate, (double)rows->bytes[row] / (double)length_ns);
}

/*
 * Rates of the machine profile or, where it has none, the highest rate of a pinned copy of at least
 * RATE_COPY_BYTES in this recording.
 */
static struct pinned_rates find_pinned_rates(const struct kwhy_detect_context *context)
{
	const struct kwhy_device_view *seen = &context->view->devices[context->device];
	const struct kwhy_profile *profile = context->profile;
	struct pinned_rates rates = {
		.link = kwhy_gpu_generation_of(&context->recording->devices[context->device])};

	for (size_t i = 0; i < KWHY_COPY_KIND_COUNT; i++)
		rates.bytes_per_ns[i] = NAN;
	for (size_t i = seen->begin; i < seen->end; i++)
		see_pinned(&rates, &context->recording->activities, i);
	if (profile && profile->h2d_pinned_rate_bytes_per_s.value > 0)
		rates.bytes_per_ns[KWHY_COPY_H2D] = profile->h2d_pinned_rate_bytes_per_s.value * 1e-9;
	if (profile && profile->d2h_pinned_rate_bytes_per_s.value > 0)
		rates.bytes_per_ns[KWHY_COPY_D2H] = profile->d2h_pinned_rate_bytes_per_s.value * 1e-9;
	return rates;
}

/*
 * Time in ns that a pageable copy would take with pinned memory, at most the time that it took; 0 if its size
 * is unknown.
 */
static double pinned_ns(const struct pinned_rates *rates, const struct kwhy_activities *rows, size_t row)
{
	double rate = rates->bytes_per_ns[rows->copy_kind[row]];

	if (isnan(rate))
		rate = rates->link->link_bytes_per_s * 1e-9;
	if (rows->bytes[row] == KWHY_UNKNOWN_BYTES)
		return 0;
	return fmin((double)(rows->end_ns[row] - rows->start_ns[row]), (double)rows->bytes[row] / rate);
}

enum { RATE_WORDS = 128 };

/*
 * Called for each call that issued an activity: if the activity is one of the marked copies (view->marks) and
 * goes to the device, and the thread waits for it in its next wait (`wait`), the idle time after the copy is
 * waste, because the host need not wait for data that it sends.
 */
static void visit_pageable(const struct kwhy_detect_view *view, uint32_t call, uint32_t wait, void *context)
{
	struct kwhy_tally *tally = context;
	const struct kwhy_activities *rows = &view->recording->activities;
	uint32_t row = view->issued[call];

	if (wait == KWHY_NONE || !view->marks[row] || rows->copy_kind[row] != KWHY_COPY_H2D)
		return;
	kwhy_tally_idle_after(tally, row, call, wait);
}

/*
 * Writes the rate of pinned copies, "5.1 GB/s up"; if it is unknown, that the copies take no more time than
 * the link's nominal rate allows.
 */
static const char *rate_words(char out[RATE_WORDS], const struct pinned_rates *rates,
	enum kwhy_copy_kind kind, const char *direction)
{
	char rate[KWHY_QUANTITY_BYTES];

	if (isnan(rates->bytes_per_ns[kind]))
		snprintf(out, RATE_WORDS, "no more %s than %s allows (%s; no rate is known here)", direction,
			rates->link->link, kwhy_quantity_si(rate, rates->link->link_bytes_per_s, "B/s", 3));
	else
		snprintf(out, RATE_WORDS, "%s %s",
			kwhy_quantity_si(rate, rates->bytes_per_ns[kind] * 1e9, "B/s", 3), direction);
	return out;
}

static const char *pinned_words(struct kwhy_tally *tally, const struct pinned_rates *rates)
{
	char up[RATE_WORDS], down[RATE_WORDS];

	return kwhy_tally_words(tally,
		"pinned copies take %s and %s, their calls return immediately and nothing waits for copies "
		"up",
		rate_words(up, rates, KWHY_COPY_H2D, "up"), rate_words(down, rates, KWHY_COPY_D2H, "down"));
}

enum kwhy_status kwhy_detect_pageable_copies(const struct kwhy_detect_context *context)
{
	const struct kwhy_activities *rows = &context->recording->activities;
	const struct kwhy_device_view *seen = &context->view->devices[context->device];
	struct pinned_rates rates = find_pinned_rates(context);
	struct kwhy_finding_terms verdict = kwhy_finding_terms_default();
	char bytes[KWHY_QUANTITY_BYTES], count[KWHY_QUANTITY_BYTES];
	uint64_t sum_bytes = 0;
	struct kwhy_tally tally;

	kwhy_tally_init(&tally, context);
	for (size_t i = seen->begin; i < seen->end; i++) {
		if (!is_pageable(rows, i))
			continue;
		add_copy(&tally, i, pinned_ns(&rates, rows, i));
		sum_bytes += rows->bytes[i] == KWHY_UNKNOWN_BYTES ? 0 : rows->bytes[i];
	}
	if ((double)tally.count < kwhy_tally_threshold(&tally, "min_count"))
		return kwhy_tally_drop(&tally);
	kwhy_detect_view_visit_issues(context->view, context->device, visit_pageable, &tally);
	verdict.title = kwhy_tally_words(&tally, "Pageable copies: %s from or to pageable host memory, %s",
		kwhy_quantity_count(count, tally.count), kwhy_quantity_bytes(bytes, sum_bytes));
	verdict.assumption = pinned_words(&tally, &rates);
	return kwhy_tally_finish(&tally, verdict);
}

static bool can_overlap(const struct kwhy_tally *tally, size_t row)
{
	const struct kwhy_activities *rows = &tally->context->recording->activities;

	return rows->kind[row] == KWHY_ACTIVITY_COPY &&
		(is_host_copy(rows, row) || rows->copy_kind[row] == KWHY_COPY_P2P) &&
		rows->bytes[row] != KWHY_UNKNOWN_BYTES &&
		(double)rows->bytes[row] >= kwhy_tally_threshold(tally, "min_bytes");
}

enum kwhy_status kwhy_detect_unoverlapped_copies(const struct kwhy_detect_context *context)
{
	struct kwhy_finding_terms verdict = kwhy_finding_terms_default();
	char count[KWHY_QUANTITY_BYTES];
	struct kwhy_tally tally;

	verdict.covers = KWHY_KINDS_COMPUTE | KWHY_KIND(COLLECTIVE);
	verdict.hiding_kinds = verdict.covers;
	verdict.exposed_only = true;
	verdict.work_remains = true;
	kwhy_tally_init(&tally, context);
	kwhy_tally_mark_exposed(&tally, verdict.covers, can_overlap);
	verdict.title = kwhy_tally_words(&tally, "Unoverlapped copies: %s large copies %s kernel running",
		kwhy_quantity_count(count, tally.count), kwhy_tally_exposed_words(&tally));
	verdict.assumption = "copies run concurrently with kernels in a stream of their own, as far as there "
			     "is kernel time to hide them in";
	return kwhy_tally_finish(&tally, verdict);
}
