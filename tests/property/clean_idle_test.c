/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/ledger/metered.h"

#include <math.h>
#include <stdlib.h>

/*
 * Tests, on random (seeded) devices, how the ledger finds the clean idle level, that without a context. If
 * the idle power rises when a context is created, the ledger must find both levels, and energies must be
 * right. If it has no such step, the ledger must find none.
 */

enum { CASES = 40, RUNS = 150, KINDS = 4, DRIFTS = 6, LEVELS_MAX = 40 };

static const char *const names[KINDS] = {"a", "b", "c", "d"};

struct random {
	uint64_t state;
};

static double between(struct random *random, double low, double high)
{
	random->state = random->state * 6364136223846793005u + 1442695040888963407u;
	return low + (high - low) * (double)(random->state >> 40) * 0x1p-24;
}

/* A device with its idle levels and its runs of work, and the true energy of each kind of work. */
struct made {
	struct metered_level levels[LEVELS_MAX];
	struct metered_run runs[RUNS];
	struct metered_plan plan;
	double clean_w, context_w, context_s; /* context_s: time at which the context is created */
	double true_j[KINDS];
};

static void make_work(struct made *made, struct random *random, double from_s)
{
	double at_s = from_s, power_w[KINDS];

	for (int kind = 0; kind < KINDS; kind++)
		power_w[kind] = fmin(650, made->context_w * between(random, 1.3, 5));
	for (int i = 0; i < RUNS; i++) {
		const int kind = (int)between(random, 0, KINDS - 0.01);
		const double end_s = at_s + 0.5e-3 * floor(between(random, 4, 40));

		made->runs[i] = (struct metered_run){at_s, end_s, power_w[kind], names[kind]};
		made->true_j[kind] += (end_s - at_s) * power_w[kind];
		at_s = end_s + 0.5e-3 * floor(between(random, 1, 120));
	}
	made->plan.end_s = at_s + between(random, 0.2, 1);
}

/*
 * Makes a device whose idle power rises when a context is created, at context_s. For 50 ms to 150 ms, while
 * the context is created, it draws 0.97 to 1.08 times the power after that.
 */
static void make_steps(struct made *made, struct random *random)
{
	made->context_s = 0.5e-3 * floor(between(random, 600, 12000));
	made->levels[0] = (struct metered_level){0, made->clean_w};
	made->levels[1] = (struct metered_level){
		made->context_s, made->context_w * between(random, 0.97, 1.08)};
	made->levels[2] = (struct metered_level){
		made->context_s + between(random, 0.05, 0.15), made->context_w};
	made->plan.level_count = 3;
	make_work(made, random, made->context_s + 0.5e-3 * floor(between(random, 350, 4000)));
}

/* Makes a device with one idle level, which drifts by up to 3 % while nothing runs. */
static void make_drift(struct made *made, struct random *random)
{
	const double from_s = 0.5e-3 * floor(between(random, 600, 12000));

	for (int i = 0; i < DRIFTS; i++)
		made->levels[i] = (struct metered_level){from_s * i / DRIFTS,
			i + 1 < DRIFTS ? made->context_w * between(random, 0.97, 1.03) : made->context_w};
	made->plan.level_count = DRIFTS;
	make_work(made, random, from_s);
}

/* Makes a device whose power pulses between two levels, as with a display or with a tool that polls it. */
static void make_pulses(struct made *made, struct random *random)
{
	double at_s = 0;

	for (int i = 0; i < LEVELS_MAX; i++) {
		made->levels[i] = (struct metered_level){at_s, i % 2 ? made->context_w : made->clean_w};
		at_s += i % 2 ? between(random, 0.08, 0.3) : between(random, 0.1, 0.6);
	}
	made->plan.level_count = LEVELS_MAX;
	make_work(made, random, at_s);
}

static struct made *make(uint64_t seed, void (*make_kind)(struct made *, struct random *))
{
	struct made *made = calloc(1, sizeof(*made));
	struct random random = {seed * 7919 + 13};

