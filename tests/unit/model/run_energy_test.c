/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "model/run_energy.h"

#include <math.h>

#define S INT64_C(1000000000)

/*
 * The ledger of a device that works from 10 s to 20 s at 300 W (3000 J), idles at 100 W before and after
 * (1200 J, +-20 J), and has readings from 0 s to 22 s.
 */
struct plan {
	struct kwhy_account accounts[4]; /* account_count are used; the others must not count */
	struct kwhy_device_ledger device_ledger;
};

static void make_plan(struct plan *plan)
{
	const struct kwhy_account other = {.category = KWHY_CATEGORY_OUTSIDE,
		.count = 1,
		.gross_nj = 7000 * S,
		.low_nj = 6000 * S,
		.high_nj = 8000 * S,
		.mean_power_mw = 900000};

	*plan = (struct plan){
		.accounts = {{.category = KWHY_CATEGORY_COMPUTE, .count = 1, .gross_nj = 3000 * S},
			{.category = KWHY_CATEGORY_OUTSIDE,
				.gross_nj = 1200 * S,
				.low_nj = 1180 * S,
				.high_nj = 1220 * S},
			other, other}};
	plan->device_ledger = (struct kwhy_device_ledger){
		.time = {.first_ns = 10 * S, .last_ns = 20 * S, .span_ns = 10 * S, .kernel_count = 1},
		.energy = {.known = true,
			.end_ns = 22 * S,
			.measured_nj = 4200 * S,
			.attributed_nj = 4200 * S,
			.edge_nj = KWHY_UNKNOWN_NJ,
			.context_idle_w = 100,
			.highest_sample_w = 300},
		.accounts = plan->accounts,
		.account_count = 2};
}

static void assert_joules(double nj, double joules)
{
	if (!(fabs(nj - joules * 1e9) < 1))
		fail_msg("%.9g J instead of %.9g J", nj * 1e-9, joules);
}

static void where_all_was_recorded_the_run_is_what_was_recorded(void **state)
{
	struct kwhy_run_energy run;
	struct plan plan;

	(void)state;
	make_plan(&plan);
	run = kwhy_run_energy_of(&plan.device_ledger);
	assert_joules(run.run_nj, 3000);
	assert_joules(run.recorded_nj, 3000);
	assert_joules(run.unmetered_nj, 0);
	assert_joules(run.below_nj, 20);
	assert_joules(run.above_nj, 20);
}

static void what_no_reading_saw_is_of_the_run(void **state)
{
	struct kwhy_run_energy run;
	struct plan plan;

	(void)state;
	make_plan(&plan);
	plan.device_ledger.energy.end_ns = 18 * S;
	plan.device_ledger.energy.edge_nj = 200 * S;
	plan.device_ledger.energy.edge_ns = 2 * S;
	run = kwhy_run_energy_of(&plan.device_ledger);
	assert_joules(run.run_nj, 3200);
	assert_joules(run.recorded_nj, 3200);
	assert_joules(run.unmetered_nj, 200);
	/*
	 * The energy of the 2 s without readings is estimated at 100 W, 200 J. At up to 300 W it may have
	 * been 400 J more. The 90 % interval leaves out 5 % of these 400 J at each end. 20 J is the
	 * half-width of the interval of the idle energy, which is added in quadrature.
	 */
	assert_joules(run.below_nj, hypot(20, 0.05 * 400));
	assert_joules(run.above_nj, hypot(20, 0.95 * 400));
	/* a counter shows no highest power, so the highest mean power of an account (300 W) is used */
	plan.device_ledger.energy.highest_sample_w = NAN;
	plan.accounts[0].mean_power_mw = 300000;
	run = kwhy_run_energy_of(&plan.device_ledger);
	assert_joules(run.below_nj, hypot(20, 0.05 * 400));
	assert_joules(run.above_nj, hypot(20, 0.95 * 400));
	plan.device_ledger.energy.edge_nj = 400 * S;
	run = kwhy_run_energy_of(&plan.device_ledger);
	assert_joules(run.below_nj, hypot(20, 0.45 * 400));
	assert_joules(run.above_nj, hypot(20, 0.45 * 400));
	/* mean powers: 0 is a known power, -1 is unknown; without a known one the interval is unknown */
	plan.device_ledger.energy.edge_nj = 200 * S;
	plan.accounts[0].mean_power_mw = 0;
	plan.accounts[1].mean_power_mw = -1;
	run = kwhy_run_energy_of(&plan.device_ledger);
	assert_joules(run.below_nj, hypot(20, 0.05 * 200));
	plan.accounts[0].mean_power_mw = -1;
	assert_true(isnan(kwhy_run_energy_of(&plan.device_ledger).above_nj));
}

/*
 * Adds two intervals in which activities were not recorded: 4 s within the run at 250 W (readings exist for
 * 2.4 s: 600 J), and 5 s after the run.
 */
