/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantile.h"
#include "cmocka_all.h"

#include <math.h>

static void assert_close(double value, double expected, double within)
{
	if (!(fabs(value - expected) <= within))
		fail_msg("%.12g is not within %g of %.12g", value, within, expected);
}

static void quantiles_of_few_values_stay_in_order(void **state)
{
	const double values[] = {22.03, 22.33}, one = 7;

	(void)state;
	assert_close(kwhy_quantile(values, 2, 0), 22.03, 0);
	assert_close(kwhy_quantile(values, 2, 0.5), 22.18, 1e-12);
	assert_close(kwhy_quantile(values, 2, 0.99), 22.327, 1e-12);
	assert_close(kwhy_quantile(values, 2, 1), 22.33, 0);
	assert_close(kwhy_quantile(&one, 1, 0.99), 7, 0);
	assert_true(isnan(kwhy_quantile(NULL, 0, 0.5)));
}

static void the_middle_of_an_even_number_is_the_upper_of_two(void **state)
{
	double reals[] = {4, -1, INFINITY, 2};
	int64_t integers[] = {INT64_MAX, INT64_MIN, 5};

	(void)state;
	assert_close(kwhy_middle_real(reals, 4), 4, 0);
	assert_close(kwhy_middle_real(reals, 3), 2, 0);
	assert_close(kwhy_middle_real(reals, 1), -1, 0);
	assert_int_equal(kwhy_middle_integer(integers, 3), 5);
	assert_int_equal(integers[0], INT64_MIN);
	assert_int_equal(integers[2], INT64_MAX);
}

static void a_quantile_has_the_place_of_the_nearest_value(void **state)
{
	(void)state;
	assert_int_equal(kwhy_quantile_place(1, 0.99), 0);
	assert_int_equal(kwhy_quantile_place(4, 0), 0);
	assert_int_equal(kwhy_quantile_place(4, 0.5), 2);
	assert_int_equal(kwhy_quantile_place(5, 0.5), 2);
	assert_int_equal(kwhy_quantile_place(101, 0.99), 99);
	assert_int_equal(kwhy_quantile_place(4, 1), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_of_few_values_stay_in_order),
		cmocka_unit_test(the_middle_of_an_even_number_is_the_upper_of_two),
		cmocka_unit_test(a_quantile_has_the_place_of_the_nearest_value),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
