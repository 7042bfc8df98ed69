/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"

#include <string.h>

/*
 * Makes `count` kernels of 5 us. Each launch call takes 10 us and the kernel begins 5 us after it. After the
 * kernel's end and `pause_us` more, 5 us pass before the next launch. `between`: a call of 2 us before each
 * launch but the first; NULL: none.
 */
static struct build late_launches(int count, int64_t pause_us, const char *between)
{
	struct build build = build_new(1);
	int64_t period_us = 25 + pause_us;

	for (int64_t i = 0; i < count; i++) {
		int64_t at = i * period_us;

		if (between && i > 0)
			build_call(&build, 0, between, at - pause_us - 2, at - pause_us);
		build_issued_kernel(&build, (struct build_issue){0, "cudaLaunchKernel", at, at + 10}, 0,
			at + 15, at + 20);
	}
	return build;
}

static void a_device_that_waits_for_each_launch_is_launch_bound(void **state)
{
	struct build build = late_launches(21, 0, NULL);

	(void)state;
	ASSERT_FINDING(build_find(&build, "launch-bound", NULL), 20, 400, 400);
	build_free(&build);
}

/*
 * A launch call that takes 300 us, as with a full queue of the driver, must not count as a pause of the host
 * between calls.
 */
static void a_long_launch_is_not_the_hosts_own_time(void **state)
{
	struct build build = build_new(1);

	(void)state;
	for (int64_t i = 0; i < 21; i++)
		build_issued_kernel(&build,
			(struct build_issue){0, "cudaLaunchKernel", 320 * i, 320 * i + 300}, 0, 320 * i + 301,
			320 * i + 310);
	assert_null(build_find(&build, "host-gaps", NULL));
	build_free(&build);
}

/*
 * Makes 40 kernels that begin 950 us after their launch, as on a device that is shared with other programs.
 * The host waits for each.
 */
static struct build late_starts(void)
{
	struct build build = build_new(1);

	for (int64_t i = 0; i < 40; i++) {
		int64_t at = 1005 * i;

		build_issued_kernel(&build, (struct build_issue){0, "cudaLaunchKernel", at, at + 5}, 0,
			at + 950, at + 1000);
		build_call(&build, 0, "cudaStreamSynchronize", at + 10, at + 1000);
	}
	return build;
}

static void work_that_starts_long_after_its_launch_is_not_launch_bound(void **state)
{
	struct build build = late_starts();

	(void)state;
	/*
	 * 39 idle intervals of 955 us, of which the first 10 us, until the launch call has returned, do not
	 * count
	 */
	ASSERT_FINDING(build_find(&build, "late-starts", NULL), 39, 39 * 945, 39 * 945);
	build_free(&build);
	build = late_starts();
	assert_null(build_find(&build, "launch-bound", NULL));
	build_free(&build);
	build = late_starts();
	assert_null(build_find(&build, "host-gaps", NULL));
	build_free(&build);
}

/*
 * A copy to pageable memory takes 290 us on the device, and its call returns 380 us after its end. The idle
 * time in that call belongs to the copy; it must not be found as slow work of the host.
 */
static void idle_inside_a_blocking_copy_is_that_copy(void **state)
{
	struct build build = build_new(1);
	const struct kwhy_finding *finding;

	(void)state;
	for (int64_t at = 0; at < 20000; at += 1000) {
		build_issued_kernel(&build, (struct build_issue){0, "cudaLaunchKernel", at, at + 5}, 0,
			at + 10, at + 300);
		build_issued_copy(&build, (struct build_issue){0, "cudaMemcpyAsync", at + 6, at + 980}, 0,
			(struct build_copied){
				KWHY_COPY_D2H, KWHY_MEMORY_PAGEABLE, 1000000, at + 310, at + 600});
	}
	finding = build_find(&build, "pageable-copies", NULL);
	assert_non_null(finding);
	/*
	 * the copies and the idle time inside their calls: 20 x (290 us copy + 10 us before it), and in the
	 * 19 gaps 380 us after a copy and 4 us before the next kernel
	 */
	assert_int_equal(finding->time_ns, (20 * 300 + 19 * (380 + 4)) * INT64_C(1000));
	for (size_t i = 0; i < build.findings->count; i++)
		assert_true(strcmp(build.findings->items[i].id, "host-gaps") != 0 &&
			strcmp(build.findings->items[i].id, "launch-bound") != 0);
	build_free(&build);
}

