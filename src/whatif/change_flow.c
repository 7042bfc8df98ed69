/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/changes.h"

#include "base/sort.h"
#include "whatif/edits.h"
#include "whatif/parts.h"
#include "whatif/samples.h"

#include <stdio.h>
#include <stdlib.h>

/*
 * Changes that keep data on the device instead of copying them to the host and back, or that copy data to the
 * device ahead of time.
 */

enum {
	ROUND_TRIP_BYTES = 256 /* In bytes. Smaller copies are not taken as round trips, since they may have
				  equal sizes by chance. */
};

/*
 * A copy between host and device. `computed` is equal for two copies if they are on one device and no kernel,
 * graph or collective of that device comes between them.
 */
struct passage {
	uint32_t row, computed;
};

struct round_trips {
	struct kwhy_whatif *whatif;
	struct passage *copies; /* [count] copies between host and device */
	size_t count;
	uint64_t pairs,
		bytes; /* pairs: number of removed pairs of copies; bytes: largest size of a removed copy */
};

static bool computes(const struct kwhy_whatif *whatif, uint32_t row)
{
	switch (whatif->recording->activities.kind[row]) {
	case KWHY_ACTIVITY_COPY:
	case KWHY_ACTIVITY_MEMSET:
		return false;
	default:
		return true;
	}
}

static bool is_array(const struct kwhy_whatif *whatif, uint32_t row, enum kwhy_copy_kind kind)
{
	uint64_t bytes = whatif->recording->activities.bytes[row];

	return bytes >= ROUND_TRIP_BYTES && bytes != KWHY_UNKNOWN_BYTES &&
		kwhy_whatif_is_copy(whatif, row, kind);
}

static void collect_copies(struct round_trips *round_trips)
{
	const struct kwhy_whatif *whatif = round_trips->whatif;
	const struct kwhy_activities *rows = &whatif->recording->activities;
	uint32_t computed = 0;

	for (uint32_t d = 0; d < whatif->recording->device_count; d++, computed++)
		for (size_t i = rows->first[d]; i < rows->first[d + 1]; i++) {
			uint32_t row = (uint32_t)i;

			computed += computes(whatif, row) && !kwhy_whatif_row_is_dropped(whatif, row);
			if (is_array(whatif, row, KWHY_COPY_D2H) || is_array(whatif, row, KWHY_COPY_H2D))
				round_trips->copies[round_trips->count++] = (struct passage){row, computed};
		}
}

static int by_work_and_bytes(const void *context, uint32_t a, uint32_t b)
{
	const struct round_trips *round_trips = context;
	const uint64_t *bytes = round_trips->whatif->recording->activities.bytes;
	const struct passage *left = &round_trips->copies[a], *right = &round_trips->copies[b];

	if (left->computed != right->computed)
		return left->computed < right->computed ? -1 : 1;
	return kwhy_sort_by((int64_t)bytes[left->row], (int64_t)bytes[right->row]);
}

/*
 * Removes round trips among `copies`, which are of one device and size with no computation between them:
 * pairs of a copy to the host and a later one to the device. Each copy to the device is paired with the
 * oldest copy to the host that has no partner yet.
 */
static void drop_pairs(struct round_trips *round_trips, struct passage *copies, size_t count)
{
	/*
	 * copies[oldest] to copies[held - 1]: copies to the host that are not yet paired with a copy to the
	 * device
	 */
	size_t oldest = 0, held = 0;

	for (size_t i = 0; i < count; i++) {
		if (kwhy_whatif_is_copy(round_trips->whatif, copies[i].row, KWHY_COPY_D2H)) {
			copies[held++] = copies[i];
			continue;
		}
		if (oldest == held)
			continue;
		kwhy_whatif_drop_row(round_trips->whatif, copies[oldest++].row);
		kwhy_whatif_drop_row(round_trips->whatif, copies[i].row);
	}
	round_trips->pairs += oldest;
	if (oldest && round_trips->whatif->recording->activities.bytes[copies[0].row] > round_trips->bytes)
		round_trips->bytes = round_trips->whatif->recording->activities.bytes[copies[0].row];
}

static enum kwhy_status drop_round_trips(struct round_trips *round_trips, struct kwhy_error *error)
{
	uint32_t *order;
	enum kwhy_status status;

	collect_copies(round_trips);
	status = kwhy_sort_order(round_trips->count, by_work_and_bytes, round_trips, &order, error);
	if (!status)
		status = kwhy_sort_apply((void **)&round_trips->copies, sizeof(*round_trips->copies),
			round_trips->count, order, error);
	free(order);
	for (size_t begin = 0, end; !status && begin < round_trips->count; begin = end) {
		for (end = begin + 1; end < round_trips->count &&
			by_work_and_bytes(round_trips, (uint32_t)begin, (uint32_t)end) == 0;
			end++)
			;
		drop_pairs(round_trips, &round_trips->copies[begin], end - begin);
	}
	return status;
}

