/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_PACE_H
#define KWHY_LLM_PACE_H

#include "llm/run.h"

/*
 * How the tokens of an answer are distributed over its pieces of text:
 *
 * - stated: the server stated its usage with each piece, which gives the number of tokens in each;
 *
 * - by size: there are at least as many tokens as pieces. Each piece gets one token, and the other tokens
 *   are divided among the pieces in proportion to their bytes;
 *
 * - evenly: there are fewer tokens than pieces, so the server's count and the pieces contradict each other.
 *   Each piece gets the same fraction of the tokens;
 *
 * - pieces: the server stated no usage, so each piece counts as one token.
 */
enum kwhy_llm_pace_basis {
	KWHY_LLM_PACE_STATED,
	KWHY_LLM_PACE_BY_SIZE,
	KWHY_LLM_PACE_EVENLY,
	KWHY_LLM_PACE_PIECES
};

struct kwhy_llm_pace {
	const struct kwhy_llm_record *record; /* not owned */
	enum kwhy_llm_pace_basis basis;
	double tokens; /* tokens of the whole answer */
	double bytes;  /* bytes of the answer's text */
};

void kwhy_llm_pace_init(struct kwhy_llm_pace *pace, const struct kwhy_llm_record *record);

/*
 * Number of tokens of a piece, which may be a fraction. Tokens after the last piece, such as the one that
 * ends the text, count in the last piece, so that the pieces add up to the answer's tokens.
 */
double kwhy_llm_pace_of_piece(const struct kwhy_llm_pace *pace, size_t piece);

/*
 * Mean time per token in seconds, for tokens after the first piece: the time from the first piece to the last
 * piece, divided by the number of tokens in the pieces after the first piece. NAN: there are fewer than two
 * pieces.
 */
double kwhy_llm_pace_token_s(const struct kwhy_llm_pace *pace);

#endif