/*
 * If records were lost, missing work may have run in idle time, so findings of idle time must say so. A
 * finding that only counts kernels need not.
 */
static void a_finding_of_idle_time_says_where_rows_are_lost(void **state)
{
	struct build build = late_launches(21, 0, NULL);
	const struct kwhy_finding *finding = build_find(&build, "launch-bound", NULL);

	(void)state;
	assert_null(strstr(finding->saving.assumption, "lost"));
	build_free(&build);
	build = late_launches(21, 0, NULL);
	build.recording->lost.dropped_records = 1;
	finding = build_find(&build, "launch-bound", NULL);
	assert_non_null(strstr(
		finding->saving.assumption, "; rows are lost, and what ran in them counts as idle here"));
	build_free(&build);
	build = build_new(1);
	build.recording->lost.has_holes = true;
	build_blocks(&build, 0, 10, 0, 1000);
	finding = build_find(&build, "under-filled-kernels", NULL);
	assert_non_null(finding);
	assert_null(strstr(finding->saving.assumption, "lost"));
	build_free(&build);
}

/*
 * 20 idle intervals of 20 us each: 10 us inside the launch call (category launch), and 5 us before it and 5
 * us after it (category host).
 */
static void a_finding_is_divided_by_what_the_host_did_in_the_time_it_counts(void **state)
{
	struct build build = late_launches(21, 0, NULL);
	const struct kwhy_finding *finding = build_find(&build, "launch-bound", NULL);

	(void)state;
	assert_int_equal(finding->category_ns[KWHY_CATEGORY_LAUNCH], 200000);
	assert_int_equal(finding->category_ns[KWHY_CATEGORY_HOST], 200000);
	build_free(&build);
	/* idle intervals of 220 us, of which 10 us inside the call count as launching */
	build = late_launches(3, 200, NULL);
	finding = build_find(&build, "host-gaps", NULL);
	assert_int_equal(finding->category_ns[KWHY_CATEGORY_HOST], 410000);
	assert_int_equal(finding->category_ns[KWHY_CATEGORY_LAUNCH], 0);
	build_free(&build);
}

static void driver_launches_count_like_those_of_the_runtime(void **state)
{
	struct build build = build_new(1);

	(void)state;
	for (int64_t i = 0; i < 21; i++)
		build_issued_kernel(&build, (struct build_issue){0, "cuLaunchKernelEx", i * 25, i * 25 + 10},
			0, i * 25 + 15, i * 25 + 20);
	ASSERT_FINDING(build_find(&build, "launch-bound", NULL), 20, 400, 400);
	build_free(&build);
}

static void queued_work_is_not_launch_bound(void **state)
{
	struct build build = build_new(1);

	(void)state;
	for (int64_t i = 0; i < 40; i++)
		build_issued_kernel(&build, (struct build_issue){0, "cudaLaunchKernel", i * 2, i * 2 + 1}, 0,
			100 + i * 25, 120 + i * 25);
	assert_null(build_find(&build, "launch-bound", NULL));
	build_free(&build);
}

static void idle_time_behind_a_wait_is_not_launch_bound(void **state)
{
	struct build build = late_launches(21, 0, "cudaStreamSynchronize");

	(void)state;
	assert_null(build_find(&build, "launch-bound", NULL));
	build_free(&build);
}

static void a_host_that_is_elsewhere_leaves_host_gaps_and_its_range_is_named(void **state)
{
	struct build build = late_launches(3, 200, NULL);
	const struct kwhy_finding *finding;

	(void)state;
	build_range(&build, 0, "step", 0, 700);
	build_range(&build, 0, "tokenize", 230, 440);
	/*
	 * 2 x (215 us from the end of a call to the start of the next, less 10 us at its start in which the
	 * device is still busy)
	 */
	finding = build_find(&build, "host-gaps", NULL);
	ASSERT_FINDING(finding, 2, 410, 410);
	assert_int_equal(finding->evidence_count, 2);
	assert_non_null(strstr(finding->evidence[0].what, "host in range step"));
	assert_non_null(strstr(finding->evidence[1].what, "host in range tokenize"));
	build_free(&build);
}

