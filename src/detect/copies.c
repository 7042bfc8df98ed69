/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "detect/families.h"
#include "detect/tally.h"

#include <math.h>

/* Copies between host and device: too small, from the wrong memory, beside nothing. */

static bool is_host_copy(const struct kwhy_activities *rows, size_t row)
{
	return rows->kind[row] == KWHY_ACTIVITY_COPY &&
		(rows->copy_kind[row] == KWHY_COPY_H2D || rows->copy_kind[row] == KWHY_COPY_D2H);
}

/* A copy costs its own time and the device's idle time while the host is inside the call that issues it. */
static void add_copy(struct kwhy_tally *tally, size_t row, double kept_ns)
{
	const struct kwhy_view *view = tally->context->view;
	const struct kwhy_activities *rows = &view->recording->activities;
	const struct kwhy_calls *calls = &view->recording->calls;
	struct kwhy_place place = kwhy_place_at(rows->start_ns[row], rows->end_ns[row]);

	kwhy_tally_mark(tally, row, kept_ns);
	place.row = (uint32_t)row;
	if (rows->call[row] != KWHY_NONE) {
		place.call = view->outer[rows->call[row]];
		kwhy_tally_idle(tally, calls->start_ns[place.call], calls->end_ns[place.call]);
	}
	kwhy_tally_place(tally, place);
	tally->count++;
}

struct small_run {
	uint64_t runs; /* stretches of small copies of one direction without a kernel between */
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
	struct kwhy_verdict verdict = kwhy_verdict_default();
	char limit[KWHY_QUANTITY_BYTES], bytes[KWHY_QUANTITY_BYTES], count[KWHY_QUANTITY_BYTES];
	struct small_run run = {0};
	struct kwhy_tally tally;

