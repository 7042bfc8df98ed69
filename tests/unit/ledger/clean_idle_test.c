/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/ledger/metered.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Tests how the ledger finds clean idle time. The simulated device idles at 80 W without a context and at 123
 * W with one, and works for a part of the time.
 */

#define CLEAN "outside: without a context"
#define OUTSIDE "outside: before and after"

enum { RUNS = 120, KINDS = 3 };

static const struct {
	const char *name;
	double length_s, power_w;
} work[KINDS] = {{"products", 5e-3, 600}, {"update", 4e-3, 420}, {"reduce", 4e-3, 250}};

/*
 * Makes RUNS runs of the kinds of work in turn, from from_s on, with pauses of 20 ms to 80 ms; the pause in
 * the middle is rest_s longer. Returns the end of the last run, s.
 */
static double make_runs(struct metered_run runs[RUNS], double from_s, double rest_s)
{
	double at_s = from_s;

	for (int i = 0; i < RUNS; i++) {
		const double end_s = at_s + work[i % KINDS].length_s;

		runs[i] = (struct metered_run){at_s, end_s, work[i % KINDS].power_w, work[i % KINDS].name};
		at_s = end_s + 1e-3 * (20 + 37 * i % 60) + (i == RUNS / 2 ? rest_s : 0);
	}
	return runs[RUNS - 1].to_s;
}

static double true_nj(int kind)
{
	return (double)RUNS / KINDS * work[kind].length_s * work[kind].power_w * 1e9;
}

static struct kwhy_ledger *ledger_of(const struct metered_plan *plan, struct kwhy_recording **out)
{
	*out = metered_build(plan);
	return build_ledger(*out);
}

static void the_ledger_balances(const struct kwhy_ledger *ledger)
{
	const struct kwhy_device_ledger *device_ledger = &ledger->devices[0];
	const struct kwhy_device_energy *energy = &device_ledger->energy;
	int64_t gross_nj = 0, idle_nj = 0, net_nj = 0, outside_ns = 0;

	for (size_t i = 0; i < device_ledger->account_count; i++) {
		const struct kwhy_account *account = &device_ledger->accounts[i];

		gross_nj += account->gross_nj;
		idle_nj += account->idle_nj;
		net_nj += account->net_nj;
		outside_ns += account->category == KWHY_CATEGORY_OUTSIDE ? account->time_ns : 0;
		assert_true(account->low_nj <= account->gross_nj && account->gross_nj <= account->high_nj);
	}
	assert_int_equal(gross_nj, energy->measured_nj);
	assert_int_equal(net_nj, energy->net_nj);
	assert_int_equal(idle_nj,
		energy->context_idle_nj +
			(energy->clean_idle_nj == KWHY_UNKNOWN_NJ ? 0 : energy->clean_idle_nj));
	assert_true(llabs(outside_ns + device_ledger->time.span_ns - (energy->end_ns - energy->start_ns)) <
		200000000);
}

static void has_power(const struct kwhy_ledger *ledger, const char *name, double power_w, double within_ratio)
{
	const struct kwhy_account *account = build_account(ledger, 0, name);

	assert_non_null(account);
	assert_true(fabs((double)account->mean_power_mw * 1e-3 / power_w - 1) < within_ratio);
}

static void works_as_it_did(const struct kwhy_ledger *ledger)
{
	for (int i = 0; i < KINDS; i++) {
		const struct kwhy_account *account = build_account(ledger, 0, work[i].name);

		assert_true((double)account->low_nj < true_nj(i) && true_nj(i) < (double)account->high_nj);
		has_power(ledger, work[i].name, work[i].power_w, 0.05);
	}
	assert_true(ledger->devices[0].energy.expected_wrong_ratio < 0.02);
}

/*
 * As in a recording of torchrun, there is no context for 5.2 s. While the context is created, for 0.15 s, the
 * device draws 131 W.
 */
