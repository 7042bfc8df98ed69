/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/cap.h"
#include "fit/scale.h"

#include "cmocka_all.h"

#include <math.h>

enum { POINTS = 16, SWEEPS = 25 };

static uint64_t seed;
static struct kwhy_error error;
static struct kwhy_cap cap;

static double uniform(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (double)(seed >> 11) / 9007199254740992.0;
}

static double normal(void)
{
	double u = uniform(), v = uniform();

	return sqrt(-2 * log(1 - u)) * cos(6.283185307179586 * v);
}

/* Made-up curves of throughput over the power limit, from 200 W to 700 W, the range of an H200. */
static const struct kwhy_cap_curve truths[] = {
	{KWHY_CAP_POWER, 700, 1, 0, 0.5},
	{KWHY_CAP_POWER, 700, 1, 0, 0.8},
	{KWHY_CAP_SHIFTED, 700, 1, 100, 0.6},
	{KWHY_CAP_SHIFTED, 700, 1, 150, 0.5},
	{KWHY_CAP_SHIFTED, 700, 1, 120, 0.9},
	{KWHY_CAP_SATURATING, 700, 1, 100, 150},
	{KWHY_CAP_SATURATING, 700, 1, 80, 100},
	{KWHY_CAP_SATURATING, 700, 1, 150, 200},
	{KWHY_CAP_PHYSICAL, 700, 1, 100, 0.3},
	{KWHY_CAP_PHYSICAL, 700, 1, 150, 0.5},
	{KWHY_CAP_PHYSICAL, 700, 1, 120, 0.7},
};

enum { TRUTHS = sizeof(truths) / sizeof(truths[0]) };

static void sweep(const struct kwhy_cap_curve *truth, double noise)
{
	struct kwhy_cap_point points[POINTS];

	for (int i = 0; i < POINTS; i++) {
		double power_w = 200 + 500.0 * i / (POINTS - 1);

		points[i] = (struct kwhy_cap_point){
			NAN, power_w, kwhy_cap_throughput(truth, power_w) * (1 + noise * normal())};
	}
	if (kwhy_cap_of(points, POINTS, &cap, &error))
		fail_msg("%s", error.text);
}

/*
 * Returns the least energy per unit of work on the curve `truth`, and sets *out_power_w to the power limit at
 * which it is reached.
 */
static double least_energy(const struct kwhy_cap_curve *truth, double *out_power_w)
{
	double least = INFINITY;

	for (double power_w = cap.least_w; power_w <= cap.most_w; power_w += 0.1) {
		double energy = power_w / kwhy_cap_throughput(truth, power_w);

		if (energy < least) {
			least = energy;
			*out_power_w = power_w;
		}
	}
	return least;
}

static void of_sweeps_with_a_tenth_of_a_percent_of_noise_95_percent_choose_the_right_form(void **state)
{
	int right = 0;

	(void)state;
	seed = 7;
	for (int t = 0; t < TRUTHS; t++)
		for (int i = 0; i < SWEEPS; i++) {
			sweep(&truths[t], 0.001);
			right += cap.chosen == truths[t].form;
		}
	print_message("%d of %d\n", right, TRUTHS * SWEEPS);
	assert_true(right * 100 >= 95 * TRUTHS * SWEEPS);
}

static void with_half_a_percent_the_right_form_is_chosen_or_named_as_almost_as_good(void **state)
{
	int right = 0, recommended = 0, wrong = 0;

	(void)state;
	seed = 8;
	for (int t = 0; t < TRUTHS; t++)
		for (int i = 0; i < SWEEPS; i++) {
			struct kwhy_cap_advice advice;
			double best_w, least;

			sweep(&truths[t], 0.005);
			right += cap.chosen == truths[t].form || cap.is_alternative[truths[t].form];
			kwhy_cap_advise(&cap, KWHY_CAP_GOAL_ENERGY, 0, &advice);
			if (isnan(advice.power_w.value))
				continue;
			recommended++;
			least = least_energy(&truths[t], &best_w);
			wrong += advice.power_w.value /
					kwhy_cap_throughput(&truths[t], advice.power_w.value) >
				1.01 * least;
		}
	print_message("%d of %d; %d recommended, %d more than 1 %% worse than the best\n", right,
		TRUTHS * SWEEPS, recommended, wrong);
	assert_true(right * 100 >= 95 * TRUTHS * SWEEPS);
	assert_int_equal(wrong, 0);
}

static void noise_alone_supports_no_recommendation_inside(void **state)
{
	int inside = 0;

	(void)state;
	seed = 9;
	for (int i = 0; i < 4 * SWEEPS; i++) {
		/* the energy per unit of work is the same at every power */
		const struct kwhy_cap_curve flat = {KWHY_CAP_POWER, 700, 1, 0, 1};
		struct kwhy_cap_advice advice;

		sweep(&flat, 0.02);
		kwhy_cap_advise(&cap, KWHY_CAP_GOAL_ENERGY, 0, &advice);
		inside += advice.verdict == KWHY_CAP_VERDICT_INSIDE;
	}
	print_message("%d of %d\n", inside, 4 * SWEEPS);
	assert_true(inside <= 4 * SWEEPS / 20);
}

static void intervals_of_a_scaling_law_hold_the_truth_as_often_as_they_say(void **state)
{
	int held = 0, all = 0;

	(void)state;
	seed = 10;
	for (int round = 0; round < 500; round++) {
		struct kwhy_scale_point points[8];
		struct kwhy_scale scale;

		for (int i = 0; i < 8; i++) {
			double n = i + 1;

			points[i] = (struct kwhy_scale_point){
				n, 100 * n / (1 + 0.08 * (n - 1)) * (1 + 0.01 * normal())};
		}
		assert_int_equal(kwhy_scale_of(points, 8, &scale, &error), KWHY_OK);
		held += scale.fits[0].serial_ratio.low <= 0.08 && scale.fits[0].serial_ratio.high >= 0.08;
		all++;
	}
	print_message("%d of %d\n", held, all);
	assert_in_range(held, all * 92 / 100, all * 98 / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			of_sweeps_with_a_tenth_of_a_percent_of_noise_95_percent_choose_the_right_form),
		cmocka_unit_test(with_half_a_percent_the_right_form_is_chosen_or_named_as_almost_as_good),
		cmocka_unit_test(noise_alone_supports_no_recommendation_inside),
		cmocka_unit_test(intervals_of_a_scaling_law_hold_the_truth_as_often_as_they_say),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
