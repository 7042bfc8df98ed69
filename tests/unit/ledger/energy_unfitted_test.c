/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/ledger/build.h"

#include <math.h>
#include <string.h>

/* Tests with meters whose readings are constant, and with readings that no powers can explain. */

enum { READINGS = 150 };

/* Makes a recording of device 0 that covers three seconds, with a reading of power_mw every 20 ms. */
static struct kwhy_recording *constant_meter(int64_t power_mw)
{
	const struct kwhy_coverage coverage = {KWHY_NONE, 0, INT64_C(3000000000)};
	struct kwhy_recording *recording = build_one();

	OK(kwhy_recording_add_coverage(recording, &coverage, &error));
	for (int64_t i = 0; i < READINGS; i++)
		OK(kwhy_recording_add_reading(
			recording, KWHY_METER_NVML_SAMPLE, 0, 0, i * 20000000, power_mw, &error));
	return recording;
}

static void a_meter_that_never_moves_tells_the_idle_level_to_a_milliwatt(void **state)
{
	struct kwhy_recording *recording = constant_meter(121137);
	struct kwhy_ledger *ledger;

	(void)state;
	recording->devices[0].context_idle_mw = 120400;
	ledger = build_ledger(recording);
	assert_null(build_note(ledger, "readings-unfitted"));
	assert_true(fabs(ledger->devices[0].energy.context_idle_w - 121.137) < 0.01);
	assert_int_equal(ledger->devices[0].energy.measured_nj, ledger->devices[0].energy.attributed_nj);
	build_free(recording, ledger);
}

/* In this profile a kernel has a power whose square overflows a double. */
static void readings_that_no_powers_fit_leave_the_assumed_powers_and_a_note(void **state)
{
	struct kwhy_known_power known = {"absurd", {1e200, 1}};
	struct kwhy_profile profile;
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_recording *recording = constant_meter(500000);
	struct kwhy_ledger *ledger;

	(void)state;
	build_kernel(recording, 0, 500000000, 2500000000, "absurd");
	kwhy_profile_init(&profile);
	profile.known_powers = &known;
	profile.known_power_count = 1;
	options.profile = &profile;
	ledger = build_ledger_with(recording, &options);
	assert_non_null(build_note(ledger, "readings-unfitted"));
	assert_null(build_note(ledger, "no-usable-readings"));
	assert_int_equal(ledger->devices[0].energy.measured_nj, ledger->devices[0].energy.attributed_nj);
	build_free(recording, ledger);
}

static void a_counter_that_fell_once_fell_one_time(void **state)
{
	const struct kwhy_coverage coverage = {KWHY_NONE, 0, INT64_C(3000000000)};
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;

	(void)state;
	OK(kwhy_recording_add_coverage(recording, &coverage, &error));
	for (int64_t i = 0; i <= 30; i++)
		OK(kwhy_recording_add_reading(recording, KWHY_METER_NVML_ENERGY, 0, 0, i * 100000000,
			12000 * (i < 15 ? 1000 + i : i), &error));
	ledger = build_ledger(recording);
	assert_non_null(build_note(ledger, "counter-fell"));
	assert_non_null(strstr(build_note(ledger, "counter-fell"),
		"fell 1 time (it was reset); that interval is not counted"));
	build_free(recording, ledger);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_meter_that_never_moves_tells_the_idle_level_to_a_milliwatt),
		cmocka_unit_test(readings_that_no_powers_fit_leave_the_assumed_powers_and_a_note),
		cmocka_unit_test(a_counter_that_fell_once_fell_one_time),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
