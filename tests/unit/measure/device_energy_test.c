/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "measure/device_energy.h"

#include <math.h>

static void what_is_above_idle_is_above_the_mean_of_the_looks_around(void **state)
{
	const struct kwhy_joules levels_w[] = {{130, 129, 131}, {126, 125, 127}}, gross = {1500, 1490, 1510};
	struct kwhy_joules net = kwhy_joules_above(gross, 10, levels_w, 2);
	/*
	 * added in quadrature: 10 J for the window; for each idle level, 10 s times half of its half
	 * interval of 1 W; 10 s times half of the 4 W between the levels
	 */
	const double half = sqrt(10 * 10 + 100 * (0.5 * 0.5 + 0.5 * 0.5 + 2 * 2));

	(void)state;
	assert_float_equal(net.value, 1500 - 10 * 128, 1e-9);
	assert_float_equal(net.low, net.value - half, 1e-9);
	assert_float_equal(net.high, net.value + half, 1e-9);
}

static void without_a_look_nothing_is_known(void **state)
{
	const struct kwhy_joules gross = {1500, 1490, 1510}, level_w = {NAN, NAN, NAN};

	(void)state;
	assert_true(isnan(kwhy_joules_above(gross, 10, NULL, 0).value));
	assert_true(isnan(kwhy_joules_above(gross, 10, &level_w, 1).low));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_above_idle_is_above_the_mean_of_the_looks_around),
		cmocka_unit_test(without_a_look_nothing_is_known),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
