/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests tokenizers from small files whose tokens can be found by hand. With the files of GPT-2, Llama 3 and
 * Llama 2, all tokens of 1,536 texts were equal to those of @huggingface/tokenizers 0.2.0 (2026-11-30).
 */
#include "cmocka_all.h"
#include "llm/count.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/kwhy-tokenizer-XXXXXX";
static struct kwhy_error error;

/*
 * Returns GPT-2's alphabet for the 256 bytes as JSON members "character":byte. U+0120 stands for a space,
 * U+010A for a line feed.
 */
static const char *alphabet(void)
{
	static char out[8192];
	unsigned other = 0x100;
	int at = 0;

	for (unsigned byte = 0; byte < 256; byte++) {
		bool is_itself = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte != 0xad);

		at += snprintf(out + at, sizeof(out) - (size_t)at, "%s\"\\u%04x\":%u", byte ? "," : "",
			is_itself ? byte : other++, byte);
	}
	return out;
}

static enum kwhy_status open_json(const char *json, struct kwhy_llm_tokenizer **out)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(json, file);
	assert_int_equal(fclose(file), 0);
	return kwhy_llm_tokenizer_open(path, out, &error);
}

static struct kwhy_llm_tokenizer *open_well(const char *json)
{
	struct kwhy_llm_tokenizer *tokenizer = NULL;
	enum kwhy_status status = open_json(json, &tokenizer);

	if (status == KWHY_E_UNSUPPORTED)
		kwhy_skip("libpcre2-8 is not here");
	if (status)
		fail_msg("%s", error.text);
	return tokenizer;
}

static void write_number(void *context, uint32_t number)
{
	size_t length = strlen(context);

	snprintf((char *)context + length, 256 - length, "%s%u", length ? " " : "", number);
}

static void assert_tokens(struct kwhy_llm_tokenizer *tokenizer, const char *text, const char *expected)
{
	char found[256] = "";

	assert_int_equal(
		kwhy_llm_tokenize(tokenizer, text, strlen(text), write_number, found, &error), KWHY_OK);
	assert_string_equal(found, expected);
}

#define GPT2_LIKE                                                                                        \
	"{\"added_tokens\":[{\"id\":300,\"content\":\"<|end|>\"},{\"id\":301,\"content\":\"<|pad|>\"}]," \
	"\"normalizer\":null,\"pre_tokenizer\":{"                                                        \
	"\"type\":"                                                                                      \
	"\"ByteLevel\",\"add_prefix_space\":%s},\"model\":{\"type\":\"BPE\",\"vocab\":{%s,\"lo\":256,"   \
	"\"low\":257,"                                                                                   \
	"\"\\u0120low\":258,\"er\":259,\"\\u0120l\":260,\"ow\":261},\"merges\":[\"l o\",\"lo "           \
	"w\",[\"e\",\"r\"],"                                                                             \
	"\"\\u0120 low\"]}}"

static struct kwhy_llm_tokenizer *open_gpt2(const char *prefix)
{
	static char json[16384];

	snprintf(json, sizeof(json), GPT2_LIKE, prefix, alphabet());
	return open_well(json);
}

static void bytes_are_merged_by_rank(void **state)
{
	struct kwhy_llm_tokenizer *tokenizer = open_gpt2("false");

	(void)state;
	assert_tokens(tokenizer, "", "");
	assert_tokens(tokenizer, "lower", "257 259");
	assert_tokens(tokenizer, " lower low", "258 259 258");
	/* the first of the two spaces is a word of its own */
	assert_tokens(tokenizer, "low  low", "257 32 258");
	assert_tokens(tokenizer, "low's 42", "257 39 115 32 52 50");
	assert_tokens(tokenizer, "\xc3\xa9\n", "195 169 10");
	assert_tokens(tokenizer, "low<|end|> low<|end|>", "257 300 258 300");
	kwhy_llm_tokenizer_close(tokenizer);
	tokenizer = open_gpt2("true");
	assert_tokens(tokenizer, "low", "258");
	assert_tokens(tokenizer, " low", "258");
	kwhy_llm_tokenizer_close(tokenizer);
}

static void words_are_split_by_the_files_own_expression(void **state)
{
	static const char form[] = "{\"normalizer\":{\"type\":\"NFC\"},\"pre_tokenizer\":{\"type\":"
				   "\"Sequence\",\"pretokenizers\":[{\"type\":"
				   "\"Split\",\"pattern\":{\"Regex\":\"(?i:'s|'t)|[^\\\\r\\\\n\\\\p{L}\\\\p{"
				   "N}]?\\\\p{L}+|\\\\p{N}{1,3}|\\\\s+"
				   "\"},\"behavior\":\"Isolated\",\"invert\":false},{\"type\":\"ByteLevel\","
				   "\"add_prefix_space\":false,"
				   "\"use_regex\":false}]},\"model\":{\"type\":\"BPE\",\"ignore_merges\":"
				   "true,\"vocab\":{%s,\"12\":256,\"123\":"
				   "257,\"34\":258,\"whole\":259},\"merges\":[\"1 2\",\"3 4\"]}}";
	static char json[16384];
	struct kwhy_llm_tokenizer *tokenizer;

	(void)state;
	snprintf(json, sizeof(json), form, alphabet());
	tokenizer = open_well(json);
	/*
	 * The pattern splits digits into words of at most three. 123 is in the vocabulary, so it is a token
	 * although no merge makes it.
	 */
	assert_tokens(tokenizer, "1234", "257 52");
	assert_tokens(tokenizer, "whole'S", "259 39 83");
	kwhy_llm_tokenizer_close(tokenizer);
}

