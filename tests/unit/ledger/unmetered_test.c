/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/ledger/metered.h"

#include <math.h>

/* What a meter that starts late leaves to be worked out. */

/* The first readings come to nothing: the meter starts at `from_ns`. */
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

/* 0.1, 1 and 1 s of a kernel at 300 W, from 0.5, 3 and 4.5 s on, above an idle level of 100 W. */
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

/* The meter starts 1.5 s into the run: 0.1 s of a kernel at 300 W and 1.4 s of idling at 100 W before it. */
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

/* Readings that come behind `to_ns` come to nothing: the meter ends there. */
static void end_meters(struct kwhy_recording *recording, int64_t to_ns)
{
	for (size_t i = 0; i < recording->power_count; i++)
		while (recording->power[i].count &&
			recording->power[i].time_ns[recording->power[i].count - 1] > to_ns)
			recording->power[i].count--;
}

/*
 * Its last reading comes before the end of work at 300 W, and tells of what was 18 ms earlier, by the
 * low-pass and the delay: all from there on is worked out, and a second of work draws what it draws.
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_no_reading_saw_of_a_run_is_worked_out_from_the_powers_of_its_accounts),
		cmocka_unit_test(what_comes_behind_the_last_reading_begins_before_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
