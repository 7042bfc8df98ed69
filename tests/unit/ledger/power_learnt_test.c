/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/power_learnt.h"
#include "unit/ledger/metered.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define IDLE_W 120.0
#define LONG_W 500.0
#define SHORT_W 300.0

enum { ALTERNATIONS_MAX = 2000 };

static const struct metered_level levels[] = {{0, IDLE_W}};

/*
 * Makes a metered recording of this device, in which kernels "long" (long_w) and "short" (short_w) run in
 * turn, turn_s each, from 1 s on for `seconds`.
 */
static struct kwhy_recording *alternate_at(
	double long_w, double short_w, double turn_s, double seconds, const char *device_name)
{
	static struct metered_run runs[ALTERNATIONS_MAX];
	struct metered_plan plan = {.levels = levels,
		.level_count = 1,
		.runs = runs,
		.end_s = seconds + 2,
		.noise_w = 2,
		.seed = 3};
	struct kwhy_recording *recording;

	for (double at_s = 1; at_s < 1 + seconds - turn_s; at_s += turn_s) {
		bool is_long = plan.run_count % 2 == 0;

		runs[plan.run_count++] = (struct metered_run){
			at_s, at_s + turn_s, is_long ? long_w : short_w, is_long ? "long" : "short"};
	}
	recording = metered_build(&plan);
	recording->devices[0].name = device_name;
	return recording;
}

static struct kwhy_recording *alternate(double turn_s, double seconds, const char *device_name)
{
	return alternate_at(LONG_W, SHORT_W, turn_s, seconds, device_name);
}

static struct kwhy_ledger *ledger_with(
	struct kwhy_recording *recording, const struct kwhy_learnt_powers *powers)
{
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_ledger *ledger;

	options.learnt = &powers;
	options.learnt_count = powers != NULL;
	if (!recording->finished)
		return build_ledger_with(recording, &options);
	OK(kwhy_ledger_new(recording, &options, &ledger, &error));
	return ledger;
}

static struct kwhy_learnt_powers *teach_from(struct kwhy_recording *recording)
{
	struct kwhy_ledger *ledger = build_ledger(recording);
	struct kwhy_learnt_powers *powers;

	OK(kwhy_learnt_powers_collect(recording, ledger, "teacher.kwhy", &powers, &error));
	build_free(recording, ledger);
	return powers;
}

static struct kwhy_learnt_powers *teach(void)
{
	return teach_from(alternate(0.2, 8, "NVIDIA H200"));
}

static struct kwhy_learnt_power *find_power(const struct kwhy_learnt_powers *powers, const char *name)
{
	for (size_t i = 0; i < powers->count; i++)
		if (!strcmp(powers->items[i].name, name))
			return &powers->items[i];
	fail_msg("no power of %s", name);
	return NULL;
}

static double power_w(const struct kwhy_ledger *ledger, const char *name)
{
	return (double)build_account(ledger, 0, name)->mean_power_mw * 1e-3;
}

static double half_ratio(const struct kwhy_ledger *ledger, const char *name)
{
	const struct kwhy_account *account = build_account(ledger, 0, name);

	return (double)(account->high_nj - account->low_nj) / 2 / (double)account->gross_nj;
}

static void check_balance(const struct kwhy_ledger *ledger)
{
	const struct kwhy_device_ledger *device_ledger = &ledger->devices[0];
	int64_t sum_nj = 0;

	for (size_t i = 0; i < device_ledger->account_count; i++)
		sum_nj += device_ledger->accounts[i].gross_nj;
	assert_int_equal(sum_nj, device_ledger->energy.measured_nj);
}

static void the_powers_that_readings_decided_are_collected(void **state)
{
	struct kwhy_learnt_powers *powers = teach();

	(void)state;
	assert_string_equal(powers->device_name, "NVIDIA H200");
	assert_string_equal(powers->path, "teacher.kwhy");
	assert_int_equal(powers->count, 2);
	assert_float_equal(powers->context_idle_w, IDLE_W, 3);
	assert_float_equal(find_power(powers, "long")->above_idle_w, LONG_W - IDLE_W, 10);
	assert_float_equal(find_power(powers, "short")->above_idle_w, SHORT_W - IDLE_W, 10);
	assert_true(find_power(powers, "long")->sd_w > 0.2 && find_power(powers, "long")->sd_w < 20);
	kwhy_learnt_powers_free(powers);
}

