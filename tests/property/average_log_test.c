/* SPDX-License-Identifier: Apache-2.0 */
#include "model/run_energy.h"
#include "unit/ledger/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Tests ledgers from the most common kind of power log, in which each reading is the mean power of
 * the last second. Readings are 50 ms to 250 ms apart, in one log of seven 1 s. Runs are random
 * (seeded), last 0.5 s to 20 s and have a known energy. They have one kernel or three, the same
 * power in all steps or another in each, and pauses or none. Of five logs three are exact to the
 * milliwatt, one has 1 W of noise, and one changes its value only every 100 ms.
 * `property_average_log 200` tests 200 runs.
 */

#define NS_PER_S INT64_C(1000000000)
#define WINDOW_S 1.0
#define RENEWED_S 0.1
#define NOISE_W 1.0
#define STEP_EXCESS 1e-5 /* a step's energy may exceed the run's by this ratio, which covers rounding */

enum log { LOG_EXACT, LOG_NOISY, LOG_STALE };

enum { STEPS_MAX = 12, PARTS_MAX = 8000, RUNS = 60 };

struct part {
	double start_s, power_w; /* the power lasts until the next part begins */
};

struct plan {
	uint64_t state;
	uint32_t meter;
	double start_s, end_s, idle_w, length_s;
	double period_s;
	enum log log;
	bool reads_before, reads_after;
	size_t steps, part_count;
	struct part parts[PARTS_MAX];
	double step_s[STEPS_MAX + 1];
};

struct figures {
	double truth_j, run_j, low_j, high_j;
	double step_error;  /* largest relative error of a step's energy */
	double step_excess; /* largest ratio of a step's energy to that of the run, minus 1; 0: no step has
			       more energy than the run */
};

