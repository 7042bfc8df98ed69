/* SPDX-License-Identifier: Apache-2.0 */
#include "planned.h"

static void collectives_are_left_out_but_every_second(void **state)
{
	struct build build = build_new(1);

	(void)state;
	for (int i = 0; i < 4; i++)
		build_collective(&build, 0, 11 * i, 11 * i + 10);
	assert_made(made(&build, "thin-collectives", 2, NULL), 2, 21000);
}

static void work_does_not_wait_for_a_collective_of_its_stream(void **state)
{
	struct build build = build_new(1);

	(void)state;
	build_kernel(&build, 0, "a", 0, 10);
	build_collective(&build, 0, 11, 50);
	build_kernel(&build, 0, "b", 51, 61);
	assert_made(made(&build, "overlap-collectives", 0, NULL), 1, 50000);
}

static void work_does_not_wait_for_a_collective_that_its_stream_begins_with(void **state)
{
	struct build build = build_new(1);

	(void)state;
	build_collective(&build, 0, 5, 15);
	build_kernel(&build, 0, "a", 16, 26);
	assert_made(made(&build, "overlap-collectives", 0, NULL), 1, 10000);
}

/*
 * Makes change `id`, then overlap-collectives. Checks the number of places of the latter and the run's time
 * after both, ns. number: parameter of `id`.
 */
static void assert_overlapped_after(
	struct build *build, const char *id, uint32_t number, uint64_t places, int64_t after_ns)
{
	const struct kwhy_whatif_request change_requests[] = {
		{kwhy_whatif_change_find(id), number}, {kwhy_whatif_change_find("overlap-collectives"), 0}};
	struct kwhy_plan *plan = all_made(build, change_requests, 2, NULL);

	assert_int_equal(plan->change_count, 2);
	assert_int_equal(plan->changes[1].places, places);
	assert_int_equal(plan->changes[1].after.time_ns, after_ns);
	kwhy_plan_free(plan);
}

static void work_behind_a_collective_that_goes_does_not_wait_for_the_one_before(void **state)
{
	struct build build = build_new(1);

	(void)state;
	build_kernel(&build, 0, "a", 0, 10);
	build_collective(&build, 0, 11, 21);
	build_collective(&build, 0, 22, 32);
	build_kernel(&build, 0, "b", 33, 43);
	assert_overlapped_after(&build, "thin-collectives", 2, 1, 21200);
}

static void nor_does_work_behind_copies_that_go(void **state)
{
	struct build build = build_new(1);

	(void)state;
	build_kernel(&build, 0, "a", 0, 10);
	build_collective(&build, 0, 11, 50);
	build_copy(&build, 0, KWHY_COPY_D2H, 4000, 51, 53);
	build_copy(&build, 0, KWHY_COPY_H2D, 4000, 54, 56);
	build_kernel(&build, 0, "b", 57, 67);
	assert_overlapped_after(&build, "keep-on-device", 0, 1, 50000);
}

/*
 * Kernel 3 of stream 0 waits for the second collective, on stream `side`. thin-collectives removes
 * that collective and keeps the first one. Made after it, overlap-collectives must not let kernel 3
 * wait for the first one instead.
 */
static void nor_does_work_that_another_stream_held_up(void **state)
{
	struct build build = build_new(1);
	uint32_t side = build_stream(&build, 0);

	(void)state;
	launch(&build, 0, 10, 20);
	build_issued_kernel(&build, issue("cudaLaunchKernel", 3, 5), 0, 21, 31);
	build_collective(&build, side, 20, 60);
	build_collective(&build, side, 61, 101);
	build_issued_kernel(&build, issue("cudaLaunchKernel", 6, 8), 0, 102, 112);
	assert_overlapped_after(&build, "thin-collectives", 2, 1, 50000);
}

/*
 * Returns two steps, [0,31) and [32,80) us. The first has a kernel and a collective; the test adds the work
 * of the second one.
 */
static struct build two_steps(void)
{
	struct build build = build_new(1);

	build_range(&build, 0, "step", 0, 31);
	build_range(&build, 0, "step", 32, 80);
	for (size_t i = 0; i < build.recording->range_count; i++)
		build.recording->ranges[i].kind = KWHY_RANGE_STEP;
	build_kernel(&build, 0, "a", 0, 10);
	build_collective(&build, 0, 11, 31);
	return build;
}

static void work_waits_for_the_collective_of_another_step_before_that_of_its_own(void **state)
{
	struct build build = two_steps();

	(void)state;
	build_collective(&build, 0, 33, 43);
	build_kernel(&build, 0, "b", 44, 74);
	assert_made(made(&build, "overlap-collectives", 0, NULL), 1, 62200);
}

static void where_work_waits_for_collectives_of_other_steps_alone_it_is_said(void **state)
{
	struct build build = two_steps();

	(void)state;
	build_kernel(&build, 0, "b", 33, 43);
	assert_refused(made(&build, "overlap-collectives", 0, NULL), "of its own step");
}

static void where_there_are_no_collectives_nothing_waits_for_one(void **state)
{
	struct build build = build_new(1);

	(void)state;
	build_kernel(&build, 0, "a", 0, 10);
	assert_refused(made(&build, "overlap-collectives", 0, NULL), "no work waits for a collective");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(collectives_are_left_out_but_every_second),
		cmocka_unit_test(work_does_not_wait_for_a_collective_of_its_stream),
		cmocka_unit_test(work_does_not_wait_for_a_collective_that_its_stream_begins_with),
		cmocka_unit_test(work_behind_a_collective_that_goes_does_not_wait_for_the_one_before),
		cmocka_unit_test(nor_does_work_behind_copies_that_go),
		cmocka_unit_test(nor_does_work_that_another_stream_held_up),
		cmocka_unit_test(work_waits_for_the_collective_of_another_step_before_that_of_its_own),
		cmocka_unit_test(where_work_waits_for_collectives_of_other_steps_alone_it_is_said),
		cmocka_unit_test(where_there_are_no_collectives_nothing_waits_for_one),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