static void powers_of_another_recording_divide_what_readings_cannot(void **state)
{
	struct kwhy_learnt_powers *powers = teach();
	struct kwhy_recording *recording = alternate(1e-3, 1.5, "NVIDIA-H200");
	struct kwhy_ledger *alone, *taught;

	(void)state;
	alone = build_ledger(recording);
	taught = ledger_with(recording, powers);
	assert_true(half_ratio(alone, "long") > 0.15);
	assert_true(half_ratio(taught, "long") < 0.07 && half_ratio(taught, "short") < 0.1);
	assert_float_equal(power_w(taught, "long"), LONG_W, 0.06 * LONG_W);
	assert_float_equal(power_w(taught, "short"), SHORT_W, 0.08 * SHORT_W);
	assert_int_equal(build_account(taught, 0, "long")->basis, KWHY_BASIS_LEARNT);
	assert_non_null(build_note(taught, "powers-learnt"));
	assert_null(build_note(taught, "powers-overruled"));
	check_balance(taught);
	kwhy_ledger_free(alone);
	build_free(recording, taught);
	kwhy_learnt_powers_free(powers);
}

/*
 * Two kernels of 1 ms each in turn at 150 W and 140 W: readings show only the sum of their powers. Each power
 * is an assumption, though known to 20 % of its gross energy, most of which is idle. It must not be learnt.
 */
static void what_was_only_assumed_is_not_passed_on(void **state)
{
	struct kwhy_recording *recording = alternate_at(150, 140, 1e-3, 1.5, "NVIDIA H200");
	struct kwhy_ledger *ledger = build_ledger(recording);
	struct kwhy_learnt_powers *powers;

	(void)state;
	assert_int_not_equal(build_account(ledger, 0, "long")->basis, KWHY_BASIS_DATA);
	assert_true(half_ratio(ledger, "long") < 0.2 && half_ratio(ledger, "short") < 0.2);
	assert_int_equal(
		kwhy_learnt_powers_collect(recording, ledger, "x.kwhy", &powers, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "teaches no power"));
	build_free(recording, ledger);
}

/*
 * Every ledger adds 1.6 % to the uncertainty of a power, for other work next to it and other temperature. A
 * learnt power must be without that, as the ledger that uses it adds it again.
 */
static void an_uncertainty_that_every_ledger_adds_is_not_passed_on(void **state)
{
	struct kwhy_recording *recording = alternate(0.2, 8, "NVIDIA H200");
	struct kwhy_ledger *ledger = build_ledger(recording);
	const double half = half_ratio(ledger, "long");
	struct kwhy_learnt_powers *powers;

	(void)state;
	OK(kwhy_learnt_powers_collect(recording, ledger, "x.kwhy", &powers, &error));
	assert_true(find_power(powers, "long")->sd_w < 0.7 * half / 1.645 * LONG_W);
	kwhy_learnt_powers_free(powers);
	build_free(recording, ledger);
}

/*
 * A kernel may draw 1000 W, more than the power limit, if it is shorter than the reaction time of the power
 * control. A learnt power must therefore not be cut at the limit.
 */
static void the_power_limit_does_not_bound_what_was_learnt(void **state)
{
	enum { HIGH_W = 1000 };
	struct kwhy_learnt_powers *powers = teach_from(alternate_at(HIGH_W, SHORT_W, 0.2, 8, "NVIDIA H200"));
	struct kwhy_recording *recording = alternate_at(HIGH_W, SHORT_W, 1e-3, 1.5, "NVIDIA H200");
	struct kwhy_ledger *taught;

	(void)state;
	recording->devices[0].limit_mw = 700000;
	find_power(powers, "long")->sd_w = 0.08 * HIGH_W;
	find_power(powers, "short")->sd_w = 0.4 * SHORT_W;
	taught = ledger_with(recording, powers);
	assert_float_equal(power_w(taught, "long"), HIGH_W, 0.03 * HIGH_W);
	build_free(recording, taught);
	kwhy_learnt_powers_free(powers);
}

static void readings_overrule_a_power_that_is_half_as_large_again(void **state)
{
	struct kwhy_learnt_powers *powers = teach();
	struct kwhy_recording *recording = alternate(0.2, 8, "NVIDIA H200");
	struct kwhy_ledger *ledger;

	(void)state;
	find_power(powers, "long")->above_idle_w *= 1.5;
	ledger = ledger_with(recording, powers);
	assert_float_equal(power_w(ledger, "long"), LONG_W, 0.02 * LONG_W);
	assert_float_equal(power_w(ledger, "short"), SHORT_W, 0.03 * SHORT_W);
	assert_int_equal(build_account(ledger, 0, "long")->basis, KWHY_BASIS_DATA);
	assert_non_null(strstr(build_note(ledger, "powers-overruled"), "contradict 1 powers"));
	check_balance(ledger);
	build_free(recording, ledger);
	kwhy_learnt_powers_free(powers);
}