static void characters_without_a_token_are_bytes(void **state)
{
	static const char json[] =
		"{\"added_tokens\":[{\"id\":1,\"content\":\"<s>\"}],\"normalizer\":{"
		"\"type\":\"Sequence\",\"normalizers\":[{"
		"\"type\":\"Prepend\",\"prepend\":\"\\u2581\"},{\"type\":\"Replace\","
		"\"pattern\":{\"String\":\" \"},"
		"\"content\":\"\\u2581\"}]},\"pre_tokenizer\":null,\"model\":{\"type\":"
		"\"BPE\",\"unk_token\":\"<unk>\","
		"\"byte_fallback\":true,\"fuse_unk\":true,\"vocab\":{\"<unk>\":0,\"<s>\":1,\"<0xC3>\":2,\"<"
		"0xA9>\":3,\"\\u2581\":4,\"a\":5,"
		"\"b\":6,\"ab\":7,\"\\u2581ab\":8,\"\\u2581\\u2581\":9},\"merges\":[\"a "
		"b\",\"\\u2581 ab\",\"\\u2581 "
		"\\u2581\"]}}";
	struct kwhy_llm_tokenizer *tokenizer = open_well(json);

	(void)state;
	assert_tokens(tokenizer, "ab ab", "8 8");
	assert_tokens(tokenizer, "ba", "4 6 5");
	assert_tokens(tokenizer, "\xc3\xa9", "4 2 3");
	assert_tokens(tokenizer, "??a?", "4 0 5 0");
	assert_tokens(tokenizer, "a  ab", "4 5 4 8");
	kwhy_llm_tokenizer_close(tokenizer);
}

static void what_is_not_known_is_refused(void **state)
{
	static const struct {
		const char *json, *words;
	} bad[] = {
		{"{", "line 1"},
		{"{}", "its model is not stated"},
		{"{\"model\":{\"type\":\"Unigram\"}}", "its model is Unigram, which kwhy does not know"},
		{"{\"model\":{\"type\":\"WordPiece\"}}", "its model is WordPiece"},
		{"{\"normalizer\":{\"type\":\"Lowercase\"},\"model\":{\"type\":\"BPE\"}}",
			"normalizer is Lowercase"},
		{"{\"pre_tokenizer\":{\"type\":\"Punctuation\"},\"model\":{}}",
			"pre-tokenizer is Punctuation"},
		{"{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(\"},\"behavior\":"
		 "\"Isolated\"}}",
			"expression '(' is not one that PCRE2 knows"},
		{"{\"model\":{\"type\":\"BPE\",\"vocab\":{},\"merges\":[]}}", "no vocabulary"},
		{"{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[\"a b\"]}}",
			"merge 1 is not one"},
		{"{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[7]}}", "merge 1 is not one"},
		{"{\"pre_tokenizer\":{\"type\":\"ByteLevel\"},\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0}"
		 "}}",
			"lacks byte 0"},
	};
	struct kwhy_llm_tokenizer *tokenizer;

	(void)state;
	kwhy_llm_tokenizer_close(open_gpt2("false"));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(open_json(bad[i].json, &tokenizer), KWHY_E_INPUT);
		if (!strstr(error.text, bad[i].words))
			fail_msg("%s", error.text);
	}
	tokenizer = open_gpt2("false");
	assert_int_equal(
		kwhy_llm_tokenize(tokenizer, "\xff", 1, write_number, (char[256]){""}, &error), KWHY_E_INPUT);
	kwhy_llm_tokenizer_close(tokenizer);
}

/*
 * Opens a tokenizer in which "story" is one token, with and without a space before it. In other words nearly
 * every letter is a token.
 */
static struct kwhy_llm_tokenizer *open_story(void)
{
	static const char form[] = "{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false},"
				   "\"model\":{\"type\":\"BPE\",\"vocab\":"
				   "{%s,\"st\":256,\"ry\":257,\"sto\":258,\"story\":259,\"\\u0120story\":260}"
				   ",\"merges\":[\"s t\",\"r y\",\"st "
				   "o\",\"sto ry\",\"\\u0120 story\"]}}";
	static char json[16384];

	snprintf(json, sizeof(json), form, alphabet());
	return open_well(json);
}

