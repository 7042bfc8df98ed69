/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_PACE_H
#define KWHY_LLM_PACE_H

#include "llm/run.h"

/*
 * How the tokens of an answer are distributed over its pieces of text:
 *
 * - stated: the server stated its usage with each piece, which gives the tokens of each;
 * - by size: there are at least as many tokens as pieces. Each piece has one token, and the other tokens are
 *   divided among the pieces by their bytes;
 * - evenly: there are fewer tokens than pieces, so counts and text do not agree;
 * - pieces: the server did not state its usage, so each piece counts as one token.
 */
enum kwhy_llm_pace_basis {
	KWHY_LLM_PACE_STATED,
	KWHY_LLM_PACE_BY_SIZE,
	KWHY_LLM_PACE_EVENLY,
	KWHY_LLM_PACE_PIECES
};

struct kwhy_llm_pace {
	const struct kwhy_llm_record *record; /* borrowed */
	enum kwhy_llm_pace_basis basis;
	double tokens; /* tokens of the whole answer */
	double bytes;  /* bytes of its text */
};

void kwhy_llm_pace_init(struct kwhy_llm_pace *pace, const struct kwhy_llm_record *record);

/*
 * Tokens of a piece. Tokens that come after the last piece, such as the one that ends the text, belong to the
 * last piece, so the pieces add up to the answer's tokens.
 */
double kwhy_llm_pace_of_piece(const struct kwhy_llm_pace *pace, size_t piece);

/*
 * Mean time in seconds of a token that came with the second piece or later: from the first piece to the last,
 * divided by the tokens of the pieces after the first. NAN: there are less than two pieces.
 */
double kwhy_llm_pace_token_s(const struct kwhy_llm_pace *pace);

#endif
