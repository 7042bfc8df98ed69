/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_PROMPT_H
#define KWHY_LLM_PROMPT_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kwhy_llm_endpoint { KWHY_LLM_CHAT, KWHY_LLM_COMPLETIONS };

/* What all requests of a load ask. Strings are borrowed. */
struct kwhy_llm_question {
	enum kwhy_llm_endpoint endpoint;
	const char *model;
	const char *const *prompts; /* prompts, used one after another; NULL: prompts are made up */
	size_t prompt_count;
	uint64_t words;	     /* number of words of a prompt that is made up */
	uint64_t max_tokens; /* limit of the answer's tokens */
	uint64_t seed;
	/* request answers of exactly max_tokens tokens, by an extension of vLLM and other servers */
	bool ignore_eos;
	/* request the usage with each piece of text (continuous_usage_stats), an extension as well */
	bool usage_each;
};

/*
 * Makes the JSON body of request number `number`. The caller frees it. Prompts that are made up begin with
 * different words, so that the server cannot use its prefix cache.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_body(
	const struct kwhy_llm_question *question, uint64_t number, char **out, struct kwhy_error *error);

#endif