static void time_before_the_context_has_its_own_account_and_level(void **state)
{
	const struct metered_level levels[] = {{0, 80}, {5.2, 131}, {5.35, 123}};
	struct metered_run runs[RUNS];
	struct metered_plan plan = {levels, 3, runs, RUNS, 0, 0.5, 1, 0};
	const struct kwhy_device_ledger *device_ledger;
	struct kwhy_recording *recording;
	struct kwhy_ledger *ledger;

	(void)state;
	plan.end_s = make_runs(runs, 7.3, 0) + 1;
	ledger = ledger_of(&plan, &recording);
	device_ledger = &ledger->devices[0];
	the_ledger_balances(ledger);
	assert_int_equal(device_ledger->clean_count, 1);
	assert_int_equal(device_ledger->clean[0].start_ns, 0);
	assert_true(llabs(device_ledger->clean[0].end_ns - 5200000000) < 10000000);
	assert_null(build_note(ledger, "not-at-rest"));
	has_power(ledger, CLEAN, 80, 0.01);
	has_power(ledger, OUTSIDE, 123, 0.01);
	assert_true(fabs(device_ledger->energy.clean_idle_w - 80) < 1 &&
		device_ledger->energy.clean_idle_measured);
	assert_true(fabs(device_ledger->energy.context_idle_w - 123) < 1);
	works_as_it_did(ledger);
	build_free(recording, ledger);
}

/*
 * Without a context the device draws clean idle power. The energy of that time is all idle energy, and it is
 * no execution idle.
 */
static void time_without_a_context_is_all_idle_layer(void **state)
{
	const struct metered_level levels[] = {{0, 80}, {2, 123}};
	struct metered_run runs[RUNS];
	struct metered_plan plan = {levels, 2, runs, RUNS, 0, 0.5, 1, 0};
	const struct kwhy_account *clean;
	struct kwhy_recording *recording;
	struct kwhy_ledger *ledger;

	(void)state;
	plan.end_s = make_runs(runs, 2.5, 0);
	ledger = ledger_of(&plan, &recording);
	clean = build_account(ledger, 0, CLEAN);
	assert_non_null(clean);
	assert_int_equal(clean->category, KWHY_CATEGORY_OUTSIDE);
	assert_int_equal(clean->basis, KWHY_BASIS_DATA);
	assert_true(fabs((double)clean->net_nj) < 0.02 * (double)clean->gross_nj);
	assert_int_equal(
		ledger->devices[0].energy.execution_idle_nj, build_account(ledger, 0, "idle")->gross_nj);
	build_free(recording, ledger);
}

/*
 * Power samples begin before the counter's readings do (at 3.2 s). The clean idle time in between must not
 * count as unmetered time of the run.
 */
static void time_without_a_context_before_the_counter_is_no_activity(void **state)
{
	const struct metered_level levels[] = {{0, 80}, {3, 123}};
	struct metered_run runs[RUNS];
	struct metered_plan plan = {levels, 2, runs, RUNS, 0, 0.5, 1, 3.2};
	struct kwhy_recording *recording;
	struct kwhy_ledger *ledger;

	(void)state;
	plan.end_s = make_runs(runs, 3.5, 0) + 0.5;
	ledger = ledger_of(&plan, &recording);
	assert_int_equal(ledger->devices[0].clean_count, 1);
	assert_int_equal(ledger->devices[0].energy.edge_nj, 0);
	build_free(recording, ledger);
}

/*
 * The program's context ends 1.4 s after the last work; until then the device idles at 123 W, after that at
 * 80 W.
 */
static void time_after_the_context_is_found_behind_the_step(void **state)
{
	struct metered_level levels[] = {{0, 123}, {0, 80}};
	struct metered_run runs[RUNS];
	struct metered_plan plan = {levels, 2, runs, RUNS, 0, 0.5, 1, 0};
	struct kwhy_recording *recording;
	struct kwhy_ledger *ledger;
	double last_s;

	(void)state;
	last_s = make_runs(runs, 0.5, 0);
	levels[1].from_s = last_s + 1.4;
	plan.end_s = last_s + 6;
	ledger = ledger_of(&plan, &recording);
	the_ledger_balances(ledger);
	assert_int_equal(ledger->devices[0].clean_count, 1);
	assert_true(llabs(ledger->devices[0].clean[0].start_ns - llround(levels[1].from_s * 1e9)) < 10000000);
	has_power(ledger, CLEAN, 80, 0.01);
	has_power(ledger, OUTSIDE, 123, 0.01);
	works_as_it_did(ledger);
	build_free(recording, ledger);
}