	kwhy_tally_init(&tally, context);
	for (size_t i = seen->begin; i < seen->end; i++) {
		if (rows->kind[i] != KWHY_ACTIVITY_COPY && rows->kind[i] != KWHY_ACTIVITY_MEMSET)
			break_run(&run);
		if (!is_host_copy(rows, i) || rows->bytes[i] == KWHY_UNKNOWN_BYTES ||
			(double)rows->bytes[i] >= kwhy_tally_threshold(&tally, 0))
			continue;
		add_copy(&tally, i, 0);
		follow_run(&run, rows, i);
	}
	if (tally.count == 0 || (double)tally.count < kwhy_tally_threshold(&tally, 1))
		return kwhy_tally_drop(&tally);
	verdict.kept_share = (double)run.runs / (double)tally.count; /* packed, one copy a run remains */
	verdict.title = kwhy_tally_words(&tally,
		"Small copies: %s under %s between host and device, %s in all",
		kwhy_quantity_count(count, tally.count),
		kwhy_quantity_bytes(limit, (uint64_t)kwhy_tally_threshold(&tally, 0)),
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

/* Bytes per nanosecond of pinned copies by direction; 0: not known. */
struct pinned_rates {
	double rate[KWHY_COPY_KIND_COUNT];
};

/* Copies below this are paced by their latency and say nothing of the rate. */
enum { RATE_COPY_BYTES = 1 << 20 };

static void see_pinned(struct pinned_rates *rates, const struct kwhy_activities *rows, size_t row)
{
	int64_t length_ns = rows->end_ns[row] - rows->start_ns[row];
	double *rate = &rates->rate[rows->copy_kind[row]];

	if (!is_host_copy(rows, row) || rows->bytes[row] == KWHY_UNKNOWN_BYTES ||
		rows->bytes[row] < RATE_COPY_BYTES || length_ns <= 0 ||
		(rows->src_memory[row] != KWHY_MEMORY_PINNED && rows->dst_memory[row] != KWHY_MEMORY_PINNED))
		return;
	*rate = fmax(*rate, (double)rows->bytes[row] / (double)length_ns);
}

/* The machine profile's, else the best that this recording shows. */
static struct pinned_rates find_pinned_rates(const struct kwhy_detect_context *context)
{
	const struct kwhy_device_view *seen = &context->view->devices[context->device];
	const struct kwhy_profile *profile = context->profile;
	struct pinned_rates rates = {{0}};

	for (size_t i = seen->begin; i < seen->end; i++)
		see_pinned(&rates, &context->recording->activities, i);
	if (profile && profile->h2d_pinned_rate_bytes_per_s.value > 0)
		rates.rate[KWHY_COPY_H2D] = profile->h2d_pinned_rate_bytes_per_s.value * 1e-9;
	if (profile && profile->d2h_pinned_rate_bytes_per_s.value > 0)
		rates.rate[KWHY_COPY_D2H] = profile->d2h_pinned_rate_bytes_per_s.value * 1e-9;
	return rates;
}

/* What a pageable copy would take from pinned memory; 0 where the rate or the size is not known. */
static double pinned_ns(const struct pinned_rates *rates, const struct kwhy_activities *rows, size_t row)
{
	double rate = rates->rate[rows->copy_kind[row]];

	if (rate <= 0 || rows->bytes[row] == KWHY_UNKNOWN_BYTES)
		return 0;
	return fmin((double)(rows->end_ns[row] - rows->start_ns[row]), (double)rows->bytes[row] / rate);
}

enum kwhy_status kwhy_detect_pageable_copies(const struct kwhy_detect_context *context)
{
	const struct kwhy_activities *rows = &context->recording->activities;
	const struct kwhy_device_view *seen = &context->view->devices[context->device];
	struct pinned_rates rates = find_pinned_rates(context);
	struct kwhy_verdict verdict = kwhy_verdict_default();
	char bytes[KWHY_QUANTITY_BYTES], count[KWHY_QUANTITY_BYTES];
	bool known = rates.rate[KWHY_COPY_H2D] > 0 || rates.rate[KWHY_COPY_D2H] > 0;
	uint64_t sum_bytes = 0;
	struct kwhy_tally tally;

	kwhy_tally_init(&tally, context);
	for (size_t i = seen->begin; i < seen->end; i++) {
		if (!is_pageable(rows, i))
			continue;
		add_copy(&tally, i, pinned_ns(&rates, rows, i));
		sum_bytes += rows->bytes[i] == KWHY_UNKNOWN_BYTES ? 0 : rows->bytes[i];
	}
	if ((double)tally.count < kwhy_tally_threshold(&tally, 0))
		return kwhy_tally_drop(&tally);
	verdict.title = kwhy_tally_words(&tally, "Pageable copies: %s from or to pageable host memory, %s",
		kwhy_quantity_count(count, tally.count), kwhy_quantity_bytes(bytes, sum_bytes));
	verdict.assumption = known
		? kwhy_tally_words(&tally,
			  "pinned copies run at the pinned rate known here (h2d %.3g, d2h %.3g GB/s; 0: not "
			  "known, then they hide wholly) and their calls return at once",
			  rates.rate[KWHY_COPY_H2D], rates.rate[KWHY_COPY_D2H])
		: "no pinned rate is known: pinned copies hide wholly behind other work and their calls "
		  "return at once";
	return kwhy_tally_finish(&tally, verdict);
}

static bool can_overlap(const struct kwhy_activities *rows, size_t row, double min_bytes)
{
	return (is_host_copy(rows, row) ||
		       (rows->kind[row] == KWHY_ACTIVITY_COPY && rows->copy_kind[row] == KWHY_COPY_P2P)) &&
		rows->bytes[row] != KWHY_UNKNOWN_BYTES && (double)rows->bytes[row] >= min_bytes;
}

enum kwhy_status kwhy_detect_unoverlapped_copies(const struct kwhy_detect_context *context)
{
	const struct kwhy_activities *rows = &context->recording->activities;
	const struct kwhy_device_view *seen = &context->view->devices[context->device];
	struct kwhy_verdict verdict = kwhy_verdict_default();
	char bytes[KWHY_QUANTITY_BYTES], count[KWHY_QUANTITY_BYTES];
	uint64_t sum_bytes = 0;
	struct kwhy_tally tally;

	kwhy_tally_init(&tally, context);
	for (size_t i = seen->begin; i < seen->end; i++) {
		struct kwhy_place place = kwhy_place_at(rows->start_ns[i], rows->end_ns[i]);

		if (!can_overlap(rows, i, kwhy_tally_threshold(&tally, 0)))
			continue;
		kwhy_tally_mark(&tally, i, 0);
		sum_bytes += rows->bytes[i];
		place.row = (uint32_t)i;
		kwhy_tally_place(&tally, place);
		tally.count++;
	}
	verdict.title = kwhy_tally_words(&tally,
		"Unoverlapped copies: %s large ones, %s; their time beside no kernel",
		kwhy_quantity_count(count, tally.count), kwhy_quantity_bytes(bytes, sum_bytes));
	verdict.assumption =
		"copies run beside kernels in a stream of their own, as far as there is kernel time "
		"to hide them in";
	verdict.covers = KWHY_KINDS_COMPUTE | KWHY_KIND(COLLECTIVE);
	verdict.hiding_kinds = verdict.covers;
	verdict.exposed_only = true;
	verdict.work_remains = true;
	return kwhy_tally_finish(&tally, verdict);
}
