/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"
#include "model/run_energy.h"

#include <math.h>
#include <string.h>

/*
 * Tests ledgers of runs of which only windows are recorded. Time between windows must be in no idle account,
 * but its metered energy must be in the ledger.
 */

#define MS INT64_C(1000000)

static void cover(struct kwhy_recording *recording, int64_t start_ms, int64_t end_ms)
{
	const struct kwhy_coverage row = {KWHY_NONE, start_ms * MS, end_ms * MS};

	OK(kwhy_recording_add_coverage(recording, &row, &error));
}

static void select_from(
	struct kwhy_recording *recording, enum kwhy_choice choice, int64_t start_ms, int64_t end_ms)
{
	const struct kwhy_selection row = {
		KWHY_NONE, choice, start_ms * MS, end_ms * MS, NULL, choice == KWHY_CHOICE_DUTY ? 0.2 : NAN};

	OK(kwhy_recording_add_selection(recording, &row, &error));
}

/* Adds readings of an energy counter every 100 ms for a constant power. */
static void meter(struct kwhy_recording *recording, int64_t start_ms, int64_t end_ms, int64_t power_w)
{
	for (int64_t at_ms = start_ms; at_ms <= end_ms; at_ms += 100)
		OK(kwhy_recording_add_reading(recording, KWHY_METER_NVML_ENERGY, 0, 0, at_ms * MS,
			(at_ms - start_ms) * power_w, &error));
}

static void where_nothing_ran_the_ledger_is_of_what_is_covered_to_the_nanosecond(void **state)
{
	struct kwhy_recording *recording = build_one();
	const struct kwhy_device_energy *energy;
	struct kwhy_ledger *ledger;

	(void)state;
	cover(recording, 250, 730);
	meter(recording, 0, 1000, 300);
	ledger = build_ledger(recording);
	energy = &ledger->devices[0].energy;
	assert_true(energy->known);
	assert_int_equal(energy->start_ns, 250 * MS);
	assert_int_equal(energy->end_ns, 730 * MS);
	assert_int_equal(energy->measured_nj, 144 * INT64_C(1000000000));
	build_free(recording, ledger);
}

static void where_nothing_ran_one_reading_before_and_one_behind_are_enough(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;

	(void)state;
	cover(recording, 40, 50);
	meter(recording, 0, 100, 300);
	ledger = build_ledger(recording);
	assert_int_equal(ledger->devices[0].energy.measured_nj, 3 * INT64_C(1000000000));
	build_free(recording, ledger);
}

static void time_between_windows_is_not_idle(void **state)
{
	struct kwhy_recording *recording = build_one();
	const struct kwhy_device_time *time;
	struct kwhy_ledger *ledger;

	(void)state;
	cover(recording, 0, 300);
	cover(recording, 1000, 1300);
	build_kernel(recording, 0, 100 * MS, 200 * MS, "a");
	build_kernel(recording, 0, 250 * MS, 340 * MS, "a"); /* launched inside the window, ends after it */
	build_kernel(recording, 0, 1100 * MS, 1200 * MS, "a");
	ledger = build_ledger(recording);
	time = &ledger->devices[0].time;
	assert_int_equal(time->span_ns, 1100 * MS);
	assert_int_equal(time->unrecorded_ns, 700 * MS);
	assert_int_equal(time->busy_ns, 250 * MS);
	assert_int_equal(time->idle_ns, 150 * MS);
	assert_int_equal(time->compute_ns, 250 * MS);
	assert_true(fabs(time->busy_ratio - 250.0 / 400) < 1e-12);
	assert_int_equal(build_account(ledger, 0, "a")->time_ns, 290 * MS);
	assert_int_equal(build_account(ledger, 0, "not recorded: outside the windows")->time_ns, 700 * MS);
	assert_true(kwhy_ledger_is_unrecorded(&ledger->devices[0], 299 * MS, 301 * MS));
	assert_false(kwhy_ledger_is_unrecorded(&ledger->devices[0], 1000 * MS, 1300 * MS));
	build_free(recording, ledger);
}

