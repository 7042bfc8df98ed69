/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "report/totals.h"

#include <math.h>

#define S INT64_C(1000000000)

/*
 * The ledger of one device that works from 10 s to 20 s at 300 W (3000 J), idles at 100 W before and after
 * (1200 J, +-20 J), and has readings from 0 s to 22 s.
 */
struct plan {
	struct kwhy_account accounts[2];
	struct kwhy_device_ledger device;
	struct kwhy_ledger ledger;
};

static void make_plan(struct plan *plan)
{
	*plan = (struct plan){.accounts = {{.category = KWHY_CATEGORY_COMPUTE,
						   .name = "a",
						   .count = 1,
						   .gross_nj = 3000 * S,
						   .low_nj = 2900 * S,
						   .high_nj = 3100 * S},
				      {.category = KWHY_CATEGORY_OUTSIDE,
					      .name = "outside",
					      .gross_nj = 1200 * S,
					      .low_nj = 1180 * S,
					      .high_nj = 1220 * S}}};
	plan->device = (struct kwhy_device_ledger){
		.time = {.first_ns = 10 * S, .last_ns = 20 * S, .span_ns = 10 * S, .kernel_count = 1},
		.energy = {.known = true,
			.end_ns = 22 * S,
			.measured_nj = 4200 * S,
			.metered_ns = 22 * S,
			.attributed_nj = 4200 * S,
			.context_idle_w = 100,
			.highest_sample_w = 300},
		.accounts = plan->accounts,
		.account_count = 2};
	plan->ledger = (struct kwhy_ledger){.devices = &plan->device, .device_count = 1};
}

static void the_energy_of_a_run_is_as_sure_as_what_is_taken_away_around_it(void **state)
{
	struct kwhy_totals totals;
	struct kwhy_error error;
	struct plan plan;

	(void)state;
	make_plan(&plan);
	assert_int_equal(kwhy_totals_init(&totals, &plan.ledger, &error), KWHY_OK);
	assert_true(fabs(totals.run_nj - 3000e9) < 1);
	assert_true(fabs(totals.run_below_nj - 20e9) < 1);
	assert_true(fabs(totals.run_above_nj - 20e9) < 1);
	kwhy_totals_done(&totals);
}

/*
 * Readings end 2 s before the run does. These 2 s are estimated as idle (200 J), but may have taken
 * up to 300 W: up to 400 J more. A 90 % interval must leave out 5 % of these 400 J at each end: it
 * reaches 380 J up, and at least 20 J down. The meter's own 20 J are added in quadrature.
 */
static void time_of_a_run_that_no_meter_saw_widens_its_interval(void **state)
{
	struct kwhy_totals totals;
	struct kwhy_error error;
	struct plan plan;

	(void)state;
	make_plan(&plan);
	plan.device.energy.end_ns = 18 * S;
	plan.device.energy.edge_nj = 200 * S;
	plan.device.energy.edge_ns = 2 * S;
	assert_int_equal(kwhy_totals_init(&totals, &plan.ledger, &error), KWHY_OK);
	assert_true(fabs(totals.run_below_nj - hypot(20e9, 20e9)) < 1);
	assert_true(fabs(totals.run_above_nj - hypot(20e9, 380e9)) < 1);
	kwhy_totals_done(&totals);
}

/*
 * Readings end 2 s before the run does. The 200 J that the ledger estimates for these 2 s (edge_nj) must
 * count in the energy of the run.
 */
static void what_no_meter_saw_of_a_run_is_what_its_accounts_would_have_drawn(void **state)
{
	struct kwhy_totals totals;
	struct kwhy_error error;
	struct plan plan;

	(void)state;
	make_plan(&plan);
	plan.device.energy.end_ns = 18 * S;
	plan.device.energy.edge_nj = 200 * S;
	assert_int_equal(kwhy_totals_init(&totals, &plan.ledger, &error), KWHY_OK);
	assert_true(fabs(totals.run_nj - 3200e9) < 1);
	assert_true(fabs(totals.unmetered_nj - 200e9) < 1);
	kwhy_totals_done(&totals);
}

static void of_assumed_powers_no_interval_is_known(void **state)
{
	struct kwhy_totals totals;
	struct kwhy_error error;
	struct plan plan;

	(void)state;
	make_plan(&plan);
	plan.device.energy.modelled = true;
	assert_int_equal(kwhy_totals_init(&totals, &plan.ledger, &error), KWHY_OK);
	assert_true(isnan(totals.run_above_nj));
	kwhy_totals_done(&totals);
}

static void without_activities_the_run_is_all_that_was_metered(void **state)
{
	struct kwhy_totals totals;
	struct kwhy_error error;
	struct plan plan;

	(void)state;
	make_plan(&plan);
	plan.device.time = (struct kwhy_device_time){0};
	assert_int_equal(kwhy_totals_init(&totals, &plan.ledger, &error), KWHY_OK);
	assert_true(fabs(totals.run_nj - 4200e9) < 1);
	assert_true(isnan(totals.run_above_nj));
	assert_true(fabs(totals.run_s - 22) < 1e-9);
	kwhy_totals_done(&totals);
}

