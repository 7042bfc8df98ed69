/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/books.h"
#include "lab/flow/lines.h"
#include "lab/flow/rules.h"

#include "cmocka_all.h"

#include <stdlib.h>

static struct kwhy_flow_answer answer_of(struct kwhy_flow_shape shape, unsigned parts)
{
	struct kwhy_flow_answer answer;
	struct kwhy_error error;

	if (kwhy_flow_reference(&shape, parts, &answer, &error))
		fail_msg("%s", error.text);
	assert_true(answer.spawned == answer.merged + answer.exited + answer.active);
	return answer;
}

/* Golden values of the specification. */
static void places_of_the_fixed_path_are_golden(void **state)
{
	struct kwhy_flow_answer answer = answer_of(kwhy_flow_shape_of(1000, 60, false), 0);

	(void)state;
	assert_int_equal(answer.active, 975);
	assert_int_equal(answer.spawned, 2341);
	assert_int_equal(answer.merged, 728);
	assert_int_equal(answer.exited, 638);
	assert_true(answer.places == UINT64_C(0xccc0fb3a0eac12ff));
	assert_int_equal(answer.steps[0].merged, 41);
	assert_true(answer.steps[0].places == UINT64_C(0x175ec11b42431cd8));
	assert_true(isnan(answer.sum_h) && isnan(answer.sum_out) && !answer.h);
	kwhy_flow_answer_done(&answer);
}

static void numbers_of_the_fixed_path_are_golden(void **state)
{
	struct kwhy_flow_answer answer = answer_of(kwhy_flow_shape_of(1000, 60, false), KWHY_FLOW_NUMBERS);

	(void)state;
	assert_true(fabs(answer.sum_h / -392.338083 - 1) < 1e-6);
	assert_true(fabs(answer.sum_e / -16.218327 - 1) < 1e-5);
	assert_true(fabs(answer.sum_out / -10.7526629 - 1) < 1e-5);
	kwhy_flow_answer_done(&answer);
}

static void places_of_the_chosen_path_are_golden(void **state)
{
	struct kwhy_flow_answer answer = answer_of(kwhy_flow_shape_of(1000, 60, true), 0);

	(void)state;
	assert_int_equal(answer.active, 1000);
	assert_int_equal(answer.merged, 130);
	assert_int_equal(answer.exited, 996);
	assert_true(answer.places == UINT64_C(0x57c8fb9c03e9dac0));
	kwhy_flow_answer_done(&answer);
}

static void no_flow_and_one_flow_are_runs_too(void **state)
{
	struct kwhy_flow_answer none = answer_of(kwhy_flow_shape_of(0, 3, false), KWHY_FLOW_NUMBERS),
				one = answer_of(kwhy_flow_shape_of(1, 52, false), KWHY_FLOW_NUMBERS);

	(void)state;
	assert_int_equal(none.active, 0);
	assert_int_equal(none.spawned, 0);
	assert_true(none.places == 0 && none.sum_out == 0);
	assert_int_equal(one.active, 1);
	assert_int_equal(one.exited, 1);
	assert_int_equal(one.merged, 0);
	assert_int_equal(one.spawned, 2);
	kwhy_flow_answer_done(&none);
	kwhy_flow_answer_done(&one);
}

static uint64_t tokens_in(const struct kwhy_flow_answer *answer)
{
	uint64_t sum = 0;

	for (uint32_t step = 0; step < answer->shape.steps; step++)
		sum += answer->texts[step];
	return sum;
}

/* Worked out by a program in another language. */
static void text_is_golden(void **state)
{
	const struct kwhy_flow_shape cell = {9, 2, false, 1, 1, 3}, small = {30, 7, false, 8, 6, 5};
	struct kwhy_flow_answer answer = answer_of(kwhy_flow_shape_of(1000, 60, false), KWHY_FLOW_TEXTS),
				of_cell = answer_of(cell, KWHY_FLOW_TEXTS | KWHY_FLOW_NUMBERS),
				of_small = answer_of(small, KWHY_FLOW_TEXTS);

	(void)state;
	assert_true(answer.texts[0] == UINT64_C(0xd8c5e334f9447da8));
	assert_true(tokens_in(&answer) == UINT64_C(0xf0f5cf3c63a57243));
	assert_true(tokens_in(&of_cell) == UINT64_C(0x2b64490a1d14b756));
	assert_true(tokens_in(&of_small) == UINT64_C(0x7327797374eb3781));
	kwhy_flow_answer_done(&answer);
	kwhy_flow_answer_done(&of_cell);
	kwhy_flow_answer_done(&of_small);
	answer = answer_of(small, 0);
	assert_null(answer.texts);
	kwhy_flow_answer_done(&answer);
}

