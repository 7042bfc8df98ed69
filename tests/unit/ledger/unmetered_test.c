/* SPDX-License-Identifier: Apache-2.0 */
#include "model/run_energy.h"
#include "unit/ledger/metered.h"

#include <math.h>

/* Tests the energy that the ledger estimates for unmetered time. */

/* Removes the readings before from_ns. */
static void start_meters(struct kwhy_recording *recording, int64_t from_ns)
{
	for (size_t i = 0; i < recording->power_count; i++) {
		struct kwhy_power_series *series = &recording->power[i];
		size_t kept = 0;

		for (size_t k = 0; k < series->count; k++) {
			series->time_ns[kept] = series->time_ns[k];
			series->value[kept] = series->value[k];
			kept += series->time_ns[k] >= from_ns;
		}
		series->count = kept;
	}
}

/*
 * Makes three runs of a kernel at 300 W: 0.5 s to 0.6 s, 3 s to 4 s and 4.5 s to 5.5 s. The device idles at
 * 100 W.
 */
static struct kwhy_recording *three_runs(void)
{
	const struct metered_level level = {0, 100};
	const struct metered_run runs[] = {{0.5, 0.6, 300, "a"}, {3, 4, 300, "a"}, {4.5, 5.5, 300, "a"}};
	const struct metered_plan plan = {.levels = &level,
		.level_count = 1,
		.runs = runs,
		.run_count = 3,
		.end_s = 7,
		.noise_w = 0.5,
		.seed = 5};

	return metered_build(&plan);
}

/*
 * Readings start at 2 s. From the start of the run, 0.1 s at 300 W and 1.4 s of idle time at 100 W are
 * unmetered: 170 J.
 */
static void what_no_reading_saw_of_a_run_is_worked_out_from_the_powers_of_its_accounts(void **state)
{
	struct kwhy_recording *recording = three_runs();
	struct kwhy_ledger *ledger;

	(void)state;
	start_meters(recording, INT64_C(2000000000));
	ledger = build_ledger(recording);
	assert_true(fabs((double)ledger->devices[0].energy.edge_nj * 1e-9 - 170) < 5);
	build_free(recording, ledger);
}

/* Removes the readings after to_ns. */
static void end_meters(struct kwhy_recording *recording, int64_t to_ns)
{
	for (size_t i = 0; i < recording->power_count; i++)
		while (recording->power[i].count &&
			recording->power[i].time_ns[recording->power[i].count - 1] > to_ns)
			recording->power[i].count--;
}

/*
 * The last reading comes before the end of work at 300 W. As a low-pass and a delay, 18 ms together, lie
 * between power and reading, all energy from 18 ms before it on must be estimated: 300 W for all of that
 * time.
 */
static void what_comes_behind_the_last_reading_begins_before_it(void **state)
{
	struct kwhy_recording *recording = three_runs();
	struct kwhy_ledger *ledger;
	const struct kwhy_device_energy *energy;
	double unseen_s;

	(void)state;
	end_meters(recording, INT64_C(5000000000));
	ledger = build_ledger(recording);
	assert_true(fabs((double)build_account(ledger, 0, "a")->mean_power_mw * 1e-3 - 300) < 1.5);
	energy = &ledger->devices[0].energy;
	unseen_s = 5.5 - ((double)energy->end_ns * 1e-9 - 0.018);
	assert_true(fabs((double)energy->edge_nj * 1e-9 - unseen_s * 300) < 1);
	build_free(recording, ledger);
}

/* Removes the samples from from_ns to to_ns. */
static void cut_hole(struct kwhy_recording *recording, int64_t from_ns, int64_t to_ns)
{
	for (size_t i = 0; i < recording->power_count; i++) {
		struct kwhy_power_series *series = &recording->power[i];
		size_t kept = 0;

		if (kwhy_meter_is_counter(series->meter))
			continue;
		for (size_t k = 0; k < series->count; k++) {
			series->time_ns[kept] = series->time_ns[k];
			series->value[kept] = series->value[k];
			kept += series->time_ns[k] < from_ns || series->time_ns[k] > to_ns;
		}
		series->count = kept;
	}
}

/*
 * For 1 s samples are missing: 0.8 s at 300 W and 0.2 s at 100 W, 260 J. The estimate must follow the
 * recorded work; linear interpolation between samples would give 200 J.
 */
