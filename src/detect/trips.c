/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "base/sort.h"
#include "detect/families.h"
#include "detect/tally.h"

#include <stdlib.h>

/* Data that leaves a device only to come back, or to reach another one. */

static bool is_copy(const struct kwhy_activities *rows, size_t row, enum kwhy_copy_kind kind)
{
	return rows->kind[row] == KWHY_ACTIVITY_COPY && rows->copy_kind[row] == kind;
}

static bool is_trip(const struct kwhy_activities *rows, uint32_t down, size_t up, double max_gap_ns)
{
	return down != KWHY_NONE && is_copy(rows, up, KWHY_COPY_H2D) &&
		rows->bytes[up] == rows->bytes[down] && rows->start_ns[up] >= rows->end_ns[down] &&
		(double)(rows->start_ns[up] - rows->end_ns[down]) <= max_gap_ns;
}

static void add_trip(struct kwhy_tally *tally, uint32_t down, uint32_t up)
{
	const struct kwhy_activities *rows = &tally->context->recording->activities;
	struct kwhy_place place = kwhy_place_at(rows->start_ns[down], rows->end_ns[up]);

	kwhy_tally_mark(tally, down, 0);
	kwhy_tally_mark(tally, up, 0);
	kwhy_tally_idle(tally, rows->end_ns[down], rows->start_ns[up]);
	place.row = down;
	place.row_after = up;
	kwhy_tally_place(tally, place);
	tally->count++;
}

/* One pass: last_down[stream] is the copy down that nothing on its stream has followed yet. */
static void find_trips(struct kwhy_tally *tally, uint32_t *last_down)
{
	const struct kwhy_activities *rows = &tally->context->recording->activities;
	const struct kwhy_device_view *seen = &tally->context->view->devices[tally->device];
	double min_bytes = kwhy_tally_threshold(tally, 0), max_gap_ns = kwhy_tally_threshold(tally, 1) * 1e3;

	for (size_t i = seen->begin; i < seen->end; i++) {
		uint32_t *down = &last_down[rows->stream[i]];

		if (is_trip(rows, *down, i, max_gap_ns))
			add_trip(tally, *down, (uint32_t)i);
		*down = is_copy(rows, i, KWHY_COPY_D2H) && rows->bytes[i] != KWHY_UNKNOWN_BYTES &&
				(double)rows->bytes[i] >= min_bytes
			? (uint32_t)i
			: KWHY_NONE;
	}
}

enum kwhy_status kwhy_detect_round_trips(const struct kwhy_detect_context *context)
{
	struct kwhy_verdict verdict = kwhy_verdict_default();
	uint32_t *last_down = malloc((context->recording->stream_count + 1) * sizeof(*last_down));
	char count[KWHY_QUANTITY_BYTES];
	struct kwhy_tally tally;

	if (!last_down)
		return kwhy_fail_memory(context->error, "round trips");
	for (size_t i = 0; i < context->recording->stream_count; i++)
		last_down[i] = KWHY_NONE;
	kwhy_tally_init(&tally, context);
	find_trips(&tally, last_down);
	free(last_down);
	verdict.title = kwhy_tally_words(&tally,
		"Round trips: %s times data went to the host and came straight back",
		kwhy_quantity_count(count, tally.count));
	verdict.assumption =
		"the data stays on the device: both copies and the idle time between them vanish";
	return kwhy_tally_finish(&tally, verdict);
}

/* A copy to or from the host, for matching across devices: by size, then time. */
struct leg {
	uint64_t bytes;
	int64_t time_ns; /* end of a copy down, start of a copy up */
	uint32_t row;
	bool down;
};

struct legs {
	struct leg *items;
	size_t count;
};

static int compare_legs(const void *context, uint32_t a, uint32_t b)
{
	const struct leg *legs = context, *left = &legs[a], *right = &legs[b];

	if (left->bytes != right->bytes)
		return left->bytes < right->bytes ? -1 : 1;
	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return (int)right->down - (int)left->down;
}

