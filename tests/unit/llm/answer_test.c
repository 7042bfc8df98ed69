/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "llm/answer.h"

#include <stdio.h>
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
	assert_int_equal(answer.chunk_count, 3);
	assert_int_equal(answer.chunk_ns[0], 7);
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
 * A token may be part of a character. Some servers send half of a surrogate pair, or single bytes, in an
 * event of its own.
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
		if (kwhy_llm_answer_outcome(&answer) != KWHY_LLM_DONE || answer.chunk_count != 1 ||
			answer.prompt_tokens != 4)
			fail_msg("text %zu of '%s' is %s with %zu pieces", i, texts[i],
				kwhy_llm_outcome_name(kwhy_llm_answer_outcome(&answer)), answer.chunk_count);
		kwhy_llm_answer_done(&answer);
	}
}

static void each_bad_stream_has_its_kind(void **state)
{
	(void)state;
	assert_outcome("", KWHY_LLM_BROKEN);
	assert_outcome("{\"choices\":[]}", KWHY_LLM_BROKEN);
	assert_outcome("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n", KWHY_LLM_BROKEN);
	assert_outcome("data: {\"choices\":[{\"finish_reason\":\"stop\"}]}\n\n", KWHY_LLM_DONE);
	assert_outcome("data: <html>\n\n", KWHY_LLM_MALFORMED);
	assert_outcome("data: []\n\n", KWHY_LLM_MALFORMED);
	assert_outcome("data: {\"choices\":[{\"text\":\"\\ud83\"}]}\n\n", KWHY_LLM_MALFORMED);
	assert_outcome("data: {\"choices\":[{\"text\":\"\\ud83d\"}\n\n", KWHY_LLM_MALFORMED);
	assert_outcome("data: {\"choices\":[{\"text\":\"\xff\"}\n\n", KWHY_LLM_MALFORMED);
	assert_outcome(
		"data: {\"choices\":[{\"logprobs\":{\"\\u0000\":-1,\"\\ud83d\":-2}}]}\n\ndata: [DONE]\n\n",
		KWHY_LLM_DONE);
	assert_outcome("data: {\"error\":{\"message\":\"x\"}}\n\n", KWHY_LLM_REPORTED);
	assert_outcome("data: {\"error\":null,\"choices\":[]}\n\ndata: [DONE]\n\n", KWHY_LLM_DONE);
	assert_outcome("data: {\"choices\":{\"0\":1}}\n\ndata: [DONE]\n\n", KWHY_LLM_DONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_of_text_and_usage_are_counted),
		cmocka_unit_test(counts_that_are_none_stay_unknown),
		cmocka_unit_test(text_that_is_no_character_is_a_piece_all_the_same),
		cmocka_unit_test(each_bad_stream_has_its_kind),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
