/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/piecewise.h"

#include "cmocka_all.h"

#include <math.h>

enum { SIZES = 31 };

static double uniform(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *state)
{
	double radius = sqrt(-2 * log(uniform(state)));

	return radius * cos(6.283185307179586 * uniform(state));
}

/* Makes one point for each power of two from 1 to 2^30, with relative noise. */
static void make(double (*truth)(double x), double noise, uint64_t seed, struct kwhy_piecewise_point *out)
{
	for (int i = 0; i < SIZES; i++) {
		out[i].x = ldexp(1, i);
		out[i].y = truth(out[i].x) * (1 + noise * normal(&seed));
	}
}

static double one_line(double x)
{
	return 2e-6 + x / 55e9;
}

/*
 * Returns the time of a transfer of `x` bytes whose protocol changes at 1 MiB: below, 20 GB/s and 2 us to
 * start; above, 55 GB/s and 30 us.
 */
static double two_lines(double x)
{
	return x < 1 << 20 ? 2e-6 + x / 20e9 : 30e-6 + x / 55e9;
}

static void one_straight_line_stays_one(void **state)
{
	struct kwhy_piecewise_point points[SIZES];
	struct kwhy_piecewise curve;
	struct kwhy_error error;

	(void)state;
	make(one_line, 0, 1, points);
	assert_int_equal(kwhy_piecewise_fit(points, SIZES, 0.005, &curve, &error), KWHY_OK);
	assert_int_equal(curve.segment_count, 1);
	assert_true(fabs(curve.segments[0].alpha / 2e-6 - 1) < 1e-9);
	assert_true(fabs(curve.segments[0].beta * 55e9 - 1) < 1e-9);
	assert_true(curve.held_out_worst_ratio < 1e-9);
}

static void a_change_of_protocol_is_found_where_it_is(void **state)
{
	struct kwhy_piecewise_point points[SIZES];
	struct kwhy_piecewise curve;
	struct kwhy_error error;

	(void)state;
	make(two_lines, 0.005, 3, points);
	assert_int_equal(kwhy_piecewise_fit(points, SIZES, 0.005, &curve, &error), KWHY_OK);
	assert_int_equal(curve.segment_count, 2);
	assert_true(curve.segments[0].to_x > 1 << 19 && curve.segments[0].to_x < 1 << 20);
	assert_true(fabs(curve.segments[1].beta * 55e9 - 1) < 0.01);
	assert_true(curve.residual_ratio < 0.01);
}

/* Fits 200 straight lines with 1 % of noise. Hardly any may be divided into segments. */
static void noise_alone_makes_no_knots(void **state)
{
	struct kwhy_piecewise_point points[SIZES];
	struct kwhy_piecewise curve;
	struct kwhy_error error;
	int chopped = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		make(one_line, 0.01, seed, points);
		assert_int_equal(kwhy_piecewise_fit(points, SIZES, 0.005, &curve, &error), KWHY_OK);
		chopped += curve.segment_count > 1;
	}
	assert_true(chopped <= 10);
}

static void a_curve_that_falls_becomes_flat(void **state)
{
	const struct kwhy_piecewise_point points[] = {{1, 3}, {2, 2.99}, {4, 2.98}};
	struct kwhy_piecewise curve;
	struct kwhy_error error;

	(void)state;
	assert_int_equal(kwhy_piecewise_fit(points, 3, 0.01, &curve, &error), KWHY_OK);
	assert_true(curve.segments[0].beta == 0);
	assert_true(curve.segments[0].alpha > 2.98 && curve.segments[0].alpha < 3);
	assert_true(isnan(curve.held_out_ratio));
}

static void beyond_its_ends_a_curve_carries_on(void **state)
{
	struct kwhy_piecewise_point points[SIZES];
	struct kwhy_piecewise curve;
	struct kwhy_error error;

	(void)state;
	make(one_line, 0, 1, points);
	assert_int_equal(kwhy_piecewise_fit(points, SIZES, 0.005, &curve, &error), KWHY_OK);
	assert_true(fabs(kwhy_piecewise_at(&curve, 4e9) / one_line(4e9) - 1) < 1e-9);
	assert_true(fabs(kwhy_piecewise_at(&curve, 0) / 2e-6 - 1) < 1e-9);
}

static void wrong_points_are_refused(void **state)
{
	const struct kwhy_piecewise_point backwards[] = {{2, 1}, {1, 1}}, nothing[] = {{1, 0}, {2, 1}},
					  unknown[] = {{1, NAN}, {2, 1}};
	struct kwhy_piecewise curve;
	struct kwhy_error error;

	(void)state;
	assert_int_equal(kwhy_piecewise_fit(backwards, 2, 0.01, &curve, &error), KWHY_E_INPUT);
	assert_int_equal(kwhy_piecewise_fit(nothing, 2, 0.01, &curve, &error), KWHY_E_INPUT);
	assert_int_equal(kwhy_piecewise_fit(unknown, 2, 0.01, &curve, &error), KWHY_E_INPUT);
	assert_int_equal(kwhy_piecewise_fit(unknown, 1, 0.01, &curve, &error), KWHY_E_INPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_straight_line_stays_one),
		cmocka_unit_test(a_change_of_protocol_is_found_where_it_is),
		cmocka_unit_test(noise_alone_makes_no_knots),
		cmocka_unit_test(a_curve_that_falls_becomes_flat),
		cmocka_unit_test(beyond_its_ends_a_curve_carries_on),
		cmocka_unit_test(wrong_points_are_refused),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
