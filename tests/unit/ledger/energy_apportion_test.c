/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/apportion.h"
#include "ledger/energy/energy_draws.h"
#include "unit/ledger/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Tests how metered energy is divided in whole nanojoules, and how uncertain each part is, with figures that
 * can be checked by hand.
 */

static void parts_add_up_and_the_largest_remainder_takes_what_is_left(void **state)
{
	const double shares[] = {1, 1, 1, 0};
	int64_t sums_nj[4] = {0};
	struct kwhy_apportioner apportioner;

	(void)state;
	OK(kwhy_apportioner_init(&apportioner, 4, &error));
	kwhy_apportion(&apportioner, 11, shares, 4, 3, sums_nj);
	assert_int_equal(sums_nj[0], 4);
	assert_int_equal(sums_nj[1], 4);
	assert_int_equal(sums_nj[2], 3);
	assert_int_equal(sums_nj[3], 0);
	kwhy_apportion(&apportioner, 7, shares, 0, 3, sums_nj);
	assert_int_equal(sums_nj[3], 7);
	kwhy_apportioner_done(&apportioner);
}

static void the_largest_energy_is_divided_without_overflow(void **state)
{
	const double shares[] = {0.25, 0.75};
	int64_t sums_nj[2] = {0};
	struct kwhy_apportioner apportioner;

	(void)state;
	OK(kwhy_apportioner_init(&apportioner, 2, &error));
	kwhy_apportion(&apportioner, INT64_MAX, shares, 2, 0, sums_nj);
	assert_int_equal(sums_nj[0] + sums_nj[1], INT64_MAX);
	assert_true(fabs((double)sums_nj[0] / (double)INT64_MAX - 0.25) < 1e-9);
	kwhy_apportioner_done(&apportioner);
}

/*
 * Two power classes of 100 and 300 W above an idle level of 50 W. Interval 0 has one second of class 0, and
 * interval 1 one second of class 1 and one second of idle time.
 */
struct plan {
	struct kwhy_metered_interval intervals[3];
	double seen_s[3 * 6], net_w[2], in_place_ratio[2], elevated_s[3], elevated_j[3];
	struct kwhy_metered_total total;
	struct kwhy_metered_view view;
	struct kwhy_powers powers;
};

static void make_plan(struct plan *plan)
{
	*plan = (struct plan){
		.intervals = {{0, 1000000000, 150000000007}, {1000000000, 3000000000, 404000000011},
			{3000000000, 3000000100, 13}},
		.seen_s = {1, 0, 1, 0, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0},
		.net_w = {100, 300},
	};
	plan->total = (struct kwhy_metered_total){.intervals = plan->intervals, .count = 3};
	plan->view = (struct kwhy_metered_view){3, 2, plan->seen_s, plan->elevated_s, plan->elevated_j};
	plan->powers = (struct kwhy_powers){
		.class_count = 2, .net_w = plan->net_w, .in_place_ratio = plan->in_place_ratio, .idle_w = 50};
}

static void each_interval_is_divided_as_the_powers_say_and_scaled_to_the_meter(void **state)
{
	struct kwhy_apportioned apportioned;
	struct plan plan;

	(void)state;
	make_plan(&plan);
	OK(kwhy_apportioned_init(&apportioned, &plan.total, &plan.view, &plan.powers, &error));
	assert_int_equal(apportioned.gross_nj[0], 150000000007);
	assert_true(llabs(apportioned.gross_nj[1] - 353500000010) <= 1);
	assert_int_equal(apportioned.gross_nj[0] + apportioned.gross_nj[1] + apportioned.gross_nj[2],
		150000000007 + 404000000011 + 13);
	assert_true(fabs(apportioned.scale[1] - 1.01) < 1e-9);
	assert_true(fabs(apportioned.base_s[1] - 1.01) < 1e-9 && apportioned.base_unscaled_s[1] == 1);
	kwhy_apportioned_done(&apportioned);
}

/*
 * The interval has 1 s of class 1 (300 + 50 W), 1 s of elevated idle at 90 W and 1 s of idle at 50
 * W: 350 J + 90 J + 50 J = 490 J. If no time counts as elevated idle, that second has 50 J, too,
 * which gives 450 J.
 */