static void expect_one_level(const struct metered_plan *plan)
{
	struct kwhy_recording *recording;
	struct kwhy_ledger *ledger = ledger_of(plan, &recording);

	the_ledger_balances(ledger);
	assert_int_equal(ledger->devices[0].clean_count, 0);
	assert_null(build_account(ledger, 0, CLEAN));
	assert_false(ledger->devices[0].energy.clean_idle_measured);
	build_free(recording, ledger);
}

static void a_level_that_drifts_is_one_level(void **state)
{
	const struct metered_level levels[] = {{0, 131}, {1.5, 127}, {3, 120}};
	struct metered_run runs[RUNS];
	struct metered_plan plan = {levels, 3, runs, RUNS, 0, 0.5, 1, 0};

	(void)state;
	plan.end_s = make_runs(runs, 4, 0) + 1;
	expect_one_level(&plan);
}

/*
 * The device draws 80 W up to the start of the first activity, at 4 s. As no idle time at 123 W precedes
 * that, the rise must not be taken for the creation of a context.
 */
static void a_low_level_up_to_the_first_activity_is_one_level(void **state)
{
	const struct metered_level levels[] = {{0, 80}, {4, 123}};
	struct metered_run runs[RUNS];
	struct metered_plan plan = {levels, 2, runs, RUNS, 0, 0.5, 1, 0};

	(void)state;
	plan.end_s = make_runs(runs, 4, 0) + 1;
	expect_one_level(&plan);
}

/*
 * From 2 s to 3.95 s another program, which is not recorded, draws varying power. That must not be taken for
 * an idle level.
 */
static void foreign_work_before_the_first_activity_is_no_context(void **state)
{
	struct metered_level levels[40] = {{0, 123}};
	struct metered_run runs[RUNS];
	struct metered_plan plan = {levels, 40, runs, RUNS, 0, 0.5, 1, 0};

	(void)state;
	for (int i = 1; i < 39; i++)
		levels[i] = (struct metered_level){2 + 0.05 * i, 150 + 97 * i % 350};
	levels[39] = (struct metered_level){3.95, 123};
	plan.end_s = make_runs(runs, 4, 0) + 1;
	expect_one_level(&plan);
}

/*
 * Until 2 s the device draws 133 W, 5 W more than its later idle level of 128 W, because another program has
 * just ended and the clocks are still high. Light work at 138 W must be compared with the later level.
 */
static void a_device_that_had_not_come_to_rest_tells_its_level_behind_the_work(void **state)
{
	const struct metered_level levels[] = {{0, 133}, {2, 128}};
	struct metered_run runs[RUNS];
	struct metered_plan plan = {levels, 2, runs, RUNS, 0, 0.5, 1, 0};
	const struct kwhy_account *account;
	struct kwhy_recording *recording;
	struct kwhy_ledger *ledger;

	(void)state;
	for (int i = 0; i < RUNS; i++)
		runs[i] = (struct metered_run){2.02 + 6e-3 * i, 2.025 + 6e-3 * i, 138, "small"};
	plan.end_s = runs[RUNS - 1].to_s + 0.3;
	ledger = ledger_of(&plan, &recording);
	the_ledger_balances(ledger);
	assert_true(fabs(ledger->devices[0].energy.context_idle_w - 128) < 1);
	assert_non_null(build_note(ledger, "not-at-rest"));
	account = build_account(ledger, 0, "small");
	assert_non_null(account);
	assert_true(fabs((double)account->net_nj / (10 * 5e-3 * RUNS * 1e9) - 1) < 0.15);
	build_free(recording, ledger);
}

/*
 * From 0.4 s after the last work on the device draws 133 W, more than its idle level of 128 W before. That
 * time must not count as the program's idle time.
 */
