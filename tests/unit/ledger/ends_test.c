/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/ledger/metered.h"

#include "model/run_energy.h"

#include <math.h>

/*
 * Tests the energy at the ends of a run. The device draws 300 W in the run and 120 W before and after. Only
 * the run is recorded, and readings of every kind must give its energy from its exact start to its exact end.
 */

#define IDLE_W 120
#define BUSY_W 300

enum keeps { KEEPS_RING, KEEPS_COUNTER, KEEPS_RARE_COUNTER, KEEPS_UP_TO_THE_MIDDLE, KEEPS_NONE_NEAR_THE_END };

static void keep_readings(struct kwhy_power_series *series, int64_t every_ns, int64_t until_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < series->count; i++) {
		if (series->time_ns[i] > until_ns ||
			(kept > 0 && series->time_ns[i] - series->time_ns[kept - 1] < every_ns))
			continue;
		series->time_ns[kept] = series->time_ns[i];
		series->value[kept++] = series->value[i];
	}
	series->count = kept;
}

static void drop_readings(struct kwhy_power_series *series, int64_t from_ns, int64_t until_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < series->count; i++) {
		if (series->time_ns[i] >= from_ns && series->time_ns[i] < until_ns)
			continue;
		series->time_ns[kept] = series->time_ns[i];
		series->value[kept++] = series->value[i];
	}
	series->count = kept;
}

/* Makes a recording that covers only the run, with the readings that `keeps` selects. */
static struct kwhy_recording *make(double from_s, double length_s, enum keeps keeps)
{
	const struct metered_level level = {0, IDLE_W};
	const struct metered_run run = {from_s, from_s + length_s, BUSY_W, "a"};
	const struct metered_plan plan = {.levels = &level,
		.level_count = 1,
		.runs = &run,
		.run_count = 1,
		.end_s = from_s + length_s + 3,
		.noise_w = 0.5,
		.seed = 7};
	struct kwhy_recording *recording = metered_build(&plan);

	recording->coverage[0].start_ns = llround(from_s * 1e9);
	recording->coverage[0].end_ns = llround((from_s + length_s) * 1e9);
	for (size_t i = 0; i < recording->power_count; i++) {
		struct kwhy_power_series *series = &recording->power[i];
		bool is_counter = kwhy_meter_is_counter((enum kwhy_meter)series->meter);

		const bool is_rare = keeps == KEEPS_RARE_COUNTER || keeps == KEEPS_NONE_NEAR_THE_END;

		if (!is_rare && is_counter != (keeps == KEEPS_COUNTER))
			keep_readings(series, 0, INT64_MIN);
		if (is_rare && is_counter)
			keep_readings(series, 950000000, INT64_MAX);
		if (keeps == KEEPS_NONE_NEAR_THE_END && !is_counter)
			drop_readings(series, llround((from_s + length_s - 0.35) * 1e9),
				llround((from_s + length_s - 0.02) * 1e9));
		if (keeps == KEEPS_UP_TO_THE_MIDDLE)
			keep_readings(series, 0, llround((from_s + length_s / 2) * 1e9));
		if (series->count == 0)
			series->count = 1;
	}
	return recording;
}

static void check(double from_s, double length_s, enum keeps keeps, double error_most, double half_most)
{
	struct kwhy_recording *recording = make(from_s, length_s, keeps);
	struct kwhy_ledger *ledger = build_ledger(recording);
	const struct kwhy_device_energy *energy = &ledger->devices[0].energy;
	const struct kwhy_run_energy run = kwhy_run_energy_of(&ledger->devices[0]);
	const double truth_nj = BUSY_W * length_s * 1e9;

	if (!(fabs(run.run_nj / truth_nj - 1) <= error_most) || !(run.run_nj - run.below_nj <= truth_nj) ||
		!(run.run_nj + run.above_nj >= truth_nj) ||
		!((run.below_nj + run.above_nj) / 2 <= half_most * truth_nj))
		fail_msg("%g s from %g on, case %d: %g J (-%g +%g) of %g", length_s, from_s, (int)keeps,
			run.run_nj * 1e-9, run.below_nj * 1e-9, run.above_nj * 1e-9, truth_nj * 1e-9);
	assert_int_equal(energy->measured_nj, energy->attributed_nj);
	build_free(recording, ledger);
}

static void idling_that_a_reading_remembers_is_not_of_the_run(void **state)
{
	(void)state;
	for (double from_s = 2; from_s < 2.02; from_s += 2.5e-3) {
		check(from_s, 0.4, KEEPS_RING, 0.01, 0.02);
		check(from_s, 0.4, KEEPS_COUNTER, 0.005, 0.02);
	}
}

static void where_the_counter_was_read_too_rarely_the_ring_leads_to_the_ends(void **state)
{
	(void)state;
	for (double from_s = 2; from_s < 3; from_s += 0.105) {
		check(from_s, 5, KEEPS_RARE_COUNTER, 0.005, 0.02);
		check(from_s, 2, KEEPS_RARE_COUNTER, 0.01, 0.02);
	}
}

/*
 * Samples are missing for a third of a second near the end of the run. What the device drew then is unknown,
 * so the interval must contain all that it may have drawn.
 */
static void a_hole_before_the_end_is_in_the_interval(void **state)
{
	(void)state;
	for (double from_s = 2; from_s < 3; from_s += 0.21) {
		struct kwhy_recording *recording = make(from_s, 2, KEEPS_NONE_NEAR_THE_END);
		struct kwhy_ledger *ledger = build_ledger(recording);
		const struct kwhy_run_energy run = kwhy_run_energy_of(&ledger->devices[0]);

		assert_true(run.below_nj > 0.04 * run.run_nj);
		assert_float_equal(run.run_nj * 1e-9, 2 * BUSY_W, 0.01 * BUSY_W);
		build_free(recording, ledger);
	}
}

/*
 * Readings end in the middle of the run. After that the device may have drawn any power from idle to that of
 * the run, all of which the interval must contain.
 */
static void an_end_that_no_reading_saw_is_in_the_interval(void **state)
{
	struct kwhy_recording *recording = make(2, 4, KEEPS_UP_TO_THE_MIDDLE);
	struct kwhy_ledger *ledger = build_ledger(recording);
	const struct kwhy_run_energy run = kwhy_run_energy_of(&ledger->devices[0]);

	(void)state;
	assert_in_range(ledger->devices[0].energy.edge_ns, 1950000000, 2050000000);
	assert_true(run.unmetered_nj > 580e9 && run.unmetered_nj < 620e9);
	assert_true(run.run_nj - run.below_nj < 900e9);
	assert_true(run.run_nj + run.above_nj > 1200e9);
	build_free(recording, ledger);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idling_that_a_reading_remembers_is_not_of_the_run),
		cmocka_unit_test(where_the_counter_was_read_too_rarely_the_ring_leads_to_the_ends),
		cmocka_unit_test(a_hole_before_the_end_is_in_the_interval),
		cmocka_unit_test(an_end_that_no_reading_saw_is_in_the_interval),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
