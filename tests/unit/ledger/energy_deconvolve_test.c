/* SPDX-License-Identifier: Apache-2.0 */
#include "model/run_energy.h"
#include "unit/ledger/build.h"

#include <math.h>

/*
 * Tests that the ledger finds energy and times of a run from a meter that shows the exact mean power of the
 * last second and is read every 0.1 s. The run lasts from 10 s to 12 s, with one power in its first second
 * and another in its second.
 */

#define NS_PER_S INT64_C(1000000000)

struct plan {
	double idle_w, first_w, second_w;
	double hole_from_s, hole_to_s; /* an interval without readings */
};

/* Returns the energy from 0 s to to_s. */
static double energy_j(const struct plan *plan, double to_s)
{
	const double first_s = fmin(fmax(to_s - 10, 0), 1), second_s = fmin(fmax(to_s - 11, 0), 1);

	return plan->idle_w * (to_s - first_s - second_s) + plan->first_w * first_s +
		plan->second_w * second_s;
}

static struct kwhy_ledger *measure(const struct plan *plan, struct kwhy_recording **out)
{
	struct kwhy_recording *recording = build_one();

	recording->devices[0].sm_count = 132;
	recording->devices[0].limit_mw = 700000;
	for (int64_t i = 0; i < 20; i++) {
		const int64_t at_ns = 10 * NS_PER_S + i * NS_PER_S / 10;
		struct kwhy_activity row = build_activity(
			recording, 0, at_ns, at_ns + NS_PER_S / 10, i < 10 ? "a" : "b");

		row.blocks = 400;
		build_add(recording, row);
	}
	for (int64_t s = 10; s < 12; s++)
		build_range(recording, 0, s * NS_PER_S, (s + 1) * NS_PER_S, "step", KWHY_RANGE_STEP);
	for (int64_t i = 80; i <= 140; i++) {
		const double at_s = 0.1 * (double)i;

		if (at_s <= plan->hole_from_s || at_s >= plan->hole_to_s)
			OK(kwhy_recording_add_reading(recording, KWHY_METER_NVML_AVERAGE, 0, 0,
				i * NS_PER_S / 10,
				llround(1e3 * (energy_j(plan, at_s) - energy_j(plan, at_s - 1))), &error));
	}
	*out = recording;
	return build_ledger(recording);
}

static void near(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance))
		fail_msg("%.9g instead of %.9g", value, expected);
}

static void expect(const struct plan *plan, double run_ratio, double step_ratio)
{
	struct kwhy_recording *recording;
	struct kwhy_ledger *ledger = measure(plan, &recording);
	const struct kwhy_run_energy run = kwhy_run_energy_of(&ledger->devices[0]);
	const double truth_j = plan->first_w + plan->second_w;

	near(run.run_nj * 1e-9, truth_j, run_ratio * truth_j);
	assert_true(run.below_nj > 0 && run.below_nj <= 0.02 * run.run_nj);
	assert_int_equal(ledger->devices[0].energy.measured_nj, ledger->devices[0].energy.attributed_nj);
	assert_int_equal(ledger->step_count, 2);
	near((double)ledger->steps[0].window_energy_nj * 1e-9, plan->first_w, step_ratio * truth_j);
	near((double)ledger->steps[1].window_energy_nj * 1e-9, plan->second_w, step_ratio * truth_j);
	build_free(recording, ledger);
}

static void means_give_the_energy_of_the_run_and_of_its_steps(void **state)
{
	(void)state;
	expect(&(struct plan){120, 300, 300, 0, 0}, 0.005, 0.01);
	expect(&(struct plan){120, 500, 200, 0, 0}, 0.005, 0.02);
}

/*
 * Recomputing the power in small steps gives values below 0 W next to a high power. These are set
 * to 0, and the other values are scaled down so that their sum stays the same.
 */
static void no_time_takes_less_than_nothing(void **state)
{
	(void)state;
	expect(&(struct plan){0, 600, 0, 0, 0}, 0.005, 0.03);
}

static void a_hole_shorter_than_the_window_hides_nothing(void **state)
{
	(void)state;
	expect(&(struct plan){120, 400, 400, 10.45, 11.05}, 0.01, 0.02);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(means_give_the_energy_of_the_run_and_of_its_steps),
		cmocka_unit_test(no_time_takes_less_than_nothing),
		cmocka_unit_test(a_hole_shorter_than_the_window_hides_nothing),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