/*
 * Removes the copies to the host after the last computation of a device, except the last `number` of them.
 * Copies below ROUND_TRIP_BYTES are neither removed nor counted. Returns how many were removed.
 */
static uint64_t drop_last_read_backs(struct kwhy_whatif *whatif, uint32_t device, uint32_t number)
{
	const struct kwhy_activities *rows = &whatif->recording->activities;
	uint64_t count = 0;

	for (size_t i = rows->first[device + 1]; i-- > rows->first[device];) {
		uint32_t row = (uint32_t)i;

		if (computes(whatif, row) && !kwhy_whatif_row_is_dropped(whatif, row))
			break;
		if (is_array(whatif, row, KWHY_COPY_D2H) && ++count > number)
			kwhy_whatif_drop_row(whatif, row);
	}
	return count > number ? count - number : 0;
}

/*
 * Sets the length of the remaining copies of one kind and size, for the bounds of the saving: if few of many
 * copies remain, they may be the fastest or the slowest ones. The remaining copies get the 10 % quantile of
 * the recorded lengths for the upper bound of the saving, and the 90 % quantile for the lower bound.
 */
static void spread_kept(struct kwhy_whatif *whatif, enum kwhy_copy_kind kind, uint64_t bytes)
{
	const struct kwhy_activities *rows = &whatif->recording->activities;
	double share = whatif->corner == KWHY_CORNER_FAST ? 0.1 : 0.9;
	struct kwhy_whatif_samples samples = {.count = 0};
	int64_t length_ns;

	for (size_t i = 0; i < rows->count; i++)
		if (rows->kind[i] == KWHY_ACTIVITY_COPY && rows->copy_kind[i] == kind &&
			rows->bytes[i] == bytes)
			kwhy_whatif_sample(&samples, rows->end_ns[i] - rows->start_ns[i]);
	length_ns = kwhy_whatif_quantile(&samples, share);
	for (uint32_t i = 0; i < rows->count; i++)
		if (kwhy_whatif_is_copy(whatif, i, kind) && rows->bytes[i] == bytes)
			kwhy_whatif_resize_row(whatif, i, (double)length_ns);
}

void kwhy_whatif_keep_on_device(
	struct kwhy_whatif *whatif, uint32_t number, struct kwhy_whatif_effect *effect)
{
	struct round_trips round_trips = {.whatif = whatif};
	struct kwhy_error error;
	uint64_t unneeded = 0;
	char last[96] = "";

	round_trips.copies = malloc((whatif->recording->activities.count + 1) * sizeof(*round_trips.copies));
	whatif->out_of_memory |= !round_trips.copies || drop_round_trips(&round_trips, &error);
	free(round_trips.copies);
	for (uint32_t d = 0; number && d < whatif->recording->device_count; d++)
		unneeded += drop_last_read_backs(whatif, d, number);
	if (!round_trips.pairs) {
		kwhy_whatif_refuse(effect,
			"nothing is read back and copied to the device again before the device computes");
		return;
	}
	kwhy_whatif_drop_idle_waits(whatif);
	if (whatif->corner != KWHY_CORNER_EXPECTED) {
		spread_kept(whatif, KWHY_COPY_H2D, round_trips.bytes);
		spread_kept(whatif, KWHY_COPY_D2H, round_trips.bytes);
	}
	effect->places = round_trips.pairs;
	if (unneeded)
		snprintf(last, sizeof(last), "; %s last read-backs go as not needed",
			KWHY_WHATIF_COUNT(unneeded));
	kwhy_whatif_say(effect,
		"%s read-backs that are copied to the device again go with that copy, if the host only "
		"passes them on%s",
		KWHY_WHATIF_COUNT(round_trips.pairs), last);
}

/* A batch: consecutive copies to the device in a stream, with other work before and after them. */
struct batch {
	uint32_t before; /* last other activity of the stream before the copies; KWHY_NONE: none */
	uint32_t issue;	 /* node of the call that issued the first copy; KWHY_NONE: unknown call */
};

struct overlap {
	struct kwhy_whatif *whatif;
	uint32_t buffers;
	struct batch *batches; /* [activity_count] batches of the stream that is being changed, so far */
	size_t count;
	/*
	 * last_copy: last copy to the device so far in the stream that is being changed; last_work: last
	 * activity so far of that stream that is no copy to the device.
	 */
	uint32_t last_copy, last_work;
	bool in_batch;
	uint64_t moved, blocked;
};

static struct kwhy_whatif_node *edit(struct kwhy_whatif *whatif, uint32_t row)
{
	struct kwhy_whatif_node *node = kwhy_whatif_edit(whatif->graph, row);

	whatif->out_of_memory |= !node;
	return node;
}

static void queue_after(struct kwhy_whatif *whatif, uint32_t row, enum kwhy_whatif_link link, uint32_t from)
{
	kwhy_whatif_follow(
		whatif->graph, row, link, from, kwhy_whatif_queued_at_corner_ns(whatif, from, row));
}

