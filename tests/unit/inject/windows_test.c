/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "inject/windows.h"

#include <math.h>

#define MS INT64_C(1000000)
#define SECOND (1000 * MS)

static const struct kwhy_inject_plan duty = {.from_mono_ns = INT64_MIN,
	.until_mono_ns = INT64_MAX,
	.origin_mono_ns = 5 * SECOND,
	.window_ns = 100 * MS,
	.share_ratio = 0.1,
	.seed = 7};

static void without_a_share_there_is_one_window_with_the_bounds_of_the_plan(void **state)
{
	const struct kwhy_inject_plan plan = {
		.from_mono_ns = 10, .until_mono_ns = 20, .share_ratio = (double)NAN};
	struct kwhy_inject_windows windows;

	(void)state;
	kwhy_inject_windows_init(&windows, &plan);
	assert_int_equal(windows.start_mono_ns, 10);
	assert_int_equal(windows.end_mono_ns, 20);
	kwhy_inject_windows_pass(&windows, 19);
	assert_int_equal(windows.end_mono_ns, 20);
	kwhy_inject_windows_pass(&windows, 20);
	assert_int_equal(windows.start_mono_ns, INT64_MAX);
	assert_int_equal(windows.end_mono_ns, INT64_MAX);
}

static void windows_cover_the_share_that_was_asked_for(void **state)
{
	static const double shares[] = {0.01, 0.1, 0.5, 0.9};

	(void)state;
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		struct kwhy_inject_plan plan = duty;
		struct kwhy_inject_windows windows;
		int64_t covered_ns = 0, last_ns = plan.origin_mono_ns;

		plan.share_ratio = shares[i];
		kwhy_inject_windows_init(&windows, &plan);
		for (int n = 0; n < 20000; n++) {
			assert_true(windows.start_mono_ns < windows.end_mono_ns);
			assert_true(windows.end_mono_ns > last_ns);
			last_ns = windows.end_mono_ns;
			covered_ns += windows.end_mono_ns - windows.start_mono_ns;
			kwhy_inject_windows_pass(&windows, last_ns);
		}
		/*
		 * Lengths of windows and gaps are uniform from 0.5 to 1.5 of their means, a relative standard
		 * deviation of 0.29. The tolerance is 4 standard errors of 20,000 of each; the factor 1.5,
		 * just above sqrt(2), is there because both vary.
		 */
		assert_true(fabs((double)covered_ns / (double)(last_ns - plan.origin_mono_ns) - shares[i]) <
			4 * 0.29 * 1.5 / sqrt(20000) * shares[i]);
	}
}

static void every_moment_after_the_origin_has_the_same_chance(void **state)
{
	enum { RUNS = 4000, MOMENTS = 12 };
	int inside[MOMENTS] = {0};

	(void)state;
	for (uint64_t seed = 0; seed < RUNS; seed++) {
		struct kwhy_inject_plan plan = duty;
		struct kwhy_inject_windows windows;

		plan.seed = seed * 977;
		kwhy_inject_windows_init(&windows, &plan);
		for (int i = 0; i < MOMENTS; i++) {
			const int64_t moment_ns = plan.origin_mono_ns + i * 170 * MS;

			kwhy_inject_windows_pass(&windows, moment_ns);
			inside[i] += windows.start_mono_ns <= moment_ns;
		}
	}
	for (int i = 0; i < MOMENTS; i++) /* tolerance of 4 standard errors */
		assert_true(fabs(inside[i] - 0.1 * RUNS) < 4 * sqrt(RUNS * 0.1 * 0.9));
}

static void who_comes_later_sees_the_same_windows(void **state)
{
	struct kwhy_inject_windows first, second;

	(void)state;
	kwhy_inject_windows_init(&first, &duty);
	kwhy_inject_windows_init(&second, &duty);
	kwhy_inject_windows_pass(&second, 77 * SECOND);
	while (first.end_mono_ns <= 77 * SECOND)
		kwhy_inject_windows_pass(&first, first.end_mono_ns);
	assert_int_equal(first.start_mono_ns, second.start_mono_ns);
	assert_int_equal(first.end_mono_ns, second.end_mono_ns);
}

static void windows_keep_within_the_bounds_of_the_plan(void **state)
{
	struct kwhy_inject_plan plan = duty;
	struct kwhy_inject_windows windows;
	int count = 0;

	(void)state;
	plan.share_ratio = 0.9;
	plan.from_mono_ns = plan.origin_mono_ns = 5 * SECOND;
	plan.until_mono_ns = 8 * SECOND;
	kwhy_inject_windows_init(&windows, &plan);
	for (; windows.end_mono_ns != INT64_MAX; count++) {
		assert_true(windows.start_mono_ns >= plan.from_mono_ns);
		assert_true(windows.end_mono_ns <= plan.until_mono_ns);
		kwhy_inject_windows_pass(&windows, windows.end_mono_ns);
	}
	assert_true(count > 15 && count < 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_share_there_is_one_window_with_the_bounds_of_the_plan),
		cmocka_unit_test(windows_cover_the_share_that_was_asked_for),
		cmocka_unit_test(every_moment_after_the_origin_has_the_same_chance),
		cmocka_unit_test(who_comes_later_sees_the_same_windows),
		cmocka_unit_test(windows_keep_within_the_bounds_of_the_plan),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
