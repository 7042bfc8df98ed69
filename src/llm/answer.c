/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/answer.h"

#include "llm/event_json.h"

#include <stdlib.h>
#include <string.h>

#define WHOLE_BYTES_MAX ((size_t)16 << 20)

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
	[KWHY_LLM_EMPTY] = {"empty", "the stream ended without text and without a token"},
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
	*answer = (struct kwhy_llm_answer){.prompt_tokens = -1, .cached_tokens = -1, .completion_tokens = -1};
}

void kwhy_llm_answer_done(struct kwhy_llm_answer *answer)
{
	kwhy_llm_stream_done(&answer->stream);
	kwhy_text_done(&answer->body);
	kwhy_text_done(&answer->text);
	free(answer->pieces);
	*answer = (struct kwhy_llm_answer){0};
}

static void add_piece(struct kwhy_llm_answer *answer, size_t bytes, int64_t tokens)
{
	if (answer->piece_count == answer->piece_capacity) {
		size_t capacity = answer->piece_capacity ? 2 * answer->piece_capacity : 32;
		struct kwhy_llm_piece *grown = realloc(answer->pieces, capacity * sizeof(*grown));

		if (!grown) {
			answer->no_memory = true;
			return;
		}
		answer->pieces = grown;
		answer->piece_capacity = capacity;
	}
	answer->pieces[answer->piece_count++] = (struct kwhy_llm_piece){
		answer->now_ns, (uint32_t)bytes, tokens > 0 && tokens <= INT32_MAX ? (int32_t)tokens : -1};
	if (answer->piece_count == KWHY_LLM_PIECES_MAX)
		answer->malformed = true;
}

/*
 * Reads the text in the member `key` of an object, keeps it if keeps_text, and returns its length in bytes;
 * 0: there is none.
 */
static size_t take_text(struct kwhy_llm_answer *answer, const json_t *object, const char *key)
{
	const json_t *text = json_object_get(object, key);

	if (answer->keeps_text && json_is_string(text)) {
		kwhy_text_add_bytes(&answer->text, json_string_value(text), json_string_length(text));
		answer->malformed |= answer->text.length > WHOLE_BYTES_MAX;
	}
	return json_string_length(text);
}

/*
 * Reads the tool calls in a delta or message, whose names and arguments the model generates as text.
 * Returns the bytes of this text.
 */
static size_t take_tools(struct kwhy_llm_answer *answer, const json_t *delta)
{
	const json_t *calls = json_object_get(delta, "tool_calls");
	size_t bytes = 0;

	for (size_t i = 0; i < json_array_size(calls); i++) {
		const json_t *function = json_object_get(json_array_get(calls, i), "function");

		bytes += take_text(answer, function, "name");
		bytes += take_text(answer, function, "arguments");
	}
	return bytes;
}

static size_t take_delta(struct kwhy_llm_answer *answer, const json_t *delta)
{
	size_t bytes = take_text(answer, delta, "reasoning_content");

	/* some servers send the model's reasoning under both names; it counts once */
	if (!bytes)
		bytes = take_text(answer, delta, "reasoning");
	bytes += take_text(answer, delta, "content");
	bytes += take_text(answer, delta, "refusal");
	return bytes + take_tools(answer, delta);
}

/* Whether a finish_reason means that the server gave up on the answer. */
static bool is_failure(const char *reason)
{
	static const char *const failures[] = {"error", "abort", "aborted", "cancelled", "timeout"};

	for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++)
		if (strcmp(reason, failures[i]) == 0)
			return true;
	return false;
}

/*
 * Reads the text and the finish_reason of a choice, and adds a piece if it has text. `tokens`: number of the
 * answer's tokens so far, if the same event states it; -1: it does not.
 */
static void take_choice(struct kwhy_llm_answer *answer, const json_t *choice, int64_t tokens)
{
	const char *reason = json_string_value(json_object_get(choice, "finish_reason"));
	size_t bytes = take_text(answer, choice, "text");

	bytes += take_delta(answer, json_object_get(choice, "delta"));
	bytes += take_delta(answer, json_object_get(choice, "message"));
	answer->no_memory |= answer->text.failed;
	answer->has_text |= bytes > 0;
	if (bytes && !answer->whole)
		add_piece(answer, bytes, tokens);
	if (reason && is_failure(reason))
		answer->reported = true;
	else if (reason)
		answer->finished = true;
}

