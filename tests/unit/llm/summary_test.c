/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "llm/summary.h"

#include <math.h>

#define SECOND_NS INT64_C(1000000000)

static struct kwhy_llm_limits limits = {NAN, NAN, NAN};

static struct kwhy_llm_summary summary_of(struct kwhy_llm_record *records, size_t count)
{
	const struct kwhy_llm_run run = {.records = records,
		.count = count,
		.steady_start_ns = 10 * SECOND_NS,
		.steady_end_ns = 20 * SECOND_NS};
	struct kwhy_llm_summary summary;
	struct kwhy_error error;

	assert_int_equal(kwhy_llm_summarise(&run, &limits, &summary, &error), KWHY_OK);
	return summary;
}

static void assert_near(double value, double expected)
{
	if (!(fabs(value - expected) < 1e-9))
		fail_msg("%.12g is not %.12g", value, expected);
}

static void times_count_from_when_a_request_was_due(void **state)
{
	struct kwhy_llm_piece pieces[] = {
		{13 * SECOND_NS, 1, -1}, {14 * SECOND_NS, 1, -1}, {16 * SECOND_NS, 1, -1}};
	struct kwhy_llm_record record = {.due_ns = 11 * SECOND_NS,
		.sent_ns = 12 * SECOND_NS,
		.end_ns = 17 * SECOND_NS,
		.prompt_tokens = 5,
		.completion_tokens = 7,
		.pieces = pieces,
		.piece_count = 3};
	struct kwhy_llm_summary summary = summary_of(&record, 1);

	(void)state;
	assert_near(summary.first_s.p50, 2);
	assert_near(summary.answer_s.p50, 6);
	assert_near(summary.token_s.p50, 3.0 / (7 - 1 - 4.0 / 3));
	assert_int_equal(summary.gap_s.count, 2);
	assert_near(summary.gap_s.mean, 1.5);
	assert_near(summary.late_s, 1);
	assert_near(summary.tokens, 7);
	assert_near(summary.prompt_tokens, 5);
}

/*
 * Pieces come at 16, 18 and 20 s; the first two are in the window, 10 s to 20 s. Their tokens are those that
 * the server states or, if it states only the total, follow from the pieces' sizes. token_s: time per token,
 * 4 s divided by the tokens after the first piece.
 */
