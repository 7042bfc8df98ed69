/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/dialog.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH_MAX 1000000

struct reader {
	const char *path;
	size_t number; /* number of the line or array element, from 1 */
	struct kwhy_llm_dialogs *out;
	struct kwhy_error *error;
};

void kwhy_llm_dialogs_done(struct kwhy_llm_dialogs *dialogs)
{
	kwhy_arena_done(&dialogs->arena);
	free(dialogs->items);
	*dialogs = (struct kwhy_llm_dialogs){0};
}

static enum kwhy_status no_memory(const struct reader *reader)
{
	return kwhy_fail_memory(reader->error, "the prompts");
}

static enum kwhy_status wrong(const struct reader *reader, const char *words)
{
	return kwhy_fail(
		reader->error, KWHY_E_INPUT, "%s, entry %zu: %s", reader->path, reader->number, words);
}

static enum kwhy_status add(struct reader *reader, const struct kwhy_llm_dialog *dialog)
{
	struct kwhy_llm_dialogs *out = reader->out;

	if (out->count == out->capacity) {
		size_t capacity = out->capacity ? 2 * out->capacity : 256;
		struct kwhy_llm_dialog *grown = realloc(out->items, capacity * sizeof(*grown));

		if (!grown)
			return no_memory(reader);
		out->items = grown;
		out->capacity = capacity;
	}
	out->items[out->count++] = *dialog;
	return KWHY_OK;
}

/* Makes an empty dialog with memory for `most` messages. */
static enum kwhy_status begin(struct reader *reader, struct kwhy_llm_dialog *dialog, size_t most)
{
	*dialog = (struct kwhy_llm_dialog){.at_s = NAN};
	dialog->messages = kwhy_arena_alloc(&reader->out->arena, most, sizeof(*dialog->messages));
	return dialog->messages ? KWHY_OK : no_memory(reader);
}

static enum kwhy_status add_message(
	struct reader *reader, struct kwhy_llm_dialog *dialog, enum kwhy_llm_role role, const char *text)
{
	const char *copy = kwhy_arena_copy(&reader->out->arena, text);

	if (!copy)
		return no_memory(reader);
	dialog->messages[dialog->message_count++] = (struct kwhy_llm_message){role, copy};
	dialog->turns += role == KWHY_LLM_USER;
	return KWHY_OK;
}

/*
 * Drops the messages after the last message of the user, since the answer to that is what the server is to
 * generate.
 */
static void end_with_user(struct kwhy_llm_dialog *dialog)
{
	while (dialog->message_count && dialog->messages[dialog->message_count - 1].role != KWHY_LLM_USER)
		dialog->message_count--;
}

static enum kwhy_status read_lines(struct reader *reader, char *text)
{
	enum kwhy_status status = KWHY_OK;

	for (char *rest = text, *line; !status && (line = strtok_r(rest, "\n", &rest));) {
		struct kwhy_llm_dialog dialog;

		reader->number++;
		if (line[strlen(line) - 1] ==
			'\r') /* the line is not empty, as strtok_r() skips empty lines */
			line[strlen(line) - 1] = '\0';
		if (!*line)
			continue;
		status = begin(reader, &dialog, 1);
		if (!status)
			status = add_message(reader, &dialog, KWHY_LLM_USER, line);
		if (!status)
			status = add(reader, &dialog);
	}
	return status;
}

/* --- JSON --- */

static bool role_of(const char *name, enum kwhy_llm_role *out)
{
	static const struct {
		const char *name;
		enum kwhy_llm_role role;
	} roles[] = {{"user", KWHY_LLM_USER}, {"human", KWHY_LLM_USER}, {"assistant", KWHY_LLM_ASSISTANT},
		{"gpt", KWHY_LLM_ASSISTANT}, {"chatgpt", KWHY_LLM_ASSISTANT}, {"bing", KWHY_LLM_ASSISTANT},
		{"bard", KWHY_LLM_ASSISTANT}, {"system", KWHY_LLM_SYSTEM}};

	for (size_t i = 0; name && i < sizeof(roles) / sizeof(roles[0]); i++)
		if (strcmp(roles[i].name, name) == 0) {
			*out = roles[i].role;
			return true;
		}
	return false;
}

/*
 * Reads an array of messages. `role_key` and `text_key` are the names of the members with a message's role
 * and text, which differ between OpenAI's form and ShareGPT's.
 */
static enum kwhy_status read_messages(struct reader *reader, const json_t *messages, const char *role_key,
	const char *text_key, struct kwhy_llm_dialog *dialog)
{
	size_t count = json_array_size(messages);
	enum kwhy_status status = begin(reader, dialog, count + 1);

	for (size_t i = 0; !status && i < count; i++) {
		const json_t *message = json_array_get(messages, i);
		const char *text = json_string_value(json_object_get(message, text_key));
		enum kwhy_llm_role role;

		if (!text || !role_of(json_string_value(json_object_get(message, role_key)), &role))
			return wrong(reader,
				"a message lacks its text, or its role is not user, assistant or system");
		status = add_message(reader, dialog, role, text);
	}
	end_with_user(dialog);
	return status;
}

static int64_t whole(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) && json_integer_value(value) >= 0 ? json_integer_value(value) : -1;
}

static enum kwhy_status read_blocks(struct reader *reader, const json_t *root, struct kwhy_llm_dialog *dialog)
{
	const json_t *ids = json_object_get(root, "hash_ids");
	size_t count = json_array_size(ids);
	uint64_t *blocks = kwhy_arena_alloc(&reader->out->arena, count + 1, sizeof(*blocks));