static void a_device_that_had_not_come_to_rest_idles_at_its_own_power_then(void **state)
{
	double modelled_nj[3];
	struct plan plan;

	(void)state;
	make_plan(&plan);
	plan.seen_s[6 + 4] = 2;
	plan.elevated_s[1] = 1;
	plan.elevated_j[1] = 90;
	assert_true(fabs(kwhy_metered_view_energy_nj(&plan.view, 1, &plan.powers, modelled_nj) - 490e9) < 1);
	assert_true(fabs(modelled_nj[1] - 350e9) < 1 && fabs(modelled_nj[2] - 140e9) < 1);
	plan.elevated_s[1] = plan.elevated_j[1] = 0;
	assert_true(fabs(kwhy_metered_view_energy_nj(&plan.view, 1, &plan.powers, modelled_nj) - 450e9) < 1);
}

/*
 * In the third interval nothing that is recorded ran. Its energy is idle energy, and no power is scaled to
 * match it.
 */
static void what_nobody_was_seen_in_is_idle_energy(void **state)
{
	struct kwhy_apportioned apportioned;
	struct plan plan;

	(void)state;
	make_plan(&plan);
	plan.total.intervals += 2;
	plan.total.count = 1;
	plan.view.seen_s += 2 * 6;
	OK(kwhy_apportioned_init(&apportioned, &plan.total, &plan.view, &plan.powers, &error));
	assert_int_equal(apportioned.gross_nj[2], 13);
	assert_true(isnan(apportioned.scale[0]));
	kwhy_apportioned_done(&apportioned);
}

/*
 * Two seconds of the second interval are unrecorded. They get what is left of the interval's metered energy
 * after the recorded time has got its energy by the powers.
 */
static void hidden_time_has_what_the_powers_leave_of_an_interval(void **state)
{
	struct kwhy_apportioned apportioned;
	struct plan plan;

	(void)state;
	make_plan(&plan);
	plan.total.intervals[1].energy_nj = 1000000000000;
	plan.seen_s[6 + 5] = 2;
	plan.total.count = 2;
	OK(kwhy_apportioned_init(&apportioned, &plan.total, &plan.view, &plan.powers, &error));
	assert_int_equal(apportioned.gross_nj[0], 150000000007);
	assert_true(llabs(apportioned.gross_nj[1] - 350000000000) <= 1);
	assert_true(llabs(apportioned.gross_nj[2] - 50000000000) <= 1);
	assert_int_equal(apportioned.gross_nj[0] + apportioned.gross_nj[1] + apportioned.gross_nj[2] +
			apportioned.gross_nj[3],
		1150000000007);
	assert_true(apportioned.base_unscaled_s[3] == 2);
	/* of the 550 J of recorded time, 150 J are known from the meter alone: those of the first interval */
	assert_true(apportioned.metered_ratio > 0.27 && apportioned.metered_ratio < 0.28);
	kwhy_apportioned_done(&apportioned);
}

enum { DRAWS = 2000 };

/*
 * Adds random draws of the powers, from which intervals are computed. With `common` all powers of a draw are
 * too high or too low by the same factor; otherwise class 0 is too high by as much as class 1 is too low.
 */
static void add_draws(struct plan *plan, bool common)
{
	plan->powers.draw_count = DRAWS;
	plan->powers.draws_net_w = calloc(2 * DRAWS, sizeof(double));
	plan->powers.draws_idle_w = calloc(DRAWS, sizeof(double));
	for (int i = 0; i < DRAWS; i++) {
		double far_w = 120 * ((i + 0.5) / DRAWS - 0.5);

		plan->powers.draws_net_w[2 * i] = 100 + far_w;
		plan->powers.draws_net_w[2 * i + 1] = 300 + (common ? 3 * far_w : -far_w);
		plan->powers.draws_idle_w[i] = 50 + (common ? far_w / 2 : 0);
	}
}

static void spread_of(struct plan *plan, struct kwhy_apportioned *apportioned, struct kwhy_energy_draws *sd)
{
	OK(kwhy_apportioned_init(apportioned, &plan->total, &plan->view, &plan->powers, &error));
	OK(kwhy_energy_draws_init(sd, apportioned, &plan->powers, 1, &error));
	free(plan->powers.draws_net_w);
	free(plan->powers.draws_idle_w);
}

