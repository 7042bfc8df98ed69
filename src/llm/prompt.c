/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/prompt.h"

#include "base/random.h"
#include "base/text.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define BLOCK_WORDS 512 /* number of words in a block of a log, as in Mooncake's traces */
#define PER_NUMBER UINT64_C(0xd1342543de82ef95)
#define PER_TURN UINT64_C(0x2545f4914f6cdd1d)

static const char *const common_words[KWHY_LLM_WORDS] = {"river", "stone", "light", "garden", "window",
	"winter", "music", "paper", "mountain", "letter", "summer", "bridge", "market", "horse", "island",
	"story"};

/*
 * Index of the first word, searched from `drawn` on and then from 0 on, that has at most `left` tokens. At
 * least one word has one token.
 */
static size_t fitting_word(const size_t costs[KWHY_LLM_WORDS], size_t drawn, uint64_t left)
{
	for (size_t i = 0; i < KWHY_LLM_WORDS; i++)
		if (costs[(drawn + i) % KWHY_LLM_WORDS] <= left)
			return (drawn + i) % KWHY_LLM_WORDS;
	return drawn;
}

/*
 * Adds common words, drawn from the random state `state`: `count` words or, with `costs` (tokens of each
 * word), words with `count` tokens in all.
 */
static void add_words(
	struct kwhy_text *out, uint64_t state, uint64_t count, const struct kwhy_llm_word_costs *costs)
{
	while (count) {
		const size_t *tokens = costs ? out->length ? costs->next : costs->first : NULL;
		size_t word = kwhy_random_next(&state) % KWHY_LLM_WORDS;

		if (tokens)
			word = fitting_word(tokens, word, count);
		if (out->length)
			kwhy_text_add(out, " ");
		kwhy_text_add(out, common_words[word]);
		count -= tokens && tokens[word] < count ? tokens[word] : tokens ? count : 1;
	}
}

enum kwhy_status kwhy_llm_word_costs_of(
	struct kwhy_llm_tokenizer *tokenizer, struct kwhy_llm_word_costs *out, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	size_t least_first = SIZE_MAX, least_next = SIZE_MAX;

	for (size_t i = 0; !status && i < KWHY_LLM_WORDS; i++) {
		char two[64];
		int length = snprintf(two, sizeof(two), "%s %s", common_words[i], common_words[i]);
		size_t both = 0;

		status = kwhy_llm_count_tokens(
			tokenizer, common_words[i], strlen(common_words[i]), &out->first[i], error);
		if (!status)
			status = kwhy_llm_count_tokens(tokenizer, two, (size_t)length, &both, error);
		out->next[i] = both - out->first[i];
		least_first = out->first[i] < least_first ? out->first[i] : least_first;
		least_next = out->next[i] < least_next ? out->next[i] : least_next;
	}
	if (!status && (least_first != 1 || least_next != 1))
		status = kwhy_fail(error, KWHY_E_INPUT,
			"the tokenizer has no token for any word of which kwhy makes prompts up, such as "
			"'%s', so not "
			"every number of tokens can be made; use --prompt-words",
			common_words[0]);
	return status;
}

static const struct kwhy_llm_dialog *dialog_of(const struct kwhy_llm_question *question, uint64_t number)
{
	return question->dialogs ? &question->dialogs[number % question->dialog_count] : NULL;
}

size_t kwhy_llm_turns(const struct kwhy_llm_question *question, uint64_t number)
{
	const struct kwhy_llm_dialog *dialog = dialog_of(question, number);
	size_t turns = dialog ? dialog->turns : question->turns;

	return turns ? turns : 1;
}

static uint64_t state_of(const struct kwhy_llm_question *question, uint64_t number, size_t turn)
{
	return question->seed ^ (number * PER_NUMBER) ^ (turn * PER_TURN);
}

/*
 * Draws the lengths of a made-up turn from the question's distributions: words (or tokens) of the prompt, and
 * largest number of tokens of the answer.
 */
static void draw(const struct kwhy_llm_question *question, uint64_t number, size_t turn, uint64_t *out_words,
	uint64_t *out_tokens)
{
	struct kwhy_random random;

	kwhy_random_init(&random, state_of(question, number, turn));
	*out_words = kwhy_llm_length_draw(&question->words, &random);
	*out_tokens = kwhy_llm_length_draw(&question->max_tokens, &random);
}

/*
 * Makes up the prompt of a log's request of dialog->words words (or tokens): first the blocks that
 * dialog->blocks names, whose words depend only on the block's id and the seed, then words that differ from
 * those of any other request.
 */
static void make_up_logged(const struct kwhy_llm_question *question, const struct kwhy_llm_dialog *dialog,
	uint64_t number, struct kwhy_text *out)
{
	uint64_t left = dialog->words;

	for (size_t i = 0; i < dialog->block_count && left; i++) {
		uint64_t count = left < BLOCK_WORDS ? left : BLOCK_WORDS;

		add_words(out, question->seed ^ (dialog->blocks[i] * PER_NUMBER), count, question->costs);
		left -= count;
	}
	add_words(out, state_of(question, number, 0), left, question->costs);
}

