/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/ledger/metered.h"

#include <math.h>

/* Tests the notes of a ledger whose readings contradict one another or the recorded work. */

enum { RUNS = 40 };
#define MS INT64_C(1000000)

/*
 * Makes 40 runs of work at 300 W, about 60 ms in every 100 ms; in between the device draws 90 W. The counter
 * is read from counter_from_s on.
 */
static struct kwhy_recording *metered_work(double counter_from_s)
{
	static const struct metered_level level = {0, 90};
	struct metered_run runs[RUNS];
	struct metered_plan plan = {&level, 1, runs, RUNS, 5, 0.5, 7, counter_from_s};

	for (int i = 0; i < RUNS; i++)
		runs[i] = (struct metered_run){0.5 + 0.1 * i, 0.56 + 0.1 * i + 0.001 * (i % 7), 300, "work"};
	return metered_build(&plan);
}

static struct kwhy_power_series *series_of(struct kwhy_recording *recording, enum kwhy_meter meter)
{
	for (size_t i = 0; i < recording->power_count; i++)
		if (recording->power[i].meter == meter)
			return &recording->power[i];
	return NULL;
}

static void right_readings_are_not_contradicted(void **state)
{
	struct kwhy_recording *recording = metered_work(0);
	struct kwhy_ledger *ledger = build_ledger(recording);

	(void)state;
	assert_null(build_note(ledger, "readings-contradicted"));
	assert_null(build_note(ledger, "counter-contradicted"));
	build_free(recording, ledger);
}

/* The time stamps of the samples are 0.7 s late, so they do not fit the recorded work: a note must say so. */
static void readings_of_another_time_are_noted(void **state)
{
	struct kwhy_recording *recording = metered_work(0);
	struct kwhy_power_series *samples;
	struct kwhy_ledger *ledger;

	(void)state;
	kwhy_recording_drop_power(
		recording, KWHY_METER_NVML_ENERGY, 0, series_of(recording, KWHY_METER_NVML_ENERGY)->count);
	samples = series_of(recording, KWHY_METER_NVML_SAMPLE);
	for (size_t i = 0; i < samples->count; i++)
		samples->time_ns[i] += 700 * MS;
	ledger = build_ledger(recording);
	assert_non_null(build_note(ledger, "readings-contradicted"));
	build_free(recording, ledger);
}

/*
 * The counter rises by 60 J too much in one interval of 0.1 s, which a GPU with a limit of 700 W could just
 * draw. Only the recorded work shows that it cannot be right.
 */
static void a_counter_that_jumps_by_little_is_contradicted_by_what_ran(void **state)
{
	struct kwhy_recording *recording = metered_work(0);
	struct kwhy_power_series *counter = series_of(recording, KWHY_METER_NVML_ENERGY);
	struct kwhy_ledger *ledger;

	(void)state;
	for (size_t i = counter->count / 2; i < counter->count; i++)
		counter->value[i] += 60000;
	ledger = build_ledger(recording);
	assert_non_null(build_note(ledger, "readings-contradicted"));
	build_free(recording, ledger);
}

static void a_counter_that_jumps_by_more_than_a_gpu_draws_loses_that_interval_only(void **state)
{
	struct kwhy_recording *recording = metered_work(0), *same = metered_work(0);
	struct kwhy_power_series *counter = series_of(recording, KWHY_METER_NVML_ENERGY);
	struct kwhy_ledger *right = build_ledger(same), *ledger;

	(void)state;
	for (size_t i = counter->count / 2; i < counter->count; i++)
		counter->value[i] += 1500000;
	ledger = build_ledger(recording);
	assert_non_null(build_note(ledger, "counter-jumped"));
	assert_true(ledger->devices[0].energy.measured_nj < right->devices[0].energy.measured_nj);
	assert_true((double)ledger->devices[0].energy.measured_nj >
		0.95 * (double)right->devices[0].energy.measured_nj);
	build_free(same, right);
	build_free(recording, ledger);
}

/*
 * The buffer of samples was read only every 260 ms, so it shows the power at few moments. A note must say
 * that readings are rare.
 */
static void samples_far_apart_are_rare_readings(void **state)
{
	struct kwhy_recording *recording = metered_work(0);
	struct kwhy_power_series *samples;
	struct kwhy_ledger *ledger;
	size_t kept = 0;

	(void)state;
	kwhy_recording_drop_power(
		recording, KWHY_METER_NVML_ENERGY, 0, series_of(recording, KWHY_METER_NVML_ENERGY)->count);
	samples = series_of(recording, KWHY_METER_NVML_SAMPLE);
	for (size_t i = 0; i < samples->count; i += 13) {
		samples->time_ns[kept] = samples->time_ns[i];
		samples->value[kept++] = samples->value[i];
	}
	samples->count = kept;
	ledger = build_ledger(recording);
	assert_non_null(build_note(ledger, "readings-rare"));
	assert_true(ledger->devices[0].energy.sampling_ratio > 0.02);
	build_free(recording, ledger);
}

/*
 * The package draws 100 W; in one interval of 0.1 s its counter rises by 75 J more. That is counted, as it is
 * not impossible, but a note must say that the counter jumped.
 */
static void a_host_counter_that_jumps_once_is_noted(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;

	(void)state;
	for (int64_t i = 0; i <= 20; i++)
		OK(kwhy_recording_add_reading(recording, KWHY_METER_RAPL_PACKAGE, KWHY_NONE, 0, i * 100 * MS,
			10000000 * i + (i > 10 ? 75000000 : 0), &error));
	ledger = build_ledger(recording);
	assert_non_null(build_note(ledger, "host-counter-jumped"));
	build_free(recording, ledger);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(right_readings_are_not_contradicted),
		cmocka_unit_test(readings_of_another_time_are_noted),
		cmocka_unit_test(a_counter_that_jumps_by_little_is_contradicted_by_what_ran),
		cmocka_unit_test(a_counter_that_jumps_by_more_than_a_gpu_draws_loses_that_interval_only),
		cmocka_unit_test(samples_far_apart_are_rare_readings),
		cmocka_unit_test(a_host_counter_that_jumps_once_is_noted),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
