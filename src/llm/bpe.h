/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_BPE_H
#define KWHY_LLM_BPE_H

#include "base/map.h"

#include <jansson.h>
#include <stdbool.h>

/*
 * The tokens of a word while they are merged: a doubly linked list of tokens (by index), and a min-heap of
 * adjacent pairs. The time for a word of n bytes is proportional to n log n.
 */
struct kwhy_bpe_scratch {
	uint32_t *numbers; /* ids of the tokens; this and the following arrays have `capacity` items */
	/*
	 * rank of the merge of each token with the next one in the list; UINT32_MAX: they may not be merged
	 */
	uint32_t *ranks;
	uint32_t *next, *previous;
	uint64_t *pairs; /* [3 * capacity] heap of rank << 32 | index of the left token */
	size_t capacity, pair_count;
};

/*
 * Byte-pair encoding. A word starts as a row of tokens, one for each byte or character. Of all adjacent pairs
 * that may be merged, the one with the lowest rank is merged first; of equal ranks, the leftmost. This goes
 * on until no pair may be merged. Zero-initialise, and set by_bytes before kwhy_bpe_read().
 */
struct kwhy_bpe {
	/*
	 * words start as one token for each byte, and the file writes each byte of a token as a character, as
	 * GPT-2's does; false: words start as characters
	 */
	bool by_bytes;
	bool whole_words;	/* a word that is a token as a whole becomes this token, without merges
				   (ignore_merges) */
	struct kwhy_map tokens; /* from the bytes of a token to its id */
	/* from id of the left token << 32 | id of the right one to the rank of their merge */
	struct kwhy_map ranks;
	uint32_t *merged; /* [merge_count] id of the token that each merge makes */
	size_t merge_count;
	uint32_t bytes[256]; /* [byte] id of the token that is this byte; valid if has_byte */
	bool has_byte[256], has_unknown;
	uint32_t unknown; /* id of the token for characters without a token; valid if has_unknown */
	/* several characters without a token in a row become one unknown token (fuse_unk) */
	bool fuses_unknown;
	struct kwhy_bpe_scratch scratch;
};

/* Reads the member "model" of a tokenizer.json. KWHY_E_INPUT: its vocabulary or merges are incomplete. */
KWHY_MUST_USE enum kwhy_status kwhy_bpe_read(
	struct kwhy_bpe *bpe, const json_t *model, const char *path, struct kwhy_error *error);
void kwhy_bpe_done(struct kwhy_bpe *bpe);

/*
 * Whether some token has `mark` after other text. If none has, a text can be split before each `mark` without
 * a change of its tokens.
 */
bool kwhy_bpe_crosses(const struct kwhy_bpe *bpe, const char *mark);

/* Passes the tokens of a word to `take`, one after another. */
KWHY_MUST_USE enum kwhy_status kwhy_bpe_word(struct kwhy_bpe *bpe, const char *word, size_t length,
	void (*take)(void *context, uint32_t number), void *context, struct kwhy_error *error);

#endif