static void what_was_metered_between_windows_has_an_account_and_the_ledger_balances(void **state)
{
	struct kwhy_recording *recording = build_one();
	const struct kwhy_account *unrecorded, *idle;
	struct kwhy_ledger *ledger;
	int64_t sum_nj = 0;

	(void)state;
	select_from(recording, KWHY_CHOICE_RANGE, 0, 5000);
	cover(recording, 1000, 2000);
	cover(recording, 3000, 4000);
	build_kernel(recording, 0, 1000 * MS, 1900 * MS, "a");
	build_kernel(recording, 0, 3000 * MS, 3900 * MS, "a");
	meter(recording, 0, 5000, 300);
	ledger = build_ledger(recording);
	assert_true(ledger->devices[0].energy.known);
	assert_int_equal(ledger->devices[0].energy.measured_nj, 1500 * INT64_C(1000000000));
	for (size_t i = 0; i < ledger->devices[0].account_count; i++)
		sum_nj += ledger->devices[0].accounts[i].gross_nj;
	assert_int_equal(sum_nj, ledger->devices[0].energy.measured_nj);
	unrecorded = build_account(ledger, 0, "not recorded: outside the windows");
	assert_int_equal(unrecorded->category, KWHY_CATEGORY_UNRECORDED);
	assert_int_equal(unrecorded->basis, KWHY_BASIS_DATA);
	assert_true(fabs((double)unrecorded->gross_nj - 900e9) < 20e9);
	assert_true(
		unrecorded->low_nj <= unrecorded->gross_nj && unrecorded->high_nj >= unrecorded->gross_nj);
	assert_int_equal(unrecorded->gross_nj, unrecorded->idle_nj + unrecorded->net_nj);
	/* of the unrecorded time, 2 s to 3 s lies within the run; 0 s to 1 s and 4 s to 5 s do not */
	assert_int_equal(ledger->devices[0].energy.between_ns, 1000 * MS);
	assert_true(fabs((double)ledger->devices[0].energy.between_nj - 300e9) < 10e9);
	idle = build_account(ledger, 0, "idle");
	/* idle from 1900 ms to 2000 ms; the time from 3900 ms to 4000 ms is after the last activity */
	assert_int_equal(idle->time_ns, 100 * MS);
	/* ranges that the user chose do not represent the whole run */
	assert_int_equal(unrecorded->whole_nj, KWHY_UNKNOWN_NJ);
	assert_true(isnan(ledger->devices[0].coverage.share_error_ratio));
	build_free(recording, ledger);
}

/*
 * The device draws 300 W all the time and readings cover all of it. As the meter's delay makes no difference
 * then, no part of a window may count as unmetered.
 */
static void of_metered_windows_nothing_is_worked_out(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;
	double run_nj;

	(void)state;
	select_from(recording, KWHY_CHOICE_DUTY, 0, 9000);
	for (int64_t at_ms = 500; at_ms < 8500; at_ms += 200) {
		cover(recording, at_ms, at_ms + 80);
		build_kernel(recording, 0, at_ms * MS, (at_ms + 80) * MS, "a");
	}
	meter(recording, 0, 9000, 300);
	ledger = build_ledger(recording);
	assert_true(ledger->devices[0].energy.edge_nj < 1000000000);
	run_nj = kwhy_run_energy_of(&ledger->devices[0]).run_nj;
	if (!(fabs(run_nj / (7.88 * 300e9) - 1) < 0.01))
		fail_msg("%g J", run_nj * 1e-9);
	build_free(recording, ledger);
}

/*
 * The counter has two readings, between which nearly all time is recorded. The rest, 10 ms, cannot be
 * distinguished from the windows and may get more power than the limit, which must be shown with a remark,
 * not refused.
 */
static void a_moment_between_windows_that_gets_too_much_is_said_and_not_refused(void **state)
{
	struct kwhy_recording *recording = build_one();
	const struct kwhy_account *unrecorded;
	struct kwhy_ledger *ledger;

	(void)state;
	recording->devices[0].limit_mw = 700000;
	select_from(recording, KWHY_CHOICE_RANGE, 0, 1500);
	cover(recording, 0, 1490);
	build_kernel(recording, 0, 700 * MS, 701 * MS, "a");
	OK(kwhy_recording_add_reading(recording, KWHY_METER_NVML_ENERGY, 0, 0, 0, 0, &error));
	OK(kwhy_recording_add_reading(
		recording, KWHY_METER_NVML_ENERGY, 0, 0, 1500 * MS, 1500 * 300, &error));
	ledger = build_ledger(recording);
	unrecorded = build_account(ledger, 0, "not recorded: outside the windows");
	assert_true(unrecorded->mean_power_mw > 700000);
	assert_true(unrecorded->above_limit);
	build_free(recording, ledger);
}

/*
 * Makes twenty equal windows, in each of which kernel "a" runs for half of the time; with odd_one, it runs
 * all the time in one of them.
 */
static struct kwhy_recording *alike(bool odd_one)
{
	struct kwhy_recording *recording = build_one();

	select_from(recording, KWHY_CHOICE_DUTY, 0, 40000);
	for (int64_t i = 0; i < 20; i++) {
		const int64_t at_ms = 2000 * i + 300;

		cover(recording, at_ms, at_ms + 400);
		build_kernel(recording, 0, at_ms * MS, (at_ms + (odd_one && i == 7 ? 400 : 200)) * MS, "a");
	}
	return recording;
}

