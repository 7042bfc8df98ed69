/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_PROMPT_H
#define KWHY_LLM_PROMPT_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kwhy_llm_endpoint { KWHY_LLM_CHAT, KWHY_LLM_COMPLETIONS };

/* What every request asks for. Strings are borrowed. */
struct kwhy_llm_question {
	enum kwhy_llm_endpoint endpoint;
	const char *model;
	const char *const *prompts; /* taken in turn; NULL: made up */
	size_t prompt_count;
	uint64_t words;	     /* of a made-up one */
	uint64_t max_tokens; /* of the answer */
	uint64_t seed;
	bool ignore_eos; /* asks for max_tokens in full; an extension that vLLM and others know */
};

/* Pseudo-random numbers: splitmix64; the second is in (0, 1]. */
uint64_t kwhy_llm_random(uint64_t *state);
double kwhy_llm_random_share(uint64_t *state);

/*
 * The body of request `number`, JSON, which the caller frees. Made-up prompts start with different words, so
 * that no cache of prefixes answers for the model.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_body(
	const struct kwhy_llm_question *question, uint64_t number, char **out, struct kwhy_error *error);

#endif
