/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"

#include <string.h>

/*
 * Adds a step of 40 us: a kernel of 20 us, a copy of 4 bytes to the host (2 us), and 18 us of idle time. The
 * host waits for the copy by the call `wait`; NULL: the copy's own call waits.
 */
static void add_step(struct build *build, int64_t at, const char *copy, const char *wait)
{
	build_issued_kernel(build, (struct build_issue){0, "cuLaunchKernel", at - 3, at - 1}, 0, at, at + 20);
	build_issued_copy(build, (struct build_issue){0, copy, at, wait ? at + 2 : at + 23}, 0,
		(struct build_copied){KWHY_COPY_D2H, KWHY_MEMORY_PAGEABLE, 4, at + 20, at + 22});
	if (wait) {
		build_call(build, 0, "cudaGetLastError", at + 2, at + 3);
		build_call(build, 0, wait, at + 3, at + 23);
	}
}

static struct build steps(int count, const char *copy, const char *wait)
{
	struct build build = build_new(1);

	for (int i = 0; i < count; i++)
		add_step(&build, (int64_t)i * 40, copy, wait);
	build_issued_kernel(&build, (struct build_issue){0, "cuLaunchKernel", count * 40 - 3, count * 40 - 1},
		0, count * 40, count * 40 + 20);
	return build;
}

static void each_read_back_that_is_waited_for_costs_the_idle_time_behind_it(void **state)
{
	static const char *const waits[] = {"cudaStreamSynchronize", "cudaEventSynchronize",
		"cuStreamSynchronize", "cuCtxSynchronize", "hipDeviceSynchronize", "cudaFree"};

	(void)state;
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		struct build build = steps(5, "cudaMemcpyAsync", waits[i]);

		/* 5 x (2 us copy + 18 us idle) */
		ASSERT_FINDING(build_find(&build, "scalar-readbacks", NULL), 5, 100, 100);
		build_free(&build);
	}
}

/*
 * A read-back costs the idle time that follows it, but at most the time of the wait: without the wait the
 * host would be ahead by that time only. Longer idle time has another cause.
 */
static void idle_time_behind_a_read_back_counts_up_to_the_time_of_the_wait(void **state)
{
	struct build build = build_new(1);

	(void)state;
	for (int i = 0; i < 5; i++)
		add_step(&build, (int64_t)i * 1000, "cudaMemcpyAsync", "cudaStreamSynchronize");
	build_issued_kernel(&build, (struct build_issue){0, "cuLaunchKernel", 4997, 4999}, 0, 5000, 5020);
	/*
	 * 5 x (2 us copy + 2 us in the copy's call + 20 us in the wait), though the device idles for 978 us
	 * each time
	 */
	ASSERT_FINDING(build_find(&build, "scalar-readbacks", NULL), 5, 120, 120);
	build_free(&build);
}

static void a_blocking_copy_is_its_own_wait(void **state)
{
	static const char *const copies[] = {"cudaMemcpy", "cuMemcpyDtoH", "hipMemcpy"};

	(void)state;
	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
		struct build build = steps(5, copies[i], NULL);

		ASSERT_FINDING(build_find(&build, "scalar-readbacks", NULL), 5, 100, 100);
		build_free(&build);
	}
}

static void a_read_back_that_nobody_waits_for_is_fine(void **state)
{
	struct build build = build_new(1);

	(void)state;
	for (int64_t at = 0; at < 200; at += 40) {
		build_issued_kernel(
			&build, (struct build_issue){0, "cuLaunchKernel", at - 3, at - 1}, 0, at, at + 20);
		build_issued_copy(&build, (struct build_issue){0, "cudaMemcpyAsync", at, at + 2}, 0,
			(struct build_copied){KWHY_COPY_D2H, KWHY_MEMORY_PINNED, 4, at + 20, at + 22});
	}
	assert_null(build_find(&build, "scalar-readbacks", NULL));
	build_free(&build);
}