static void a_device_that_does_not_come_to_rest_behind_its_work_tells_its_level_before_that(void **state)
{
	struct metered_level levels[] = {{0, 128}, {0, 133}};
	struct metered_run runs[RUNS];
	struct metered_plan plan = {levels, 2, runs, RUNS, 0, 0.5, 1, 0};
	struct kwhy_recording *recording;
	struct kwhy_ledger *ledger;

	(void)state;
	for (int i = 0; i < RUNS; i++)
		runs[i] = (struct metered_run){0.3 + 6e-3 * i, 0.305 + 6e-3 * i, 138, "small"};
	levels[1].from_s = runs[RUNS - 1].to_s + 0.4;
	plan.end_s = levels[1].from_s + 1;
	ledger = ledger_of(&plan, &recording);
	the_ledger_balances(ledger);
	assert_int_equal(ledger->devices[0].elevated_idle_count, 1);
	assert_true(fabs(ledger->devices[0].energy.context_idle_w - 128) < 1);
	has_power(ledger, "idle", 128, 0.01);
	has_power(ledger, "small", 138, 0.01);
	build_free(recording, ledger);
}

/*
 * A stated idle power, or that of another card of this kind, may be higher than the readings show here (121
 * W). Light work must be compared with the level in the readings.
 */
static void light_work_is_held_against_the_level_that_the_readings_show(void **state)
{
	static const char *names[] = {"a", "b", "c", "d", "e"};
	const struct metered_level levels[] = {{0, 121}};
	const double true_nj = 45 * 0.5e-3 * (151 - 121) * 1e9;
	struct metered_run runs[45];
	struct metered_plan plan = {levels, 1, runs, 45, 0, 0.5, 1, 0};
	struct kwhy_recording *recording;
	struct kwhy_ledger *ledger;
	int64_t net_nj = 0;

	(void)state;
	for (int i = 0; i < 45; i++)
		runs[i] = (struct metered_run){0.1 + 2e-3 * i, 0.1005 + 2e-3 * i, 151, names[i % 5]};
	plan.end_s = runs[44].to_s + 0.3;
	recording = metered_build(&plan);
	recording->devices[0].context_idle_mw = 124500;
	ledger = build_ledger(recording);
	the_ledger_balances(ledger);
	for (int i = 0; i < 5; i++)
		net_nj += build_account(ledger, 0, names[i])->net_nj;
	assert_true(fabs((double)net_nj / true_nj - 1) < 0.1);
	assert_true(fabs(ledger->devices[0].energy.context_idle_w - 121) < 0.5);
	build_free(recording, ledger);
}

/*
 * Makes a ledger in which the device draws between_w for 4 s in the middle, in a pause of the recorded work.
 */
static struct kwhy_ledger *ledger_around(double between_w, struct kwhy_recording **out)
{
	struct metered_level levels[] = {{0, 123}, {0, between_w}, {0, 123}};
	struct metered_run runs[RUNS];
	struct metered_plan plan = {levels, 3, runs, RUNS, 0, 0.5, 1, 0};

	plan.end_s = make_runs(runs, 1, 5) + 5;
	levels[1].from_s = runs[RUNS / 2].to_s + 0.5;
	levels[2].from_s = levels[1].from_s + 4;
	return ledger_of(&plan, out);
}

static void expects_to_be_as_wrong_as_it_is(const struct kwhy_ledger *ledger)
{
	double wrong_nj = 0;

	for (int i = 0; i < KINDS; i++) {
		const struct kwhy_account *account = build_account(ledger, 0, work[i].name);

		assert_true((double)account->low_nj < true_nj(i) && true_nj(i) < (double)account->high_nj);
		wrong_nj += fabs((double)account->gross_nj - true_nj(i));
	}
	assert_true(ledger->devices[0].energy.expected_wrong_ratio >
		0.5 * wrong_nj / (double)ledger->devices[0].energy.measured_nj);
}

/*
 * In the middle the device draws 80 W, as if the context were gone. The ledger does not look for such a
 * change within the run, so its energies have larger errors, which it must expect.
 */
static void a_level_that_changes_inside_the_span_is_seen_as_wrong_energy(void **state)
{
	struct kwhy_recording *recording;
	struct kwhy_ledger *ledger = ledger_around(80, &recording);

	(void)state;
	the_ledger_balances(ledger);
	expects_to_be_as_wrong_as_it_is(ledger);
	build_free(recording, ledger);
}

