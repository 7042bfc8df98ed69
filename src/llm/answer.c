/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/answer.h"

#include "llm/event_json.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *words;
} outcomes[] = {
	[KWHY_LLM_DONE] = {"done", "answered in full"},
	[KWHY_LLM_REFUSED] = {"refused", "no connection"},
	[KWHY_LLM_STATUS] = {"status", "an HTTP status of 400 or above"},
	[KWHY_LLM_STALLED] = {"stalled", "nothing came for longer than --stall"},
	[KWHY_LLM_BROKEN] = {"broken", "the stream ended before the answer did"},
	[KWHY_LLM_MALFORMED] = {"malformed", "what came is not a stream of JSON events"},
	[KWHY_LLM_REPORTED] = {"reported", "the server reported an error inside the stream"},
	[KWHY_LLM_CUT] = {"cut", "not over when the load had long ended"},
};

const char *kwhy_llm_outcome_name(enum kwhy_llm_outcome outcome)
{
	return outcomes[outcome].name;
}

const char *kwhy_llm_outcome_words(enum kwhy_llm_outcome outcome)
{
	return outcomes[outcome].words;
}

void kwhy_llm_answer_init(struct kwhy_llm_answer *answer)
{
	*answer = (struct kwhy_llm_answer){.prompt_tokens = -1, .completion_tokens = -1};
}

void kwhy_llm_answer_done(struct kwhy_llm_answer *answer)
{
	kwhy_llm_stream_done(&answer->stream);
	free(answer->chunk_ns);
	*answer = (struct kwhy_llm_answer){0};
}

static void add_chunk(struct kwhy_llm_answer *answer)
{
	if (answer->chunk_count == answer->chunk_capacity) {
		size_t capacity = answer->chunk_capacity ? 2 * answer->chunk_capacity : 64;
		int64_t *grown = realloc(answer->chunk_ns, capacity * sizeof(*grown));

		if (!grown) {
			answer->no_memory = true;
			return;
		}
		answer->chunk_ns = grown;
		answer->chunk_capacity = capacity;
	}
	answer->chunk_ns[answer->chunk_count++] = answer->now_ns;
	if (answer->chunk_count == KWHY_LLM_CHUNKS_MAX)
		answer->malformed = true;
}

static bool has_text(const json_t *object, const char *key)
{
	return json_string_length(json_object_get(object, key)) > 0;
}

/* between successive pieces of text of a request; one distribution over all requests */
static void take_choice(struct kwhy_llm_answer *answer, const json_t *choice)
{
	const json_t *delta = json_object_get(choice, "delta");

	if (has_text(choice, "text") || has_text(delta, "content") || has_text(delta, "reasoning_content") ||
		has_text(delta, "reasoning"))
		add_chunk(answer);
	if (json_is_string(json_object_get(choice, "finish_reason")))
		answer->finished = true;
}

static void take_count(const json_t *usage, const char *key, int64_t *out)
{
	const json_t *count = json_object_get(usage, key);

	if (json_is_integer(count) && json_integer_value(count) >= 0)
		*out = json_integer_value(count);
}

static bool take_event(void *context, const char *data, size_t length)
{
	struct kwhy_llm_answer *answer = context;
	json_t *root;
	const json_t *error, *usage;

	if (answer->ended)
		return true;
	if (strcmp(data, "[DONE]") == 0) {
		answer->ended = true;
		return true;
	}
	root = kwhy_llm_event_json(data, length);
	answer->malformed = !json_is_object(root);
	error = json_object_get(root, "error");
	answer->reported = error && !json_is_null(error);
	usage = json_object_get(root, "usage");
	take_count(usage, "prompt_tokens", &answer->prompt_tokens);
	take_count(usage, "completion_tokens", &answer->completion_tokens);
	if (json_array_size(json_object_get(root, "choices")) > 0)
		take_choice(answer, json_array_get(json_object_get(root, "choices"), 0));
	json_decref(root);
	return !answer->malformed && !answer->reported && !answer->no_memory;
}

bool kwhy_llm_answer_feed(struct kwhy_llm_answer *answer, const char *bytes, size_t length, int64_t now_ns)
{
	enum kwhy_llm_fed fed;

	answer->now_ns = now_ns;
	fed = kwhy_llm_stream_feed(&answer->stream, bytes, length, take_event, answer);
	answer->malformed |= fed == KWHY_LLM_FED_TOO_LONG;
	answer->no_memory |= fed == KWHY_LLM_FED_NO_MEMORY;
	return fed == KWHY_LLM_FED;
}

enum kwhy_llm_outcome kwhy_llm_answer_outcome(const struct kwhy_llm_answer *answer)
{
	if (answer->malformed)
		return KWHY_LLM_MALFORMED;
	if (answer->reported)
		return KWHY_LLM_REPORTED;
	return answer->ended || answer->finished ? KWHY_LLM_DONE : KWHY_LLM_BROKEN;
}