	assert_non_null(made);
	made->clean_w = between(&random, 15, 100);
	made->context_w = made->clean_w * between(&random, 1.25, 2.5);
	made->plan = (struct metered_plan){.levels = made->levels,
		.runs = made->runs,
		.run_count = RUNS,
		.noise_w = between(&random, 0.1, 0.02 * made->context_w),
		.seed = seed};
	make_kind(made, &random);
	return made;
}

/*
 * Returns the error of the accounts of work: the sum of their absolute errors as a share of the metered
 * energy. Adds the number of these accounts to `rows`, and to `held` the number of those whose interval
 * contains the true energy.
 */
static double wrong_ratio(
	const struct made *made, const struct kwhy_ledger *ledger, size_t *held, size_t *rows)
{
	double wrong_j = 0;

	for (int kind = 0; kind < KINDS; kind++) {
		const struct kwhy_account *account = build_account(ledger, 0, names[kind]);

		if (!account)
			continue;
		wrong_j += fabs((double)account->gross_nj * 1e-9 - made->true_j[kind]);
		*held += (double)account->low_nj * 1e-9 <= made->true_j[kind] &&
			made->true_j[kind] <= (double)account->high_nj * 1e-9;
		++*rows;
	}
	return wrong_j / ((double)ledger->devices[0].energy.measured_nj * 1e-9);
}

static void balances(const struct kwhy_device_ledger *device_ledger)
{
	int64_t gross_nj = 0;

	for (size_t i = 0; i < device_ledger->account_count; i++)
		gross_nj += device_ledger->accounts[i].gross_nj;
	assert_int_equal(gross_nj, device_ledger->energy.measured_nj);
}

static void a_step_is_found_and_work_has_its_energy(void **state)
{
	size_t held = 0, rows = 0;

	(void)state;
	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct made *made = make(seed, make_steps);
		struct kwhy_recording *recording = metered_build(&made->plan);
		struct kwhy_ledger *ledger = build_ledger(recording);
		const struct kwhy_device_ledger *device_ledger = &ledger->devices[0];

		balances(device_ledger);
		assert_int_equal(device_ledger->clean_count, 1);
		assert_true(fabs((double)device_ledger->clean[0].end_ns * 1e-9 - made->context_s) < 0.02);
		assert_true(fabs(device_ledger->energy.clean_idle_w / made->clean_w - 1) < 0.03);
		assert_true(fabs(device_ledger->energy.context_idle_w / made->context_w - 1) < 0.03);
		assert_true(wrong_ratio(made, ledger, &held, &rows) < 0.04);
		build_free(recording, ledger);
		free(made);
	}
	assert_true(held > rows * 85 / 100);
}

static void where_there_is_no_step_there_is_one_level(void **state)
{
	size_t held = 0, rows = 0;

	(void)state;
	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct made *made = make(seed, make_drift);
		struct kwhy_recording *recording = metered_build(&made->plan);
		struct kwhy_ledger *ledger = build_ledger(recording);

		balances(&ledger->devices[0]);
		assert_int_equal(ledger->devices[0].clean_count, 0);
		assert_true(wrong_ratio(made, ledger, &held, &rows) < 0.04);
		build_free(recording, ledger);
		free(made);
	}
	assert_true(held > rows * 85 / 100);
}

static void pulses_are_no_context(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct made *made = make(seed, make_pulses);
		struct kwhy_recording *recording = metered_build(&made->plan);
		struct kwhy_ledger *ledger = build_ledger(recording);

		balances(&ledger->devices[0]);
		assert_int_equal(ledger->devices[0].clean_count, 0);
		build_free(recording, ledger);
		free(made);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_is_found_and_work_has_its_energy),
		cmocka_unit_test(where_there_is_no_step_there_is_one_level),
		cmocka_unit_test(pulses_are_no_context),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