/*
 * In the middle another program, which is not recorded, draws 300 W. The energy counter then contradicts the
 * fitted powers, which a note must say.
 */
static void foreign_work_inside_the_span_is_told_of(void **state)
{
	struct kwhy_recording *recording;
	struct kwhy_ledger *ledger = ledger_around(300, &recording);

	(void)state;
	the_ledger_balances(ledger);
	assert_non_null(build_note(ledger, "powers-contradicted"));
	build_free(recording, ledger);
}

/*
 * The work takes 4.5 ms in all. Each reading covers earlier power, too, so none determines the power of the
 * work: it must be assumed, with an interval that contains the truth.
 */
static void work_too_short_for_the_meter_has_a_guess_with_an_interval_that_holds_it(void **state)
{
	const struct metered_level levels[] = {{0, 126}, {0.975, 121}};
	const double true_nj = 9 * 0.5e-3 * (401 - 121) * 1e9;
	struct metered_run runs[9];
	struct metered_plan plan = {levels, 2, runs, 9, 0, 0.5, 1, 0};

	(void)state;
	for (int i = 0; i < 9; i++)
		runs[i] = (struct metered_run){1 + 1e-3 * i, 1.0005 + 1e-3 * i, 401, "short"};
	plan.end_s = runs[8].to_s + 0.3;
	for (plan.seed = 1; plan.seed <= 4; plan.seed++) {
		struct kwhy_recording *recording = metered_build(&plan);
		struct kwhy_ledger *ledger;
		const struct kwhy_account *account;

		recording->devices[0].limit_mw = 700000;
		ledger = build_ledger(recording);
		account = build_account(ledger, 0, "short");
		assert_int_equal(account->basis, KWHY_BASIS_ASSUMED);
		assert_true((double)(account->low_nj - account->idle_nj) < true_nj);
		assert_true((double)(account->high_nj - account->idle_nj) > true_nj);
		build_free(recording, ledger);
	}
}

/*
 * Time before the first activity is no part of the run, whether there was a context or not. As all of the run
 * is metered, no energy may be estimated.
 */
static void of_a_run_that_the_meter_saw_whole_nothing_is_worked_out(void **state)
{
	const struct metered_level levels[] = {{0, 75}, {2, 115}};
	struct metered_run runs[RUNS];
	struct metered_plan plan = {.levels = levels,
		.level_count = 2,
		.runs = runs,
		.run_count = RUNS,
		.noise_w = 0.5,
		.seed = 5};
	struct kwhy_recording *recording;
	struct kwhy_ledger *ledger;

	(void)state;
	plan.end_s = make_runs(runs, 2.4, 0) + 0.5;
	ledger = ledger_of(&plan, &recording);
	assert_int_equal(ledger->devices[0].energy.edge_nj, 0);
	build_free(recording, ledger);
}

/*
 * Returns how many intervals of clean idle the ledger finds with these idle powers from the device's record
 * (-1: none) and the profile. The readings alone do not suffice to find two levels.
 */
static size_t clean_found(int64_t clean_mw, int64_t context_mw, const struct kwhy_profile *profile)
{
	/*
	 * between the rise at 2 s, when the context is created, and the recorded work, another program draws
	 * 500 W
	 */
	const struct metered_level levels[] = {{0, 80}, {2, 123}, {3, 500}, {3.3, 123}};
	const struct metered_run runs[] = {{4, 4.2, 600, "products"}, {4.3, 4.5, 600, "products"}};
	const struct metered_plan plan = {levels, 4, runs, 2, 4.6, 0.5, 1, 0};
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_recording *recording = metered_build(&plan);
	struct kwhy_ledger *ledger;
	size_t count;

	recording->devices[0].clean_idle_mw = clean_mw;
	recording->devices[0].context_idle_mw = context_mw;
	options.profile = profile;
	ledger = build_ledger_with(recording, &options);
	count = ledger->devices[0].clean_count;
	if (count)
		assert_true(llabs(ledger->devices[0].clean[0].end_ns - 2000000000) < 20000000);
	build_free(recording, ledger);
	return count;
}

