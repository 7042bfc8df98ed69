/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/answer.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct kwhy_llm_answer answer_in_pieces(const char *bytes, size_t size, size_t most)
{
	struct kwhy_llm_answer answer;
	bool goes_on = true;

	kwhy_llm_answer_init(&answer);
	for (size_t at = 0; at < size && goes_on; at += most)
		goes_on = kwhy_llm_answer_feed(&answer, bytes + at, size - at < most ? size - at : most, 7);
	return answer;
}

/*
 * Fuzzes the response stream of an LLM server. The result must not depend on the pieces in which the stream
 * arrives.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kwhy_llm_answer whole = answer_in_pieces((const char *)data, size, size ? size : 1);
	struct kwhy_llm_answer split = answer_in_pieces((const char *)data, size, 1);

	if (kwhy_llm_answer_outcome(&whole) != kwhy_llm_answer_outcome(&split) ||
		whole.piece_count != split.piece_count || whole.prompt_tokens != split.prompt_tokens ||
		whole.completion_tokens != split.completion_tokens)
		abort();
	kwhy_llm_answer_done(&whole);
	kwhy_llm_answer_done(&split);
	return 0;
}
