/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "llm/work.h"

#include <math.h>

#define SECOND_NS INT64_C(1000000000)

static const struct kwhy_llm_reading readings[] = {
	{0, 0}, {SECOND_NS, 1}, {2 * SECOND_NS, 2}, {4 * SECOND_NS, 3}};

static struct kwhy_llm_shares shares_of(const struct kwhy_llm_record *records, size_t count)
{
	const struct kwhy_llm_metered metered = {
		.readings = readings, .reading_count = 4, .records = records, .record_count = count};
	struct kwhy_llm_shares shares;
	struct kwhy_error error;

	assert_int_equal(kwhy_llm_shares_make(&metered, &shares, &error), KWHY_OK);
	return shares;
}

static double work_in(
	const struct kwhy_llm_shares *shares, uint32_t interval, uint32_t request, enum kwhy_llm_work kind)
{
	double sum = 0;

	for (size_t i = 0; i < shares->count; i++) {
		assert_true(i == 0 || shares->items[i].interval >= shares->items[i - 1].interval);
		if (shares->items[i].interval == interval && shares->items[i].request == request)
			sum += shares->items[i].work[kind];
	}
	return sum;
}

static void assert_near(double value, double expected)
{
	if (!(fabs(value - expected) < 1e-9))
		fail_msg("%.12g is not %.12g", value, expected);
}

/*
 * The prompt is processed from 0.5 s to 1.5 s. Tokens come at 1.5, 1.75, 2.5 and 5 s. The readings end before
 * 5 s, so only a part of the last token's work is in the windows.
 */
static void work_is_divided_by_time(void **state)
{
	struct kwhy_llm_piece pieces[] = {{SECOND_NS * 3 / 2, 1, -1}, {SECOND_NS * 7 / 4, 1, -1},
		{SECOND_NS * 5 / 2, 1, -1}, {SECOND_NS * 5, 1, -1}};
	const struct kwhy_llm_record record = {.sent_ns = SECOND_NS / 2,
		.prompt_tokens = 10,
		.cached_tokens = 4,
		.completion_tokens = 4,
		.pieces = pieces,
		.piece_count = 4};
	struct kwhy_llm_shares shares = shares_of(&record, 1);

	(void)state;
	assert_near(work_in(&shares, 0, 0, KWHY_LLM_WORK_PROMPT), 3);
	assert_near(work_in(&shares, 1, 0, KWHY_LLM_WORK_PROMPT), 3);
	assert_near(work_in(&shares, 1, 0, KWHY_LLM_WORK_CACHED), 2);
	assert_near(work_in(&shares, 0, 0, KWHY_LLM_WORK_OUTPUT), 0);
	assert_near(work_in(&shares, 1, 0, KWHY_LLM_WORK_OUTPUT), 1 + 1.0 / 3);
	assert_near(work_in(&shares, 2, 0, KWHY_LLM_WORK_OUTPUT), 2.0 / 3 + 0.6);
	assert_near(work_in(&shares, 1, 0, KWHY_LLM_WORK_STEP), 1 + 1.0 / 3);
	assert_near(work_in(&shares, 0, 0, KWHY_LLM_WORK_BATCH), 0.5);
	assert_near(work_in(&shares, 1, 0, KWHY_LLM_WORK_BATCH), 0.5);
	/* generating the second, third and fourth token reads a context of 11, 12 and 13 tokens */
	assert_near(work_in(&shares, 1, 0, KWHY_LLM_WORK_CONTEXT), 11 + 12.0 / 3);
	assert_near(work_in(&shares, 2, 0, KWHY_LLM_WORK_CONTEXT), 12 * 2.0 / 3 + 13 * 0.6);
	kwhy_llm_shares_done(&shares);
}

/*
 * Two requests are sent at 0 s. Their first tokens come at 1 s and 2 s, so the second prompt is processed
 * after the first, from 1 s on. Then one step generates the tokens of both answers at 3 s, and half of it
 * belongs to each.
 */
static void prompts_follow_each_other_and_steps_are_shared(void **state)
{
	struct kwhy_llm_piece one[] = {{SECOND_NS, 1, -1}, {SECOND_NS * 3, 1, -1}};
	struct kwhy_llm_piece two[] = {{SECOND_NS * 2, 1, -1}, {SECOND_NS * 3, 1, -1}};
	const struct kwhy_llm_record records[] = {{.prompt_tokens = 8,
							  .cached_tokens = -1,
							  .completion_tokens = 2,
							  .pieces = one,
							  .piece_count = 2},
		{.prompt_tokens = -1,
			.cached_tokens = -1,
			.completion_tokens = 2,
			.pieces = two,
			.piece_count = 2},
		{.outcome = KWHY_LLM_REFUSED, .prompt_tokens = -1, .completion_tokens = -1}};
	struct kwhy_llm_shares shares = shares_of(records, 3);

	(void)state;
	assert_int_equal(shares.answered, 2);
	assert_int_equal(shares.unknown_prompts, 1);
	assert_near(work_in(&shares, 0, 0, KWHY_LLM_WORK_PROMPT), 8);
	assert_near(work_in(&shares, 0, 1, KWHY_LLM_WORK_PROMPT), 0);
	assert_near(work_in(&shares, 1, 1, KWHY_LLM_WORK_PROMPT), 8);
	assert_near(work_in(&shares, 2, 1, KWHY_LLM_WORK_STEP), 0.5);
	assert_near(
		work_in(&shares, 1, 0, KWHY_LLM_WORK_STEP) + work_in(&shares, 2, 0, KWHY_LLM_WORK_STEP), 0.5);
	kwhy_llm_shares_done(&shares);
}

/*
 * The first pieces of the first two requests arrive within 1 ms, so their prompts were processed in one
 * batch. The third answer has a piece of three tokens, for which 9, 10 and 11 tokens of context are read.
 */
static void prompts_are_batched_and_contexts_grow_in_a_piece(void **state)
{
	struct kwhy_llm_piece one[] = {{SECOND_NS / 2, 1, -1}};
	struct kwhy_llm_piece two[] = {{SECOND_NS / 2 + 1000000, 1, -1}};
	struct kwhy_llm_piece three[] = {{SECOND_NS * 5 / 4, 1, 1}, {SECOND_NS * 3 / 2, 3, 4}};
	const struct kwhy_llm_record records[] = {{.prompt_tokens = 8,
							  .cached_tokens = -1,
							  .completion_tokens = 1,
							  .pieces = one,
							  .piece_count = 1},
		{.prompt_tokens = 8,
			.cached_tokens = -1,
			.completion_tokens = 1,
			.pieces = two,
			.piece_count = 1},
		{.prompt_tokens = 8,
			.cached_tokens = -1,
			.completion_tokens = 4,
			.pieces = three,
			.piece_count = 2}};
	struct kwhy_llm_shares shares = shares_of(records, 3);

	(void)state;
	assert_near(work_in(&shares, 0, 0, KWHY_LLM_WORK_BATCH), 0.5);
	assert_near(work_in(&shares, 0, 1, KWHY_LLM_WORK_BATCH), 0.5);
	assert_near(
		work_in(&shares, 0, 2, KWHY_LLM_WORK_BATCH) + work_in(&shares, 1, 2, KWHY_LLM_WORK_BATCH), 1);
	assert_near(work_in(&shares, 1, 2, KWHY_LLM_WORK_CONTEXT), 9 + 10 + 11);
	kwhy_llm_shares_done(&shares);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_is_divided_by_time),
		cmocka_unit_test(prompts_follow_each_other_and_steps_are_shared),
		cmocka_unit_test(prompts_are_batched_and_contexts_grow_in_a_piece),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
