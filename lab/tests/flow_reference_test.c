/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/device.h"

#include "cmocka_all.h"

#include <stdlib.h>

static struct lab_flow_step all_of(const struct lab_flow_answer *answer)
{
	struct lab_flow_step all = {0};

	for (uint32_t step = 0; step < answer->shape.steps; step++) {
		all.places += answer->steps[step].places;
		all.merged += answer->steps[step].merged;
		all.exited += answer->steps[step].exited;
	}
	return all;
}

static struct lab_flow_answer answer_of(struct lab_flow_shape shape, bool numbers)
{
	struct lab_flow_answer answer;
	struct kwhy_error error;

	if (lab_flow_reference(&shape, numbers, &answer, &error))
		fail_msg("%s", error.text);
	assert_true(answer.spawned == all_of(&answer).merged + all_of(&answer).exited + answer.left.count);
	return answer;
}

static double sum_of(const float *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (double)values[i];
	return sum;
}

/* The expected values are those that lab/README.md states for 1,000 flows and 60 steps. */
static void places_of_the_fixed_path_are_golden(void **state)
{
	struct lab_flow_answer answer = answer_of(lab_flow_shape_of(1000, 60, false), false);

	(void)state;
	assert_int_equal(answer.left.count, 975);
	assert_int_equal(answer.spawned, 2341);
	assert_int_equal(all_of(&answer).merged, 728);
	assert_int_equal(all_of(&answer).exited, 638);
	assert_true(all_of(&answer).places == UINT64_C(0xccc0fb3a0eac12ff));
	assert_int_equal(answer.steps[0].merged, 41);
	assert_true(answer.steps[0].places == UINT64_C(0x175ec11b42431cd8));
	assert_true(isnan(answer.sum_out) && !answer.left.h);
	lab_flow_answer_done(&answer);
}

static void numbers_of_the_fixed_path_are_golden(void **state)
{
	struct lab_flow_answer answer = answer_of(lab_flow_shape_of(1000, 60, false), true);

	(void)state;
	assert_true(fabs(sum_of(answer.left.h, 975 * H) / -392.338083 - 1) < 1e-6);
	assert_true(fabs(sum_of(answer.left.e, 975 * E) / -16.218327 - 1) < 1e-5);
	assert_true(fabs(answer.sum_out / -10.7526629 - 1) < 1e-5);
	lab_flow_answer_done(&answer);
}

static void places_of_the_chosen_path_are_golden(void **state)
{
	struct lab_flow_answer answer = answer_of(lab_flow_shape_of(1000, 60, true), false);

	(void)state;
	assert_int_equal(answer.left.count, 1000);
	assert_int_equal(all_of(&answer).merged, 130);
	assert_int_equal(all_of(&answer).exited, 996);
	assert_true(all_of(&answer).places == UINT64_C(0x57c8fb9c03e9dac0));
	lab_flow_answer_done(&answer);
}

static void no_flow_and_one_flow_are_runs_too(void **state)
{
	struct lab_flow_answer none = answer_of(lab_flow_shape_of(0, 3, false), true),
			       one = answer_of(lab_flow_shape_of(1, 52, false), true);

	(void)state;
	assert_int_equal(none.left.count, 0);
	assert_int_equal(none.spawned, 0);
	assert_true(all_of(&none).places == 0 && none.sum_out == 0);
	assert_int_equal(one.left.count, 1);
	assert_int_equal(all_of(&one).exited, 1);
	assert_int_equal(all_of(&one).merged, 0);
	assert_int_equal(one.spawned, 2);
	lab_flow_answer_done(&none);
	lab_flow_answer_done(&one);
}

/* The lattice is one cell wide and high, so all flows of the same step are in one cell. */
static void flows_in_one_cell_become_the_one_of_the_lowest_number(void **state)
{
	const struct lab_flow_shape shape = {9, 2, false, 1, 1, 3};
	struct lab_flow_answer answer = answer_of(shape, true);

	(void)state;
	/*
	 * Step 0: all nine flows are in the same cell, so eight merge into the one with number 0, and eight
	 * new flows start. Step 1: these eight are in one cell, and seven merge into number 9; flow 0 is one
	 * cell deeper.
	 */
	assert_int_equal(answer.steps[0].merged, 8);
	assert_int_equal(answer.steps[1].merged, 7);
	assert_int_equal(answer.left.count, 2);
	assert_int_equal(answer.left.at[0] >> 32, 0);
	assert_int_equal(answer.left.at[1] >> 32, 9);
	lab_flow_answer_done(&answer);
}

static void the_order_of_flows_changes_nothing_but_who_comes_next(void **state)
{
	const struct lab_flow_shape shape = {6, 1, false, 4, 4, 4};
	const uint64_t forth[] = {at_of(0, 1, 1, 1), at_of(1, 2, 1, 1), at_of(2, 1, 1, 1), at_of(3, 1, 1, 1),
		at_of(4, 3, 3, 4), at_of(5, 2, 1, 1)};
	struct lab_flow_step steps[2];
	struct lab_flow_roster roster;
	void *memory = malloc(lab_flow_roster_place(&shape, NULL, NULL));

	(void)state;
	lab_flow_roster_place(&shape, memory, &roster);
	lab_flow_roster_reset(&roster);
	memcpy(roster.moved, forth, sizeof(forth));
	lab_flow_roster_step(&roster, 0, &steps[0]);
	assert_true(!roster.fresh[0] && !roster.fresh[1] && roster.fresh[2] && roster.fresh[3] &&
		roster.fresh[4]);
	assert_int_equal(roster.next_number, 10);
	lab_flow_roster_reset(&roster);
	for (int i = 0; i < 6; i++)
		roster.moved[i] = forth[5 - i];
	lab_flow_roster_step(&roster, 0, &steps[1]);
	assert_true(!roster.fresh[5] && !roster.fresh[4]);
	assert_memory_equal(&steps[0], &steps[1], sizeof(steps[0]));
	assert_int_equal(steps[0].merged, 3);
	assert_int_equal(steps[0].exited, 1);
	free(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_of_the_fixed_path_are_golden),
		cmocka_unit_test(numbers_of_the_fixed_path_are_golden),
		cmocka_unit_test(places_of_the_chosen_path_are_golden),
		cmocka_unit_test(no_flow_and_one_flow_are_runs_too),
		cmocka_unit_test(flows_in_one_cell_become_the_one_of_the_lowest_number),
		cmocka_unit_test(the_order_of_flows_changes_nothing_but_who_comes_next),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
