/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_COUNT_H
#define KWHY_LLM_COUNT_H

#include "llm/answer.h"
#include "llm/prompt.h"

/*
 * If the question has a tokenizer, counts the tokens that the server did not state: those of the answer
 * (is_counted is then set) and those of its prompt. `body` is the JSON of the request. Tokens that the
 * server's chat template adds are not counted. A text that cannot be split into tokens stays without a count.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_count_missing(const struct kwhy_llm_question *question,
	const char *body, struct kwhy_llm_answer *answer, struct kwhy_error *error);

#endif