/*
 * If the threads of ranges are unknown, a pause of the host is named after the range that contains its
 * middle; of several, after the one that starts last.
 */
static void a_host_gap_of_no_known_thread_is_named_after_the_range_around_its_middle(void **state)
{
	struct build build = late_launches(3, 201, NULL);
	const struct kwhy_finding *finding;

	(void)state;
	build_range(&build, 0, "step", 0, 700);
	/* the first pause is from 20 to 226 us */
	finding = build_find(&build, "host-gaps", NULL);
	assert_int_equal(finding->evidence[0].start_ns, 20000);
	assert_int_equal(finding->evidence[0].end_ns, 226000);
	build_free(&build);
	build = late_launches(3, 201, NULL);
	build_range(&build, 0, "step", 0, 700);
	build_range(&build, 0, "ends in the middle", 20, 123);
	build_range(&build, 0, "begins in the middle", 123, 240);
	build_range(&build, 0, "begins too late", 124, 240);
	for (size_t i = 0; i < build.recording->range_count; i++)
		build.recording->ranges[i].thread = KWHY_NONE;
	finding = build_find(&build, "host-gaps", NULL);
	assert_non_null(strstr(finding->evidence[0].what, "host in range begins in the middle"));
	build_free(&build);
}

/*
 * In both pauses of 200 us, the innermost range that covers at least half of the pause gives the finding's
 * name, and the ranges around it the source line and the cure.
 */
static void a_host_gap_is_named_after_the_deepest_range_that_covers_half_of_it(void **state)
{
	struct build build = late_launches(3, 200, NULL);
	const struct kwhy_finding *finding;

	(void)state;
	build_range(&build, 0, "step 1", 0, 700);
	build_host_range(&build, KWHY_HOST_PYTHON, "main", "train.py", 0, 700);
	for (int64_t at = 20; at < 400; at += 225) {
		build_host_range(
			&build, KWHY_HOST_USER, "DistributedDataParallel.forward", NULL, at, at + 200);
		build_host_range(
			&build, KWHY_HOST_OPERATOR, "aten::unflatten_dense_tensors", NULL, at + 10, at + 195);
		build_host_range(&build, KWHY_HOST_OPERATOR, "aten::view", NULL, at + 100, at + 140);
	}
	finding = build_find(&build, "host-gaps", NULL);
	assert_non_null(strstr(finding->title,
		"2 times, in aten::unflatten_dense_tensors of DistributedDataParallel.forward "
		"(train.py:42)"));
	assert_non_null(strstr(finding->cure, "broadcast_buffers=False"));
	assert_null(strstr(finding->cure, "worker"));
	assert_string_equal(finding->change, "");
	assert_non_null(strstr(finding->evidence[0].what,
		"host in range aten::unflatten_dense_tensors of DistributedDataParallel.forward"));
	build_free(&build);
}

/*
 * Checks that the cure of two pauses contains `part` if a range of this kind and name covers them. The
 * function "main" around it must not decide the cure.
 */
static void expect_cure(enum kwhy_host_kind kind, const char *name, const char *part)
{
	struct build build = late_launches(3, 200, NULL);
	const struct kwhy_finding *finding;

	build_host_range(&build, KWHY_HOST_PYTHON, "main", "train.py", 0, 700);
	build_host_range(&build, kind, name, NULL, 0, 690);
	finding = build_find(&build, "host-gaps", NULL);
	assert_non_null(finding);
	if (!strstr(finding->cure, part))
		fail_msg("%s: %s", name, finding->cure);
	build_free(&build);
}

