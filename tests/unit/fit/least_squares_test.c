/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/least_squares.h"

#include "cmocka_all.h"

#include <math.h>

static struct kwhy_error error;

static void assert_near(double value, double wanted)
{
	if (!(fabs(value - wanted) < 1e-9 * (1 + fabs(wanted))))
		fail_msg("%.12g instead of %.12g", value, wanted);
}

static void exact_rows_give_back_their_coefficients(void **state)
{
	const double rows[] = {1, 0, 1, 1, 1, 2, 1, 3}, targets[] = {5, 7, 9, 11};
	struct kwhy_least_squares fit;

	(void)state;
	assert_int_equal(
		kwhy_least_squares_fit(&(struct kwhy_least_squares_data){rows, targets, 4, 2}, &fit, &error),
		KWHY_OK);
	assert_near(fit.values[0], 5);
	assert_near(fit.values[1], 2);
	assert_true(fit.rms < 1e-9 && fit.freedom == 2);
}

static void what_would_be_negative_is_held_at_0_and_the_rest_fitted_anew(void **state)
{
	/*
	 * the data are y = 10 - x, but no coefficient may be negative: the slope is held at 0, and the
	 * constant is then the mean of y, 8
	 */
	const double rows[] = {1, 1, 1, 2, 1, 3}, targets[] = {9, 8, 7};
	struct kwhy_least_squares fit;

	(void)state;
	assert_int_equal(
		kwhy_least_squares_fit(&(struct kwhy_least_squares_data){rows, targets, 3, 2}, &fit, &error),
		KWHY_OK);
	assert_near(fit.values[0], 8);
	assert_true(fit.values[1] == 0 && !fit.is_free[1]);
	assert_near(fit.rms, sqrt(2.0 / 3));
	/* variance of a mean: residual sum of squares 2 / 2 degrees of freedom / 3 rows */
	assert_near(fit.covariance[0][0], 2.0 / 2 / 3);
}

static void a_column_made_of_others_or_of_zeros_takes_nothing(void **state)
{
	const double rows[] = {1, 2, 0, 2, 4, 0, 3, 6, 0}, targets[] = {2, 4, 6};
	struct kwhy_least_squares fit;

	(void)state;
	assert_int_equal(
		kwhy_least_squares_fit(&(struct kwhy_least_squares_data){rows, targets, 3, 3}, &fit, &error),
		KWHY_OK);
	assert_near(fit.values[0] + 2 * fit.values[1], 2);
	assert_true(fit.values[2] == 0);
	assert_true(fit.is_free[0] != fit.is_free[1]);
}

static void rows_as_few_as_coefficients_leave_no_spread(void **state)
{
	const double rows[] = {1, 1, 1, 2}, targets[] = {3, 4};
	struct kwhy_least_squares fit;

	(void)state;
	assert_int_equal(
		kwhy_least_squares_fit(&(struct kwhy_least_squares_data){rows, targets, 2, 2}, &fit, &error),
		KWHY_OK);
	assert_true(isnan(fit.covariance[0][0]));
}

static void no_rows_and_no_numbers_are_refused(void **state)
{
	const double rows[] = {NAN}, targets[] = {1};
	struct kwhy_least_squares fit;

	(void)state;
	assert_int_equal(
		kwhy_least_squares_fit(&(struct kwhy_least_squares_data){rows, targets, 0, 1}, &fit, &error),
		KWHY_E_INPUT);
	assert_int_equal(
		kwhy_least_squares_fit(&(struct kwhy_least_squares_data){rows, targets, 1, 1}, &fit, &error),
		KWHY_E_INPUT);
}

/* State of a xorshift generator, which makes the same numbers on every machine. */
static uint64_t seed;

static double uniform(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (double)(seed >> 11) / 9007199254740992.0;
}

/*
 * Checks that each fit has the least sum of squares with no coefficient negative (Karush-Kuhn-Tucker
 * conditions): the gradient is 0 for positive coefficients, and points to negative values for those held at
 * 0.
 */
static void of_random_problems_each_answer_is_the_least(void **state)
{
	enum { ROWS = 30, COLUMNS = 6 };

	(void)state;
	seed = 42;
	for (int round = 0; round < 500; round++) {
		double rows[ROWS * COLUMNS], targets[ROWS];
		struct kwhy_least_squares fit;

		for (int i = 0; i < ROWS * COLUMNS; i++)
			rows[i] = uniform() - (round % 2) * 0.5;
		for (int i = 0; i < ROWS; i++)
			targets[i] = 4 * uniform() - 1;
		assert_int_equal(kwhy_least_squares_fit(
					 &(struct kwhy_least_squares_data){rows, targets, ROWS, COLUMNS},
					 &fit, &error),
			KWHY_OK);
		for (int j = 0; j < COLUMNS; j++) {
			double slope = 0;

			for (int i = 0; i < ROWS; i++) {
				double left = targets[i];

				for (int k = 0; k < COLUMNS; k++)
					left -= rows[i * COLUMNS + k] * fit.values[k];
				slope += rows[i * COLUMNS + j] * left;
			}
			assert_true(fit.values[j] >= 0);
			assert_true(fit.values[j] > 0 ? fabs(slope) < 1e-8 : slope < 1e-8);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_rows_give_back_their_coefficients),
		cmocka_unit_test(what_would_be_negative_is_held_at_0_and_the_rest_fitted_anew),
		cmocka_unit_test(a_column_made_of_others_or_of_zeros_takes_nothing),
		cmocka_unit_test(rows_as_few_as_coefficients_leave_no_spread),
		cmocka_unit_test(no_rows_and_no_numbers_are_refused),
		cmocka_unit_test(of_random_problems_each_answer_is_the_least),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