static void prompts_have_exactly_as_many_tokens_as_asked_for(void **state)
{
	struct kwhy_llm_word_costs costs;
	struct kwhy_llm_question question = {.model = "m",
		.max_tokens = {.a = 9},
		.shared_words = 7,
		.tokenizer = open_story(),
		.costs = &costs,
		.endpoint = KWHY_LLM_COMPLETIONS};

	(void)state;
	assert_int_equal(kwhy_llm_word_costs_of(question.tokenizer, &costs, &error), KWHY_OK);
	for (uint64_t number = 0; number < 200; number++) {
		struct kwhy_llm_answer answer;
		char *body = NULL;

		question.words = (struct kwhy_llm_length){.a = (double)(1 + number)};
		assert_int_equal(kwhy_llm_body(&question, number, 0, &body, &error), KWHY_OK);
		kwhy_llm_answer_init(&answer);
		assert_int_equal(kwhy_llm_count_missing(&question, body, &answer, &error), KWHY_OK);
		assert_int_equal(answer.prompt_tokens, 7 + 1 + number);
		assert_int_equal(answer.completion_tokens, -1);
		kwhy_llm_answer_done(&answer);
		free(body);
	}
	kwhy_llm_tokenizer_close(question.tokenizer);
	question.tokenizer = open_gpt2("false");
	assert_int_equal(kwhy_llm_word_costs_of(question.tokenizer, &costs, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "use --prompt-words"));
	kwhy_llm_tokenizer_close(question.tokenizer);
}

/*
 * If the server states no usage, kwhy must count the tokens of the answer's text and set is_counted; counts
 * that the server states must be kept.
 */
static void answers_without_usage_are_counted(void **state)
{
	static const char
		piece[] = "data: {\"choices\":[{\"delta\":{\"content\":\" story story\"}}]}\n\n",
		usage[] =
			"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":5}}\n\n";
	const struct kwhy_llm_question question = {.tokenizer = open_story()};

	(void)state;
	for (int with_usage = 0; with_usage < 2; with_usage++) {
		struct kwhy_llm_answer answer;

		kwhy_llm_answer_init(&answer);
		answer.keeps_text = true;
		assert_true(kwhy_llm_answer_feed(&answer, piece, strlen(piece), 1));
		if (with_usage)
			assert_true(kwhy_llm_answer_feed(&answer, usage, strlen(usage), 2));
		assert_int_equal(kwhy_llm_count_missing(&question,
					 "{\"messages\":[{\"content\":\"story\"},{\"content\":\"story s\"}]}",
					 &answer, &error),
			KWHY_OK);
		assert_int_equal(answer.completion_tokens, with_usage ? 5 : 2);
		assert_int_equal(answer.prompt_tokens, with_usage ? 3 : 4);
		assert_true(answer.is_counted == !with_usage);
		kwhy_llm_answer_done(&answer);
	}
	kwhy_llm_tokenizer_close(question.tokenizer);
}

/*
 * The time for a text must be nearly proportional to its length. Each of these texts takes minutes if every
 * word, character or special token costs time in proportion to the whole length.
 */
static void long_texts_are_counted(void **state)
{
	enum { BYTES = 400000, SPECIAL_BYTES = 7 };
	struct kwhy_llm_tokenizer *tokenizer = open_gpt2("false");
	char *text = malloc(BYTES);
	size_t tokens;

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i < BYTES; i++)
		text[i] = " low"[i % 4];
	assert_int_equal(kwhy_llm_count_tokens(tokenizer, text, BYTES, &tokens, &error), KWHY_OK);
	assert_int_equal(tokens, BYTES / 4);
	/* a single word of 400,000 letters, in which pairs are merged 200,000 times */
	for (size_t i = 0; i < BYTES; i++)
		text[i] = "erlo"[i % 4];
	assert_int_equal(kwhy_llm_count_tokens(tokenizer, text, BYTES, &tokens, &error), KWHY_OK);
	assert_int_equal(tokens, BYTES / 2);
	for (size_t i = 0; i < BYTES; i++)
		text[i] = "<|end|>"[i % SPECIAL_BYTES];
	assert_int_equal(kwhy_llm_count_tokens(
				 tokenizer, text, BYTES / SPECIAL_BYTES * SPECIAL_BYTES, &tokens, &error),
		KWHY_OK);
	assert_int_equal(tokens, BYTES / SPECIAL_BYTES);
	free(text);
	kwhy_llm_tokenizer_close(tokenizer);
}

static int begin(void **state)
{
	int file = mkstemp(path);

	(void)state;
	return file < 0 || close(file);
}

static int end(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_merged_by_rank),
		cmocka_unit_test(words_are_split_by_the_files_own_expression),
		cmocka_unit_test(characters_without_a_token_are_bytes),
		cmocka_unit_test(what_is_not_known_is_refused),
		cmocka_unit_test(prompts_have_exactly_as_many_tokens_as_asked_for),
		cmocka_unit_test(answers_without_usage_are_counted),
		cmocka_unit_test(long_texts_are_counted),
	};

	return kwhy_test_main(tests, begin, end);
}
