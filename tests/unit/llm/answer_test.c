/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "llm/answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct kwhy_llm_answer answer_to(const char *bytes)
{
	struct kwhy_llm_answer answer;

	kwhy_llm_answer_init(&answer);
	(void)kwhy_llm_answer_feed(&answer, bytes, strlen(bytes), 7);
	return answer;
}

static void assert_outcome(const char *bytes, enum kwhy_llm_outcome outcome)
{
	struct kwhy_llm_answer answer = answer_to(bytes);

	assert_string_equal(
		kwhy_llm_outcome_name(kwhy_llm_answer_outcome(&answer)), kwhy_llm_outcome_name(outcome));
	kwhy_llm_answer_done(&answer);
}

static void pieces_of_text_and_usage_are_counted(void **state)
{
	struct kwhy_llm_answer answer = answer_to(
		"data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n"
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}],\"usage\":null}\n\n"
		"data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"b\"}}]}\n\n"
		"data: {\"choices\":[{\"text\":\"c\",\"finish_reason\":\"stop\"}]}\n\n"
		"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":9}}\n\n"
		"data: [DONE]\n\n");

	(void)state;
	assert_int_equal(answer.piece_count, 3);
	assert_int_equal(answer.pieces[0].at_ns, 7);
	assert_int_equal(answer.prompt_tokens, 5);
	assert_int_equal(answer.completion_tokens, 9);
	assert_int_equal(kwhy_llm_answer_outcome(&answer), KWHY_LLM_DONE);
	kwhy_llm_answer_done(&answer);
}

static void counts_that_are_none_stay_unknown(void **state)
{
	struct kwhy_llm_answer answer = answer_to(
		"data: {\"usage\":{\"prompt_tokens\":-1,\"completion_tokens\":\"9\"}}\n\ndata: [DONE]\n\n");

	(void)state;
	assert_int_equal(answer.prompt_tokens, -1);
	assert_int_equal(answer.completion_tokens, -1);
	kwhy_llm_answer_done(&answer);
}

/*
 * A token may be only a part of a character. Some servers then send an event whose text is half of a
 * surrogate pair or single bytes of a UTF-8 sequence. Each such event must count as a piece of text.
 */
static void text_that_is_no_character_is_a_piece_all_the_same(void **state)
{
	static const char *const texts[] = {"\\u0000", "a\\u0000b", "\\ud83d", "\\uDe00", "\\ude00\\ud83d",
		"\\ud83dx", "\\ud83d\\n", "\\ud83d\\ud83d\\ude00", "\xf0\x9f", "\x98\x80", "\xff",
		"\xed\xa0\xbd", "\\\\\\ud83d", "\\\\\xf0\\\"\\\\"};
	char bytes[256];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct kwhy_llm_answer answer;

		snprintf(bytes, sizeof(bytes),
			"data: "
			"{\"choices\":[{\"delta\":{\"content\":\"%s\"}}],\"usage\":{\"prompt_tokens\":4}}"
			"\n\ndata: [DONE]\n\n",
			texts[i]);
		answer = answer_to(bytes);
		if (kwhy_llm_answer_outcome(&answer) != KWHY_LLM_DONE || answer.piece_count != 1 ||
			answer.prompt_tokens != 4)
			fail_msg("text %zu of '%s' is %s with %zu pieces", i, texts[i],
				kwhy_llm_outcome_name(kwhy_llm_answer_outcome(&answer)), answer.piece_count);
		kwhy_llm_answer_done(&answer);
	}
}

#define TEXT "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"
#define FINISH(reason) "data: {\"choices\":[{\"finish_reason\":\"" reason "\"}]}\n\n"
#define USAGE(tokens) "data: {\"choices\":[],\"usage\":{\"completion_tokens\":" tokens "}}\n\n"
#define END "data: [DONE]\n\n"

