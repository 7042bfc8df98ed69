/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "detect/families.h"
#include "detect/tally.h"

#include <stdlib.h>

/*
 * Detectors of data that is copied from a device to the host and then back to that device (a round trip) or
 * on to another one (a relay). A copy "down" goes to the host, a copy "up" comes from it.
 */

static bool is_copy(const struct kwhy_activities *rows, size_t row, enum kwhy_copy_kind kind)
{
	return rows->kind[row] == KWHY_ACTIVITY_COPY && rows->copy_kind[row] == kind;
}

static bool is_round_trip(const struct kwhy_activities *rows, uint32_t down, size_t up, double max_gap_ns)
{
	return down != KWHY_NONE && is_copy(rows, up, KWHY_COPY_H2D) &&
		rows->bytes[up] == rows->bytes[down] && rows->start_ns[up] >= rows->end_ns[down] &&
		(double)(rows->start_ns[up] - rows->end_ns[down]) <= max_gap_ns;
}

static void add_round_trip(struct kwhy_tally *tally, uint32_t down, uint32_t up)
{
	const struct kwhy_activities *rows = &tally->context->recording->activities;
	struct kwhy_occurrence occurrence = kwhy_occurrence_at(rows->start_ns[down], rows->end_ns[up]);

	kwhy_tally_mark(tally, down, 0);
	kwhy_tally_mark(tally, up, 0);
	kwhy_tally_idle(tally, rows->end_ns[down], rows->start_ns[up]);
	occurrence.row = down;
	occurrence.row_after = up;
	kwhy_tally_add_occurrence(tally, occurrence);
	tally->count++;
}

/*
 * Finds round trips in one pass over the device's activities. In the state of a stream, `row` is its last
 * activity if that is a copy to the host of at least min_bytes, else KWHY_NONE.
 */
static void find_round_trips(struct kwhy_tally *tally)
{
	const struct kwhy_detect_view *view = tally->context->view;
	const struct kwhy_activities *rows = &view->recording->activities;
	const struct kwhy_device_view *seen = &view->devices[tally->device];
	double min_bytes = kwhy_tally_threshold(tally, "min_bytes"),
	       max_gap_ns = kwhy_tally_threshold(tally, "max_gap_us") * 1e3;

	for (size_t i = seen->begin; i < seen->end; i++) {
		uint32_t *down = &view->streams[rows->stream[i]].row;

		if (is_round_trip(rows, *down, i, max_gap_ns))
			add_round_trip(tally, *down, (uint32_t)i);
		*down = is_copy(rows, i, KWHY_COPY_D2H) && rows->bytes[i] != KWHY_UNKNOWN_BYTES &&
				(double)rows->bytes[i] >= min_bytes
			? (uint32_t)i
			: KWHY_NONE;
	}
}

enum kwhy_status kwhy_detect_round_trips(const struct kwhy_detect_context *context)
{
	struct kwhy_finding_terms verdict = kwhy_finding_terms_default();
	char count[KWHY_QUANTITY_BYTES];
	struct kwhy_tally tally;

	kwhy_tally_init(&tally, context);
	kwhy_detect_view_reset_streams(context->view, context->device);
	find_round_trips(&tally);
	verdict.title = kwhy_tally_words(&tally,
		"Round trips: %s data went to the host and came straight back",
		kwhy_quantity_times(count, tally.count));
	verdict.assumption =
		"the data stays on the device: both copies and the idle time between them vanish";
	return kwhy_tally_finish(&tally, verdict);
}

/* A copy to or from the host that may be part of a relay. Arrays of legs are sorted by size, then by time. */
struct leg {
	int64_t time_ns; /* end of a copy to the host, or start of a copy from it */
	uint64_t bytes;
	uint32_t row;
	bool down;
};

/*
 * A relay: the activities of the copy from one device to the host (down), and of the copy of that data from
 * the host to another device (up).
 */
struct relay {
	uint32_t down, up;
};

struct legs {
	struct leg *items;
	struct relay *relays; /* at most half as many as `items` */
	size_t count, relay_count;
};

static int compare_legs(const void *a, const void *b)
{
	const struct leg *left = a, *right = b;

	if (left->bytes != right->bytes)
		return left->bytes < right->bytes ? -1 : 1;
	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	if (left->down != right->down)
		return left->down ? -1 : 1;
	return (left->row > right->row) - (left->row < right->row);
}

static int compare_relays(const void *a, const void *b)
{
	const struct relay *left = a, *right = b;

	return (left->up > right->up) - (left->up < right->up);
}

static bool is_leg(const struct kwhy_activities *rows, size_t row, double min_bytes)
{
	return (is_copy(rows, row, KWHY_COPY_H2D) || is_copy(rows, row, KWHY_COPY_D2H)) &&
		rows->bytes[row] != KWHY_UNKNOWN_BYTES && (double)rows->bytes[row] >= min_bytes;
}

