/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_BPE_H
#define KWHY_LLM_BPE_H

#include "base/map.h"

#include <jansson.h>
#include <stdbool.h>

/*
 * The tokens of a word while they are merged: a doubly linked list of tokens and a heap of adjacent pairs, so
 * that the time for a word of n bytes is proportional to n log n.
 */
struct kwhy_bpe_scratch {
	uint32_t *numbers; /* ids of the tokens; this and the following arrays have `capacity` items */
	uint32_t *ranks;   /* rank of the merge of each token with the next one */
	uint32_t *next, *previous;
	uint64_t *pairs; /* [3 * capacity] heap: the rank, and in the lower 32 bits the place of the left
			    token */
	size_t capacity, pair_count;
};

/*
 * Byte-pair encoding. A word starts as a row of tokens, one for each byte or character. Of all adjacent
 * pairs that may be merged, the pair with the lowest rank is merged first; of equal ranks, the leftmost.
 * This goes on until no pair may be merged. Zero-initialise, and set by_bytes before reading.
 */
struct kwhy_bpe {
	bool by_bytes;		/* words start as bytes, and the file writes bytes in GPT-2's alphabet */
	bool whole_words;	/* a word that is a token as a whole becomes this token, without merges
				   (ignore_merges) */
	struct kwhy_map tokens; /* from the bytes of a token to its id */
	struct kwhy_map ranks;	/* from two ids to the rank of their merge */
	uint32_t *merged;	/* [merge_count] id of the token that each merge makes */
	size_t merge_count;
	uint32_t bytes[256]; /* [byte] id of the token that is this byte; valid if has_byte */
	bool has_byte[256], has_unknown;
	uint32_t unknown;   /* id of the token for characters without a token; valid if has_unknown */
	bool fuses_unknown; /* several such characters in a row are one token (fuse_unk) */
	struct kwhy_bpe_scratch scratch;
};

/* Reads the member "model" of a tokenizer.json. KWHY_E_INPUT: its vocabulary or merges are incomplete. */
KWHY_MUST_USE enum kwhy_status kwhy_bpe_read(
	struct kwhy_bpe *bpe, const json_t *model, const char *path, struct kwhy_error *error);
void kwhy_bpe_done(struct kwhy_bpe *bpe);

/*
 * Whether a token has `mark` after other text. If no token has, words can be split before `mark` without a
 * change of their tokens.
 */
bool kwhy_bpe_crosses(const struct kwhy_bpe *bpe, const char *mark);

/* Passes the tokens of a word to `take`, one after another. */
KWHY_MUST_USE enum kwhy_status kwhy_bpe_word(struct kwhy_bpe *bpe, const char *word, size_t length,
	void (*take)(void *context, uint32_t number), void *context, struct kwhy_error *error);

#endif