static void each_form_of_stream_has_its_outcome(void **state)
{
	static const struct {
		const char *bytes;
		enum kwhy_llm_outcome outcome;
	} cases[] = {
		{"", KWHY_LLM_BROKEN},
		{"{\"choices\":[]}", KWHY_LLM_BROKEN},
		{TEXT, KWHY_LLM_BROKEN},
		{TEXT "data: {\"choices\":[{\"finish", KWHY_LLM_BROKEN},
		{TEXT FINISH("stop"), KWHY_LLM_DONE},
		{TEXT FINISH("length") END, KWHY_LLM_DONE},
		{TEXT END, KWHY_LLM_DONE},
		{END, KWHY_LLM_EMPTY},
		{"data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n" END,
			KWHY_LLM_EMPTY},
		{FINISH("stop"), KWHY_LLM_EMPTY},
		{FINISH("stop") USAGE("0") END, KWHY_LLM_EMPTY},
		{FINISH("stop") USAGE("1") END, KWHY_LLM_DONE},
		{"data: {\"choices\":{\"0\":1}}\n\n" END, KWHY_LLM_EMPTY},
		{"data: {\"error\":null,\"choices\":[]}\n\n" TEXT END, KWHY_LLM_DONE},
		{"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":\"{\"}}]}}]}"
		 "\n\n" END,
			KWHY_LLM_DONE},
		{"data: "
		 "{\"choices\":[{\"text\":\"a\",\"logprobs\":{\"\\u0000\":-1,\"\\ud83d\":-2}}]}\n\n" END,
			KWHY_LLM_DONE},
		{TEXT FINISH("error") END, KWHY_LLM_REPORTED},
		{TEXT FINISH("abort") END, KWHY_LLM_REPORTED},
		{"data: {\"error\":{\"message\":\"x\"}}\n\n", KWHY_LLM_REPORTED},
		{TEXT "data: {\"error\":\"overloaded\",\"error_type\":\"x\"}\n\n" END, KWHY_LLM_REPORTED},
		{TEXT "data: {\"object\":\"error\",\"message\":\"x\",\"code\":400}\n\n" END,
			KWHY_LLM_REPORTED},
		{"data: {\"message\":\"x\",\"type\":\"y\",\"code\":500}\n\n" END, KWHY_LLM_REPORTED},
		{TEXT "event: error\ndata: no JSON\n\n" END, KWHY_LLM_REPORTED},
		{TEXT "error: {\"code\":500}\n\n" END, KWHY_LLM_REPORTED},
		{"event: message\n" TEXT END, KWHY_LLM_DONE},
		{"event: error\n\n" TEXT END, KWHY_LLM_DONE}, /* an event without data does not count */
		{"data: <html>\n\n", KWHY_LLM_MALFORMED},
		{"data: []\n\n", KWHY_LLM_MALFORMED},
		{"data: {\"choices\":[{\"text\":\"\\ud83\"}]}\n\n", KWHY_LLM_MALFORMED},
		{"data: {\"choices\":[{\"text\":\"\\ud83d\"}\n\n", KWHY_LLM_MALFORMED},
		{"data: {\"choices\":[{\"text\":\"\xff\"}\n\n", KWHY_LLM_MALFORMED},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_outcome(cases[i].bytes, cases[i].outcome);
}

static void usage_of_each_piece_is_kept_with_it(void **state)
{
	struct kwhy_llm_answer answer = answer_to(
		"data: {\"choices\":[{\"text\":\"abc\"}],\"usage\":{\"prompt_tokens\":9,"
		"\"completion_tokens\":2,\"prompt_tokens_details\":{\"cached_tokens\":4}}}\n\n"
		"data: {\"choices\":[{\"text\":\"d\"}]}\n\n" END);

	(void)state;
	assert_int_equal(answer.piece_count, 2);
	assert_int_equal(answer.pieces[0].bytes, 3);
	assert_int_equal(answer.pieces[0].tokens, 2);
	assert_int_equal(answer.pieces[1].tokens, -1);
	assert_int_equal(answer.prompt_tokens, 9);
	assert_int_equal(answer.cached_tokens, 4);
	assert_int_equal(answer.completion_tokens, 2);
	kwhy_llm_answer_done(&answer);
}

static void a_whole_answer_has_no_pieces(void **state)
{
	static const struct {
		const char *bytes;
		enum kwhy_llm_outcome outcome;
	} cases[] = {
		{"{\"choices\":[{\"message\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}",
			KWHY_LLM_DONE},
		{"{\"choices\":[{\"text\":\"hi\",\"finish_reason\":\"stop\"}]}", KWHY_LLM_DONE},
		{"{\"choices\":[{\"text\":\"hi\",\"finish_reason\":\"abort\"}]}", KWHY_LLM_REPORTED},
		{"{\"object\":\"error\",\"message\":\"x\"}", KWHY_LLM_REPORTED},
		{"{\"choices\":[]}", KWHY_LLM_EMPTY},
		{"", KWHY_LLM_MALFORMED},
		{"{\"choices\":[{\"text\"", KWHY_LLM_MALFORMED},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kwhy_llm_answer answer;

		kwhy_llm_answer_init(&answer);
		answer.whole = true;
		for (const char *byte = cases[i].bytes; *byte; byte++)
			assert_true(kwhy_llm_answer_feed(&answer, byte, 1, 7));
		assert_string_equal(kwhy_llm_outcome_name(kwhy_llm_answer_outcome(&answer)),
			kwhy_llm_outcome_name(cases[i].outcome));
		assert_int_equal(answer.piece_count, 0);
		kwhy_llm_answer_done(&answer);
	}
}

/*
 * A server that never stops must not fill the memory: of pieces of 512 KiB 32 are kept, 16 MiB in all. The
 * next one makes the answer malformed.
 */
static void a_kept_text_has_a_limit(void **state)
{
	enum { PIECE_BYTES = 1 << 19, PIECES_MAX = 64 };
	struct kwhy_llm_answer answer;
	char *event = malloc(PIECE_BYTES + 100);
	size_t pieces = 0, length;

	(void)state;
	assert_non_null(event);
	length = (size_t)sprintf(event, "data: {\"choices\":[{\"text\":\"");
	memset(event + length, 'a', PIECE_BYTES);
	length += PIECE_BYTES;
	length += (size_t)sprintf(event + length, "\"}]}\n\n");
	kwhy_llm_answer_init(&answer);
	answer.keeps_text = true;
	while (pieces < PIECES_MAX && kwhy_llm_answer_feed(&answer, event, length, (int64_t)pieces))
		pieces++;
	assert_int_equal(pieces, 32);
	assert_true(answer.malformed);
	kwhy_llm_answer_done(&answer);
	free(event);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_of_text_and_usage_are_counted),
		cmocka_unit_test(counts_that_are_none_stay_unknown),
		cmocka_unit_test(text_that_is_no_character_is_a_piece_all_the_same),
		cmocka_unit_test(each_form_of_stream_has_its_outcome),
		cmocka_unit_test(a_whole_answer_has_no_pieces),
		cmocka_unit_test(usage_of_each_piece_is_kept_with_it),
		cmocka_unit_test(a_kept_text_has_a_limit),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