static void known_levels_divide_samples_that_other_work_disturbs(void **state)
{
	struct kwhy_profile profile;

	(void)state;
	kwhy_profile_init(&profile);
	assert_int_equal(clean_found(-1, -1, NULL), 0);
	assert_int_equal(clean_found(80000, -1, NULL), 0);
	assert_int_equal(clean_found(80000, 123000, NULL), 1);
	assert_int_equal(clean_found(123000, 80000, NULL), 0);
	profile.clean_idle_w.value = 80;
	profile.context_idle_w.value = 123;
	assert_int_equal(clean_found(-1, -1, &profile), 1);
	/* idle powers in the recording take precedence over those in the profile */
	assert_int_equal(clean_found(123000, 80000, &profile), 0);
	kwhy_arena_done(&profile.arena);
}

static double idle_level(const struct kwhy_profile *profile)
{
	const struct metered_level levels[] = {{0, 80}};
	const struct metered_run runs[] = {{0.3, 0.4, 600, "products"}, {0.5, 0.6, 600, "products"}};
	const struct metered_plan plan = {levels, 1, runs, 2, 0.7, 0.5, 1, 0};
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_recording *recording = metered_build(&plan);
	struct kwhy_ledger *ledger;
	double level_w;

	options.profile = profile;
	ledger = build_ledger_with(recording, &options);
	level_w = ledger->devices[0].energy.context_idle_w;
	build_free(recording, ledger);
	return level_w;
}

static void a_profile_with_an_idle_level_of_0_w_knows_none(void **state)
{
	struct kwhy_profile profile;
	double level_w;

	(void)state;
	kwhy_profile_init(&profile);
	level_w = idle_level(&profile);
	profile.context_idle_w = (struct kwhy_measured){0, 1};
	assert_true(idle_level(&profile) == level_w);
	profile.context_idle_w = (struct kwhy_measured){70, 0.1};
	assert_true(idle_level(&profile) < level_w);
	kwhy_arena_done(&profile.arena);
}

static void a_stated_clean_level_of_0_w_is_none(void **state)
{
	const struct metered_level levels[] = {{0, 80}};
	const struct metered_run runs[] = {{0.3, 0.4, 600, "products"}, {0.5, 0.6, 600, "products"}};
	const struct metered_plan plan = {levels, 1, runs, 2, 0.7, 0.5, 1, 0};
	struct kwhy_recording *recording = metered_build(&plan);
	struct kwhy_ledger *ledger;

	(void)state;
	recording->devices[0].clean_idle_mw = 0;
	ledger = build_ledger(recording);
	assert_true(isnan(ledger->devices[0].energy.clean_idle_w));
	assert_true(ledger->devices[0].energy.clean_idle_nj == KWHY_UNKNOWN_NJ);
	build_free(recording, ledger);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_a_run_that_the_meter_saw_whole_nothing_is_worked_out),
		cmocka_unit_test(time_before_the_context_has_its_own_account_and_level),
		cmocka_unit_test(time_without_a_context_is_all_idle_layer),
		cmocka_unit_test(time_without_a_context_before_the_counter_is_no_activity),
		cmocka_unit_test(time_after_the_context_is_found_behind_the_step),
		cmocka_unit_test(a_level_that_drifts_is_one_level),
		cmocka_unit_test(a_low_level_up_to_the_first_activity_is_one_level),
		cmocka_unit_test(foreign_work_before_the_first_activity_is_no_context),
		cmocka_unit_test(a_device_that_had_not_come_to_rest_tells_its_level_behind_the_work),
		cmocka_unit_test(
			a_device_that_does_not_come_to_rest_behind_its_work_tells_its_level_before_that),
		cmocka_unit_test(a_stated_clean_level_of_0_w_is_none),
		cmocka_unit_test(known_levels_divide_samples_that_other_work_disturbs),
		cmocka_unit_test(a_profile_with_an_idle_level_of_0_w_knows_none),
		cmocka_unit_test(light_work_is_held_against_the_level_that_the_readings_show),
		cmocka_unit_test(work_too_short_for_the_meter_has_a_guess_with_an_interval_that_holds_it),
		cmocka_unit_test(a_level_that_changes_inside_the_span_is_seen_as_wrong_energy),
		cmocka_unit_test(foreign_work_inside_the_span_is_told_of),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
