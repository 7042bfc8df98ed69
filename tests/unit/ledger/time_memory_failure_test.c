/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/failing_memory.h"
#include "unit/ledger/build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void add_readings(struct kwhy_recording *recording)
{
	const struct kwhy_memory_point point = {.time_ns = 40, .allocated_bytes = 5, .reserved_bytes = 9};

	for (int64_t i = 0; i < 3; i++) {
		OK(kwhy_recording_add_reading(
			recording, KWHY_METER_NVML_SAMPLE, 0, 0, 900 * i, 100000, &error));
		OK(kwhy_recording_add_reading(
			recording, KWHY_METER_RAPL_PACKAGE, KWHY_NONE, 0, 900 * i, 9000000000 - i, &error));
	}
	OK(kwhy_recording_add_memory(recording, &point, &error));
}

/*
 * Makes a recording with every kind of record that a ledger reads. The device with hundreds of accounts has
 * no meter, as a fit of hundreds of powers would take too long.
 */
static struct kwhy_recording *build_rich(void)
{
	struct kwhy_recording *recording = build_one();
	uint32_t stream = build_stream(recording, build_device(recording, 1), 0, 8);
	char name[24];

	for (uint32_t i = 0; i < 400; i++) {
		int64_t at_ns = 10 * (int64_t)i;

		snprintf(name, sizeof(name), "kernel %u", i);
		build_kernel(recording, stream, at_ns, at_ns + (i % 20 ? 5 : 300), name);
		build_h2d(recording, stream, at_ns, at_ns + 4, (uint64_t)1 << i % 40, "");
		build_call(recording, 0, at_ns + 5, at_ns + 6, "cudaLaunchKernel", i);
		build_launched(recording, 0, at_ns + 7, at_ns + 9, i);
		build_range(recording, i % 2 ? 0 : KWHY_NONE, at_ns, at_ns + 50, name,
			i % 3 ? KWHY_RANGE_NVTX : KWHY_RANGE_STEP);
	}
	add_readings(recording);
	OK(kwhy_recording_finish(recording, &error));
	return recording;
}

/* Adds windows that cover a third of the time, and the profiler's overhead. */
static void add_windows(struct kwhy_recording *recording, int64_t ms_ns)
{
	const struct kwhy_selection selection = {KWHY_NONE, KWHY_CHOICE_DUTY, 0, 960 * ms_ns, NULL, 0.35};
	const struct kwhy_overhead overhead = {55 * ms_ns, 70 * ms_ns, 0, 0};

	OK(kwhy_recording_add_selection(recording, &selection, &error));
	OK(kwhy_recording_add_overhead(recording, &overhead, &error));
	for (int64_t i = 0; i < 3; i++) {
		const struct kwhy_coverage row = {KWHY_NONE, (20 + 320 * i) * ms_ns, (140 + 320 * i) * ms_ns};

		OK(kwhy_recording_add_coverage(recording, &row, &error));
	}
}

/*
 * Makes about 1 s of work with pauses, and meter readings to which powers are fitted; with in_windows only a
 * third of that time is recorded.
 */
static struct kwhy_recording *build_metered(bool in_windows)
{
	struct kwhy_recording *recording = build_one();
	const int64_t ms_ns = 1000000;

	if (in_windows)
		add_windows(recording, ms_ns);

	for (int64_t i = 0; i < 12; i++) {
		build_kernel(recording, 0, 80 * i * ms_ns, (80 * i + 50) * ms_ns, i % 2 ? "one" : "other");
		build_h2d(recording, 0, (80 * i + 40) * ms_ns, (80 * i + 60) * ms_ns, 1000, "");
	}
	for (int64_t i = 0; i < 48; i++)
		OK(kwhy_recording_add_reading(recording, KWHY_METER_NVML_SAMPLE, 0, 0, 20 * i * ms_ns,
			i % 4 < 3 ? 300000 + 50000 * (i / 4 % 2) : 100000, &error));
	for (int64_t i = 0; i < 9; i++)
		OK(kwhy_recording_add_reading(
			recording, KWHY_METER_NVML_ENERGY, 0, 0, 100 * i * ms_ns, 27000 * i, &error));
	OK(kwhy_recording_finish(recording, &error));
	return recording;
}

/*
 * Makes the ledger; allocation number `failure` (from 0) fails, none if it is -1. Returns whether the ledger
 * was made. If not, the status must be KWHY_E_MEMORY.
 */
static bool try_ledger(const struct kwhy_recording *recording, long failure)
{
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_ledger *ledger = NULL;
	enum kwhy_status status;

	failed = false;
	left_until_failure = failure;
	status = kwhy_ledger_new(recording, &options, &ledger, &error);
	left_until_failure = -1;
	assert_true(status == KWHY_OK ? ledger != NULL : status == KWHY_E_MEMORY && !ledger);
	kwhy_ledger_free(ledger);
	return status == KWHY_OK;
}

/*
 * Makes the ledger again and again; each time the next allocation fails, until none is left to fail. Returns
 * how often that was. Frees the recording.
 */
static long fail_each(struct kwhy_recording *recording)
{
	long failures = 0;

	assert_true(try_ledger(recording, -1));
	for (failed = true; failed; failures++)
		assert_true(try_ledger(recording, failures) != failed);
	kwhy_recording_free(recording);
	return failures;
}

static struct kwhy_ledger *ledger_of(const struct kwhy_recording *recording)
{
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_ledger *ledger;

	OK(kwhy_ledger_new(recording, &options, &ledger, &error));
	return ledger;
}

static void whichever_allocation_fails_it_is_said_and_no_ledger_is_left(void **state)
{
	struct kwhy_recording *recording = build_rich();
	struct kwhy_ledger *ledger = ledger_of(recording);

	(void)state;
	assert_true(ledger->range_count > 200 && ledger->step_count > 100 && ledger->host_count == 1);
	kwhy_ledger_free(ledger);
	assert_true(fail_each(recording) > 60);
}

static void whichever_allocation_of_the_attribution_fails_it_is_said_and_no_ledger_is_left(void **state)
{
	struct kwhy_recording *recording = build_metered(false);
	struct kwhy_ledger *ledger = ledger_of(recording);
	const struct kwhy_device_energy *energy = &ledger->devices[0].energy;

	(void)state;
	assert_true(energy->known && energy->reading_count > 30 && !isnan(energy->counter_check_ratio));
	kwhy_ledger_free(ledger);
	assert_true(fail_each(recording) > 150);
}

static void of_a_run_known_in_windows_too(void **state)
{
	struct kwhy_recording *recording = build_metered(true);
	struct kwhy_ledger *ledger = ledger_of(recording);

	(void)state;
	assert_int_equal(ledger->devices[0].coverage.drawn_count, 3);
	assert_true(ledger->overhead_count > 0);
	assert_true(build_account(ledger, 0, "one")->has_whole);
	kwhy_ledger_free(ledger);
	assert_true(fail_each(recording) > 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whichever_allocation_fails_it_is_said_and_no_ledger_is_left),
		cmocka_unit_test(
			whichever_allocation_of_the_attribution_fails_it_is_said_and_no_ledger_is_left),
		cmocka_unit_test(of_a_run_known_in_windows_too),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
