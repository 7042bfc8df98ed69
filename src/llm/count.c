/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/count.h"

#include <jansson.h>

/* Counts the tokens of a request's messages or of its prompt, from the JSON of the request. */
static enum kwhy_status count_prompt(
	struct kwhy_llm_tokenizer *tokenizer, const char *body, size_t *out, struct kwhy_error *error)
{
	json_t *root = json_loads(body, 0, NULL);
	const json_t *messages = json_object_get(root, "messages"), *prompt = json_object_get(root, "prompt");
	size_t count = json_is_string(prompt) ? 1 : json_array_size(messages);
	enum kwhy_status status = root ? KWHY_OK : kwhy_fail_memory(error, "a request");

	*out = 0;
	for (size_t i = 0; !status && i < count; i++) {
		const json_t *text = json_is_string(prompt)
			? prompt
			: json_object_get(json_array_get(messages, i), "content");
		size_t tokens;

		status = kwhy_llm_count_tokens(
			tokenizer, json_string_value(text), json_string_length(text), &tokens, error);
		if (!status)
			*out += tokens;
	}
	json_decref(root);
	return status;
}

enum kwhy_status kwhy_llm_count_missing(const struct kwhy_llm_question *question, const char *body,
	struct kwhy_llm_answer *answer, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	size_t tokens;

	if (!question->tokenizer)
		return KWHY_OK;
	if (answer->completion_tokens <= 0 && answer->has_text) {
		status = kwhy_llm_count_tokens(
			question->tokenizer, answer->text.data, answer->text.length, &tokens, error);
		if (!status) {
			answer->completion_tokens = (int64_t)tokens;
			answer->is_counted = true;
		}
	}
	if (!status && answer->prompt_tokens < 0) {
		status = count_prompt(question->tokenizer, body, &tokens, error);
		if (!status)
			answer->prompt_tokens = (int64_t)tokens;
	}
	/* a text that the tokenizer's regular expression cannot split (KWHY_E_INPUT) stays without a count */
	return status == KWHY_E_INPUT ? KWHY_OK : status;
}
