/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/roofline.h"
#include "fit/scale.h"
#include "fit/tokens.h"

#include "cmocka_all.h"

#include <math.h>
#include <string.h>

static struct kwhy_error error;

static void assert_near(double value, double wanted)
{
	if (!(fabs(value - wanted) <= 1e-6 * fabs(wanted)))
		fail_msg("%.9g instead of %.9g", value, wanted);
}

static double truth(double n, double rate, double serial, double agree)
{
	return rate * n / (1 + serial * (n - 1) + agree * n * (n - 1));
}

static void make(struct kwhy_scale_point *points, size_t count, double serial, double agree)
{
	for (size_t i = 0; i < count; i++)
		points[i] = (struct kwhy_scale_point){
			(double)(1 << i), truth((double)(1 << i), 50, serial, agree)};
}

static void amdahl_without_noise_is_found_and_chosen(void **state)
{
	struct kwhy_scale_point points[6];
	struct kwhy_scale scale;
	double at;

	(void)state;
	make(points, 6, 0.08, 0);
	assert_int_equal(kwhy_scale_of(points, 6, &scale, &error), KWHY_OK);
	assert_int_equal(scale.chosen, KWHY_SCALE_AMDAHL);
	assert_near(scale.fits[0].serial_ratio.value, 0.08);
	assert_near(scale.fits[0].rate.value, 50);
	assert_int_equal(kwhy_scale_at(&scale, 12, &at, &error), KWHY_OK);
	assert_near(at, truth(12, 50, 0.08, 0));
	assert_true(isnan(scale.peak_workers));
}

/*
 * With more workers the measured rate only falls. The fit can come no nearer to that than by taking all work
 * as serial (a constant rate).
 */
static void what_only_gets_slower_is_serial_at_most(void **state)
{
	static const struct kwhy_scale_point points[] = {{1, 4915}, {2, 3669}, {4, 3588}};
	struct kwhy_scale scale;

	(void)state;
	assert_int_equal(kwhy_scale_of(points, 3, &scale, &error), KWHY_OK);
	for (int form = 0; form < KWHY_SCALE_FORM_COUNT; form++) {
		assert_true(scale.fits[form].serial_ratio.value == 1);
		assert_true(isnan(scale.fits[form].serial_ratio.high));
	}
	assert_near(scale.fits[KWHY_SCALE_AMDAHL].rate.value,
		(4915 * 4915. + 3669 * 3669. + 3588 * 3588.) / (4915 + 3669 + 3588));
}

static void workers_that_must_agree_give_a_peak_inside_the_range(void **state)
{
	struct kwhy_scale_point points[7];
	struct kwhy_scale scale;

	(void)state;
	make(points, 7, 0.05, 0.002);
	assert_int_equal(kwhy_scale_of(points, 7, &scale, &error), KWHY_OK);
	assert_int_equal(scale.chosen, KWHY_SCALE_USL);
	assert_near(scale.fits[1].agree_ratio.value, 0.002);
	assert_near(scale.peak_workers, sqrt(0.95 / 0.002));
}

static void nothing_is_said_beyond_what_was_measured(void **state)
{
	struct kwhy_scale_point points[4];
	struct kwhy_scale scale;
	double at;

	(void)state;
	make(points, 4, 0.05, 0.002);
	assert_int_equal(kwhy_scale_of(points, 4, &scale, &error), KWHY_OK);
	assert_int_equal(kwhy_scale_at(&scale, 9, &at, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "measure there"));
	assert_true(isnan(scale.peak_workers));
	assert_int_equal(kwhy_scale_of(points, 2, &scale, &error), KWHY_E_INPUT);
	points[1].throughput = -1;
	assert_int_equal(kwhy_scale_of(points, 4, &scale, &error), KWHY_E_INPUT);
}

static void three_points_leave_no_held_out_error_and_the_simpler_form(void **state)
{
	struct kwhy_scale_point points[3];
	struct kwhy_scale scale;

	(void)state;
	make(points, 3, 0.05, 0.002);
	assert_int_equal(kwhy_scale_of(points, 3, &scale, &error), KWHY_OK);
	assert_true(isnan(scale.fits[0].held_out_ratio));
	assert_int_equal(scale.chosen, KWHY_SCALE_AMDAHL);
}

/*
 * Cross-validation leaves out all points with one number of workers together. Three such numbers are too few
 * to judge a model of three parameters, which fits them exactly however often each was measured.
 */