static void of_some_devices_no_energy_of_a_run_is_known(void **state)
{
	struct kwhy_device_ledger devices[2];
	struct kwhy_totals totals;
	struct kwhy_error error;
	struct plan plan;

	(void)state;
	make_plan(&plan);
	plan.device.time.kernel_count = 0;
	devices[0] = plan.device;
	devices[1] = (struct kwhy_device_ledger){.energy = {.attributed_nj = KWHY_UNKNOWN_NJ}};
	plan.ledger = (struct kwhy_ledger){.devices = devices, .device_count = 2};
	assert_int_equal(kwhy_totals_init(&totals, &plan.ledger, &error), KWHY_OK);
	assert_int_equal(totals.energy_nj, 4200 * S);
	assert_true(isnan(totals.run_nj));
	kwhy_totals_done(&totals);
}

/*
 * Two devices work; only one has readings. The energy of the run must be unknown, but recorded_nj, to which
 * findings refer, must be that of the metered device.
 */
static void findings_are_parts_of_what_is_known_of_the_devices(void **state)
{
	struct kwhy_device_ledger devices[2];
	struct kwhy_totals totals;
	struct kwhy_error error;
	struct plan plan;

	(void)state;
	make_plan(&plan);
	devices[0] = devices[1] = plan.device;
	devices[1].energy = (struct kwhy_device_energy){.attributed_nj = KWHY_UNKNOWN_NJ};
	plan.ledger = (struct kwhy_ledger){.devices = devices, .device_count = 2};
	assert_int_equal(kwhy_totals_init(&totals, &plan.ledger, &error), KWHY_OK);
	assert_true(isnan(totals.run_nj));
	assert_true(fabs(totals.recorded_nj - 3000e9) < 1);
	kwhy_totals_done(&totals);
	devices[0].energy = devices[1].energy;
	assert_int_equal(kwhy_totals_init(&totals, &plan.ledger, &error), KWHY_OK);
	assert_true(isnan(totals.recorded_nj));
	kwhy_totals_done(&totals);
}

/*
 * One device used 4200 J in 22 s with readings, the other 600 J in 4 s. The mean power of both is the sum of
 * their own mean powers.
 */
static void devices_add_their_own_mean_powers_and_windows_that_differ_are_known(void **state)
{
	struct kwhy_device_ledger devices[2];
	struct kwhy_totals totals;
	struct kwhy_error error;
	struct plan plan;

	(void)state;
	make_plan(&plan);
	devices[0] = devices[1] = plan.device;
	devices[1].energy.metered_ns = 4 * S;
	devices[1].energy.attributed_nj = 600 * S;
	plan.ledger = (struct kwhy_ledger){.devices = devices, .device_count = 2};
	assert_int_equal(kwhy_totals_init(&totals, &plan.ledger, &error), KWHY_OK);
	assert_true(fabs(totals.power_w - (4200.0 / 22 + 150)) < 1e-9);
	assert_int_equal(totals.window_ns, 22 * S);
	assert_int_equal(totals.least_window_ns, 4 * S);
	assert_true(kwhy_totals_windows_differ(&totals));
	kwhy_totals_done(&totals);
	devices[1].energy.metered_ns = 22 * S - S / 10;
	assert_int_equal(kwhy_totals_init(&totals, &plan.ledger, &error), KWHY_OK);
	assert_false(kwhy_totals_windows_differ(&totals));
	kwhy_totals_done(&totals);
}

static void without_activities_and_without_a_meter_no_energy_of_a_run_is_known(void **state)
{
	struct kwhy_totals totals;
	struct kwhy_error error;
	struct plan plan;

	(void)state;
	make_plan(&plan);
	plan.device.time = (struct kwhy_device_time){0};
	plan.device.energy = (struct kwhy_device_energy){0};
	assert_int_equal(kwhy_totals_init(&totals, &plan.ledger, &error), KWHY_OK);
	assert_true(isnan(totals.run_nj));
	assert_true(isnan(totals.run_s));
	kwhy_totals_done(&totals);
}

/*
 * The account's energy of 3000 J is known within +-100 J, 3.3 %: within 5 %, but not within 3 %. Energy of
 * the account "outside" does not count.
 */
