/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/cap.h"

#include "cmocka_all.h"

#include <math.h>
#include <string.h>

enum { POINTS = 16 };

static struct kwhy_error error;
static struct kwhy_cap cap;

static void make(struct kwhy_cap_point *points, const struct kwhy_cap_curve *curve, double free_w)
{
	for (int i = 0; i < POINTS; i++) {
		double cap_w = 150 + 36 * i, power_w = fmin(cap_w, free_w);

		points[i] = (struct kwhy_cap_point){cap_w, power_w, kwhy_cap_throughput(curve, power_w)};
	}
}

static void fit(const struct kwhy_cap_curve *curve, double free_w)
{
	struct kwhy_cap_point points[POINTS];

	make(points, curve, free_w);
	if (kwhy_cap_of(points, POINTS, &cap, &error))
		fail_msg("%s", error.text);
}

static struct kwhy_cap_advice advise(enum kwhy_cap_goal goal)
{
	struct kwhy_cap_advice advice;

	kwhy_cap_advise(&cap, goal, 0.05, &advice);
	return advice;
}

static const struct kwhy_cap_curve shifted = {KWHY_CAP_SHIFTED, 690, 7, 100, 0.6},
				   power = {KWHY_CAP_POWER, 690, 7, 0, 0.6},
				   saturating = {KWHY_CAP_SATURATING, 690, 900, 100, 150},
				   physical = {KWHY_CAP_PHYSICAL, 690, 900, 110, 0.4};

static void each_form_without_noise_is_found_with_its_parameters(void **state)
{
	const struct kwhy_cap_curve *const truths[] = {&power, &shifted, &saturating, &physical};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		const struct kwhy_cap_curve *found;

		fit(truths[i], 1e9);
		found = &cap.fits[cap.chosen].curve;
		assert_int_equal(cap.chosen, truths[i]->form);
		assert_true(fabs(found->floor_w - truths[i]->floor_w) < 0.5);
		assert_true(fabs(found->shape / truths[i]->shape - 1) < 0.01);
	}
}

/*
 * If throughput is proportional to a power of the power limit, with an exponent below 1 and no constant part
 * of the power, energy per unit of work rises with the limit everywhere. So the lowest limit is best.
 */
static void a_plain_power_law_has_no_optimum_inside(void **state)
{
	(void)state;
	fit(&power, 1e9);
	assert_int_equal(advise(KWHY_CAP_GOAL_ENERGY).verdict, KWHY_CAP_VERDICT_LOWEST);
	assert_true(advise(KWHY_CAP_GOAL_ENERGY).power_w.value < 151);
}

static void a_floor_puts_the_optimum_at_floor_over_one_less_the_exponent(void **state)
{
	struct kwhy_cap_advice advice;

	(void)state;
	fit(&shifted, 1e9);
	advice = advise(KWHY_CAP_GOAL_ENERGY);
	assert_int_equal(advice.verdict, KWHY_CAP_VERDICT_INSIDE);
	assert_true(fabs(advice.power_w.value - 250) < 1);
	assert_true(fabs(advice.cap_w - 250) < 1);
	assert_true(fabs(advice.time_ratio - pow(590.0 / 150, 0.6)) < 0.01);
}

static void an_optimum_outside_what_was_measured_is_not_named(void **state)
{
	/*
	 * the optimum of this curve, floor_w / (1 - shape) = 100 W / 0.8 = 125 W, is below the lowest
	 * measured power
	 */
	const struct kwhy_cap_curve low = {KWHY_CAP_SHIFTED, 690, 7, 100, 0.2};

	(void)state;
	fit(&low, 1e9);
	assert_int_equal(advise(KWHY_CAP_GOAL_ENERGY).verdict, KWHY_CAP_VERDICT_LOWEST);
	assert_true(advise(KWHY_CAP_GOAL_ENERGY).power_w.value >= cap.least_w);
}

static void at_most_so_much_slower_is_kept(void **state)
{
	struct kwhy_cap_advice advice;

	(void)state;
	fit(&saturating, 1e9);
	advice = advise(KWHY_CAP_GOAL_SLOWDOWN);
	assert_int_equal(advice.verdict, KWHY_CAP_VERDICT_INSIDE);
	assert_true(advice.time_ratio <= 1.05 + 1e-9 && advice.time_ratio > 1.045);
}

static void limits_that_do_not_bind_support_no_limit(void **state)
{
	struct kwhy_cap_point points[POINTS];

	(void)state;
	fit(&saturating, 240);
	assert_int_equal(cap.unbound_count, 13);
	assert_int_equal(advise(KWHY_CAP_GOAL_ENERGY).verdict, KWHY_CAP_VERDICT_UNBOUND);
	make(points, &saturating, 155);
	assert_int_equal(kwhy_cap_of(points, POINTS, &cap, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "do not bind"));
}

static void few_points_and_impossible_ones_are_refused(void **state)
{
	struct kwhy_cap_point points[POINTS];

	(void)state;
	make(points, &saturating, 1e9);
	assert_int_equal(kwhy_cap_of(points, 4, &cap, &error), KWHY_E_INPUT);
	points[3].throughput = 0;
	assert_int_equal(kwhy_cap_of(points, POINTS, &cap, &error), KWHY_E_INPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_form_without_noise_is_found_with_its_parameters),
		cmocka_unit_test(a_plain_power_law_has_no_optimum_inside),
		cmocka_unit_test(a_floor_puts_the_optimum_at_floor_over_one_less_the_exponent),
		cmocka_unit_test(an_optimum_outside_what_was_measured_is_not_named),
		cmocka_unit_test(at_most_so_much_slower_is_kept),
		cmocka_unit_test(limits_that_do_not_bind_support_no_limit),
		cmocka_unit_test(few_points_and_impossible_ones_are_refused),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
