/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"

#include <string.h>

/*
 * Makes two kernels of 100 us with 400 us of idle time between them. From 90 us on there are `count` calls of
 * 20 us, one every 30 us.
 */
static struct build with_calls(const char *const *names, int count)
{
	struct build build = build_new(1);

	build_kernel(&build, 0, "k", 0, 100);
	for (int64_t i = 0; i < count; i++)
		build_call(&build, 0, names[i], 90 + i * 30, 110 + i * 30);
	build_kernel(&build, 0, "k", 500, 600);
	return build;
}

static void memory_taken_and_given_back_between_work_costs_the_idle_time_meanwhile(void **state)
{
	static const char *const names[] = {
		"cudaMalloc", "cuMemAlloc", "hipMalloc", "cudaFree", "cuMemFree", "hipFree"};
	struct build build = with_calls(names, 6);
	const struct kwhy_finding *finding = build_find(&build, "allocation-churn", NULL);

	(void)state;
	/* time: six calls of 20 us, less the first 10 us, in which a kernel still runs */
	ASSERT_FINDING(finding, 6, 110, 110);
	assert_non_null(strstr(finding->title, "cache emptied 1 times"));
	build_free(&build);
}

/*
 * 20 calls of cudaFree count as emptying a framework's cache of memory only if nothing else comes between
 * them: neither an allocation nor a launch.
 */
static void only_frees_in_a_row_empty_a_cache(void **state)
{
	static const char *const between[] = {"cudaFree", "cudaMalloc", NULL};

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct build build = build_new(1);
		const struct kwhy_finding *finding;

		build_kernel(&build, 0, "k", 0, 5);
		for (int64_t k = 0; k < 40; k++) {
			const int64_t at = 10 + 10 * k;

			if (k % 2 == 0)
				build_call(&build, 0, "cudaFree", at, at + 5);
			else if (between[i])
				build_call(&build, 0, between[i], at, at + 5);
			else
				build_issued_kernel(&build,
					(struct build_issue){0, "cudaLaunchKernel", at, at + 2}, 0, at + 3,
					at + 4);
		}
		build_kernel(&build, 0, "k", 500, 505);
		finding = build_find(&build, "allocation-churn", "allocation-churn.empty_run=8");
		assert_non_null(finding);
		assert_int_equal(strstr(finding->title, "cache emptied 1 times") != NULL, i == 0);
		build_free(&build);
	}
}

static void memory_taken_before_the_first_work_is_no_churn(void **state)
{
	struct build build = build_new(1);

	(void)state;
	for (int64_t i = 0; i < 6; i++)
		build_call(&build, 0, "cudaMalloc", i * 20, i * 20 + 20);
	build_kernel(&build, 0, "k", 200, 300);
	build_kernel(&build, 0, "k", 350, 400);
	assert_null(build_find(&build, "allocation-churn", NULL));
	build_free(&build);
}

static void memory_taken_while_the_device_works_costs_it_nothing(void **state)
{
	struct build build = build_new(1);

	(void)state;
	for (int64_t i = 0; i < 6; i++)
		build_call(&build, 0, "cudaMalloc", i * 20, i * 20 + 20);
	build_kernel(&build, 0, "k", 0, 300);
	assert_null(build_find(&build, "allocation-churn", NULL));
	build_free(&build);
}

/*
 * Makes kernels of 20 us, each followed by 2 us of idle time and a memset of 3 us, both inside the memset's
 * call.
 */
static struct build with_memsets(int count)
{
	struct build build = build_new(1);

	for (int64_t i = 0; i < count; i++) {
		int64_t at = i * 25;

		build_kernel(&build, 0, "k", at, at + 20);
		build_issued_memset(&build, (struct build_issue){0, "cuMemsetD8Async", at + 18, at + 22}, 0,
			at + 22, at + 25);
	}
	return build;
}

static void many_memsets_cost_their_time_and_the_idle_time_inside_their_calls(void **state)
{
	struct build build = with_memsets(16);

	(void)state;
	ASSERT_FINDING(build_find(&build, "memset-churn", NULL), 16, 80, 80);
	build_free(&build);
}

static void a_few_memsets_are_fine(void **state)
{
	struct build build = with_memsets(15);

	(void)state;
	assert_null(build_find(&build, "memset-churn", NULL));
	build_free(&build);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_taken_and_given_back_between_work_costs_the_idle_time_meanwhile),
		cmocka_unit_test(only_frees_in_a_row_empty_a_cache),
		cmocka_unit_test(memory_taken_before_the_first_work_is_no_churn),
		cmocka_unit_test(memory_taken_while_the_device_works_costs_it_nothing),
		cmocka_unit_test(many_memsets_cost_their_time_and_the_idle_time_inside_their_calls),
		cmocka_unit_test(a_few_memsets_are_fine),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
