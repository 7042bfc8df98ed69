/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/changes.h"

#include "whatif/edits.h"
#include "whatif/parts.h"
#include "whatif/samples.h"

#include <stdio.h>
#include <stdlib.h>

/* Changes to where data stays and when it moves. */

enum { ROUND_TRIP_BYTES = 256 /* smaller copies are of one size by chance */ };

/* Read-backs since the device last computed: what they hold is on the device still. */
struct held {
	struct kwhy_whatif *whatif;
	uint32_t *rows; /* read-backs not yet copied back */
	size_t count;
	uint64_t pairs, bytes; /* of the largest */
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

/* The oldest read-back of that size and its copy back go. */
static void drop_round_trip(struct held *held, uint32_t back)
{
	const uint64_t *bytes = held->whatif->recording->activities.bytes;
	size_t at = 0;

	while (at < held->count && bytes[held->rows[at]] != bytes[back])
		at++;
	if (at == held->count)
		return;
	kwhy_whatif_drop_row(held->whatif, held->rows[at]);
	kwhy_whatif_drop_row(held->whatif, back);
	held->pairs++;
	held->bytes = bytes[back] > held->bytes ? bytes[back] : held->bytes;
	for (held->count--; at < held->count; at++)
		held->rows[at] = held->rows[at + 1];
}

enum { HELD_MAX = 64 };

static void keep_device(struct held *held, uint32_t device)
{
	const struct kwhy_activities *rows = &held->whatif->recording->activities;

	held->count = 0;
	for (size_t i = rows->first[device]; i < rows->first[device + 1]; i++) {
		uint32_t row = (uint32_t)i;

		kwhy_whatif_fetch_copies_ahead(held->whatif, i, rows->first[device + 1]);
		if (kwhy_whatif_row_is_dropped(held->whatif, row))
			continue;
		if (computes(held->whatif, row))
			held->count = 0;
		if (rows->bytes[row] < ROUND_TRIP_BYTES || rows->bytes[row] == KWHY_UNKNOWN_BYTES)
			continue;
		if (kwhy_whatif_is_copy(held->whatif, row, KWHY_COPY_D2H) && held->count < HELD_MAX)
			held->rows[held->count++] = row;
		else if (kwhy_whatif_is_copy(held->whatif, row, KWHY_COPY_H2D))
			drop_round_trip(held, row);
	}
}

/*
 * Of many copies few are left, and each is one draw of many: at the corners they take what the fastest and
 * the slowest tenth of that size did.
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
	uint32_t rows[HELD_MAX];
	struct held held = {.whatif = whatif, .rows = rows};
	uint64_t unneeded = 0;
	char last[96] = "";

	for (uint32_t d = 0; d < whatif->recording->device_count; d++) {
		keep_device(&held, d);
		for (size_t i = 0; number && i + number < held.count; i++, unneeded++)
			kwhy_whatif_drop_row(whatif, held.rows[i]);
	}
	if (!held.pairs) {
		kwhy_whatif_refuse(effect,
			"nothing is read back and copied to the device again before the "
			"device computes");
		return;
	}
	kwhy_whatif_drop_idle_waits(whatif);
	if (whatif->corner != KWHY_CORNER_EXPECTED) {
		spread_kept(whatif, KWHY_COPY_H2D, held.bytes);
		spread_kept(whatif, KWHY_COPY_D2H, held.bytes);
	}
	effect->places = held.pairs;
	if (unneeded)
		snprintf(last, sizeof(last), "; %s last read-backs go as not needed",
			KWHY_WHATIF_COUNT(unneeded));
	kwhy_whatif_say(effect,
		"%s read-backs that are copied to the device again go with that copy, if the host only "
		"passes them on%s",
		KWHY_WHATIF_COUNT(held.pairs), last);
}

/* Copies to the device between two pieces of work of a stream. */
struct batch {
	uint32_t before; /* last work before them; KWHY_NONE: none */
	uint32_t issue;	 /* node of the call that issued the first; KWHY_NONE */
};

struct overlap {
	struct kwhy_whatif *whatif;
	uint32_t buffers;
	struct batch *batches; /* [rows] of the stream that is walked */
	size_t count;
	uint32_t last_copy, last_work; /* of the stream */
	bool in_batch;
	uint64_t moved, blocked;
};

static struct kwhy_whatif_node *edit(struct kwhy_whatif *whatif, uint32_t row)
{
	struct kwhy_whatif_node *node = kwhy_whatif_edit(whatif->graph, row);

	whatif->out_of_memory |= !node;
	return node;
}

static void queue_behind(struct kwhy_whatif *whatif, uint32_t row, enum kwhy_whatif_link link, uint32_t from)
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

/* Behind the copy before it alone, and behind the work that used its buffer last. */
static void move_copy(struct overlap *overlap, uint32_t row)
{
	struct kwhy_whatif_node *node = edit(overlap->whatif, row);
	size_t batch = overlap->count - 1, ahead = overlap->buffers - 1;

	if (!node)
		return;
	if (overlap->last_copy != KWHY_NONE)
		queue_behind(overlap->whatif, row, KWHY_LINK_ORDER, overlap->last_copy);
	if (batch >= ahead) {
		const struct batch *used = &overlap->batches[batch - ahead];

		if (used->before != KWHY_NONE && node->from[KWHY_LINK_CROSS] == KWHY_NONE)
			queue_behind(overlap->whatif, row, KWHY_LINK_CROSS, used->before);
		if (used->issue != KWHY_NONE && node->from[KWHY_LINK_ISSUE] != KWHY_NONE)
			kwhy_whatif_follow(overlap->whatif->graph, row, KWHY_LINK_ISSUE, used->issue,
				kwhy_whatif_issue_ns(overlap->whatif->graph, row));
	}
	overlap->moved++;
}

/* Work follows the work before it, and the copy that it needs. */
static void move_work(struct overlap *overlap, uint32_t row)
{
	struct kwhy_whatif_node *node;

	if (!overlap->in_batch || overlap->last_work == KWHY_NONE)
		return;
	node = edit(overlap->whatif, row);
	if (node && node->from[KWHY_LINK_CROSS] == KWHY_NONE)
		queue_behind(overlap->whatif, row, KWHY_LINK_CROSS, overlap->last_work);
	else if (node)
		queue_behind(overlap->whatif, row, KWHY_LINK_ORDER, overlap->last_work);
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
			"%s copies to the device in a stream of their own, into %u buffers in turn, each "
			"issued "
			"%u batch%s ahead: the host has the data by then",
			KWHY_WHATIF_COUNT(overlap.moved), number, number - 1, number == 2 ? "" : "es");
	else if (overlap.blocked)
		kwhy_whatif_refuse(effect,
			"the copies to the device block their thread: pin them first "
			"(--pinned)");
	else
		kwhy_whatif_refuse(effect, "nothing is copied to a device");
}