static void a_line_says_where_a_flow_is_and_what_it_carries(void **state)
{
	float e[KWHY_FLOW_ENERGIES], read[KWHY_FLOW_ENERGIES];
	char line[KWHY_FLOW_LINE_BYTES];

	(void)state;
	for (uint32_t k = 0; k < KWHY_FLOW_ENERGIES; k++)
		e[k] = kwhy_flow_start_energy(7, k);
	kwhy_flow_line_write(kwhy_flow_at(7, 60, 40, 0), e, line);
	assert_memory_equal(line, "7 60 40 0 -0.69140625 0.1875 -0.290039062 ", 42);
	assert_true(kwhy_flow_line_read(line, KWHY_FLOW_LINE_WORDS, read) == UINT64_C(0xef4ab13fb6ea1498));
	assert_true(kwhy_flow_line_read(line, KWHY_FLOW_LINE_PLACES, read) == UINT64_C(0x48e5fe046b6382d2));
	assert_memory_equal(e, read, sizeof(e));
}

/* Also what is as long as a number can be. */
static void what_is_read_of_a_line_is_what_was_written(void **state)
{
	float e[KWHY_FLOW_ENERGIES], read[KWHY_FLOW_ENERGIES];
	char line[KWHY_FLOW_LINE_BYTES];

	(void)state;
	for (uint32_t turn = 0; turn < 1000; turn++) {
		for (uint32_t k = 0; k < KWHY_FLOW_ENERGIES; k++)
			e[k] = turn ? tanhf((float)(int64_t)kwhy_splitmix(turn << 8 ^ k) * 0x1p-63f)
				    : -1.17549435e-38f;
		kwhy_flow_line_write(kwhy_flow_at(UINT32_MAX, 999, 999, 1000), e, line);
		kwhy_flow_line_read(line, 0, read);
		assert_memory_equal(e, read, sizeof(e));
	}
}

/* A lattice of one cell across: whoever starts is in it. */
static void flows_in_one_cell_become_the_one_of_the_lowest_number(void **state)
{
	const struct kwhy_flow_shape shape = {9, 2, false, 1, 1, 3};
	struct kwhy_flow_answer answer = answer_of(shape, KWHY_FLOW_NUMBERS);

	(void)state;
	/* The first nine are one, a step ahead of the eight that came for those that merged. */
	assert_int_equal(answer.steps[0].merged, 8);
	assert_int_equal(answer.steps[1].merged, 7);
	assert_int_equal(answer.active, 2);
	assert_int_equal(answer.at[0] >> 32, 0);
	assert_int_equal(answer.at[1] >> 32, 9);
	kwhy_flow_answer_done(&answer);
}

static void the_order_of_flows_changes_nothing_but_who_comes_next(void **state)
{
	const struct kwhy_flow_shape shape = {6, 1, false, 4, 4, 4};
	const uint64_t forth[] = {kwhy_flow_at(0, 1, 1, 1), kwhy_flow_at(1, 2, 1, 1),
		kwhy_flow_at(2, 1, 1, 1), kwhy_flow_at(3, 1, 1, 1), kwhy_flow_at(4, 3, 3, 4),
		kwhy_flow_at(5, 2, 1, 1)};
	struct kwhy_flow_step steps[2];
	struct kwhy_flow_books books;
	struct kwhy_error error;
	uint64_t back[6];

	(void)state;
	for (int i = 0; i < 6; i++)
		back[i] = forth[5 - i];
	assert_int_equal(kwhy_flow_books_open(&shape, &books, &error), KWHY_OK);
	kwhy_flow_books_step(&books, 0, forth, &steps[0]);
	assert_true(!books.fresh[0] && !books.fresh[1] && books.fresh[2] && books.fresh[3] && books.fresh[4]);
	assert_int_equal(books.next_number, 10);
	kwhy_flow_books_reset(&books);
	kwhy_flow_books_step(&books, 0, back, &steps[1]);
	assert_true(!books.fresh[5] && !books.fresh[4]);
	assert_memory_equal(&steps[0], &steps[1], sizeof(steps[0]));
	assert_int_equal(steps[0].merged, 3);
	assert_int_equal(steps[0].exited, 1);
	kwhy_flow_books_done(&books);
}

static void a_shape_out_of_bounds_is_refused(void **state)
{
	static const struct kwhy_flow_shape wrong[] = {{KWHY_FLOW_FLOWS_MOST + 1, 1, false, 9, 9, 9},
		{1, 0, false, 9, 9, 9}, {1, KWHY_FLOW_STEPS_MOST + 1, false, 9, 9, 9}, {1, 1, false, 0, 9, 9},
		{1, 1, false, 9, 1001, 9}};
	struct kwhy_flow_answer answer;
	struct kwhy_error error;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(kwhy_flow_reference(&wrong[i], 0, &answer, &error), KWHY_E_INPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_of_the_fixed_path_are_golden),
		cmocka_unit_test(numbers_of_the_fixed_path_are_golden),
		cmocka_unit_test(places_of_the_chosen_path_are_golden),
		cmocka_unit_test(text_is_golden),
		cmocka_unit_test(a_line_says_where_a_flow_is_and_what_it_carries),
		cmocka_unit_test(what_is_read_of_a_line_is_what_was_written),
		cmocka_unit_test(no_flow_and_one_flow_are_runs_too),
		cmocka_unit_test(flows_in_one_cell_become_the_one_of_the_lowest_number),
		cmocka_unit_test(the_order_of_flows_changes_nothing_but_who_comes_next),
		cmocka_unit_test(a_shape_out_of_bounds_is_refused),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