static void make_windows(struct plan *plan)
{
	make_plan(plan);
	plan->accounts[2] = (struct kwhy_account){.category = KWHY_CATEGORY_UNRECORDED,
		.gross_nj = 1200 * S,
		.time_ns = 9 * S,
		.mean_power_mw = 162162};
	plan->device_ledger.account_count = 3;
	plan->device_ledger.time.unrecorded_ns = 4 * S;
	plan->device_ledger.energy.attributed_nj = 5400 * S;
	plan->device_ledger.energy.between_nj = 600 * S;
	plan->device_ledger.energy.between_ns = 24 * S / 10;
}

static void what_was_not_recorded_is_of_the_run_alone_at_its_mean_power(void **state)
{
	struct kwhy_run_energy run;
	struct plan plan;

	(void)state;
	make_windows(&plan);
	run = kwhy_run_energy_of(&plan.device_ledger);
	assert_joules(run.recorded_nj, 3000);
	assert_joules(run.run_nj, 4000);
	plan.device_ledger.time.unrecorded_ns = 0; /* no unrecorded time in the run */
	assert_joules(kwhy_run_energy_of(&plan.device_ledger).run_nj, 3000);
}

static void what_is_worked_out_of_unrecorded_time_is_of_the_run_alone(void **state)
{
	struct kwhy_run_energy run;
	struct plan plan;

	(void)state;
	make_windows(&plan);
	plan.device_ledger.energy.edge_nj = 50 * S;
	run = kwhy_run_energy_of(&plan.device_ledger);
	assert_joules(run.recorded_unmetered_nj, 50);
	assert_joules(run.unmetered_nj, 450);
	assert_joules(run.recorded_nj, 3050);
	assert_joules(run.run_nj, 4050);
}

/*
 * If no reading lies in the unrecorded time of the run, as with assumed powers, its power is unknown, and so
 * is the run's energy.
 */
static void unrecorded_time_that_nothing_tells_of_leaves_the_run_unknown(void **state)
{
	struct kwhy_run_energy run;
	struct plan plan;

	(void)state;
	make_windows(&plan);
	plan.device_ledger.energy.between_ns = plan.device_ledger.energy.between_nj = 0;
	run = kwhy_run_energy_of(&plan.device_ledger);
	assert_joules(run.recorded_nj, 3000);
	assert_joules(run.recorded_unmetered_nj, 0);
	assert_true(isnan(run.run_nj) && isnan(run.unmetered_nj) && isnan(run.above_nj));
}

static void of_assumed_powers_only_the_interval_is_unknown(void **state)
{
	struct kwhy_run_energy run;
	struct plan plan;

	(void)state;
	make_plan(&plan);
	plan.device_ledger.energy.modelled = true;
	plan.device_ledger.energy.measured_nj = KWHY_UNKNOWN_NJ;
	plan.device_ledger.energy.attributed_nj = 3000 * S;
	plan.accounts[1].gross_nj = KWHY_UNKNOWN_NJ;
	run = kwhy_run_energy_of(&plan.device_ledger);
	assert_joules(run.run_nj, 3000);
	assert_joules(run.recorded_nj, 3000);
	assert_true(isnan(run.above_nj));
}

static void without_a_reading_in_the_run_nothing_of_it_is_known(void **state)
{
	struct kwhy_run_energy run;
	struct plan plan;

	(void)state;
	make_plan(&plan);
	plan.device_ledger.energy.end_ns = 10 * S;
	run = kwhy_run_energy_of(&plan.device_ledger);
	assert_true(isnan(run.run_nj) && isnan(run.recorded_nj) && isnan(run.unmetered_nj));
	make_plan(&plan);
	plan.device_ledger.energy.known = false;
	run = kwhy_run_energy_of(&plan.device_ledger);
	assert_true(isnan(run.run_nj) && isnan(run.recorded_nj) && isnan(run.unmetered_nj));
}

static void a_device_that_did_nothing_has_no_run(void **state)
{
	struct kwhy_run_energy run;
	struct plan plan;

	(void)state;
	make_plan(&plan);
	plan.device_ledger.time = (struct kwhy_device_time){0};
	run = kwhy_run_energy_of(&plan.device_ledger);
	assert_joules(run.run_nj, 0);
	assert_joules(run.recorded_nj, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_all_was_recorded_the_run_is_what_was_recorded),
		cmocka_unit_test(what_no_reading_saw_is_of_the_run),
		cmocka_unit_test(what_was_not_recorded_is_of_the_run_alone_at_its_mean_power),
		cmocka_unit_test(what_is_worked_out_of_unrecorded_time_is_of_the_run_alone),
		cmocka_unit_test(unrecorded_time_that_nothing_tells_of_leaves_the_run_unknown),
		cmocka_unit_test(of_assumed_powers_only_the_interval_is_unknown),
		cmocka_unit_test(without_a_reading_in_the_run_nothing_of_it_is_known),
		cmocka_unit_test(a_device_that_did_nothing_has_no_run),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