/*
 * The metered sum is known, so a factor that all powers of a draw share has no effect on the parts. What
 * remains is a standard deviation of 1.7 % for each class, which kwhy_energy_draws_init() adds after that for
 * other errors.
 */
static void what_all_powers_have_in_common_widens_no_interval(void **state)
{
	struct kwhy_apportioned apportioned;
	struct kwhy_energy_draws sd;
	struct plan plan;

	(void)state;
	make_plan(&plan);
	add_draws(&plan, true);
	spread_of(&plan, &apportioned, &sd);
	for (int c = 0; c < 2; c++) {
		double half_nj = (sd.high_nj[c] - sd.low_nj[c]) / 2;

		assert_true(half_nj < 1.645 * 0.018 * (double)apportioned.gross_nj[c]);
		assert_true(sd.low_nj[c] <= (double)apportioned.gross_nj[c] &&
			sd.high_nj[c] >= (double)apportioned.gross_nj[c]);
	}
	kwhy_energy_draws_done(&sd);
	kwhy_apportioned_done(&apportioned);
}

static void classes_whose_sum_alone_is_known_are_one_group(void **state)
{
	const bool both[] = {true, true, false};
	uint32_t group[3];
	size_t count;
	double low_nj, high_nj;
	struct kwhy_apportioned apportioned;
	struct kwhy_energy_draws sd;
	struct plan plan;

	(void)state;
	make_plan(&plan);
	add_draws(&plan, false);
	spread_of(&plan, &apportioned, &sd);
	OK(kwhy_energy_draws_groups(&sd, group, &count, &error));
	assert_int_equal(count, 1);
	assert_true(group[0] == 0 && group[1] == 0 && group[2] == KWHY_NONE);
	OK(kwhy_energy_draws_sum(&sd, both, &low_nj, &high_nj, &error));
	assert_true(high_nj - low_nj < 0.5 * (sd.high_nj[0] - sd.low_nj[0]));
	/*
	 * one class may be up to 60 J too high and the other too low, uniformly: on average 30 of 554 J are
	 * on the wrong class, and drift adds to that
	 */
	assert_true(sd.wrong_ratio > 0.05 && sd.wrong_ratio < 0.065);
	kwhy_energy_draws_done(&sd);
	kwhy_apportioned_done(&apportioned);
}

/*
 * Makes the ledger of a kernel of 1 s on a device with a power limit of 200 W, for which the counter shows
 * `joules`. is_file: the readings come from a separate file of power readings. Returns the status, and the
 * lower end of the kernel's energy in *low_nj.
 */
static enum kwhy_status ledger_of_joules(int64_t joules, bool is_file, int64_t *low_nj)
{
	const struct kwhy_power_file file = {.path = "power.csv"};
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_ledger *ledger = NULL;
	enum kwhy_status status;

	recording->devices[0].limit_mw = 200000;
	build_kernel(recording, 0, 0, 1000000000, "work");
	if (is_file)
		OK(kwhy_recording_add_power_file(recording, &file, &error));
	for (int64_t i = 0; i <= 10; i++)
		OK(kwhy_recording_add_reading(
			recording, KWHY_METER_NVML_ENERGY, 0, 0, i * 100000000, i * joules * 100, &error));
	OK(kwhy_recording_finish(recording, &error));
	status = kwhy_ledger_new(recording, &options, &ledger, &error);
	if (!status)
		*low_nj = build_account(ledger, 0, "work")->low_nj;
	build_free(recording, ledger);
	return status;
}

static void a_row_far_above_the_limit_is_refused_and_one_a_little_above_is_not(void **state)
{
	int64_t low_nj;

	(void)state;
	assert_int_equal(ledger_of_joules(250, true, &low_nj), KWHY_OK);
	assert_int_equal(ledger_of_joules(400, true, &low_nj), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "power limit is 200 W"));
	assert_non_null(strstr(error.text, "another clock or other units"));
}

/*
 * Readings in the trace itself are certainly on its clock. So a power above the limit is shown, with an
 * interval that reaches down to the idle energy.
 */
static void a_row_far_above_the_limit_is_shown_where_the_trace_has_the_meter(void **state)
{
	int64_t low_nj = 0;

	(void)state;
	assert_int_equal(ledger_of_joules(400, false, &low_nj), KWHY_OK);
	assert_true(low_nj < INT64_C(200000000000));
}

