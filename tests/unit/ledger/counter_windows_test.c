/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that the power that enabled performance counters take is found and subtracted: the ledger of a run
 * with counters equals that of the same run without them.
 */
#include "ledger/energy/counter_windows.h"
#include "unit/ledger/metered.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MAX = 400, WINDOWS = 9 };

#define BEFORE_W 5.0 /* what windows before the run take */

/* 20 s with kernels of 50 ms at 300 and 500 W from first_s to 19 s, and a window of 0.5 s in each 2 s, in
 * changing phase. */
static struct kwhy_recording *run_with(double window_w, double counter_from_s, double first_s)
{
	static const struct metered_level levels[] = {{0, 120}};
	static struct metered_run runs[RUNS_MAX];
	static struct kwhy_counter_window items[WINDOWS];
	const struct metered_windows windows = {items, window_w < 0 ? 0 : WINDOWS, window_w, BEFORE_W, false};
	struct metered_plan plan = {.levels = levels,
		.level_count = 1,
		.runs = runs,
		.end_s = 20,
		.noise_w = 2,
		.seed = 7,
		.counter_from_s = counter_from_s};

	for (double at_s = first_s; at_s < 19 - 1e-3 && plan.run_count < RUNS_MAX; at_s += 0.05) {
		const bool is_high = plan.run_count % 2 == 0;

		runs[plan.run_count++] = (struct metered_run){
			at_s, at_s + 0.05, is_high ? 500 : 300, is_high ? "high" : "low"};
	}
	for (size_t i = 0; i < WINDOWS; i++) {
		const int64_t start_ns = 1200000000 + (int64_t)i * 2000000000 +
			(int64_t)(i * 37 % 100) * 1000000;

		items[i] = (struct kwhy_counter_window){start_ns, start_ns + 500000000, 0};
	}
	return metered_build_counted(&plan, &windows);
}

static double joules_of(const struct kwhy_ledger *ledger, const char *name)
{
	return 1e-9 * (double)build_account(ledger, 0, name)->gross_nj;
}

/* Compares a run with windows with the same run without windows. */
struct comparison {
	double window_w, low_w, high_w; /* what windows take, and the limits of what the ledger says of it */
	double counter_from_s, first_s;
	size_t windows; /* number of windows in the run */
};

static void compare(const struct comparison *with)
{
	struct kwhy_recording *plain = run_with(-1, with->counter_from_s, with->first_s),
			      *counted = run_with(with->window_w, with->counter_from_s, with->first_s);
	struct kwhy_ledger *without = build_ledger(plain), *ledger = build_ledger(counted);
	const struct kwhy_device_energy *energy = &ledger->devices[0].energy;
	const double true_j = 1e-9 * (double)without->devices[0].energy.measured_nj;
	const double extra_w = 1e-9 * (double)energy->counting_nj / (0.5 * (double)with->windows);

	if (extra_w < with->low_w || extra_w > with->high_w)
		fail_msg("%.1f W is not in %.0f to %.0f W", extra_w, with->low_w, with->high_w);
	assert_int_equal(energy->counting_ns, 500000000 * (int64_t)with->windows);
	assert_float_equal(1e-9 * (double)energy->measured_nj, true_j, energy->sampling_ratio * true_j);
	assert_true(energy->sampling_ratio < 0.01);
	assert_float_equal(joules_of(ledger, "high"), joules_of(without, "high"), 0.02 * true_j);
	assert_float_equal(joules_of(ledger, "low"), joules_of(without, "low"), 0.02 * true_j);
	assert_float_equal(energy->context_idle_w, without->devices[0].energy.context_idle_w, 1);
	assert_true(energy->sampling_ratio >= without->devices[0].energy.sampling_ratio);
	build_free(plain, without);
	build_free(counted, ledger);
}

static void what_windows_take_is_measured_and_subtracted(void **state)
{
	(void)state;
	compare(&(struct comparison){28, 24, 32, 0, 1, 9});
	compare(&(struct comparison){45, 37, 49, 0, 1, 9});
}

/* Enabled counters may take no power: at its power limit a device lowers its clock instead of drawing more.
 * Then at most 7 W may be found. */
static void windows_that_take_nothing_take_nothing_off(void **state)
{
	(void)state;
	compare(&(struct comparison){0, 0, 7, 0, 1, 9});
}

static void readings_of_the_counter_are_corrected_too(void **state)
{
	(void)state;
	compare(&(struct comparison){28, 24, 32, 0.5, 1, 9});
}

/* Before the program has a context, enabled counters take less. */
static void windows_before_the_run_are_measured_apart(void **state)
{
	(void)state;
	compare(&(struct comparison){28, 22, 34, 0, 9, 5});
}

static struct kwhy_counter_windows find(
	struct kwhy_recording *recording, const struct kwhy_profile *profile, uint32_t device)
{
	struct kwhy_counter_windows windows;

	OK(kwhy_counter_windows_find(&windows, recording, device, profile, &error));
	return windows;
}

static void add_window(struct kwhy_recording *recording, int64_t start_ns, int64_t end_ns)
{
	const struct kwhy_counter_window window = {start_ns, end_ns, 0};

	OK(kwhy_recording_add_counter_window(recording, &window, &error));
}