static void the_cure_of_a_host_gap_follows_what_held_the_host(void **state)
{
	(void)state;
	expect_cure(KWHY_HOST_USER, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
		"pin_memory");
	expect_cure(KWHY_HOST_OPERATOR, "aten::item", "read values back less often");
	expect_cure(
		KWHY_HOST_PYTHON, "<built-in method tolist of Tensor object>", "read values back less often");
	expect_cure(KWHY_HOST_PYTHON, "<built-in function print>", "read values back less often");
	expect_cure(KWHY_HOST_PYTHON, "empty_cache", "drop torch.cuda.empty_cache()");
	expect_cure(KWHY_HOST_PYTHON, "save_checkpoint", "off the loop");
	expect_cure(KWHY_HOST_NVTX, "tokenize", "off the loop");
	expect_cure(KWHY_HOST_NVTX, "XlaEmitLlvmIr:#module=gemm#", "compile once, before the loop");
	expect_cure(KWHY_HOST_OPERATOR, "CompiledFunctionBackward", "reduce-overhead");
	expect_cure(KWHY_HOST_OPERATOR, "aten::batch_norm", "torch.compile");
	expect_cure(KWHY_HOST_SYSTEM, "read", "other threads read and write");
	expect_cure(KWHY_HOST_NVTX, "anything", "worker threads");
}

static void pauses_between_launches_are_no_host_gaps(void **state)
{
	struct build build = late_launches(21, 20, NULL);

	(void)state;
	assert_null(build_find(&build, "host-gaps", NULL));
	assert_non_null(build_find(&build, "host-gaps", "host-gaps.min_us=20"));
	build_free(&build);
}

static void a_device_held_for_seconds_with_nothing_to_do_is_an_idle_context(void **state)
{
	struct build build = build_new(1);

	(void)state;
	build_kernel(&build, 0, "k", 0, 1000);
	build_kernel(&build, 0, "k", 2501000, 2502000);
	build_kernel(&build, 0, "k", 3001000, 3002000);
	ASSERT_FINDING(build_find(&build, "idle-context", NULL), 1, 2500000, 2500000);
	build_free(&build);
}

static void what_a_released_context_saves_is_its_power_above_clean_idle(void **state)
{
	struct kwhy_detect_options options = kwhy_detect_options_default();
	struct build build = build_new(1);
	const struct kwhy_finding *finding;

	(void)state;
	build_kernel(&build, 0, "k", 0, 1000);
	build_kernel(&build, 0, "k", 2501000, 2502000);
	build_finish(&build, true);
	build.ledger->devices[0].energy.clean_idle_w = 60; /* context idle is 100 W */
	finding = build_detect(&build, "idle-context", &options);
	assert_non_null(finding);
	assert_int_equal(finding->energy_nj, INT64_C(250000000000));
	assert_int_equal(finding->saving.energy_nj, INT64_C(100000000000));
	assert_true(finding->saving.frees_device);
	build_free(&build);
}

static void short_pauses_are_no_idle_context(void **state)
{
	struct build build = build_new(1);

	(void)state;
	build_kernel(&build, 0, "k", 0, 1000);
	build_kernel(&build, 0, "k", 501000, 502000);
	assert_null(build_find(&build, "idle-context", NULL));
	build_free(&build);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_that_waits_for_each_launch_is_launch_bound),
		cmocka_unit_test(a_long_launch_is_not_the_hosts_own_time),
		cmocka_unit_test(work_that_starts_long_after_its_launch_is_not_launch_bound),
		cmocka_unit_test(idle_inside_a_blocking_copy_is_that_copy),
		cmocka_unit_test(a_finding_of_idle_time_says_where_rows_are_lost),
		cmocka_unit_test(a_finding_is_divided_by_what_the_host_did_in_the_time_it_counts),
		cmocka_unit_test(driver_launches_count_like_those_of_the_runtime),
		cmocka_unit_test(queued_work_is_not_launch_bound),
		cmocka_unit_test(idle_time_behind_a_wait_is_not_launch_bound),
		cmocka_unit_test(a_host_that_is_elsewhere_leaves_host_gaps_and_its_range_is_named),
		cmocka_unit_test(a_host_gap_of_no_known_thread_is_named_after_the_range_around_its_middle),
		cmocka_unit_test(a_host_gap_is_named_after_the_deepest_range_that_covers_half_of_it),
		cmocka_unit_test(the_cure_of_a_host_gap_follows_what_held_the_host),
		cmocka_unit_test(pauses_between_launches_are_no_host_gaps),
		cmocka_unit_test(a_device_held_for_seconds_with_nothing_to_do_is_an_idle_context),
		cmocka_unit_test(what_a_released_context_saves_is_its_power_above_clean_idle),
		cmocka_unit_test(short_pauses_are_no_idle_context),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