/*
 * The counter is updated every 0.1 s, ten times. Kernel "long" runs all the time; "short" runs in the last 50
 * ms, where the counter rises by 45 J instead of 12 to 18 J. Its estimated power is above the limit of 200 W,
 * but the lower end of its interval (10 J in 50 ms) is not, so it must be shown.
 */
static void a_row_that_may_be_below_the_limit_is_shown(void **state)
{
	static const int64_t joules[] = {14, 17, 13, 18, 12, 16, 14, 18, 13, 45};
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_ledger *ledger = NULL;
	const struct kwhy_account *account;
	int64_t sum_mj = 0;

	(void)state;
	recording->devices[0].limit_mw = 200000;
	for (int64_t i = 0; i <= 10; i++) {
		OK(kwhy_recording_add_reading(
			recording, KWHY_METER_NVML_ENERGY, 0, 0, i * 100000000, sum_mj, &error));
		if (i < 10) {
			sum_mj += joules[i] * 1000;
			build_kernel(recording, 0, i * 100000000,
				i * 100000000 + (i == 9 ? 50000000 : 100000000), "long");
		}
	}
	build_kernel(recording, 0, 950000000, 1000000000, "short");
	OK(kwhy_recording_finish(recording, &error));
	OK(kwhy_ledger_new(recording, &options, &ledger, &error));
	account = build_account(ledger, 0, "short");
	assert_true(account->mean_power_mw > 300000 && account->above_limit);
	assert_true(account->low_nj < 10000000000);
	build_free(recording, ledger);
}

/*
 * Without a context the device draws 80 W until 1.5 s, then 120 W, and 300 W while kernels run. The counter
 * is updated every 0.5 s; updates before 1.5 s must not be used to find the powers.
 */
static void ticks_before_the_first_use_tell_nothing_of_the_powers(void **state)
{
	const int64_t ms_ns = 1000000;
	struct kwhy_coverage coverage = {.device = 0, .start_ns = 0, .end_ns = 6000 * ms_ns};
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;
	int64_t energy_mj = 0;

	(void)state;
	OK(kwhy_recording_add_coverage(recording, &coverage, &error));
	for (int64_t i = 0; i < 8; i++)
		build_kernel(recording, 0, (2000 + 500 * i) * ms_ns, (2250 + 500 * i) * ms_ns, "kernel");
	for (int64_t t_ms = 0; t_ms <= 6000; t_ms += 10) {
		const bool is_busy = t_ms >= 2000 && t_ms % 500 < 250;
		const int64_t power_w = t_ms < 1500 ? 80 : is_busy ? 300 : 120;

		if (t_ms % 20 == 0)
			OK(kwhy_recording_add_reading(recording, KWHY_METER_NVML_SAMPLE, 0, 0, t_ms * ms_ns,
				1000 * power_w, &error));
		if (t_ms % 500 == 0)
			OK(kwhy_recording_add_reading(
				recording, KWHY_METER_NVML_ENERGY, 0, 0, t_ms * ms_ns, energy_mj, &error));
		energy_mj += 10 * power_w;
	}
	ledger = build_ledger(recording);
	assert_true(ledger->devices[0].energy.counter_check_ratio < 0.1);
	build_free(recording, ledger);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_add_up_and_the_largest_remainder_takes_what_is_left),
		cmocka_unit_test(the_largest_energy_is_divided_without_overflow),
		cmocka_unit_test(each_interval_is_divided_as_the_powers_say_and_scaled_to_the_meter),
		cmocka_unit_test(a_device_that_had_not_come_to_rest_idles_at_its_own_power_then),
		cmocka_unit_test(what_nobody_was_seen_in_is_idle_energy),
		cmocka_unit_test(hidden_time_has_what_the_powers_leave_of_an_interval),
		cmocka_unit_test(what_all_powers_have_in_common_widens_no_interval),
		cmocka_unit_test(classes_whose_sum_alone_is_known_are_one_group),
		cmocka_unit_test(a_row_that_may_be_below_the_limit_is_shown),
		cmocka_unit_test(a_row_far_above_the_limit_is_refused_and_one_a_little_above_is_not),
		cmocka_unit_test(a_row_far_above_the_limit_is_shown_where_the_trace_has_the_meter),
		cmocka_unit_test(ticks_before_the_first_use_tell_nothing_of_the_powers),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