/* cudaMemcpyAsync to pageable memory returns when the host has the bytes, so it counts as a wait. */
static void a_call_that_blocks_for_pageable_memory_is_its_own_wait(void **state)
{
	struct build build = steps(5, "cudaMemcpyAsync", NULL);

	(void)state;
	ASSERT_FINDING(build_find(&build, "scalar-readbacks", NULL), 5, 100, 100);
	build_free(&build);
}

/*
 * Makes two kernels, from 0 to 100 us and from 200 to 300 us, and two waits while no kernel runs: from
 * start_us to end_us and from 140 to 160 us.
 */
static struct build waits_between(const char *name, int64_t start_us, int64_t end_us)
{
	struct build build = build_new(1);

	build_kernel(&build, 0, "k", 0, 100);
	build_call(&build, 0, name, start_us, end_us);
	build_call(&build, 0, name, 140, 160);
	build_kernel(&build, 0, "k", 200, 300);
	return build;
}

static void waits_that_found_the_device_idle_are_redundant(void **state)
{
	static const char *const names[] = {"cudaDeviceSynchronize", "cudaEventSynchronize",
		"cuStreamSynchronize", "cuCtxSynchronize", "hipStreamSynchronize"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct build build = waits_between(names[i], 110, 125);

		ASSERT_FINDING(build_find(&build, "redundant-syncs", NULL), 2, 35, 35);
		assert_string_equal(build.findings->items[0].id, "redundant-syncs");
		build_free(&build);
	}
}

static void a_wait_for_running_work_is_not_redundant(void **state)
{
	struct build build = waits_between("cudaDeviceSynchronize", 95, 125);

	(void)state;
	assert_null(build_find(&build, "redundant-syncs", NULL));
	build_free(&build);
}

static void waits_of_two_threads_at_once_count_once(void **state)
{
	struct build build = waits_between("cudaDeviceSynchronize", 110, 125);

	(void)state;
	build_call(&build, build_thread(&build, 0), "cudaDeviceSynchronize", 120, 150);
	/* waits of two threads, 110-125, 120-150 and 140-160 us, cover 50 us in all */
	ASSERT_FINDING(build_find(&build, "redundant-syncs", NULL), 3, 50, 50);
	build_free(&build);
}

static void a_wait_while_another_device_of_the_process_works_is_not_redundant(void **state)
{
	struct build build = build_new(2);
	struct kwhy_stream other = {.device = 1, .process = 0, .context = 2, .id = 9};
	struct kwhy_error error;
	uint32_t stream;

	(void)state;
	assert_int_equal(kwhy_recording_add_stream(build.recording, &other, &stream, &error), KWHY_OK);
	build_kernel(&build, 0, "k", 0, 100);
	build_kernel(&build, 0, "k", 200, 300);
	build_kernel(&build, stream, "k", 0, 300);
	build_call(&build, 0, "cudaDeviceSynchronize", 110, 130);
	build_call(&build, 0, "cudaDeviceSynchronize", 140, 160);
	assert_null(build_find(&build, "redundant-syncs", NULL));
	build_free(&build);
}

static void a_wait_is_about_the_device_that_the_thread_gave_work_last(void **state)
{
	struct build build = build_new(2);
	struct kwhy_stream other = {.device = 1, .process = 0, .context = 2, .id = 9};
	struct kwhy_error error;
	const struct kwhy_finding *finding;
	uint32_t stream;

	(void)state;
	assert_int_equal(kwhy_recording_add_stream(build.recording, &other, &stream, &error), KWHY_OK);
	build_issued_kernel(&build, (struct build_issue){0, "cudaLaunchKernel", 0, 5}, 0, 10, 20);
	build_issued_kernel(&build, (struct build_issue){0, "cudaLaunchKernel", 5, 9}, stream, 10, 20);
	build_call(&build, 0, "cudaDeviceSynchronize", 30, 40);
	build_call(&build, 0, "cudaDeviceSynchronize", 45, 50);
	build_issued_kernel(&build, (struct build_issue){0, "cudaLaunchKernel", 90, 95}, 0, 100, 120);
	build_issued_kernel(&build, (struct build_issue){0, "cudaLaunchKernel", 96, 99}, stream, 100, 120);
	finding = build_find(&build, "redundant-syncs", NULL);
	ASSERT_FINDING(finding, 2, 15, 15);
	assert_int_equal(finding->device, 1);
	build_free(&build);
}