static void a_hole_in_the_readings_is_worked_out_and_said(void **state)
{
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_recording *recording = three_runs();
	const struct kwhy_device_energy *energy;
	struct kwhy_run_energy run;
	struct kwhy_ledger *ledger;

	(void)state;
	options.ignore_counter = true;
	cut_hole(recording, INT64_C(3200000000), INT64_C(4200000000));
	ledger = build_ledger_with(recording, &options);
	energy = &ledger->devices[0].energy;
	run = kwhy_run_energy_of(&ledger->devices[0]);
	if (!(fabs((double)energy->edge_nj * 1e-9 - 260) < 10))
		fail_msg("%g J estimated", (double)energy->edge_nj * 1e-9);
	assert_true(fabs((double)(energy->end_ns - energy->start_ns - energy->metered_ns) * 1e-9 - 1) < 0.05);
	assert_true(fabs(run.run_nj * 1e-9 - 920) < 5); /* 2.1 s at 300 W and 2.9 s at 100 W */
	/* the power of the unmetered second is between 100 and 300 W */
	assert_true(run.below_nj * 1e-9 > 120 && run.above_nj * 1e-9 < 60);
	assert_non_null(build_note(ledger, "readings-hole"));
	build_free(recording, ledger);
}

/* Keeps every `step`th sample as a reading of the instant power. */
static void read_rarely(struct kwhy_recording *recording, size_t step)
{
	for (size_t i = 0; i < recording->power_count; i++) {
		struct kwhy_power_series *series = &recording->power[i];
		size_t kept = 0;

		if (kwhy_meter_is_counter(series->meter))
			continue;
		series->meter = KWHY_METER_NVML_INSTANT;
		for (size_t k = 0; k < series->count; k += step, kept++) {
			series->time_ns[kept] = series->time_ns[k];
			series->value[kept] = series->value[k];
		}
		series->count = kept;
	}
}

/*
 * The kernel runs for 2.1 s at 300 W, 630 J. With two readings a second it is uncertain which power belongs
 * to it, and the interval must contain the truth.
 */
static void what_came_and_went_between_readings_is_in_the_interval(void **state)
{
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_recording *recording = three_runs();
	const struct kwhy_account *kernel;
	struct kwhy_ledger *ledger;

	(void)state;
	options.ignore_counter = true;
	read_rarely(recording, 25);
	ledger = build_ledger_with(recording, &options);
	kernel = build_account(ledger, 0, "a");
	if (!(kernel->low_nj * 1e-9 < 600 && kernel->high_nj * 1e-9 > 630))
		fail_msg("%g to %g J", kernel->low_nj * 1e-9, kernel->high_nj * 1e-9);
	assert_non_null(build_note(ledger, "readings-rare"));
	build_free(recording, ledger);
	recording = three_runs();
	read_rarely(recording, 1);
	ledger = build_ledger_with(recording, &options);
	assert_null(build_note(ledger, "readings-rare"));
	build_free(recording, ledger);
}

/*
 * If readings come every half second, means over that time are preferred to powers of an instant, which may
 * miss what happened in between.
 */
static void means_go_before_instants_that_are_read_rarely(void **state)
{
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_recording *recording = three_runs();
	struct kwhy_ledger *ledger;

	(void)state;
	options.ignore_counter = true;
	read_rarely(recording, 25);
	for (int64_t at_ms = 0; at_ms <= 7000; at_ms += 500)
		OK(kwhy_recording_add_reading(
			recording, KWHY_METER_NVML_AVERAGE, 0, 0, at_ms * 1000000, 162857, &error));
	ledger = build_ledger_with(recording, &options);
	assert_string_equal(ledger->devices[0].energy.source, "nvml.average_mw");
	build_free(recording, ledger);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_no_reading_saw_of_a_run_is_worked_out_from_the_powers_of_its_accounts),
		cmocka_unit_test(a_hole_in_the_readings_is_worked_out_and_said),
		cmocka_unit_test(what_came_and_went_between_readings_is_in_the_interval),
		cmocka_unit_test(means_go_before_instants_that_are_read_rarely),
		cmocka_unit_test(what_comes_behind_the_last_reading_begins_before_it),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
