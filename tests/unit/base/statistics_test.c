/* SPDX-License-Identifier: Apache-2.0 */
#include "base/statistics.h"
#include "cmocka_all.h"

#include <math.h>

static void assert_close(double value, double expected, double within)
{
	if (!(fabs(value - expected) <= within))
		fail_msg("%.12g is not within %g of %.12g", value, within, expected);
}

/*
 * The expected values are from the table in the NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
 */
static void quantiles_of_student_are_those_of_the_tables(void **state)
{
	(void)state;
	assert_close(kwhy_student_quantile(0.975, 1), 12.706, 5e-4);
	assert_close(kwhy_student_quantile(0.975, 2), 4.303, 5e-4);
	assert_close(kwhy_student_quantile(0.975, 19), 2.093, 5e-4);
	assert_close(kwhy_student_quantile(0.975, 100), 1.984, 5e-4);
	assert_close(kwhy_student_quantile(0.975, 1e6), 1.95997, 1e-4);
	assert_close(kwhy_student_quantile(0.95, 10), 1.812, 5e-4);
	assert_close(kwhy_student_quantile(0.999, 1), 318.309, 5e-3);
}

/*
 * Student's quantiles for one degree of freedom (the Cauchy distribution) and for two have closed forms, with
 * which those of kwhy are compared.
 */
static void quantiles_agree_with_closed_forms_on_both_sides(void **state)
{
	(void)state;
	for (double share = 0.01; share < 0.995; share += 0.0131) {
		double two = (2 * share - 1) * sqrt(2 / (4 * share * (1 - share)));
		double one = tan(M_PI * (share - 0.5));

		assert_close(kwhy_student_quantile(share, 1), one, 1e-8 * (1 + fabs(one)));
		assert_close(kwhy_student_quantile(share, 2), two, 1e-8 * (1 + fabs(two)));
	}
	assert_close(kwhy_student_quantile(0.5, 7), 0, 1e-9);
}

static void quantiles_of_what_is_no_distribution_are_unknown(void **state)
{
	(void)state;
	assert_true(isnan(kwhy_student_quantile(0, 3)));
	assert_true(isnan(kwhy_student_quantile(1, 3)));
	assert_true(isnan(kwhy_student_quantile(0.9, 0)));
	assert_true(isnan(kwhy_student_quantile(0.9, NAN)));
}

static void a_mean_has_the_interval_of_its_scatter(void **state)
{
	const double values[] = {10, 12, NAN, 14, 12};
	struct kwhy_estimate estimate;

	(void)state;
	kwhy_estimate_of(values, 5, &estimate);
	assert_int_equal(estimate.count, 4);
	assert_close(estimate.mean, 12, 1e-12);
	assert_close(estimate.deviation, sqrt(8.0 / 3), 1e-12);
	assert_close(estimate.high - 12, 3.182446 * sqrt(8.0 / 3) / 2, 1e-5);
	assert_close(estimate.low, 24 - estimate.high, 1e-9);
	assert_close(estimate.least, 10, 0);
	assert_close(estimate.most, 14, 0);
}

static void one_value_has_a_mean_and_no_interval_and_none_has_nothing(void **state)
{
	const double one = 3;
	struct kwhy_estimate estimate;

	(void)state;
	kwhy_estimate_of(&one, 1, &estimate);
	assert_close(estimate.mean, 3, 0);
	assert_true(isnan(estimate.low) && isnan(estimate.high) && isnan(estimate.deviation));
	kwhy_estimate_of(NULL, 0, &estimate);
	assert_int_equal(estimate.count, 0);
	assert_true(isnan(estimate.mean) && isnan(estimate.low) && isnan(estimate.least));
}

/*
 * Only pairs without NAN count: sums of 10 J and 5 units, so 2 J per unit. The mean of the three ratios 4, 1
 * and 2 would be 2.33.
 */
static void a_ratio_is_of_sums_and_the_inverse_of_the_one_turned_over(void **state)
{
	const double joules[] = {4, 2, 4, NAN, 100}, units[] = {1, 2, 2, 3, NAN};
	const double error = sqrt((4 + 4 + 0) / 2.0 / 3) / (10 / 3.0);
	struct kwhy_estimate each, per_joule;

	(void)state;
	kwhy_ratio_of(joules, units, 5, &each);
	kwhy_ratio_of(units, joules, 5, &per_joule);
	assert_int_equal(each.count, 3);
	assert_close(each.mean, 2, 1e-12);
	assert_close(each.deviation, sqrt((4 + 4 + 0) / 2.0) / (5 / 3.0), 1e-12);
	assert_close(each.least, 1, 0);
	assert_close(each.most, 4, 0);
	assert_close(each.high, 2 * exp(4.3026527 * error), 1e-6);
	assert_close(each.low * each.high, 4, 1e-9);
	assert_close(per_joule.mean, 1 / each.mean, 1e-12);
	assert_close(per_joule.low, 1 / each.high, 1e-9);
	assert_close(per_joule.high, 1 / each.low, 1e-9);
}

