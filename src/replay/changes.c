/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/changes.h"

#include "whatif/project.h"

#include <stdlib.h>
#include <string.h>

/*
 * To merge several pieces of work, a change first edits the piece that remains, which gets the time of all
 * pieces, and then drops the other pieces. The whatif graph's journal lists edited nodes in the order of the
 * edits, so each dropped row comes after the row into which it was merged.
 */

/* State of one change. */
struct merge {
	struct kwhy_replay_changes *changes;
	const struct kwhy_whatif *whatif;
	size_t from; /* index in the journal of the change's first edit */
	uint32_t number;
};

static bool is_changed(const struct merge *merge, uint32_t row)
{
	return merge->whatif->graph->nodes[row].flags & KWHY_NODE_CHANGED;
}

/*
 * Gets the next activity that the change edited (not a call), from entry *edit of the journal on, and moves
 * *edit past it; KWHY_NONE: there are no more rows.
 */
static uint32_t next_row(const struct merge *merge, size_t *edit)
{
	const struct kwhy_whatif_graph *graph = merge->whatif->graph;

	while (*edit < graph->journal_count) {
		uint32_t node = kwhy_whatif_edited(graph, (*edit)++);

		if (node < graph->activity_count)
			return node;
	}
	return KWHY_NONE;
}

typedef void merge_into(const struct merge *merge, uint32_t first, uint32_t row);

/*
 * Calls the function `into` for each row that the change dropped, with the row into which it was merged: the
 * last row that was changed and not dropped before it in the journal.
 */
static void each_merged(const struct merge *merge, merge_into *into)
{
	uint32_t first = KWHY_NONE, row;
	size_t edit = merge->from;

	while ((row = next_row(merge, &edit)) != KWHY_NONE) {
		if (!kwhy_whatif_is_dropped(merge->whatif->graph, row))
			first = is_changed(merge, row) ? row : KWHY_NONE;
		else if (first != KWHY_NONE)
			into(merge, first, row);
	}
}

static void pack(const struct merge *merge, uint32_t first, uint32_t row)
{
	uint64_t *bytes = merge->changes->bytes;

	merge->changes->became[first] = KWHY_REPLAY_PACKED;
	if (bytes[first] != KWHY_UNKNOWN_BYTES && bytes[row] != KWHY_UNKNOWN_BYTES)
		bytes[first] += bytes[row];
}

static uint32_t sum_of_blocks(uint64_t a, uint64_t b)
{
	uint64_t sum = a + b;

	return sum < KWHY_UNKNOWN_BLOCKS ? (uint32_t)sum : KWHY_UNKNOWN_BLOCKS - 1;
}

static void batch(const struct merge *merge, uint32_t first, uint32_t row)
{
	uint32_t *blocks = merge->changes->blocks;

	if (blocks[first] != KWHY_UNKNOWN_BLOCKS && blocks[row] != KWHY_UNKNOWN_BLOCKS)
		blocks[first] = sum_of_blocks(blocks[first], blocks[row]);
}

/*
 * Merges a row into a fused kernel, which gets the largest number of blocks of its parts. A part may be a
 * kernel, or a copy or fill within the device.
 */
static void fuse(const struct merge *merge, uint32_t first, uint32_t row)
{
	uint32_t *blocks = merge->changes->blocks;

	merge->changes->became[first] = KWHY_REPLAY_FUSED;
	if (blocks[row] != KWHY_UNKNOWN_BLOCKS &&
		(blocks[first] == KWHY_UNKNOWN_BLOCKS || blocks[row] > blocks[first]))
		blocks[first] = blocks[row];
}

/*
 * Multiplies bytes and blocks of the rows that remain: with a bigger batch, each of them does the work of
 * `number` steps of the program.
 */
static void grow(const struct merge *merge)
{
	struct kwhy_replay_changes *changes = merge->changes;
	size_t edit = merge->from;
	uint32_t row;

	while ((row = next_row(merge, &edit)) != KWHY_NONE) {
		if (kwhy_whatif_is_dropped(merge->whatif->graph, row) || !is_changed(merge, row))
			continue;
		if (changes->bytes[row] != KWHY_UNKNOWN_BYTES)
			changes->bytes[row] *= merge->number;
		if (changes->blocks[row] != KWHY_UNKNOWN_BLOCKS)
			changes->blocks[row] = sum_of_blocks(
				0, (uint64_t)changes->blocks[row] * merge->number);
	}
}

static void follow(const struct merge *merge, const char *id)
{
	static const struct {
		const char *id;
		merge_into *into;
	} merges[] = {{"pack-h2d", pack}, {"pack-d2h", pack}, {"batch", batch}, {"fuse", fuse}};

	for (size_t i = 0; i < sizeof(merges) / sizeof(*merges); i++)
		if (strcmp(id, merges[i].id) == 0)
			each_merged(merge, merges[i].into);
	if (strcmp(id, "bigger-batch") == 0)
		grow(merge);
	merge->changes->pinned |= strcmp(id, "pinned") == 0;
	merge->changes->captured |= strcmp(id, "graph") == 0;
}

static enum kwhy_status copy_columns(
	const struct kwhy_activities *rows, struct kwhy_replay_changes *out, struct kwhy_error *error)
{
	out->bytes = malloc((rows->count + 1) * sizeof(*out->bytes));
	out->blocks = malloc((rows->count + 1) * sizeof(*out->blocks));
	out->became = calloc(rows->count + 1, sizeof(*out->became));
	if (!out->bytes || !out->blocks || !out->became)
		return kwhy_fail_memory(error, "what changes do to the work");
	if (rows->count) {
		memcpy(out->bytes, rows->bytes, rows->count * sizeof(*out->bytes));
		memcpy(out->blocks, rows->blocks, rows->count * sizeof(*out->blocks));
	}
	return KWHY_OK;
}

enum kwhy_status kwhy_replay_change(struct kwhy_whatif *whatif,
	const struct kwhy_whatif_request *change_requests, size_t change_request_count,
	struct kwhy_replay_changes *out, struct kwhy_error *error)
{
	struct merge merge = {.changes = out, .whatif = whatif};
	enum kwhy_status status;

	*out = (struct kwhy_replay_changes){0};
	status = copy_columns(&whatif->recording->activities, out, error);
	kwhy_whatif_undo(whatif->graph, 0);
	if (!status)
		status = kwhy_whatif_play(whatif->graph, error);
	for (size_t i = 0; !status && i < change_request_count; i++) {
		struct kwhy_whatif_effect effect;

		merge.from = whatif->graph->journal_count;
		merge.number = change_requests[i].number;
		status = kwhy_whatif_make(whatif, &change_requests[i], &effect, error);
		if (!status && effect.places)
			follow(&merge, change_requests[i].change->id);
	}
	/*
	 * Also simulates after the last change: if that change was refused, the times in the graph are still
	 * those of the attempt to make it.
	 */
	if (!status)
		status = kwhy_whatif_play(whatif->graph, error);
	if (status)
		kwhy_replay_changes_done(out);
	return status;
}

void kwhy_replay_changes_done(struct kwhy_replay_changes *changes)
{
	free(changes->bytes);
	free(changes->blocks);
	free(changes->became);
	*changes = (struct kwhy_replay_changes){0};
}