/*
 * Collects the messages of a request in the form that its endpoint takes: as a JSON array for chats, as one
 * text for completions.
 */
struct writer {
	json_t *messages;	 /* for the endpoint for chats; NULL: the endpoint is that for completions */
	struct kwhy_text prompt; /* for the endpoint for completions */
	bool failed;
};

static void add_message(struct writer *writer, enum kwhy_llm_role role, const char *text)
{
	static const char *const names[] = {"system", "user", "assistant"};

	if (writer->messages) {
		json_t *message = json_pack("{s:s, s:s}", "role", names[role], "content", text);

		writer->failed |= json_array_append_new(writer->messages, message) != 0;
		return;
	}
	if (writer->prompt.length)
		kwhy_text_add(&writer->prompt, "\n\n");
	kwhy_text_add(&writer->prompt, text);
}

static void add_made_up(
	struct writer *writer, const struct kwhy_llm_question *question, uint64_t number, size_t turn)
{
	struct kwhy_text text = {0};

	for (size_t i = 0; i <= turn; i++) {
		uint64_t words, tokens;

		draw(question, number, i, &words, &tokens);
		kwhy_text_clear(&text);
		if (i == 0)
			add_words(&text, question->seed, question->shared_words, question->costs);
		add_words(&text, state_of(question, number, i), words, question->costs);
		add_message(writer, KWHY_LLM_USER, text.data ? text.data : "");
		if (i == turn)
			break;
		kwhy_text_clear(&text);
		add_words(&text, ~state_of(question, number, i), tokens, question->costs);
		add_message(writer, KWHY_LLM_ASSISTANT, text.data ? text.data : "");
	}
	writer->failed |= text.failed;
	kwhy_text_done(&text);
}

/* Adds the messages of a dialog up to the user's message of turn `turn`. */
static void add_dialog(struct writer *writer, const struct kwhy_llm_question *question,
	const struct kwhy_llm_dialog *dialog, uint64_t number, size_t turn)
{
	struct kwhy_text text = {0};
	size_t before = 0;

	for (size_t i = 0; i < dialog->message_count && before <= turn; i++) {
		add_message(writer, dialog->messages[i].role, dialog->messages[i].text);
		before += dialog->messages[i].role == KWHY_LLM_USER;
	}
	if (dialog->message_count)
		return;
	make_up_logged(question, dialog, number, &text);
	add_message(writer, KWHY_LLM_USER, text.data ? text.data : "");
	writer->failed |= text.failed;
	kwhy_text_done(&text);
}

static json_t *settings(const struct kwhy_llm_question *question, uint64_t max_tokens)
{
	json_t *root = json_pack("{s:s, s:I, s:b, s:i}", "model", question->model, "max_tokens",
		(json_int_t)max_tokens, "stream", !question->whole, "temperature", 0);
	json_t *stream;
	bool failed = !root;

	if (!question->whole) {
		stream = json_pack("{s:b}", "include_usage", 1);
		if (question->usage_each)
			failed |= json_object_set_new(stream, "continuous_usage_stats", json_true()) != 0;
		failed |= json_object_set_new(root, "stream_options", stream) != 0;
	}
	if (question->ignore_eos)
		failed |= json_object_set_new(root, "ignore_eos", json_true()) != 0;
	if (!failed)
		return root;
	json_decref(root);
	return NULL;
}

enum kwhy_status kwhy_llm_body(const struct kwhy_llm_question *question, uint64_t number, size_t turn,
	char **out, struct kwhy_error *error)
{
	const struct kwhy_llm_dialog *dialog = dialog_of(question, number);
	bool is_chat = question->endpoint == KWHY_LLM_CHAT;
	struct writer writer = {.messages = is_chat ? json_array() : NULL};
	uint64_t words, tokens;
	json_t *root;

	draw(question, number, turn, &words, &tokens);
	if (dialog)
		add_dialog(&writer, question, dialog, number, turn);
	else
		add_made_up(&writer, question, number, turn);
	root = settings(question, dialog && dialog->max_tokens ? dialog->max_tokens : tokens);
	if (is_chat)
		writer.failed |= json_object_set_new(root, "messages", writer.messages) != 0;
	else
		writer.failed |= json_object_set_new(root, "prompt", json_string(writer.prompt.data)) != 0;
	*out = writer.failed || writer.prompt.failed ? NULL : json_dumps(root, JSON_COMPACT);
	json_decref(root);
	kwhy_text_done(&writer.prompt);
	return *out ? KWHY_OK
		    : kwhy_fail(error, KWHY_E_INPUT,
			      "the model's name or prompt %llu is not UTF-8, or memory ran out",
			      (unsigned long long)number);
}