/*
 * A ratio to 0 units is unknown. 0 J for some units are 0 J per unit, without an interval. Nor has a single
 * pair an interval.
 */
static void a_ratio_to_nothing_is_unknown_and_one_of_nothing_is_0(void **state)
{
	const double some[] = {3, 5}, none[] = {0, 0}, one[] = {2, 0};
	struct kwhy_estimate estimate;

	(void)state;
	kwhy_ratio_of(some, none, 2, &estimate);
	assert_int_equal(estimate.count, 0);
	assert_true(isnan(estimate.mean) && isnan(estimate.low));
	kwhy_ratio_of(none, some, 2, &estimate);
	assert_close(estimate.mean, 0, 0);
	assert_true(isnan(estimate.low) && isnan(estimate.high));
	kwhy_ratio_of(some, some, 1, &estimate);
	assert_close(estimate.mean, 1, 0);
	assert_true(isnan(estimate.low) && isnan(estimate.deviation));
	kwhy_ratio_of(some, one, 2, &estimate);
	assert_close(estimate.mean, 4, 0);
	assert_close(estimate.most, 1.5, 0);
	assert_true(estimate.low > 0 && isfinite(estimate.high));
}

/*
 * Welch's interval of the difference, computed by hand: squared standard errors 2^2/4 = 1 and 4^2/4 = 4, so
 * (1 + 4)^2 / (1^2/3 + 4^2/3) = 4.4118 degrees of freedom, for which t = 2.6783.
 */
static void a_difference_does_not_assume_that_both_sides_scatter_alike(void **state)
{
	struct kwhy_estimate a = {.count = 4, .mean = 10, .deviation = 2};
	struct kwhy_estimate b = {.count = 4, .mean = 13, .deviation = 4};
	struct kwhy_difference difference;

	(void)state;
	kwhy_difference_of(&a, &b, &difference);
	assert_close(difference.change, 3, 1e-12);
	assert_close(difference.high - 3, kwhy_student_quantile(0.975, 25 / (17.0 / 3)) * sqrt(5), 1e-9);
	a = b = (struct kwhy_estimate){.count = 3, .mean = 5};
	kwhy_difference_of(&a, &b, &difference);
	assert_close(difference.high, 0, 0);
}

/*
 * One value is compared with several (n, with standard deviation s): it is assumed to have the same
 * distribution, so the half-width is t s sqrt(1 + 1/n). An interval that the single value states is added in
 * quadrature.
 */
static void a_single_value_scatters_as_the_several_beside_it(void **state)
{
	struct kwhy_estimate several = {.count = 20, .mean = 100, .low = 95, .high = 105, .deviation = 10};
	struct kwhy_estimate one = {.count = 1, .mean = 113, .low = NAN, .high = NAN, .deviation = NAN};
	double half = kwhy_student_quantile(0.975, 19) * 10 * sqrt(1 + 1.0 / 20);
	struct kwhy_difference difference;

	(void)state;
	kwhy_difference_of(&several, &one, &difference);
	assert_close(difference.change, 13, 1e-12);
	assert_close(difference.high, 13 + half, 1e-9);
	assert_close(difference.low, 13 - half, 1e-9);
	one.low = 103;
	one.high = 123;
	kwhy_difference_of(&one, &several, &difference);
	assert_close(difference.change, -13, 1e-12);
	assert_close(difference.high, hypot(half, 10) - 13, 1e-9);
}

static void two_single_values_are_as_far_off_as_they_are_said_to_be(void **state)
{
	struct kwhy_estimate a = {.count = 1, .mean = 10, .low = 7, .high = 13, .deviation = NAN};
	struct kwhy_estimate b = {.count = 1, .mean = 20, .low = 16, .high = 24, .deviation = NAN};
	struct kwhy_difference difference;

	(void)state;
	kwhy_difference_of(&a, &b, &difference);
	assert_close(difference.low, 5, 1e-12);
	assert_close(difference.high, 15, 1e-12);
	b.low = b.high = NAN;
	kwhy_difference_of(&a, &b, &difference);
	assert_close(difference.change, 10, 1e-12);
	assert_true(isnan(difference.low) && isnan(difference.high));
}