static void powers_of_another_kind_of_device_are_not_used(void **state)
{
	struct kwhy_learnt_powers *powers = teach();
	struct kwhy_recording *recording = alternate(1e-3, 1.5, "NVIDIA H100 80GB HBM3");
	struct kwhy_ledger *alone = build_ledger(recording), *ledger;

	(void)state;
	ledger = ledger_with(recording, powers);
	assert_int_equal(
		build_account(ledger, 0, "long")->gross_nj, build_account(alone, 0, "long")->gross_nj);
	kwhy_ledger_free(alone);
	build_free(recording, ledger);
	kwhy_learnt_powers_free(powers);
}

/* Returns the prior that the learnt powers give for a kernel with 64 blocks of 128 threads. */
static struct kwhy_learnt_prior prior_of(const struct kwhy_learnt_power *items, size_t count)
{
	const struct kwhy_learnt_powers powers = {
		.device_name = "A", .items = (struct kwhy_learnt_power *)items, .count = count};
	const struct kwhy_learnt_powers *const list[] = {&powers};
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_recording *recording = build_one();
	struct kwhy_activity activity = build_activity(recording, 0, 0, 1000, "kernel");
	struct kwhy_learnt_prior priors[4];
	struct kwhy_ledger *ledger;

	activity.blocks = 64;
	activity.threads_per_block = 128;
	build_add(recording, activity);
	recording->devices[0].name = "A";
	ledger = build_ledger(recording);
	options.learnt = list;
	options.learnt_count = 1;
	OK(kwhy_learnt_priors_find(recording, 0, &ledger->devices[0], &options, priors, &error));
	build_free(recording, ledger);
	return priors[0];
}

static void the_nearest_grid_is_taken_and_farther_ones_are_less_sure(void **state)
{
	const struct kwhy_learnt_power items[] = {
		{.name = "kernel", .grid = {64, 128}, .above_idle_w = 100, .sd_w = 1},
		{.name = "kernel", .grid = {32, 128}, .above_idle_w = 200, .sd_w = 1},
		{.name = "kernel", .grid = {64, 256}, .above_idle_w = 300, .sd_w = 1},
		{.name = "other", .grid = {64, 128}, .above_idle_w = 400, .sd_w = 1},
	};

	(void)state;
	assert_float_equal(prior_of(items, 4).above_idle_w, 100, 0.1);
	assert_float_equal(prior_of(items, 4).sd, hypot(0.01, 0.02), 1e-3);
	assert_float_equal(prior_of(items + 1, 3).above_idle_w, 200, 0.1);
	assert_float_equal(prior_of(items + 1, 3).sd, 0.15, 1e-3);
	assert_float_equal(prior_of(items + 2, 2).above_idle_w, 300, 0.1);
	assert_float_equal(prior_of(items + 2, 2).sd, 0.3, 1e-3);
	assert_true(isnan(prior_of(items + 3, 1).above_idle_w));
}

static void several_powers_are_weighed_by_their_uncertainty(void **state)
{
	const struct kwhy_learnt_power items[] = {
		{.name = "kernel", .grid = {64, 128}, .above_idle_w = 100, .sd_w = 10},
		{.name = "kernel", .grid = {64, 128}, .above_idle_w = 200, .sd_w = 2},
	};

	(void)state;
	assert_true(prior_of(items, 2).above_idle_w > 195);
	assert_true(prior_of(items, 2).sd < hypot(0.0101, 0.02));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_powers_that_readings_decided_are_collected),
		cmocka_unit_test(powers_of_another_recording_divide_what_readings_cannot),
		cmocka_unit_test(what_was_only_assumed_is_not_passed_on),
		cmocka_unit_test(an_uncertainty_that_every_ledger_adds_is_not_passed_on),
		cmocka_unit_test(the_power_limit_does_not_bound_what_was_learnt),
		cmocka_unit_test(readings_overrule_a_power_that_is_half_as_large_again),
		cmocka_unit_test(powers_of_another_kind_of_device_are_not_used),
		cmocka_unit_test(the_nearest_grid_is_taken_and_farther_ones_are_less_sure),
		cmocka_unit_test(several_powers_are_weighed_by_their_uncertainty),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
