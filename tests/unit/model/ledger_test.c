/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "model/ledger.h"

/*
 * A device that idles at 50 W. Idle energy is 50 W times the time, in which each part counts times the scale
 * of the energy curve there: 2 from 10 to 20 ns, 3 from 30 to 40 ns, and 1.5 where the scale is unknown or
 * the curve has none.
 */
static void idle_energy_follows_the_curve_of_energy(void **state)
{
	static const struct {
		int64_t start_ns, end_ns;
		double energy_nj;
	} cases[] = {
		{10, 20, 50 * 20},
		{12, 18, 50 * 12},
		{20, 30, 50 * 15}, /* unknown scale */
		{15, 35, 50 * (10 + 15 + 15)},
		{0, 10, 50 * 15},
		{5, 15, 50 * (7.5 + 10)},
		{35, 50, 50 * (15 + 15)},
		{40, 50, 50 * 15},
		{0, 50, 50 * (15 + 20 + 15 + 30 + 15)},
		{17, 17, 0},
	};
	int64_t edges_ns[] = {10, 20, 30, 40};
	double scales[] = {2, NAN, 3};
	struct kwhy_device_ledger device = {.energy = {.known = true, .context_idle_w = 50},
		.curve = {.edge_ns = edges_ns, .scale = scales, .count = 3, .unmetered_scale = 1.5}};
	const struct kwhy_ledger ledger = {.devices = &device, .device_count = 1};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_float_equal(kwhy_ledger_idle_nj(&ledger, 0, cases[i].start_ns, cases[i].end_ns),
			cases[i].energy_nj, 1e-9);
	assert_true(isnan(kwhy_ledger_idle_nj(&ledger, 0, 20, 19)));
	device.curve.count = 0;
	assert_float_equal(kwhy_ledger_idle_nj(&ledger, 0, 10, 30), 50 * 20, 1e-9);
	device.energy.known = false;
	assert_true(isnan(kwhy_ledger_idle_nj(&ledger, 0, 10, 30)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_energy_follows_the_curve_of_energy),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