static enum kwhy_status collect_legs(const struct kwhy_detect_context *context, struct legs *out)
{
	const struct kwhy_activities *rows = &context->recording->activities;
	const double min_bytes = kwhy_detect_threshold(context, "min_bytes");
	size_t count = 0;

	for (size_t i = 0; i < rows->count; i++)
		count += is_leg(rows, i, min_bytes);
	out->items = malloc((count + 1) * sizeof(*out->items));
	out->relays = malloc((count / 2 + 1) * sizeof(*out->relays));
	if (!out->items || !out->relays)
		return kwhy_fail_memory(context->error, "copies between devices");
	for (size_t i = 0; i < rows->count; i++) {
		bool down = rows->copy_kind[i] == KWHY_COPY_D2H;

		if (is_leg(rows, i, min_bytes))
			out->items[out->count++] = (struct leg){down ? rows->end_ns[i] : rows->start_ns[i],
				rows->bytes[i], (uint32_t)i, down};
	}
	return KWHY_OK;
}

static bool is_relay(const struct kwhy_detect_context *context, const struct leg *down, const struct leg *up)
{
	return down && !up->down && down->bytes == up->bytes &&
		(double)(up->time_ns - down->time_ns) <= kwhy_detect_threshold(context, "max_gap_us") * 1e3 &&
		kwhy_recording_device_of(context->recording, down->row) !=
		kwhy_recording_device_of(context->recording, up->row);
}

/*
 * Looks at each copy from the host together with the copy before it in the sorted array, which is the latest
 * earlier copy of the same size. The two are a relay if the earlier one went to the host, ran on another
 * device and ended at most max_gap_us before the later one.
 */
static void match_legs(const struct kwhy_detect_context *context, struct legs *legs)
{
	const struct leg *down = NULL;

	qsort(legs->items, legs->count, sizeof(*legs->items), compare_legs);
	for (size_t i = 0; i < legs->count; i++) {
		const struct leg *leg = &legs->items[i];

		if (is_relay(context, down, leg))
			legs->relays[legs->relay_count++] = (struct relay){down->row, leg->row};
		down = leg->down ? leg : NULL;
	}
	qsort(legs->relays, legs->relay_count, sizeof(*legs->relays), compare_relays);
}

static void add_relay(struct kwhy_tally *tally, const struct relay *relay)
{
	const struct kwhy_activities *rows = &tally->context->recording->activities;
	struct kwhy_occurrence occurrence = kwhy_occurrence_at(
		rows->start_ns[relay->down], rows->end_ns[relay->up]);

	kwhy_tally_mark(tally, relay->up, 0);
	kwhy_tally_idle(tally, rows->end_ns[relay->down], rows->start_ns[relay->up]);
	occurrence.row = relay->down;
	occurrence.row_after = relay->up;
	kwhy_tally_add_occurrence(tally, occurrence);
	tally->count++;
}

/*
 * Adds a finding on the relays from index `begin` on whose copies up are on the context's device. *out_end
 * receives the index of the first relay after these.
 */
static enum kwhy_status report_relays(
	const struct kwhy_detect_context *context, const struct legs *legs, size_t begin, size_t *out_end)
{
	struct kwhy_finding_terms verdict = kwhy_finding_terms_default();
	size_t rows_end = context->view->devices[context->device].end;
	char count[KWHY_QUANTITY_BYTES];
	struct kwhy_tally tally;

	kwhy_tally_init(&tally, context);
	for (; begin < legs->relay_count && legs->relays[begin].up < rows_end; begin++)
		add_relay(&tally, &legs->relays[begin]);
	*out_end = begin;
	if ((double)tally.count < kwhy_tally_threshold(&tally, "min_count"))
		return kwhy_tally_drop(&tally);
	verdict.title = kwhy_tally_words(&tally,
		"Staged peer copies: %s another device's data came through the host",
		kwhy_quantity_times(count, tally.count));
	verdict.assumption =
		"a direct copy takes no longer than the leg to the host does: the leg up to this "
		"device and the idle time before it vanish";
	return kwhy_tally_finish(&tally, verdict);
}

static enum kwhy_status report_by_device(const struct kwhy_detect_context *context, const struct legs *legs)
{
	struct kwhy_detect_context own = *context;
	enum kwhy_status status = KWHY_OK;
	size_t next = 0;

	while (!status && next < legs->relay_count) {
		own.device = kwhy_recording_device_of(context->recording, legs->relays[next].up);
		status = report_relays(&own, legs, next, &next);
	}
	return status;
}

/*
 * Compares all devices at once. Detectors are called for each device, so this one does nothing unless it is
 * called for device 0.
 */
enum kwhy_status kwhy_detect_staged_peer_copies(const struct kwhy_detect_context *context)
{
	struct legs legs = {0};
	enum kwhy_status status;

	if (context->device != 0 || context->recording->device_count < 2)
		return KWHY_OK;
	status = collect_legs(context, &legs);
	if (!status) {
		match_legs(context, &legs);
		status = report_by_device(context, &legs);
	}
	free(legs.items);
	free(legs.relays);
	return status;
}