static int64_t count_of(const json_t *usage, const char *key)
{
	const json_t *count = json_object_get(usage, key);

	return json_is_integer(count) && json_integer_value(count) >= 0 &&
			json_integer_value(count) <= INT32_MAX
		? json_integer_value(count)
		: -1;
}

static void take_count(int64_t count, int64_t *out)
{
	if (count >= 0)
		*out = count;
}

/*
 * Reads the token counts of a member "usage", where stated, into the answer. Returns the number of the
 * answer's tokens so far; -1: not stated.
 */
static int64_t take_usage(struct kwhy_llm_answer *answer, const json_t *usage)
{
	int64_t tokens = count_of(usage, "completion_tokens");

	take_count(count_of(usage, "prompt_tokens"), &answer->prompt_tokens);
	take_count(count_of(json_object_get(usage, "prompt_tokens_details"), "cached_tokens"),
		&answer->cached_tokens);
	take_count(tokens, &answer->completion_tokens);
	return tokens;
}

/*
 * Whether an event reports an error: it has a member "error" (OpenAI, TGI, llama.cpp), its "object" is
 * "error" (vLLM before 0.10), or it has a status code and no "choices".
 */
static bool reports_error(const json_t *root)
{
	const json_t *error = json_object_get(root, "error");
	const char *object = json_string_value(json_object_get(root, "object"));

	if (error && !json_is_null(error))
		return true;
	if (object && strcmp(object, "error") == 0)
		return true;
	return !json_object_get(root, "choices") && json_integer_value(json_object_get(root, "code")) >= 400;
}

static bool take_event(void *context, const char *data, size_t length)
{
	struct kwhy_llm_answer *answer = context;
	const json_t *choices;
	json_t *root;
	int64_t tokens;

	if (answer->ended)
		return true;
	if (strcmp(data, "[DONE]") == 0) {
		answer->ended = true;
		return true;
	}
	root = kwhy_llm_event_json(data, length);
	answer->malformed = !json_is_object(root) && !answer->stream.is_error;
	answer->reported = answer->stream.is_error || reports_error(root);
	tokens = take_usage(answer, json_object_get(root, "usage"));
	choices = json_object_get(root, "choices");
	answer->last_event_ns = answer->now_ns;
	if (json_array_size(choices) > 0 && !answer->first_event_ns)
		answer->first_event_ns = answer->now_ns;
	if (json_array_size(choices) > 0)
		take_choice(answer, json_array_get(choices, 0), tokens);
	json_decref(root);
	return !answer->malformed && !answer->reported && !answer->no_memory;
}

bool kwhy_llm_answer_feed(struct kwhy_llm_answer *answer, const char *bytes, size_t length, int64_t now_ns)
{
	enum kwhy_llm_fed fed;

	if (answer->whole) {
		answer->malformed = answer->body.length + length > WHOLE_BYTES_MAX;
		kwhy_text_add_bytes(&answer->body, bytes, length);
		answer->no_memory = answer->body.failed;
		return !answer->malformed && !answer->no_memory;
	}
	answer->now_ns = now_ns;
	fed = kwhy_llm_stream_feed(&answer->stream, bytes, length, take_event, answer);
	answer->malformed |= fed == KWHY_LLM_FED_TOO_LONG;
	answer->no_memory |= fed == KWHY_LLM_FED_NO_MEMORY;
	return fed == KWHY_LLM_FED;
}

enum kwhy_llm_outcome kwhy_llm_answer_outcome(struct kwhy_llm_answer *answer)
{
	if (answer->whole && !answer->malformed) {
		(void)take_event(answer, answer->body.data ? answer->body.data : "", answer->body.length);
		answer->ended = true;
	}
	if (answer->malformed)
		return KWHY_LLM_MALFORMED;
	if (answer->reported)
		return KWHY_LLM_REPORTED;
	if (!answer->ended && !answer->finished)
		return KWHY_LLM_BROKEN;
	return answer->has_text || answer->completion_tokens > 0 ? KWHY_LLM_DONE : KWHY_LLM_EMPTY;
}
