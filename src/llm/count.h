/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_COUNT_H
#define KWHY_LLM_COUNT_H

#include "llm/answer.h"
#include "llm/prompt.h"

/*
 * Counts, by the question's tokenizer if there is one, the tokens of an answer in full and of its prompt
 * which the server did not state. `body` is the request. Tokens of the server's template for a chat are not
 * included.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_count_missing(const struct kwhy_llm_question *question,
	const char *body, struct kwhy_llm_answer *answer, struct kwhy_error *error);

#endif
