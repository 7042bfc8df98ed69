/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_PROMPT_H
#define KWHY_LLM_PROMPT_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kwhy_llm_endpoint { KWHY_LLM_CHAT, KWHY_LLM_COMPLETIONS };

/* The contents of all requests. Strings are borrowed. */
struct kwhy_llm_question {
	enum kwhy_llm_endpoint endpoint;
	const char *model;
	const char *const *prompts; /* used in turn; NULL: prompts are generated */
	size_t prompt_count;
	uint64_t words;	     /* words of a generated prompt */
	uint64_t max_tokens; /* token limit of the answer */
	uint64_t seed;
	bool ignore_eos; /* requests all max_tokens; an extension of vLLM and others */
};

/*
 * Makes the JSON body of request `number`; the caller frees it. Generated prompts begin with different words,
 * so that the server's prefix cache cannot be used.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_body(
	const struct kwhy_llm_question *question, uint64_t number, char **out, struct kwhy_error *error);

#endif
