/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "ledger/energy/posterior.h"

static struct kwhy_grid_weights weights_at(double tau, double delay)
{
	double other[16] = {0};

	other[KWHY_PARAMETER_TAU] = tau;
	other[KWHY_PARAMETER_DELAY] = delay;
	return kwhy_grid_weigh(other);
}

/*
 * Interpolates, with the given weights, a polynomial whose coefficients are `powers`, lowest first. Its
 * variable is the number of the grid's delay, 0 in the middle.
 */
static double at_delay(const double *powers, const double *weights)
{
	double sum = 0;

	for (int i = 0; i < KWHY_GRID_DELAYS; i++) {
		const double x = i - KWHY_GRID_DELAYS / 2;

		sum += weights[i] * (powers[0] + x * (powers[1] + x * (powers[2] + x * powers[3])));
	}
	return sum;
}

/* Interpolation by a cubic must be exact for a cubic polynomial, in the whole range of the grid. */
static void delays_are_interpolated_by_a_cubic_polynomial(void **state)
{
	static const double powers[] = {3, -2, 0.5, 0.25};
	const double end = KWHY_GRID_DELAYS / 2, last = KWHY_GRID_DELAYS - 1 - end;

	(void)state;
	for (double z = -end; z <= last; z += 0.125) {
		const struct kwhy_grid_weights weights = weights_at(0, z);

		assert_float_equal(at_delay(powers, weights.delay),
			powers[0] + z * (powers[1] + z * (powers[2] + z * powers[3])), 1e-9);
		assert_float_equal(at_delay(powers, weights.delay_slope),
			powers[1] + z * (2 * powers[2] + z * 3 * powers[3]), 1e-9);
	}
}

static void a_delay_beyond_the_grid_is_that_of_its_end(void **state)
{
	const double end = KWHY_GRID_DELAYS / 2;
	const struct kwhy_grid_weights low = weights_at(0, -end - 3), high = weights_at(0, end + 3);

	(void)state;
	assert_float_equal(low.delay[0], 1, 1e-12);
	assert_float_equal(high.delay[KWHY_GRID_DELAYS - 1], 1, 1e-12);
}

static void time_constants_are_interpolated_by_a_square(void **state)
{
	(void)state;
	for (double z = -1; z <= 1; z += 0.25) {
		const struct kwhy_grid_weights weights = weights_at(z, 0);
		double value = 0, slope = 0;

		for (int i = 0; i < KWHY_GRID_TAUS; i++) {
			const double x = i - 1;

			value += weights.tau[i] * (2 + 3 * x + 5 * x * x);
			slope += weights.tau_slope[i] * (2 + 3 * x + 5 * x * x);
		}
		assert_float_equal(value, 2 + 3 * z + 5 * z * z, 1e-12);
		assert_float_equal(slope, 3 + 10 * z, 1e-12);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(delays_are_interpolated_by_a_cubic_polynomial),
		cmocka_unit_test(a_delay_beyond_the_grid_is_that_of_its_end),
		cmocka_unit_test(time_constants_are_interpolated_by_a_square),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