static void windows_are_merged_and_samples_outside_have_windows_of_their_own(void **state)
{
	const int64_t ms = 1000000;
	struct kwhy_recording *recording = build_one();
	struct kwhy_perf_sample sample = {.length_ns = 200000};
	struct kwhy_counter_windows windows;

	(void)state;
	add_window(recording, 5000 * ms, 5300 * ms);
	add_window(recording, 1000 * ms, 1400 * ms);
	add_window(recording, 1300 * ms, 1500 * ms);
	for (int64_t at_ns = 1100 * ms; at_ns < 1110 * ms; at_ns += 200000) {
		sample.start_ns = at_ns;
		OK(kwhy_recording_add_perf_sample(recording, &sample, &error));
	}
	for (int64_t at_ns = 3000 * ms; at_ns < 3010 * ms; at_ns += 200000) {
		sample.start_ns = at_ns;
		OK(kwhy_recording_add_perf_sample(recording, &sample, &error));
	}
	OK(kwhy_recording_finish(recording, &error));
	windows = find(recording, NULL, 0);
	assert_int_equal(windows.count, 3);
	assert_int_equal(windows.items[0].start_ns, 1000 * ms);
	assert_int_equal(windows.items[0].end_ns, 1500 * ms);
	assert_int_equal(windows.items[1].start_ns, 2850 * ms);
	assert_int_equal(windows.items[1].end_ns, 3010 * ms);
	assert_int_equal(windows.items[2].start_ns, 5000 * ms);
	assert_int_equal(kwhy_counter_windows_ns(&windows, 1400 * ms, 5100 * ms), 360 * ms);
	assert_int_equal(kwhy_counter_windows_ns(&windows, 5300 * ms, 9000 * ms), 0);
	kwhy_counter_windows_done(&windows);
	windows = find(recording, NULL, 1);
	assert_int_equal(windows.count, 0);
	assert_float_equal(windows.extra_w, 0, 0);
	kwhy_counter_windows_done(&windows);
	kwhy_recording_free(recording);
}

/* With --counter-share 100% one window lasts from before the command to its end. */
static void a_window_in_which_the_run_begins_takes_less_before_it(void **state)
{
	const int64_t ms = 1000000;
	struct kwhy_recording *recording = build_one();
	struct kwhy_counter_windows windows;

	(void)state;
	build_kernel(recording, 0, 5000 * ms, 9000 * ms, "k");
	add_window(recording, 0, 10000 * ms);
	OK(kwhy_recording_finish(recording, &error));
	windows = find(recording, NULL, 0);
	assert_int_equal(windows.count, 2);
	assert_false(windows.items[0].is_in_run);
	assert_true(windows.items[1].is_in_run);
	assert_int_equal(windows.items[1].start_ns, 4700 * ms);
	assert_int_equal(kwhy_counter_windows_ns(&windows, 0, 10000 * ms), 10000 * ms);
	assert_true(kwhy_counter_windows_nj(&windows, 0, 1000 * ms) <
		kwhy_counter_windows_nj(&windows, 5000 * ms, 6000 * ms) / 2);
	kwhy_counter_windows_done(&windows);
	kwhy_recording_free(recording);
}

/* Subtracts 100 W in windows from 1 to 2 s and from 4 to 4.5 s from readings of 300 W every 0.1 s. */
static struct kwhy_power_series subtract_from(enum kwhy_meter meter, struct kwhy_power_series *series)
{
	static struct kwhy_enabled_time list[] = {
		{1000000000, 2000000000, 100, true}, {4000000000, 4500000000, 100, true}};
	const struct kwhy_counter_windows windows = {list, 2, 100, 10, 10, 0};
	static int64_t times_ns[61], values[61];
	struct kwhy_power_series out;

	*series = (struct kwhy_power_series){
		.meter = meter, .time_ns = times_ns, .value = values, .count = 61};
	for (size_t i = 0; i < series->count; i++) {
		times_ns[i] = (int64_t)i * 100000000;
		values[i] = kwhy_meter_is_counter(meter) ? (int64_t)i * 30000 : 300000;
	}
	OK(kwhy_counter_windows_subtract(&windows, series, NULL, &out, &error));
	return out;
}

static void free_series(struct kwhy_power_series *series)
{
	free(series->time_ns);
	free(series->value);
}

static void each_meter_is_corrected_as_it_follows_the_power(void **state)
{
	struct kwhy_power_series series, out = subtract_from(KWHY_METER_NVML_SAMPLE, &series);

	(void)state;
	assert_float_equal((double)out.value[9], 300e3, 1);
	assert_float_equal((double)out.value[11], 200e3, 300);
	assert_float_equal((double)out.value[20], 200e3, 1);
	assert_float_equal((double)out.value[22], 300e3, 300);
	free_series(&out);
	out = subtract_from(KWHY_METER_NVML_AVERAGE, &series); /* means of the last second */
	assert_float_equal((double)out.value[10], 300e3, 1);
	assert_float_equal((double)out.value[15], 250e3, 1000);
	assert_float_equal((double)out.value[20], 200e3, 1000);
	assert_float_equal((double)out.value[45], 250e3, 1000);
	free_series(&out);
	out = subtract_from(KWHY_METER_NVML_ENERGY, &series);
	assert_float_equal((double)(out.value[10] - out.value[0]), 300e3, 1000);
	assert_float_equal((double)(out.value[20] - out.value[10]), 200e3, 1000);
	assert_float_equal((double)(out.value[60] - out.value[0]), 1650e3, 1);
	for (size_t i = 1; i < out.count; i++)
		assert_true(out.value[i] >= out.value[i - 1] && out.time_ns[i] == series.time_ns[i]);
	free_series(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_windows_take_is_measured_and_subtracted),
		cmocka_unit_test(windows_that_take_nothing_take_nothing_off),
		cmocka_unit_test(readings_of_the_counter_are_corrected_too),
		cmocka_unit_test(windows_before_the_run_are_measured_apart),
		cmocka_unit_test(windows_are_merged_and_samples_outside_have_windows_of_their_own),
		cmocka_unit_test(a_window_in_which_the_run_begins_takes_less_before_it),
		cmocka_unit_test(each_meter_is_corrected_as_it_follows_the_power),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
