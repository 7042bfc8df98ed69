/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/ledger/build.h"

#include <math.h>
#include <string.h>

/* Tests ledgers of readings that are constant, or that no powers can explain. */

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

/*
 * The profile states a power of 1e200 W for the kernel, whose square overflows. The fit must fail, with
 * assumed powers and a note in its place.
 */
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

/* Makes a kernel of 2 s with four readings of the power: two before its start and two in its first 5 ms. */
static struct kwhy_recording *barely_metered(void)
{
	static const int64_t times_ns[] = {900000000, 950000000, 1001000000, 1005000000};
	struct kwhy_recording *recording = build_one();

	build_kernel(recording, 0, 1000000000, 3000000000, "gemm");
	for (size_t i = 0; i < 4; i++)
		OK(kwhy_recording_add_reading(
			recording, KWHY_METER_NVML_INSTANT, 0, 0, times_ns[i], 300000, &error));
	return recording;
}

static void readings_that_barely_touch_the_run_are_no_energy_of_it(void **state)
{
	struct kwhy_recording *recording = barely_metered();
	struct kwhy_ledger *ledger = build_ledger(recording);
	const struct kwhy_account *gemm = build_account(ledger, 0, "gemm");

	(void)state;
	assert_non_null(build_note(ledger, "no-usable-readings"));
	assert_null(build_note(ledger, "meter-response-assumed"));
	assert_false(ledger->devices[0].energy.known);
	assert_int_equal(ledger->devices[0].energy.measured_nj, KWHY_UNKNOWN_NJ);
	assert_int_equal(gemm->gross_nj, KWHY_UNKNOWN_NJ);
	assert_int_equal(gemm->basis, KWHY_BASIS_NONE);
	assert_int_equal(gemm->power_class, KWHY_NONE);
	build_free(recording, ledger);
}

static void powers_that_the_user_assumes_stand_in_for_readings_that_barely_touch_the_run(void **state)
{
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_recording *recording = barely_metered();
	struct kwhy_ledger *ledger;

	(void)state;
	options.assumed.given = true;
	options.assumed.all_w = 400;
	ledger = build_ledger_with(recording, &options);
	assert_true(ledger->devices[0].energy.modelled);
	assert_int_equal(ledger->devices[0].energy.measured_nj, KWHY_UNKNOWN_NJ);
	assert_int_equal(build_account(ledger, 0, "gemm")->gross_nj, INT64_C(800000000000));
	assert_int_equal(build_account(ledger, 0, "gemm")->basis, KWHY_BASIS_MODELLED);
	build_free(recording, ledger);
}

/*
 * The counter was read twice, near the start and the end of the run. The energy between is known, but no
 * power: it must be divided by assumed powers.
 */
static void a_total_that_tells_no_power_is_divided_by_assumed_ones(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;

	(void)state;
	for (int64_t i = 0; i < 20; i++)
		build_kernel(recording, 0, i * 100000000, i * 100000000 + 80000000, "gemm");
	OK(kwhy_recording_add_reading(recording, KWHY_METER_NVML_ENERGY, 0, 0, 1000000, 0, &error));
	OK(kwhy_recording_add_reading(recording, KWHY_METER_NVML_ENERGY, 0, 0, 1970000000, 800000, &error));
	ledger = build_ledger(recording);
	assert_int_equal(ledger->devices[0].energy.reading_count, 0);
	assert_int_equal(ledger->devices[0].energy.measured_nj, INT64_C(800000000000));
	assert_non_null(strstr(build_note(ledger, "no-usable-readings"), "assumed powers divide"));
	for (size_t i = 0; i < ledger->devices[0].account_count; i++)
		assert_int_equal(ledger->devices[0].accounts[i].basis, KWHY_BASIS_ASSUMED);
	build_free(recording, ledger);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readings_that_barely_touch_the_run_are_no_energy_of_it),
		cmocka_unit_test(
			powers_that_the_user_assumes_stand_in_for_readings_that_barely_touch_the_run),
		cmocka_unit_test(a_total_that_tells_no_power_is_divided_by_assumed_ones),
		cmocka_unit_test(a_meter_that_never_moves_tells_the_idle_level_to_a_milliwatt),
		cmocka_unit_test(readings_that_no_powers_fit_leave_the_assumed_powers_and_a_note),
		cmocka_unit_test(a_counter_that_fell_once_fell_one_time),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
