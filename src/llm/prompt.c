/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/prompt.h"

#include "base/random.h"
#include "base/text.h"

#include <jansson.h>

/* Makes up a prompt of common words. Most tokenizers make about one token of each. */
static void make_up(const struct kwhy_llm_question *question, uint64_t number, struct kwhy_text *out)
{
	static const char *const words[] = {"river", "stone", "light", "garden", "window", "winter", "music",
		"paper", "mountain", "letter", "summer", "bridge", "market", "horse", "island", "story"};
	uint64_t state = question->seed ^ (number * UINT64_C(0xd1342543de82ef95));

	for (uint64_t i = 0; i < question->words; i++) {
		if (i)
			kwhy_text_add(out, " ");
		kwhy_text_add(out, words[kwhy_random_next(&state) % (sizeof(words) / sizeof(words[0]))]);
	}
}

static json_t *messages_of(const char *prompt)
{
	return json_pack("[{s:s, s:s}]", "role", "user", "content", prompt);
}

static char *write_body(const struct kwhy_llm_question *question, const char *prompt)
{
	json_t *root = json_pack("{s:s, s:I, s:b, s:{s:b}, s:i}", "model", question->model, "max_tokens",
		(json_int_t)question->max_tokens, "stream", 1, "stream_options", "include_usage", 1,
		"temperature", 0);
	json_t *stream = json_object_get(root, "stream_options");
	bool failed = !root;
	char *body = NULL;

	if (question->endpoint == KWHY_LLM_CHAT)
		failed |= json_object_set_new(root, "messages", messages_of(prompt)) != 0;
	else
		failed |= json_object_set_new(root, "prompt", json_string(prompt)) != 0;
	if (question->usage_each)
		failed |= json_object_set_new(stream, "continuous_usage_stats", json_true()) != 0;
	if (question->ignore_eos)
		failed |= json_object_set_new(root, "ignore_eos", json_true()) != 0;
	if (!failed)
		body = json_dumps(root, JSON_COMPACT);
	json_decref(root);
	return body;
}

enum kwhy_status kwhy_llm_body(
	const struct kwhy_llm_question *question, uint64_t number, char **out, struct kwhy_error *error)
{
	struct kwhy_text made = {0};
	enum kwhy_status status;

	if (!question->prompts)
		make_up(question, number, &made);
	status = kwhy_text_check(&made, error);
	if (status)
		return status;
	*out = write_body(question,
		question->prompts   ? question->prompts[number % question->prompt_count]
			: made.data ? made.data
				    : "");
	kwhy_text_done(&made);
	return *out ? KWHY_OK
		    : kwhy_fail(error, KWHY_E_INPUT,
			      "the model's name or prompt %llu is not UTF-8, or memory ran out",
			      (unsigned long long)number);
}