/*
 * b / a with a = 100 +- 20 and b = 1000 +- 1: the bounds are nearly 1000/120 and 1000/80, because the 0.1 %
 * of the numerator adds almost nothing to the 20 % of the denominator.
 */
static void a_ratio_has_the_errors_of_both_its_sides(void **state)
{
	struct kwhy_estimate a = {.count = 1, .mean = 100, .low = 80, .high = 120, .deviation = NAN};
	struct kwhy_estimate b = {.count = 1, .mean = 1000, .low = 999, .high = 1001, .deviation = NAN};
	struct kwhy_difference difference;

	(void)state;
	kwhy_difference_of(&a, &b, &difference);
	assert_close(difference.ratio, 9, 1e-12);
	assert_close(difference.ratio_low, 1000.0 / 120 - 1, 1e-3);
	assert_close(difference.ratio_high, 1000.0 / 80 - 1, 1e-3);
	a.mean = -100;
	a.low = -120;
	a.high = -80;
	kwhy_difference_of(&a, &b, &difference);
	assert_close(difference.ratio, 11, 1e-12);
	assert_close(difference.ratio_low, 1000.0 / 120 + 1, 1e-3);
	assert_close(difference.ratio_high, 1000.0 / 80 + 1, 1e-3);
}

/*
 * Difference and ratio must agree on whether there is a change. Half-widths 3 and 4 give 5 in quadrature, so
 * the interval of the difference 105 - 100 begins at 0; that of the relative change must, too.
 */
static void a_ratio_tells_no_change_apart_where_the_difference_does(void **state)
{
	struct kwhy_estimate a = {.count = 1, .mean = 100, .low = 97, .high = 103, .deviation = NAN};
	struct kwhy_estimate b = {.count = 1, .mean = 105, .low = 101, .high = 109, .deviation = NAN};
	struct kwhy_difference difference;

	(void)state;
	kwhy_difference_of(&a, &b, &difference);
	assert_close(difference.low, 0, 1e-12);
	assert_close(difference.ratio_low, 0, 1e-12);
}

static void a_ratio_to_what_may_be_0_has_no_interval(void **state)
{
	struct kwhy_estimate a = {.count = 1, .mean = 1, .low = -1, .high = 3, .deviation = NAN};
	struct kwhy_estimate b = {.count = 1, .mean = 9, .low = 8, .high = 10, .deviation = NAN};
	struct kwhy_difference difference;

	(void)state;
	kwhy_difference_of(&a, &b, &difference);
	assert_close(difference.ratio, 8, 1e-12);
	assert_true(isnan(difference.ratio_low) && isnan(difference.ratio_high));
	assert_true(difference.low > 0);
}

static void moments_far_from_0_keep_their_scatter(void **state)
{
	struct kwhy_moments moments = {0};

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_true(i > 1 || kwhy_moments_variance(&moments) == 0);
		/*
		 * a variance computed from sums of squares would be wrong: squares of 1e15 are rounded by
		 * more than 1
		 */
		kwhy_moments_add(&moments, 1e15 + i);
	}
	assert_close(moments.mean, 1e15 + 1, 0);
	assert_close(kwhy_moments_variance(&moments), 1, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_of_student_are_those_of_the_tables),
		cmocka_unit_test(quantiles_agree_with_closed_forms_on_both_sides),
		cmocka_unit_test(quantiles_of_what_is_no_distribution_are_unknown),
		cmocka_unit_test(a_mean_has_the_interval_of_its_scatter),
		cmocka_unit_test(one_value_has_a_mean_and_no_interval_and_none_has_nothing),
		cmocka_unit_test(moments_far_from_0_keep_their_scatter),
		cmocka_unit_test(a_ratio_is_of_sums_and_the_inverse_of_the_one_turned_over),
		cmocka_unit_test(a_ratio_to_nothing_is_unknown_and_one_of_nothing_is_0),
		cmocka_unit_test(a_difference_does_not_assume_that_both_sides_scatter_alike),
		cmocka_unit_test(a_single_value_scatters_as_the_several_beside_it),
		cmocka_unit_test(two_single_values_are_as_far_off_as_they_are_said_to_be),
		cmocka_unit_test(a_ratio_has_the_errors_of_both_its_sides),
		cmocka_unit_test(a_ratio_tells_no_change_apart_where_the_difference_does),
		cmocka_unit_test(a_ratio_to_what_may_be_0_has_no_interval),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