static void pieces_of_several_tokens_are_weighed(void **state)
{
	static const struct {
		int32_t stated[3];
		uint32_t bytes[3];
		int64_t tokens;
		double token_s, inside; /* inside: tokens in the window */
	} cases[] = {
		{{1, 5, 7}, {4, 4, 4}, 7, 4.0 / 6, 5},	  /* the server states tokens with each piece */
		{{3, 5, 7}, {4, 4, 4}, 8, 4.0 / 4, 5},	  /* the 8th token has no text */
		{{-1, -1, -1}, {4, 8, 4}, 7, 4.0 / 5, 5}, /* by size: 2, 3 and 2 tokens */
		{{-1, -1, 9}, {1, 1, 1}, 9, 4.0 / 6,
			6}, /* only the last piece states the number of all tokens */
		{{4, 4, 9}, {1, 1, 1}, 9, 4.0 / 6,
			6}, /* the stated numbers do not grow, so they are not used */
		{{-1, -1, -1}, {9, 1, 1}, 3, 4.0 / 2, 2}, /* one token in each piece, whatever its size */
		{{-1, -1, -1}, {4, 4, 4}, 2, 4.0 / (4.0 / 3), 4.0 / 3},
		{{-1, -1, -1}, {4, 4, 4}, -1, 4.0 / 2, 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kwhy_llm_piece pieces[3];
		struct kwhy_llm_record record = {.due_ns = 15 * SECOND_NS,
			.end_ns = 21 * SECOND_NS,
			.completion_tokens = cases[i].tokens,
			.pieces = pieces,
			.piece_count = 3};
		struct kwhy_llm_summary summary;

		for (int k = 0; k < 3; k++)
			pieces[k] = (struct kwhy_llm_piece){
				(16 + 2 * k) * SECOND_NS, cases[i].bytes[k], cases[i].stated[k]};
		summary = summary_of(&record, 1);
		assert_near(summary.token_s.p50, cases[i].token_s);
		assert_near(summary.tokens, cases[i].inside);
	}
}

static void a_request_over_the_edge_counts_in_parts(void **state)
{
	struct kwhy_llm_piece pieces[] = {{9 * SECOND_NS, 1, -1}, {11 * SECOND_NS, 1, -1},
		{12 * SECOND_NS, 1, -1}, {21 * SECOND_NS, 1, -1}};
	struct kwhy_llm_record record = {.due_ns = 8 * SECOND_NS,
		.sent_ns = 8 * SECOND_NS,
		.end_ns = 21 * SECOND_NS,
		.prompt_tokens = 4,
		.completion_tokens = 8,
		.pieces = pieces,
		.piece_count = 4};
	struct kwhy_llm_summary summary = summary_of(&record, 1);

	(void)state;
	assert_int_equal(summary.requests, 0);
	assert_near(summary.tokens, 4);
	assert_near(summary.answers, 0.5);
	assert_near(summary.prompt_tokens, 2);
	assert_true(isnan(summary.answer_s.p50));
}

static void failures_are_counted_by_kind_and_have_no_times(void **state)
{
	struct kwhy_llm_piece piece = {12 * SECOND_NS, 1, -1};
	struct kwhy_llm_record records[] = {
		{.due_ns = 11 * SECOND_NS, .outcome = KWHY_LLM_STATUS, .http_status = 503},
		{.due_ns = 12 * SECOND_NS,
			.outcome = KWHY_LLM_BROKEN,
			.completion_tokens = -1,
			.pieces = &piece,
			.piece_count = 1},
		{.due_ns = 9 * SECOND_NS, .outcome = KWHY_LLM_REFUSED}};
	struct kwhy_llm_summary summary = summary_of(records, 3);

	(void)state;
	assert_int_equal(summary.requests, 2);
	assert_int_equal(summary.outcomes[KWHY_LLM_STATUS], 1);
	assert_int_equal(summary.outcomes[KWHY_LLM_BROKEN], 1);
	assert_int_equal(summary.outcomes[KWHY_LLM_REFUSED], 0);
	assert_int_equal(summary.failed_status, 503);
	assert_int_equal(summary.answer_s.count, 0);
	assert_near(summary.tokens, 1);
	assert_near(summary.answers, 0);
}

static void usage_that_lies_or_lacks_is_counted(void **state)
{
	struct kwhy_llm_piece pieces[] = {{12 * SECOND_NS, 1, -1}, {13 * SECOND_NS, 1, -1}};
	struct kwhy_llm_record records[] = {{.due_ns = 11 * SECOND_NS,
						    .end_ns = 14 * SECOND_NS,
						    .prompt_tokens = -1,
						    .completion_tokens = -1,
						    .pieces = pieces,
						    .piece_count = 2},
		{.due_ns = 11 * SECOND_NS,
			.end_ns = 14 * SECOND_NS,
			.prompt_tokens = 1,
			.completion_tokens = 1,
			.pieces = pieces,
			.piece_count = 2}};
	struct kwhy_llm_summary summary = summary_of(records, 2);

	(void)state;
	assert_int_equal(summary.without_usage, 1);
	assert_int_equal(summary.fewer_than_pieces, 1);
	assert_int_equal(summary.usage_tokens, 1);
	assert_int_equal(summary.usage_pieces, 2);
	assert_near(summary.tokens, 3);
	assert_true(isnan(summary.prompt_tokens));
}

static void what_an_answer_outside_the_window_does_not_say_is_not_missed(void **state)
{
	struct kwhy_llm_piece inside[] = {{12 * SECOND_NS, 1, -1}}, outside[] = {{3 * SECOND_NS, 1, -1}};
	struct kwhy_llm_record records[] = {{.due_ns = 11 * SECOND_NS,
						    .end_ns = 14 * SECOND_NS,
						    .prompt_tokens = 5,
						    .pieces = inside,
						    .piece_count = 1},
		{.due_ns = 2 * SECOND_NS,
			.end_ns = 4 * SECOND_NS,
			.prompt_tokens = -1,
			.completion_tokens = -1,
			.pieces = outside,
			.piece_count = 1}};

	(void)state;
	assert_near(summary_of(records, 2).prompt_tokens, 5);
}

static void a_percentile_needs_a_value_beyond_it(void **state)
{
	struct kwhy_llm_record records[100];
	struct kwhy_llm_summary summary;

	(void)state;
	for (int i = 0; i < 100; i++)
		records[i] = (struct kwhy_llm_record){.due_ns = 11 * SECOND_NS,
			.end_ns = (11 + 100 - i) * SECOND_NS,
			.completion_tokens = 1};
	summary = summary_of(records, 100);
	assert_near(summary.answer_s.p50, 50);
	assert_near(summary.answer_s.p95, 95);
	assert_near(summary.answer_s.p99, 99);
	summary = summary_of(records, 99);
	assert_true(isnan(summary.answer_s.p99));
	assert_false(isnan(summary.answer_s.p95));
	summary = summary_of(records, 19);
	assert_true(isnan(summary.answer_s.p95));
	assert_false(isnan(summary.answer_s.p50));
}

/*
 * The first piece comes after 1 s, the answer takes 3 s, and the time per token is 1 s. The limits are for
 * these, in the order first piece, token, answer.
 */
static void answers_within_all_limits_are_good(void **state)
{
	static const struct {
		struct kwhy_llm_limits limits;
		size_t good;
	} cases[] = {
		{{NAN, NAN, NAN}, 1}, {{1, 1, 3}, 1}, {{0.9, 1, 3}, 0}, {{1, 0.9, 3}, 0}, {{1, 1, 2.9}, 0}};
	struct kwhy_llm_piece pieces[] = {
		{12 * SECOND_NS, 1, -1}, {13 * SECOND_NS, 1, -1}, {14 * SECOND_NS, 1, -1}};
	struct kwhy_llm_record records[] = {{.due_ns = 11 * SECOND_NS,
						    .sent_ns = 11 * SECOND_NS,
						    .end_ns = 14 * SECOND_NS,
						    .completion_tokens = 3,
						    .pieces = pieces,
						    .piece_count = 3},
		{.due_ns = 11 * SECOND_NS, .outcome = KWHY_LLM_BROKEN}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		limits = cases[i].limits;
		assert_int_equal(summary_of(records, 2).good, cases[i].good);
	}
	limits = (struct kwhy_llm_limits){NAN, NAN, NAN};
	assert_int_equal(summary_of(records, 2).sent, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_count_from_when_a_request_was_due),
		cmocka_unit_test(pieces_of_several_tokens_are_weighed),
		cmocka_unit_test(a_request_over_the_edge_counts_in_parts),
		cmocka_unit_test(failures_are_counted_by_kind_and_have_no_times),
		cmocka_unit_test(usage_that_lies_or_lacks_is_counted),
		cmocka_unit_test(what_an_answer_outside_the_window_does_not_say_is_not_missed),
		cmocka_unit_test(answers_within_all_limits_are_good),
		cmocka_unit_test(a_percentile_needs_a_value_beyond_it),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