static double even(struct plan *plan, double low, double high)
{
	uint64_t bits = plan->state += UINT64_C(0x9E3779B97F4A7C15); /* splitmix64 */

	bits = (bits ^ (bits >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	bits = (bits ^ (bits >> 27)) * UINT64_C(0x94D049BB133111EB);
	return low + (high - low) * (double)((bits ^ (bits >> 31)) >> 11) * 0x1p-53;
}

static void add_part(struct plan *plan, double start_s, double power_w)
{
	assert_true(plan->part_count < PARTS_MAX);
	plan->parts[plan->part_count++] = (struct part){start_s, power_w};
}

static double energy_j(const struct plan *plan, double from_s, double to_s)
{
	double sum_j = 0;

	for (size_t i = 0; i < plan->part_count; i++) {
		double end_s = i + 1 < plan->part_count ? plan->parts[i + 1].start_s : INFINITY;

		sum_j += plan->parts[i].power_w *
			fmax(0, fmin(end_s, to_s) - fmax(plan->parts[i].start_s, from_s));
	}
	return sum_j;
}

static int64_t ns_of(double seconds)
{
	return llround(seconds * (double)NS_PER_S);
}

/* Adds the kernels of one step, one after the other, and the step's range. */
static void add_step(struct plan *plan, struct kwhy_recording *recording, size_t step, double power_w,
	double pause_ratio, const char *name)
{
	double at_s = plan->step_s[step], end_s = plan->step_s[step + 1];
	double kernel_s = even(plan, 5e-3, 30e-3);

	while (at_s < end_s) {
		double stop_s = fmin(at_s + kernel_s, end_s);
		struct kwhy_activity row;

		/* no pause at the end of the run, as a run ends with its last activity */
		double busy_s = stop_s < plan->end_s ? (stop_s - at_s) * (1 - pause_ratio) : stop_s - at_s;

		row = build_activity(recording, 0, ns_of(at_s), ns_of(at_s + busy_s), name);
		row.blocks = 400;
		build_add(recording, row);
		add_part(plan, at_s, power_w);
		if (pause_ratio > 0)
			add_part(plan, at_s + busy_s, plan->idle_w);
		at_s = stop_s;
	}
	build_range(recording, 0, ns_of(plan->step_s[step]), ns_of(end_s), "step", KWHY_RANGE_STEP);
}

static void add_run(struct plan *plan, struct kwhy_recording *recording)
{
	static const char *const names[] = {"a", "b", "c"};
	bool one_level = even(plan, 0, 1) < 0.4, one_name = even(plan, 0, 1) < 0.5;
	double pause_ratio = even(plan, 0, 1) < 0.5 ? 0 : even(plan, 0, 0.4), level_w[3];

	for (int i = 0; i < 3; i++)
		level_w[i] = even(plan, plan->idle_w + 50, 680);
	for (size_t s = 0; s < plan->steps; s++) {
		size_t kind = one_level ? 0 : (size_t)even(plan, 0, 3);

		add_step(plan, recording, s, level_w[kind], pause_ratio, names[one_name ? 0 : kind]);
	}
	add_part(plan, plan->end_s, plan->idle_w);
}

static void add_readings(struct plan *plan, struct kwhy_recording *recording)
{
	double period_s = plan->period_s, jitter_s = even(plan, 0, 0.2) * period_s;
	double phase_s = even(plan, 0, RENEWED_S);
	double from_s = plan->reads_before ? plan->start_s - even(plan, 0.5, 3) : plan->start_s;
	double to_s = plan->reads_after ? plan->end_s + even(plan, 1.1, 3) : plan->end_s;

	for (double at_s = from_s + even(plan, 0, period_s); at_s < to_s; at_s += period_s) {
		double read_s = at_s + even(plan, 0, jitter_s), shown_s = read_s;
		double noise_w = plan->log == LOG_NOISY ? even(plan, -NOISE_W, NOISE_W) : 0;

		if (plan->log == LOG_STALE)
			shown_s = floor((read_s - phase_s) / RENEWED_S) * RENEWED_S + phase_s;
		OK(kwhy_recording_add_reading(recording, plan->meter, 0, 0, ns_of(read_s),
			llround(1e3 * (energy_j(plan, shown_s - WINDOW_S, shown_s) / WINDOW_S + noise_w)),
			&error));
	}
}

static struct kwhy_recording *make(struct plan *plan, uint64_t seed)
{
	struct kwhy_recording *recording = build_one();

	*plan = (struct plan){.state = seed * UINT64_C(0x9E3779B97F4A7C15)};
	recording->devices[0].sm_count = 132;
	recording->devices[0].limit_mw = 700000;
	plan->meter = even(plan, 0, 1) < 0.7 ? KWHY_METER_NVML_AVERAGE : KWHY_METER_ROCM_POWER;
	plan->idle_w = even(plan, 60, 140);
	plan->length_s = 0.5 * pow(40, even(plan, 0, 1));
	plan->start_s = 10;
	plan->end_s = 10 + plan->length_s;
	plan->steps = 1 + (size_t)even(plan, 0, STEPS_MAX);
	plan->reads_before = even(plan, 0, 1) < 0.7;
	plan->reads_after = even(plan, 0, 1) < 0.7;
	for (size_t s = 0; s <= plan->steps; s++)
		plan->step_s[s] = plan->start_s + plan->length_s * (double)s / (double)plan->steps;
	plan->log = (enum log)fmax(0, even(plan, -2, 3));
	plan->period_s = plan->reads_after && even(plan, 0, 1) < 0.2 ? 1 : even(plan, 0.05, 0.25);
	add_part(plan, 0, plan->idle_w);
	add_run(plan, recording);
	add_readings(plan, recording);
	return recording;
}

static struct figures measure(struct plan *plan, uint64_t seed)
{
	struct kwhy_recording *recording = make(plan, seed);
	struct kwhy_ledger *ledger = build_ledger(recording);
	const struct kwhy_run_energy run = kwhy_run_energy_of(&ledger->devices[0]);
	struct figures figures = {.truth_j = energy_j(plan, plan->start_s, plan->end_s),
		.run_j = run.run_nj * 1e-9,
		.low_j = (run.run_nj - run.below_nj) * 1e-9,
		.high_j = (run.run_nj + run.above_nj) * 1e-9};

	assert_int_equal(ledger->devices[0].energy.measured_nj, ledger->devices[0].energy.attributed_nj);
	assert_int_equal(ledger->step_count, plan->steps);
	for (size_t s = 0; s < ledger->step_count; s++) {
		double step_j = (double)ledger->steps[s].window_energy_nj * 1e-9;
		double true_j = energy_j(plan, plan->step_s[s], plan->step_s[s + 1]);

		figures.step_excess = fmax(figures.step_excess, step_j / figures.run_j - 1);
		figures.step_error = fmax(figures.step_error, fabs(step_j / true_j - 1));
	}
	build_free(recording, ledger);
	return figures;
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static size_t runs = RUNS;

static void means_of_a_second_give_the_energy_of_the_run_and_of_no_step_more_than_it(void **state)
{
	double *errors = calloc(runs, sizeof(*errors));
	struct plan *plan = calloc(1, sizeof(*plan));
	static const char *const logs[] = {"exact", "noisy", "stale"};
	size_t held = 0, exceeding = 0;

	(void)state;
	assert_non_null(errors);
	assert_non_null(plan);
	for (size_t i = 0; i < runs; i++) {
		struct figures figures = measure(plan, i + 1);
		bool holds = figures.low_j <= figures.truth_j && figures.truth_j <= figures.high_j;

		errors[i] = isnan(figures.run_j) ? INFINITY : fabs(figures.run_j / figures.truth_j - 1);
		held += holds;
		exceeding += figures.step_excess > STEP_EXCESS;
		if (figures.step_excess > STEP_EXCESS)
			print_message("excess %g\n", figures.step_excess);
		print_message("%3zu %5.2f s %2zu steps, read each %.2f s, %s%s%s %7.1f J: %7.1f (%7.1f to "
			      "%7.1f) %+6.2f %%%s, "
			      "worst step %.1f %%\n",
			i + 1, plan->length_s, plan->steps, plan->period_s, logs[plan->log],
			plan->reads_before ? " before" : "       ", plan->reads_after ? " after" : "      ",
			figures.truth_j, figures.run_j, figures.low_j, figures.high_j,
			100 * (figures.run_j / figures.truth_j - 1), holds ? "" : " OUT",
			100 * figures.step_error);
	}
	qsort(errors, runs, sizeof(*errors), compare);
	print_message(
		"%zu runs: median error %.2f %%, 90 %% within %.2f %%, worst %.2f %%; intervals hold %zu; "
		"%zu with a step above the run\n",
		runs, 100 * errors[runs / 2], 100 * errors[runs * 9 / 10], 100 * errors[runs - 1], held,
		exceeding);
	assert_true(errors[runs / 2] <= 0.02);
	assert_true((double)held >= 0.85 * (double)runs);
	assert_int_equal(exceeding, 0);
	free(errors);
	free(plan);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(means_of_a_second_give_the_energy_of_the_run_and_of_no_step_more_than_it),
	};

	if (argc > 1)
		runs = (size_t)strtoul(argv[1], NULL, 10);
	return kwhy_test_main(tests, NULL, NULL);
}