/* Copies down from any other device and up to this one. */
static bool is_leg(const struct kwhy_recording *recording, size_t row, uint32_t device, double min_bytes)
{
	const struct kwhy_activities *rows = &recording->activities;

	if (rows->kind[row] != KWHY_ACTIVITY_COPY || rows->bytes[row] == KWHY_UNKNOWN_BYTES ||
		(double)rows->bytes[row] < min_bytes)
		return false;
	return kwhy_recording_device_of(recording, row) == device ? rows->copy_kind[row] == KWHY_COPY_H2D
								  : rows->copy_kind[row] == KWHY_COPY_D2H;
}

static enum kwhy_status collect_legs(
	const struct kwhy_detect_context *context, double min_bytes, struct legs *out)
{
	const struct kwhy_recording *recording = context->recording;
	const struct kwhy_activities *rows = &recording->activities;
	size_t count = 0;

	for (size_t i = 0; i < rows->count; i++)
		count += is_leg(recording, i, context->device, min_bytes);
	out->items = malloc((count + 1) * sizeof(*out->items));
	if (!out->items)
		return kwhy_fail_memory(context->error, "copies between devices");
	for (size_t i = 0; i < rows->count; i++) {
		bool down = rows->copy_kind[i] == KWHY_COPY_D2H;

		if (!is_leg(recording, i, context->device, min_bytes))
			continue;
		out->items[out->count++] = (struct leg){
			rows->bytes[i], down ? rows->end_ns[i] : rows->start_ns[i], (uint32_t)i, down};
	}
	return KWHY_OK;
}

/* The copy up to this device right behind a copy down of the same size takes it, if it is near enough. */
static void match_legs(struct kwhy_tally *tally, const struct legs *legs, const uint32_t *order)
{
	const struct kwhy_activities *rows = &tally->context->recording->activities;
	double max_gap_ns = kwhy_tally_threshold(tally, 1) * 1e3;
	const struct leg *down = NULL;

	for (size_t i = 0; i < legs->count; i++) {
		const struct leg *leg = &legs->items[order ? order[i] : i];
		struct kwhy_place place;

		if (leg->down) {
			down = leg;
			continue;
		}
		if (!down || down->bytes != leg->bytes || (double)(leg->time_ns - down->time_ns) > max_gap_ns)
			continue;
		kwhy_tally_mark(tally, leg->row, 0);
		kwhy_tally_idle(tally, down->time_ns, leg->time_ns);
		place = kwhy_place_at(rows->start_ns[down->row], rows->end_ns[leg->row]);
		place.row = down->row;
		place.row_after = leg->row;
		kwhy_tally_place(tally, place);
		tally->count++;
		down = NULL;
	}
}

enum kwhy_status kwhy_detect_staged_peer_copies(const struct kwhy_detect_context *context)
{
	struct kwhy_verdict verdict = kwhy_verdict_default();
	struct legs legs = {0};
	uint32_t *order = NULL;
	char count[KWHY_QUANTITY_BYTES];
	struct kwhy_tally tally;
	enum kwhy_status status;

	if (context->recording->device_count < 2)
		return KWHY_OK;
	kwhy_tally_init(&tally, context);
	status = collect_legs(context, kwhy_tally_threshold(&tally, 0), &legs);
	if (!status)
		status = kwhy_sort_order(legs.count, compare_legs, legs.items, &order, context->error);
	if (!status)
		match_legs(&tally, &legs, order);
	free(legs.items);
	free(order);
	if (status || (double)tally.count < kwhy_tally_threshold(&tally, 2)) {
		enum kwhy_status dropped = kwhy_tally_drop(&tally);

		return status ? status : dropped;
	}
	verdict.title = kwhy_tally_words(&tally,
		"Staged peer copies: %s times another device's data came through the host",
		kwhy_quantity_count(count, tally.count));
	verdict.assumption =
		"a direct copy takes no longer than the leg to the host does: the leg up to this "
		"device and the idle time before it vanish";
	return kwhy_tally_finish(&tally, verdict);
}
