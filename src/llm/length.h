/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_LENGTH_H
#define KWHY_LLM_LENGTH_H

#include "base/random.h"
#include "base/status.h"

/* A distribution of lengths, in words or tokens. Drawn lengths are limited to 1 to 1,000,000. */
enum kwhy_llm_length_kind {
	KWHY_LLM_LENGTH_FIXED,	  /* always the length a */
	KWHY_LLM_LENGTH_UNIFORM,  /* uniform over the whole numbers from a to b */
	KWHY_LLM_LENGTH_NORMAL,	  /* normal with mean a and standard deviation b, rounded */
	KWHY_LLM_LENGTH_LOGNORMAL /* log-normal with median a, rounded; b is the standard deviation of the
				     logarithm */
};

struct kwhy_llm_length {
	enum kwhy_llm_length_kind kind;
	double a, b;
};

/*
 * Reads "128", "uniform:64,256", "normal:512,100" or "lognormal:512,0.5". KWHY_E_USAGE: the text is none of
 * these, or a number is out of range: lengths must be from 1 to 1,000,000, the standard deviation of a
 * logarithm from 0 to 5. `option` names the option in the message.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_length_read(
	const char *option, const char *text, struct kwhy_llm_length *out, struct kwhy_error *error);

uint64_t kwhy_llm_length_draw(const struct kwhy_llm_length *length, struct kwhy_random *random);

#endif