static void what_was_measured_twice_is_held_out_together(void **state)
{
	static const struct kwhy_scale_point twice[] = {
		{1, 100}, {1, 100.1}, {2, 180}, {2, 180.2}, {4, 250}, {4, 250.1}};
	struct kwhy_scale_point points[8];
	struct kwhy_scale scale, once;

	(void)state;
	assert_int_equal(kwhy_scale_of(twice, 6, &scale, &error), KWHY_OK);
	assert_true(isnan(scale.fits[KWHY_SCALE_USL].held_out_ratio));
	assert_int_equal(scale.chosen, KWHY_SCALE_AMDAHL);
	make(points, 4, 0.05, 0.002);
	make(points + 4, 4, 0.05, 0.002);
	points[1].throughput = points[5].throughput *= 1.03;
	assert_int_equal(kwhy_scale_of(points, 4, &once, &error), KWHY_OK);
	assert_int_equal(kwhy_scale_of(points, 8, &scale, &error), KWHY_OK);
	for (int form = 0; form < KWHY_SCALE_FORM_COUNT; form++)
		assert_near(scale.fits[form].held_out_ratio, once.fits[form].held_out_ratio);
}

static void tokens_by_phase_and_in_sum(void **state)
{
	const struct kwhy_tokens_phase phases[] = {
		{"prefill", 16384, {120, 118, 122}, 0.4}, {"decode", 2048, {480, 470, 490}, 2.2}};
	struct kwhy_tokens_phase sum = kwhy_tokens_sum(phases, 2);
	struct kwhy_tokens answer;

	(void)state;
	kwhy_tokens_of(&phases[1], &answer);
	assert_near(answer.joules_per_token.value, 0.234375);
	assert_near(answer.tokens_per_joule.low, 2048.0 / 490);
	assert_near(answer.tokens_per_s, 2048 / 2.2);
	assert_near(answer.mean_w, 480 / 2.2);
	assert_near(sum.tokens, 18432);
	assert_near(sum.joules.value, 600);
	assert_near(sum.joules.high, 600 + 2 + 10);
}

static void what_a_phase_does_not_know_the_sum_does_not_know(void **state)
{
	const struct kwhy_tokens_phase phases[] = {
		{"a", 10, {1, NAN, NAN}, NAN}, {"b", 10, {1, 0.9, 1.1}, 2}};
	struct kwhy_tokens_phase sum = kwhy_tokens_sum(phases, 2);
	struct kwhy_tokens answer;

	(void)state;
	kwhy_tokens_of(&sum, &answer);
	assert_near(answer.joules_per_token.value, 0.1);
	assert_true(isnan(answer.joules_per_token.low) && isnan(answer.tokens_per_s) && isnan(answer.mean_w));
}

static void a_roof_of_time_and_one_of_energy(void **state)
{
	const struct kwhy_roofline_machine machine = {1e12, 1e11, 2e-11, 4e-10, 50};
	const struct kwhy_roofline_work work = {1e12, 4e11, 8, 1000};
	struct kwhy_roofline roof;

	(void)state;
	assert_int_equal(kwhy_roofline_of(&machine, &work, &roof, &error), KWHY_OK);
	assert_near(roof.flop_per_byte, 2.5);
	assert_near(roof.time_balance, 10);
	assert_near(roof.energy_balance, 20);
	assert_true(roof.is_memory_bound);
	assert_near(roof.least_s, 4);
	assert_near(roof.least_j, 20 + 160 + 200);
	assert_near(roof.time_ratio, 0.5);
	assert_near(roof.energy_ratio, 0.38);
}

static void work_above_the_roof_is_a_mistake_and_not_an_efficiency(void **state)
{
	/*
	 * 18,835 GFLOP/s are possible at a peak of 19.5 TFLOP/s. The same work in a fifth of the time is
	 * above the peak, so the figure must be wrong
	 */
	const struct kwhy_roofline_machine machine = {19.5e12, 1.5e12, NAN, NAN, NAN};
	struct kwhy_roofline_work work = {18.835e12, 1e9, 1, NAN};
	struct kwhy_roofline roof;

	(void)state;
	assert_int_equal(kwhy_roofline_of(&machine, &work, &roof, &error), KWHY_OK);
	assert_true(isnan(roof.energy_ratio) && isnan(roof.least_j));
	work.seconds = 0.2;
	assert_int_equal(kwhy_roofline_of(&machine, &work, &roof, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "less than"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(amdahl_without_noise_is_found_and_chosen),
		cmocka_unit_test(what_only_gets_slower_is_serial_at_most),
		cmocka_unit_test(workers_that_must_agree_give_a_peak_inside_the_range),
		cmocka_unit_test(nothing_is_said_beyond_what_was_measured),
		cmocka_unit_test(three_points_leave_no_held_out_error_and_the_simpler_form),
		cmocka_unit_test(what_was_measured_twice_is_held_out_together),
		cmocka_unit_test(tokens_by_phase_and_in_sum),
		cmocka_unit_test(what_a_phase_does_not_know_the_sum_does_not_know),
		cmocka_unit_test(a_roof_of_time_and_one_of_energy),
		cmocka_unit_test(work_above_the_roof_is_a_mistake_and_not_an_efficiency),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
