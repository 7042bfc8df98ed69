/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/gpu_list.h"
#include "bench/series.h"

#include "cmocka_all.h"

#include <math.h>

struct runner {
	size_t calls, failing; /* failing: number of the run that fails, from 1; 0: none */
};

/* Fake run: run number n, from 0, takes n + 1 s, or fails. */
static enum kwhy_status run(void *context, size_t number, double *out_s, struct kwhy_error *error)
{
	struct runner *runner = context;

	assert_int_equal(number, runner->calls);
	runner->calls++;
	if (runner->failing == runner->calls)
		return kwhy_fail(error, KWHY_E_LOST, "the GPU has fallen off the bus");
	*out_s = 1 + (double)number;
	return KWHY_OK;
}

static void runs_are_as_many_as_asked_for_and_the_first_are_kept(void **state)
{
	struct runner runner = {0};
	struct kwhy_bench_series series = {.run = run, .context = &runner, .repeat = 9, .kept_most = 5};
	struct kwhy_error error;

	(void)state;
	assert_int_equal(kwhy_bench_series_run(&series, &error), KWHY_OK);
	assert_int_equal(runner.calls, 9);
	assert_int_equal(series.run_count, 9);
	assert_int_equal(series.energy_runs, 0);
	assert_int_equal(series.run_s.count, 5);
	assert_float_equal(series.run_s.median, 3, 0);
}

static void a_run_that_fails_is_the_last_and_is_not_counted(void **state)
{
	struct runner runner = {.failing = 3};
	struct kwhy_bench_series series = {.run = run, .context = &runner, .repeat = 9, .kept_most = 5};
	struct kwhy_error error;

	(void)state;
	assert_int_equal(kwhy_bench_series_run(&series, &error), KWHY_E_LOST);
	assert_int_equal(runner.calls, 3);
	assert_int_equal(series.run_count, 2);
}

static void steps_are_summed_up_in_the_order_they_had(void **state)
{
	double steps[200], p99_s;
	struct kwhy_median median;
	struct kwhy_error error;

	(void)state;
	for (size_t i = 0; i < 200; i++)
		steps[i] = (double)(200 - i);
	assert_int_equal(kwhy_bench_steps_sum_up(steps, 200, &median, &p99_s, &error), KWHY_OK);
	assert_float_equal(median.median, 100.5, 0);
	assert_float_equal(p99_s, 198.01, 1e-9);
	assert_float_equal(steps[0], 200, 0);
	assert_int_equal(kwhy_bench_steps_sum_up(steps, 2, &median, &p99_s, &error), KWHY_OK);
	assert_true(p99_s > median.p95 && p99_s < 200);
	assert_int_equal(kwhy_bench_steps_sum_up(steps, 0, &median, &p99_s, &error), KWHY_OK);
	assert_true(isnan(p99_s));
	assert_int_equal(median.count, 0);
}

static void without_meters_no_energy_becomes_known(void **state)
{
	struct kwhy_window_joules window = kwhy_window_joules_unknown();
	const char *missing = "not asked for";
	struct kwhy_arena arena = {0};
	struct kwhy_error error;

	(void)state;
	assert_int_equal(kwhy_bench_meters_read(NULL, &arena, &missing, &error), KWHY_OK);
	assert_string_equal(missing, "not asked for");
	kwhy_bench_meters_of(NULL, "a", 1, &arena, &window);
	assert_true(isnan(window.gross.value));
	assert_null(window.basis);
}

static void a_lost_device_takes_the_row_that_was_at_it(void **state)
{
	struct kwhy_arena arena = {0};
	struct kwhy_error error;
	const char *ended = NULL;
	size_t rows = 2;

	(void)state;
	assert_int_equal(kwhy_fail(&error, KWHY_E_LOST, "gone"), KWHY_E_LOST);
	assert_int_equal(kwhy_bench_end_early(&arena, &rows, &ended, &error), KWHY_OK);
	assert_int_equal(rows, 1);
	assert_string_equal(ended, "gone");
	assert_int_equal(kwhy_bench_end_early(&arena, &rows, &ended, &error), KWHY_E_LOST);
	assert_int_equal(rows, 0);
	kwhy_arena_done(&arena);
}

static void a_list_has_its_words_and_no_list_has_all(void **state)
{
	(void)state;
	assert_true(kwhy_bench_list_has("v0,v5", "v5"));
	assert_false(kwhy_bench_list_has("v0,v55", "v5"));
	assert_false(kwhy_bench_list_has("", "v5"));
	assert_true(kwhy_bench_list_has(NULL, "v5"));
}

/*
 * Busy time divided by the time of a run, at most 1. The busy time is measured in another run (queued behind
 * the gate kernel), which may take longer than the median run.
 */
static void a_device_is_busy_for_no_more_than_a_run(void **state)
{
	(void)state;
	assert_true(kwhy_bench_busy_ratio(0.5, 2) == 0.25);
	assert_true(kwhy_bench_busy_ratio(1.29, 1) == 1);
	assert_true(isnan(kwhy_bench_busy_ratio(NAN, 1)));
	assert_true(isnan(kwhy_bench_busy_ratio(1, NAN)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_are_as_many_as_asked_for_and_the_first_are_kept),
		cmocka_unit_test(a_run_that_fails_is_the_last_and_is_not_counted),
		cmocka_unit_test(steps_are_summed_up_in_the_order_they_had),
		cmocka_unit_test(without_meters_no_energy_becomes_known),
		cmocka_unit_test(a_lost_device_takes_the_row_that_was_at_it),
		cmocka_unit_test(a_device_is_busy_for_no_more_than_a_run),
		cmocka_unit_test(a_list_has_its_words_and_no_list_has_all),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
