/* SPDX-License-Identifier: Apache-2.0 */
#include "base/column.h"
#include "base/large.h"
#include "whatif/graph.h"

#include <stdlib.h>
#include <string.h>

/*
 * Journal of the edits of a graph, for undoing them. Since there are many edits, an entry holds only the old
 * values that an edit changed, followed by a bit mask of which values these are. Entries are thus read
 * backwards from their ends, the last one first. What an edit changed is known only when the next edit
 * begins; until then the journal keeps a copy of the whole node.
 */

enum {
	WORDS = 1 + KWHY_LINK_COUNT, /* number of times of a node: `own`, and one `lag` for each link */
	PIECE_BYTES = 1 << 20,
	ENTRY_MAX_BYTES = 48
};

/*
 * Positions of bits in the mask of an entry: of the first time, of the first link in `from`, and of `flags`.
 */
enum { MASK_WORD = 0, MASK_FROM = WORDS, MASK_FLAGS = MASK_FROM + KWHY_LINK_COUNT };

_Static_assert(MASK_FLAGS < 16, "a mask has 16 bits");
_Static_assert(4 * WORDS + 4 * KWHY_LINK_COUNT + 1 + 2 <= ENTRY_MAX_BYTES, "an entry is too long");

static int32_t *word_of(struct kwhy_whatif_node *node, size_t word)
{
	return word ? &node->lag[word - 1] : &node->own;
}

static void put(struct kwhy_whatif_piece *piece, const void *value, size_t bytes)
{
	memcpy(piece->bytes + piece->used, value, bytes);
	piece->used += bytes;
}

static void take(struct kwhy_whatif_piece *piece, void *value, size_t bytes)
{
	piece->used -= bytes;
	memcpy(value, piece->bytes + piece->used, bytes);
}

/* Appends an entry with those old values (`before`) of a node that differ from its values now. */
static void put_entry(
	struct kwhy_whatif_piece *piece, struct kwhy_whatif_node *before, struct kwhy_whatif_node *now)
{
	uint16_t mask = 0;

	for (size_t word = 0; word < WORDS; word++)
		if (*word_of(before, word) != *word_of(now, word)) {
			put(piece, word_of(before, word), sizeof(int32_t));
			mask |= (uint16_t)(1u << (MASK_WORD + word));
		}
	for (size_t link = 0; link < KWHY_LINK_COUNT; link++)
		if (before->from[link] != now->from[link]) {
			put(piece, &before->from[link], sizeof(before->from[link]));
			mask |= (uint16_t)(1u << (MASK_FROM + link));
		}
	if (before->flags != now->flags) {
		put(piece, &before->flags, sizeof(before->flags));
		mask |= 1u << MASK_FLAGS;
	}
	put(piece, &mask, sizeof(mask));
}

static void take_entry(struct kwhy_whatif_piece *piece, struct kwhy_whatif_node *node)
{
	uint16_t mask;

	take(piece, &mask, sizeof(mask));
	if (mask & 1u << MASK_FLAGS)
		take(piece, &node->flags, sizeof(node->flags));
	for (size_t link = KWHY_LINK_COUNT; link-- > 0;)
		if (mask & 1u << (MASK_FROM + link))
			take(piece, &node->from[link], sizeof(node->from[link]));
	for (size_t word = WORDS; word-- > 0;)
		if (mask & 1u << (MASK_WORD + word))
			take(piece, word_of(node, word), sizeof(int32_t));
}

/*
 * The last block that has entries, or a new one, with enough space for one more entry; NULL: out of memory.
 */
static struct kwhy_whatif_piece *piece_with_space(struct kwhy_whatif_journal *journal)
{
	struct kwhy_error error;

	if (journal->used && journal->pieces[journal->used - 1].used + ENTRY_MAX_BYTES <= PIECE_BYTES)
		return &journal->pieces[journal->used - 1];
	if (journal->used == journal->count) {
		uint8_t *bytes;

		if (kwhy_column_reserve((void **)&journal->pieces, &journal->capacity, journal->count + 1,
			    sizeof(*journal->pieces), "edits", &error))
			return NULL;
		bytes = kwhy_large(malloc(PIECE_BYTES), PIECE_BYTES);
		if (!bytes)
			return NULL;
		journal->pieces[journal->count++] = (struct kwhy_whatif_piece){.bytes = bytes};
	}
	return &journal->pieces[journal->used++];
}

/*
 * Writes the entry of the last edit, if it is pending. False: out of memory. After it, `pending` is out of
 * date until the caller begins the next edit.
 */
static bool settle(struct kwhy_whatif_graph *graph)
{
	struct kwhy_whatif_journal *journal = &graph->journal;
	struct kwhy_whatif_piece *piece;

	if (!journal->pending)
		return true;
	piece = piece_with_space(journal);
	if (!piece)
		return false;
	put_entry(piece, &journal->before, &graph->nodes[journal->edited[graph->journal_count - 1]]);
	return true;
}

struct kwhy_whatif_node *kwhy_whatif_edit(struct kwhy_whatif_graph *graph, uint32_t node)
{
	struct kwhy_whatif_journal *journal = &graph->journal;
	struct kwhy_error error;

	/*
	 * settle() comes last among the steps that can fail: a failure after it would leave `pending` wrong.
	 */
	if (kwhy_column_reserve((void **)&journal->edited, &journal->edited_capacity,
		    graph->journal_count + 1, sizeof(*journal->edited), "edits", &error) ||
		!settle(graph))
		return NULL;
	journal->edited[graph->journal_count++] = node;
	journal->before = graph->nodes[node];
	journal->pending = true;
	return &graph->nodes[node];
}

struct kwhy_whatif_node *kwhy_whatif_drop(struct kwhy_whatif_graph *graph, uint32_t node)
{
	struct kwhy_whatif_node *dropped = kwhy_whatif_edit(graph, node);

	if (!dropped)
		return NULL;
	dropped->flags |= KWHY_NODE_DROPPED;
	dropped->own = 0;
	graph->dropped[node] = KWHY_NODE_DROPPED;
	return dropped;
}

static void undo_last(struct kwhy_whatif_graph *graph)
{
	struct kwhy_whatif_journal *journal = &graph->journal;
	uint32_t at = journal->edited[--graph->journal_count];
	struct kwhy_whatif_node *node = &graph->nodes[at];

	if (journal->pending)
		*node = journal->before;
	else
		take_entry(&journal->pieces[journal->used - 1], node);
	journal->used -= journal->used && journal->pieces[journal->used - 1].used == 0;
	journal->pending = false;
	graph->dropped[at] = node->flags & KWHY_NODE_DROPPED;
}

void kwhy_whatif_undo(struct kwhy_whatif_graph *graph, size_t count)
{
	while (graph->journal_count > count) {
		if (graph->journal_count > KWHY_WHATIF_AHEAD)
			kwhy_whatif_fetch(
				graph, graph->journal.edited[graph->journal_count - KWHY_WHATIF_AHEAD - 1]);
		undo_last(graph);
	}
	if (graph->unordered > count)
		graph->unordered = 0;
	if (count == 0)
		graph->far_count = graph->far_recorded;
}

void kwhy_whatif_journal_done(struct kwhy_whatif_journal *journal)
{
	for (size_t i = 0; i < journal->count; i++)
		free(journal->pieces[i].bytes);
	free(journal->pieces);
	free(journal->edited);
}