static void windows_that_are_alike_tell_the_whole_without_error(void **state)
{
	struct kwhy_recording *recording = alike(false);
	const struct kwhy_account *a;
	struct kwhy_ledger *ledger;
	int64_t sum_nj = 0;

	(void)state;
	meter(recording, 0, 40000, 300);
	ledger = build_ledger(recording);
	assert_int_equal(ledger->devices[0].coverage.drawn_count, 20);
	assert_int_equal(ledger->devices[0].coverage.drawn_ns, 8000 * MS);
	a = build_account(ledger, 0, "a");
	assert_int_equal(a->whole_ns, 20000 * MS);
	for (size_t i = 0; i < ledger->devices[0].account_count; i++)
		if (ledger->devices[0].accounts[i].category != KWHY_CATEGORY_UNRECORDED)
			sum_nj += ledger->devices[0].accounts[i].whole_nj;
	assert_int_equal(sum_nj, ledger->devices[0].energy.measured_nj);
	assert_true(a->whole_error_ratio < 1e-9);
	assert_true(a->whole_low_nj <= a->whole_nj && a->whole_nj <= a->whole_high_nj);
	build_free(recording, ledger);
}

/*
 * Expected error of the kernel's share, computed by hand: it is 0.5 in all windows but one, where it is 1, so
 * of the differences between successive windows two are 0.5. t(0.95; 19) = 1.729; 20 % of the run is
 * recorded, so 0.8 of it is not.
 */
static void one_window_in_twenty_that_differs_is_the_error_of_a_share(void **state)
{
	struct kwhy_recording *recording = alike(true);
	const double half = 1.7291 * sqrt(0.8 * 20 / 19 * (0.25 + 0.25) / 2) / 20;
	const struct kwhy_account *a;
	struct kwhy_ledger *ledger;

	(void)state;
	ledger = build_ledger(recording); /* there is no meter, so the stated error is that of the time */
	a = build_account(ledger, 0, "a");
	assert_int_equal(a->whole_ns, 21000 * MS);
	assert_true(fabs(a->whole_error_ratio - half) < 1e-4);
	assert_true(ledger->devices[0].coverage.share_error_ratio >= a->whole_error_ratio);
	assert_int_equal(a->whole_nj, KWHY_UNKNOWN_NJ);
	build_free(recording, ledger);
}

static void what_is_known_behind_the_selection_is_no_sample(void **state)
{
	struct kwhy_recording *recording = alike(false);
	const struct kwhy_account *outside;
	struct kwhy_ledger *ledger;

	(void)state;
	cover(recording, 40000, 44000); /* the process has ended, so the device is certainly idle */
	meter(recording, 0, 44000, 300);
	ledger = build_ledger(recording);
	assert_int_equal(ledger->devices[0].coverage.drawn_count, 20);
	outside = build_account(ledger, 0, "outside: before and after");
	/*
	 * the 200 ms of windows after the last kernel represent 1 s, as a fifth of the time is recorded; the
	 * 4 s after the end of the process are recorded as a whole
	 */
	assert_int_equal(outside->whole_ns, 5000 * MS);
	assert_int_equal(build_account(ledger, 0, "a")->whole_ns, 20000 * MS);
	build_free(recording, ledger);
}

static void without_a_window_nothing_is_known_and_all_is_in_the_ledger(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;

	(void)state;
	select_from(recording, KWHY_CHOICE_DUTY, 0, 5000);
	cover(recording, 0, 0);
	build_kernel(recording, 0, 1000 * MS, 1900 * MS, "a");
	meter(recording, 0, 5000, 300);
	ledger = build_ledger(recording);
	assert_int_equal(ledger->devices[0].time.unrecorded_ns, 900 * MS);
	assert_int_equal(build_account(ledger, 0, "not recorded: outside the windows")->gross_nj,
		ledger->devices[0].energy.measured_nj);
	assert_int_equal(build_account(ledger, 0, "a")->whole_nj, KWHY_UNKNOWN_NJ);
	build_free(recording, ledger);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_nothing_ran_the_ledger_is_of_what_is_covered_to_the_nanosecond),
		cmocka_unit_test(where_nothing_ran_one_reading_before_and_one_behind_are_enough),
		cmocka_unit_test(time_between_windows_is_not_idle),
		cmocka_unit_test(what_was_metered_between_windows_has_an_account_and_the_ledger_balances),
		cmocka_unit_test(of_metered_windows_nothing_is_worked_out),
		cmocka_unit_test(a_moment_between_windows_that_gets_too_much_is_said_and_not_refused),
		cmocka_unit_test(windows_that_are_alike_tell_the_whole_without_error),
		cmocka_unit_test(one_window_in_twenty_that_differs_is_the_error_of_a_share),
		cmocka_unit_test(what_is_known_behind_the_selection_is_no_sample),
		cmocka_unit_test(without_a_window_nothing_is_known_and_all_is_in_the_ledger),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
