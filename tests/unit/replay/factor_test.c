/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "replay/factor.h"
#include "replay/replay.h"

#include <math.h>

/*
 * Returns the net energy, J, that a simulated replay draws at this work factor: it rises with the factor from
 * 10 J to at most 150 J.
 */
static double drawn_j(double factor)
{
	return fmin(10 + 60 * pow(factor, 0.7), 150);
}

static double reached(double wanted_j, size_t most)
{
	struct kwhy_replay_attempt tries[8] = {{.factor = 1}};

	for (size_t i = 0; i < most; i++) {
		tries[i].net_j = drawn_j(tries[i].factor);
		tries[i + 1].factor = kwhy_replay_next_factor(tries, i + 1, wanted_j);
	}
	return drawn_j(tries[most].factor);
}

static void what_is_wanted_is_found_in_few_tries(void **state)
{
	(void)state;
	for (double wanted_j = 15; wanted_j <= 140; wanted_j += 12.5)
		assert_true(fabs(reached(wanted_j, 5) / wanted_j - 1) < 0.02);
}

static void between_one_below_and_one_above_it_is_on_the_line_through_them(void **state)
{
	const struct kwhy_replay_attempt tries[] = {{1, 20}, {4, 60}, {2, 30}};

	(void)state;
	assert_float_equal(kwhy_replay_next_factor(tries, 3, 45), 3, 1e-9);
}

static void a_first_try_is_scaled_and_no_step_is_more_than_fourfold(void **state)
{
	const struct kwhy_replay_attempt first[] = {{1, 20}}, none[] = {{1, 0}}, below[] = {{1, -3}},
					 much[] = {{1, 900}};

	(void)state;
	assert_float_equal(kwhy_replay_next_factor(first, 1, 30), 1.5, 1e-9);
	assert_float_equal(kwhy_replay_next_factor(none, 1, 30), 4, 1e-9);
	assert_float_equal(kwhy_replay_next_factor(below, 1, 30), 4, 1e-9);
	assert_float_equal(kwhy_replay_next_factor(much, 1, 30), 0.25, 1e-9);
}

/*
 * The second attempt did more work (factor 2) but drew less energy (19 J) than the first. A line through both
 * would be noise; the next factor for 38 J must be 2 x 38/19.
 */
static void tries_that_contradict_each_other_still_give_a_factor(void **state)
{
	const struct kwhy_replay_attempt tries[] = {{1, 20}, {2, 19}};

	(void)state;
	assert_float_equal(kwhy_replay_next_factor(tries, 2, 38), 4, 1e-9);
}

/*
 * The first attempt to replay the recording drew a sixth too little energy, so its work had to grow by a
 * fifth: to 1.2. The replay of the changed program gets the factor of calibration (first argument), limited
 * to the range between 1 and 1.2. The factor that was needed is at most 4.
 */
static void a_changed_replay_takes_no_more_than_was_lacking(void **state)
{
	(void)state;
	assert_float_equal(kwhy_replay_carried_factor(5.7, -1.0 / 6), 1.2, 1e-9);
	assert_float_equal(kwhy_replay_carried_factor(1.1, -1.0 / 6), 1.1, 1e-9);
	assert_float_equal(kwhy_replay_carried_factor(0.9, -1.0 / 6), 1, 1e-9);
	assert_float_equal(kwhy_replay_carried_factor(0.3, 0.25), 0.8, 1e-9);
	assert_float_equal(kwhy_replay_carried_factor(0.9, 0.25), 0.9, 1e-9);
	assert_float_equal(kwhy_replay_carried_factor(64, -0.99), 4, 1e-9);
}

/*
 * A net energy of 10 J counts as known if the 90 % interval of the idle energy is +-2.5 J, but not
 * if it is +-2.6 J. A net energy of -1 nJ is unknown.
 */
static void nothing_is_settled_by_a_level_that_is_badly_known(void **state)
{
	struct kwhy_plan plan = {.before = {.net_nj = 10000000000}};
	struct kwhy_replay replay = {.plan = &plan, .recorded_idle_half_ci90_j = 2.5};

	(void)state;
	assert_true(kwhy_replay_net_is_known(&replay));
	assert_float_equal(kwhy_replay_net_off_ratio(&replay, 11, 10), 0.1, 1e-9);
	replay.recorded_idle_half_ci90_j = 2.6;
	assert_false(kwhy_replay_net_is_known(&replay));
	assert_true(isnan(kwhy_replay_net_off_ratio(&replay, 11, 10)));
	replay.recorded_idle_half_ci90_j = 0;
	plan.before.net_nj = -1;
	assert_false(kwhy_replay_net_is_known(&replay));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_wanted_is_found_in_few_tries),
		cmocka_unit_test(between_one_below_and_one_above_it_is_on_the_line_through_them),
		cmocka_unit_test(a_first_try_is_scaled_and_no_step_is_more_than_fourfold),
		cmocka_unit_test(tries_that_contradict_each_other_still_give_a_factor),
		cmocka_unit_test(a_changed_replay_takes_no_more_than_was_lacking),
		cmocka_unit_test(nothing_is_settled_by_a_level_that_is_badly_known),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
