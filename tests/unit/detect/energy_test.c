/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "detect/energy.h"

static void a_sum_takes_shares_of_both(void **state)
{
	const struct kwhy_energy_ci90 a = {10, 8, 13}, b = {100, 60, 170};
	const struct kwhy_energy_ci90 sum = kwhy_energy_sum(a, 2, b, 0.5);

	(void)state;
	assert_float_equal(sum.nj, 70, 0);
	assert_float_equal(sum.low_nj, 46, 0);
	assert_float_equal(sum.high_nj, 111, 0);
}

static void rounded_energies_are_within_their_limits(void **state)
{
	(void)state;
	assert_int_equal(kwhy_energy_round(NAN, 100), KWHY_UNKNOWN_NJ);
	assert_int_equal(kwhy_energy_round(-1, 100), 0);
	assert_int_equal(kwhy_energy_round(0.9, 100), 0);
	assert_int_equal(kwhy_energy_round(99, 100), 99);
	assert_int_equal(kwhy_energy_round(101, 100), 100);
	assert_int_equal(kwhy_energy_round(1e300, INFINITY), INT64_C(1) << 62);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sum_takes_shares_of_both),
		cmocka_unit_test(rounded_energies_are_within_their_limits),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