	if (!blocks)
		return no_memory(reader);
	for (size_t i = 0; i < count; i++)
		blocks[i] = (uint64_t)json_integer_value(json_array_get(ids, i));
	dialog->blocks = blocks;
	dialog->block_count = count;
	return KWHY_OK;
}

/*
 * Reads the content of a request: the messages or the prompt of an object or, if it has neither, the ids of
 * the blocks with which a made-up prompt begins.
 */
static enum kwhy_status read_content(
	struct reader *reader, const json_t *root, struct kwhy_llm_dialog *dialog)
{
	const json_t *messages = json_object_get(root, "messages");
	const char *prompt = json_string_value(json_object_get(root, "prompt"));
	enum kwhy_status status;

	if (messages)
		return read_messages(reader, messages, "role", "content", dialog);
	prompt = prompt ? prompt : json_string_value(json_object_get(root, "text_input"));
	status = begin(reader, dialog, 1);
	if (status)
		return status;
	return prompt ? add_message(reader, dialog, KWHY_LLM_USER, prompt)
		      : read_blocks(reader, root, dialog);
}

static enum kwhy_status read_object(struct reader *reader, const json_t *root)
{
	const json_t *time = json_object_get(root, "timestamp");
	int64_t words = whole(root, "input_length"), tokens = whole(root, "output_length");
	struct kwhy_llm_dialog dialog = {0};
	enum kwhy_status status = read_content(reader, root, &dialog);

	if (status)
		return status;
	tokens = tokens >= 0 ? tokens : whole(root, "max_tokens");
	if (!dialog.message_count && words < 1)
		return wrong(reader, "it has no prompt, messages of a user, or input_length above 0");
	if (words > LENGTH_MAX || tokens > LENGTH_MAX)
		return wrong(reader, "its lengths are above 1000000");
	dialog.turns = dialog.turns ? dialog.turns : 1;
	dialog.words = words > 0 ? (uint64_t)words : 0;
	dialog.max_tokens = tokens > 0 ? (uint64_t)tokens : 0;
	dialog.at_s = json_is_number(time) ? json_number_value(time) * 1e-3 : NAN;
	return add(reader, &dialog);
}

static enum kwhy_status read_json_lines(struct reader *reader, char *text)
{
	enum kwhy_status status = KWHY_OK;

	for (char *rest = text, *line; !status && (line = strtok_r(rest, "\n", &rest));) {
		json_t *root = json_loads(line, 0, NULL);

		reader->number++;
		if (json_is_object(root))
			status = read_object(reader, root);
		else if (line[strspn(line, " \t\r")])
			status = wrong(reader, "the line is no JSON object");
		json_decref(root);
	}
	return status;
}

static enum kwhy_status read_sharegpt(struct reader *reader, const char *text)
{
	json_t *root = json_loads(text, 0, NULL);
	enum kwhy_status status = KWHY_OK;

	if (!json_is_array(root))
		status = wrong(reader, "the file is no JSON array of conversations");
	for (size_t i = 0; !status && i < json_array_size(root); i++) {
		const json_t *conversation = json_object_get(json_array_get(root, i), "conversations");
		struct kwhy_llm_dialog dialog;

		reader->number = i + 1;
		if (!json_is_array(conversation))
			status = wrong(reader, "it has no array 'conversations'");
		else
			status = read_messages(reader, conversation, "from", "value", &dialog);
		/* ShareGPT's files have conversations without a message of the user, which are skipped */
		if (!status && dialog.message_count)
			status = add(reader, &dialog);
	}
	json_decref(root);
	return status;
}

static bool ends_with(const char *path, const char *end)
{
	size_t length = strlen(path), tail = strlen(end);

	return length >= tail && strcmp(path + length - tail, end) == 0;
}

/* Subtracts the earliest time from all times of a log, so that they begin at 0. */
static void start_at_zero(struct kwhy_llm_dialogs *dialogs)
{
	double first_s = INFINITY;

	for (size_t i = 0; i < dialogs->count; i++)
		first_s = fmin(first_s, isnan(dialogs->items[i].at_s) ? INFINITY : dialogs->items[i].at_s);
	for (size_t i = 0; i < dialogs->count; i++)
		dialogs->items[i].at_s -= first_s;
}

enum kwhy_status kwhy_llm_dialogs_read(const char *path, const char *text, size_t length,
	struct kwhy_llm_dialogs *out, struct kwhy_error *error)
{
	struct reader reader = {.path = path, .out = out, .error = error};
	char *copy = malloc(length + 1);
	enum kwhy_status status;

	*out = (struct kwhy_llm_dialogs){0};
	if (!copy)
		return no_memory(&reader);
	memcpy(copy, text ? text : "", length);
	copy[length] = '\0';
	if (strlen(copy) != length)
		status = kwhy_fail(error, KWHY_E_INPUT, "%s has a zero byte in it: it is no text", path);
	else if (ends_with(path, ".jsonl"))
		status = read_json_lines(&reader, copy);
	else if (ends_with(path, ".json"))
		status = read_sharegpt(&reader, copy);
	else
		status = read_lines(&reader, copy);
	free(copy);
	if (!status && !out->count)
		status = kwhy_fail(error, KWHY_E_INPUT, "%s has no prompt", path);
	start_at_zero(out);
	return status;
}