/*
 * Makes `count` kernels of 10 us, one every 20 us. After each `every`th kernel the host waits for the device.
 */
static struct build waiting_loop(int count, int every, const char *wait)
{
	struct build build = build_new(1);

	for (int64_t i = 0; i < count; i++) {
		int64_t at = i * 20;

		build_issued_kernel(
			&build, (struct build_issue){0, "cudaLaunchKernel", at - 5, at - 1}, 0, at, at + 10);
		if (i % every == every - 1)
			build_call(&build, 0, wait, at, at + 11);
	}
	return build;
}

static void a_wait_after_every_kernel_drains_the_device_each_time(void **state)
{
	static const char *const waits[] = {
		"cudaDeviceSynchronize", "cuCtxSynchronize", "cudaEventSynchronize", "cudaFree"};

	(void)state;
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		struct build build = waiting_loop(20, 1, waits[i]);

		/*
		 * 19 gaps of 10 us, all of which can be saved, as no two kernels are queued here from which a
		 * gap that remains would be known
		 */
		ASSERT_FINDING(build_find(&build, "sync-after-every-op", NULL), 20, 190, 190);
		build_free(&build);
	}
}

static void gaps_close_to_the_smallest_before_queued_work(void **state)
{
	struct build build = waiting_loop(20, 1, "cudaDeviceSynchronize");
	const struct kwhy_finding *finding;

	(void)state;
	build_issued_kernel(&build, (struct build_issue){0, "cudaLaunchKernel", 376, 377}, 0, 392, 393);
	finding = build_find(&build, "sync-after-every-op", NULL);
	ASSERT_FINDING(finding, 20, 190, 19 * 8);
	assert_non_null(strstr(finding->saving.assumption, "2.00 \xC2\xB5s"));
	build_free(&build);
}

static void a_wait_after_every_fourth_kernel_is_no_habit(void **state)
{
	struct build build = waiting_loop(80, 4, "cudaDeviceSynchronize");

	(void)state;
	assert_null(build_find(&build, "sync-after-every-op", NULL));
	assert_non_null(build_find(&build, "sync-after-every-op", "sync-after-every-op.min_share=0.25"));
	build_free(&build);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_read_back_that_is_waited_for_costs_the_idle_time_behind_it),
		cmocka_unit_test(idle_time_behind_a_read_back_counts_up_to_the_time_of_the_wait),
		cmocka_unit_test(a_blocking_copy_is_its_own_wait),
		cmocka_unit_test(a_read_back_that_nobody_waits_for_is_fine),
		cmocka_unit_test(a_call_that_blocks_for_pageable_memory_is_its_own_wait),
		cmocka_unit_test(waits_that_found_the_device_idle_are_redundant),
		cmocka_unit_test(a_wait_for_running_work_is_not_redundant),
		cmocka_unit_test(waits_of_two_threads_at_once_count_once),
		cmocka_unit_test(a_wait_while_another_device_of_the_process_works_is_not_redundant),
		cmocka_unit_test(a_wait_is_about_the_device_that_the_thread_gave_work_last),
		cmocka_unit_test(a_wait_after_every_kernel_drains_the_device_each_time),
		cmocka_unit_test(gaps_close_to_the_smallest_before_queued_work),
		cmocka_unit_test(a_wait_after_every_fourth_kernel_is_no_habit),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