static void energy_is_known_where_its_interval_is_narrow_enough(void **state)
{
	struct kwhy_totals totals;
	struct kwhy_error error;
	struct plan plan;

	(void)state;
	make_plan(&plan);
	assert_int_equal(kwhy_totals_init(&totals, &plan.ledger, &error), KWHY_OK);
	assert_int_equal(kwhy_totals_known_within(&totals, 0.05).known_nj, 3000 * S);
	assert_int_equal(kwhy_totals_known_within(&totals, 0.05).busy_nj, 3000 * S);
	assert_int_equal(kwhy_totals_known_within(&totals, 0.03).known_nj, 0);
	assert_int_equal(kwhy_totals_known_within(&totals, 0.03).busy_nj, 3000 * S);
	kwhy_totals_done(&totals);
	plan.accounts[0].gross_nj = plan.accounts[0].low_nj = plan.accounts[0].high_nj = KWHY_UNKNOWN_NJ;
	assert_int_equal(kwhy_totals_init(&totals, &plan.ledger, &error), KWHY_OK);
	assert_int_equal(kwhy_totals_known_within(&totals, 0.05).busy_nj, 0);
	kwhy_totals_done(&totals);
}

/*
 * Accounts: work from 10 s to 20 s; "outside", 1200 J before and after the run; "not recorded", 900
 * J, of which 200 J (2 s) lie within the run; idle time of the run, 500 J. The rows of the run must
 * have the work, the idle time, and of "not recorded" only those 200 J.
 */
static void rows_of_the_run_leave_out_what_was_drawn_around_it(void **state)
{
	struct kwhy_account accounts[4];
	struct kwhy_totals totals;
	struct kwhy_error error;
	struct plan plan;

	(void)state;
	make_plan(&plan);
	accounts[0] = plan.accounts[0];
	accounts[1] = plan.accounts[1];
	accounts[2] = (struct kwhy_account){.category = KWHY_CATEGORY_UNRECORDED,
		.name = "not recorded",
		.gross_nj = 900 * S,
		.low_nj = 810 * S,
		.high_nj = 990 * S,
		.time_ns = 9 * S};
	accounts[3] = (struct kwhy_account){
		.category = KWHY_CATEGORY_HOST, .name = "idle", .gross_nj = 500 * S, .time_ns = 5 * S};
	plan.device.accounts = accounts;
	plan.device.account_count = 4;
	plan.device.time.unrecorded_ns = 2 * S;
	plan.device.energy.attributed_nj = 5600 * S;
	plan.device.energy.between_nj = 200 * S;
	plan.device.energy.between_ns = 2 * S;
	assert_int_equal(kwhy_totals_init(&totals, &plan.ledger, &error), KWHY_OK);
	assert_true(fabs(totals.run_nj - 3700e9) < 1);
	assert_int_equal(totals.run_row_count, 3);
	assert_int_equal(totals.run_rows[0].gross_nj, 3000 * S);
	assert_int_equal(totals.run_rows[1].gross_nj, 500 * S);
	assert_int_equal(totals.run_rows[2].gross_nj, 200 * S);
	assert_int_equal(totals.run_rows[2].low_nj, 180 * S);
	assert_int_equal(totals.run_rows[2].high_nj, 220 * S);
	assert_int_equal(totals.run_rows[2].time_ns, 2 * S);
	assert_int_equal(totals.run_metered_nj, 3500 * S);
	assert_int_equal(totals.run_idle_nj, 500 * S);
	assert_int_equal(totals.row_count, 4);
	kwhy_totals_done(&totals);
	plan.device.time.unrecorded_ns = 0; /* no unrecorded time in the run */
	plan.device.energy.between_nj = 0;
	assert_int_equal(kwhy_totals_init(&totals, &plan.ledger, &error), KWHY_OK);
	assert_int_equal(totals.run_row_count, 2);
	kwhy_totals_done(&totals);
}

static void energies_look_equal_if_three_digits_are(void **state)
{
	(void)state;
	assert_true(kwhy_totals_look_equal(279.6e9, 280.4e9));
	assert_false(kwhy_totals_look_equal(277.2e9, 279.7e9));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_energy_of_a_run_is_as_sure_as_what_is_taken_away_around_it),
		cmocka_unit_test(time_of_a_run_that_no_meter_saw_widens_its_interval),
		cmocka_unit_test(what_no_meter_saw_of_a_run_is_what_its_accounts_would_have_drawn),
		cmocka_unit_test(of_assumed_powers_no_interval_is_known),
		cmocka_unit_test(without_activities_the_run_is_all_that_was_metered),
		cmocka_unit_test(of_some_devices_no_energy_of_a_run_is_known),
		cmocka_unit_test(findings_are_parts_of_what_is_known_of_the_devices),
		cmocka_unit_test(devices_add_their_own_mean_powers_and_windows_that_differ_are_known),
		cmocka_unit_test(without_activities_and_without_a_meter_no_energy_of_a_run_is_known),
		cmocka_unit_test(energy_is_known_where_its_interval_is_narrow_enough),
		cmocka_unit_test(rows_of_the_run_leave_out_what_was_drawn_around_it),
		cmocka_unit_test(energies_look_equal_if_three_digits_are),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