static void open_batch(struct overlap *overlap, uint32_t row)
{
	if (overlap->in_batch)
		return;
	overlap->in_batch = true;
	overlap->batches[overlap->count++] = (struct batch){
		overlap->last_work, overlap->whatif->graph->nodes[row].from[KWHY_LINK_ISSUE]};
}

/*
 * Moves a copy to the device earlier. It then follows the previous copy to the device of its stream, instead
 * of the work between them; and the last work that used its buffer, which is the work before the batch that
 * is `buffers` - 1 batches earlier. It is issued with the first copy of that batch.
 */
static void move_copy(struct overlap *overlap, uint32_t row)
{
	struct kwhy_whatif_node *node = edit(overlap->whatif, row);
	size_t batch = overlap->count - 1, ahead = overlap->buffers - 1;

	if (!node)
		return;
	if (overlap->last_copy != KWHY_NONE)
		queue_after(overlap->whatif, row, KWHY_LINK_ORDER, overlap->last_copy);
	if (batch >= ahead) {
		const struct batch *used = &overlap->batches[batch - ahead];

		if (used->before != KWHY_NONE && node->from[KWHY_LINK_CROSS] == KWHY_NONE)
			queue_after(overlap->whatif, row, KWHY_LINK_CROSS, used->before);
		if (used->issue != KWHY_NONE && node->from[KWHY_LINK_ISSUE] != KWHY_NONE)
			kwhy_whatif_follow(overlap->whatif->graph, row, KWHY_LINK_ISSUE, used->issue,
				kwhy_whatif_issue_ns(overlap->whatif->graph, row));
	}
	overlap->moved++;
}

/*
 * Makes the first other activity after a batch follow the previous other activity of its stream in addition
 * to the copy before it, whose data it needs.
 */
static void move_work(struct overlap *overlap, uint32_t row)
{
	struct kwhy_whatif_node *node;

	if (!overlap->in_batch || overlap->last_work == KWHY_NONE)
		return;
	node = edit(overlap->whatif, row);
	if (node && node->from[KWHY_LINK_CROSS] == KWHY_NONE)
		queue_after(overlap->whatif, row, KWHY_LINK_CROSS, overlap->last_work);
	else if (node)
		queue_after(overlap->whatif, row, KWHY_LINK_ORDER, overlap->last_work);
}

static bool is_blocking(const struct kwhy_whatif *whatif, uint32_t row)
{
	uint32_t call = kwhy_whatif_call_of(whatif, row);

	return call != KWHY_NONE &&
		whatif->graph->nodes[kwhy_whatif_call_node(whatif->graph, call)].from[KWHY_LINK_JOIN] == row;
}

static void overlap_row(struct overlap *overlap, uint32_t row)
{
	bool copy = kwhy_whatif_is_copy(overlap->whatif, row, KWHY_COPY_H2D);

	if (copy && is_blocking(overlap->whatif, row)) {
		overlap->blocked++;
		copy = false;
	}
	if (copy) {
		open_batch(overlap, row);
		move_copy(overlap, row);
		overlap->last_copy = row;
		return;
	}
	move_work(overlap, row);
	overlap->last_work = row;
	overlap->in_batch = false;
}

static void overlap_stream(struct overlap *overlap, uint32_t first_row)
{
	overlap->count = 0;
	overlap->last_copy = overlap->last_work = KWHY_NONE;
	overlap->in_batch = false;
	for (uint32_t row = first_row; row != KWHY_NONE; row = overlap->whatif->next[row]) {
		kwhy_whatif_fetch_copies_ahead(
			overlap->whatif, row, overlap->whatif->recording->activities.count);
		if (!kwhy_whatif_row_is_dropped(overlap->whatif, row))
			overlap_row(overlap, row);
	}
}

void kwhy_whatif_overlap_copies(
	struct kwhy_whatif *whatif, uint32_t number, struct kwhy_whatif_effect *effect)
{
	const struct kwhy_recording *recording = whatif->recording;
	struct overlap overlap = {.whatif = whatif, .buffers = number};

	overlap.batches = malloc((recording->activities.count + 1) * sizeof(*overlap.batches));
	if (!overlap.batches) {
		whatif->out_of_memory = true;
		return;
	}
	for (uint32_t s = 0; s < recording->stream_count; s++)
		overlap_stream(&overlap, whatif->first_of_stream[s]);
	free(overlap.batches);
	effect->places = overlap.moved;
	if (overlap.moved)
		kwhy_whatif_say(effect,
			"%s copies to the device in a stream of their own, into %u buffers round-robin, each "
			"issued %u batch%s ahead: the host has the data by then",
			KWHY_WHATIF_COUNT(overlap.moved), number, number - 1, number == 2 ? "" : "es");
	else if (overlap.blocked)
		kwhy_whatif_refuse(
			effect, "the copies to the device block their thread: pin them first (--pinned)");
	else
		kwhy_whatif_refuse(effect, "nothing is copied to a device");
}
