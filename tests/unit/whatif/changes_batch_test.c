/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the change bigger-batch, by which one step does the work of several steps. */
#include "planned.h"

#include <string.h>

static struct kwhy_error error;

static void a_batch_cannot_grow_where_no_steps_are_known(void **state)
{
	struct build build = build_new(1);

	(void)state;
	launch(&build, 0, 10, 20);
	assert_refused(made(&build, "bigger-batch", 2, NULL), "--steps");
}

/*
 * Each of five steps has a kernel of 90 us. With twice the batch, steps 1 and 2 become one of 180 us, and so
 * do 3 and 4; step 5 stays as it is.
 */
static void the_last_steps_of_a_batch_do_no_more_work_than_there_is(void **state)
{
	struct build build = build_new(1);
	struct kwhy_plan *plan;

	(void)state;
	for (int i = 0; i < 5; i++) {
		build_range(&build, 0, "step", 100 * i, 100 * i + 99);
		build.recording->ranges[i].kind = KWHY_RANGE_STEP;
		launch(&build, 100 * i, 100 * i + 5, 100 * i + 95);
		build_call(&build, 0, "cudaStreamSynchronize", 100 * i + 3, 100 * i + 96);
	}
	plan = made(&build, "bigger-batch", 2, NULL);
	assert_non_null(strstr(plan->changes[0].assumption, "3 steps (ranges) do the work of up to 2 each"));
	/* 180 + 10 + 180 + 10 + 90 us: the gaps between steps stay at 10 us */
	assert_made(plan, 5, 470000);
}

/*
 * Kernels of 128 blocks occupy nearly all of 132 multiprocessors; with 256 blocks there are 256/132 blocks
 * per multiprocessor. The time of a kernel is multiplied by that, except for 2 us that the shortest kernel
 * takes in any case: 90 us become 2 + 88 x 256/132 us.
 */
static void a_larger_batch_takes_longer_where_the_device_is_full(void **state)
{
	struct build build = build_new(1);

	(void)state;
	build.recording->devices[0].sm_count = 132;
	build.recording->devices[0].threads_per_sm = 2048;
	for (int i = 0; i < 4; i++) {
		build_range(&build, 0, "step", 100 * i, 100 * i + 99);
		build.recording->ranges[i].kind = KWHY_RANGE_STEP;
		launch(&build, 100 * i, 100 * i + 5, 100 * i + 95);
		launch(&build, 100 * i + 4, 100 * i + 95, 100 * i + 97);
	}
	for (size_t row = 0; row < 8; row++) {
		build.recording->activities.blocks[row] = 128;
		build.recording->activities.threads_per_block[row] = 128;
	}
	/*
	 * two steps of a large and a small kernel, 1.2 us apart: the host is ahead of the device, so they are
	 * queued
	 */
	assert_made(made(&build, "bigger-batch", 2, NULL), 4, 2 * (2000 + 170667 + 2000) + 1200);
}

static void build_step(struct build *build, int64_t start_us, int64_t end_us)
{
	struct kwhy_range range = {
		.start_ns = start_us * US, .end_ns = end_us * US, .thread = 0, .kind = KWHY_RANGE_STEP};

	assert_int_equal(
		KWHY_OK, kwhy_names_intern(&build->recording->names, "step", 4, &range.name, &error));
	assert_int_equal(KWHY_OK, kwhy_recording_add_range(build->recording, &range, &error));
}

static void launch_named(struct build *build, const char *name, int64_t call_us)
{
	size_t row = build->recording->activities.count;

	launch(build, call_us, call_us + 5, call_us + 15);
	assert_int_equal(KWHY_OK,
		kwhy_names_intern(&build->recording->names, name, strlen(name),
			&build->recording->activities.name[row], &error));
}

/* Returns a recording of ten steps, without ranges, of three kernels each. There is a launch every 20 us. */
static struct build ten_steps(void)
{
	static const char *const names[] = {"first", "second", "third"};
	struct build build = build_new(1);

	for (int i = 0; i < 10; i++)
		for (int k = 0; k < 3; k++)
			launch_named(&build, names[k], 60 * i + 20 * k);
	return build;
}

/*
 * After the ten steps there are twelve kernels of another name and one more "first", which belong to no step.
 * A batch of two must save half of the 600 us of the steps, and nothing of the work behind them.
 */
static void what_comes_behind_the_steps_is_none(void **state)
{
	struct build build = ten_steps();
	struct kwhy_plan *plan;

	(void)state;
	for (int i = 0; i < 12; i++)
		launch_named(&build, "other", 600 + 20 * i);
	launch_named(&build, "first", 840);
	plan = made(&build, "bigger-batch", 2, NULL);
	assert_int_equal(plan->change_count, 1);
	assert_non_null(strstr(plan->changes[0].assumption, "do the work of"));
	assert_in_range(plan->changes[0].saved_ns, 200000, 300000);
	kwhy_plan_free(plan);
}

/*
 * A pause of 5 ms between two steps, for example for a checkpoint, belongs to no step, so a larger batch does
 * not halve it.
 */
static void a_step_with_a_long_pause_is_none(void **state)
{
	struct build build = ten_steps();
	struct kwhy_plan *plan;

	(void)state;
	for (int i = 0; i < 10; i++)
		for (int k = 0; k < 3; k++)
			launch_named(&build, (const char *[]){"first", "second", "third"}[k],
				5600 + 60 * i + 20 * k);
	plan = made(&build, "bigger-batch", 2, NULL);
	assert_int_equal(plan->change_count, 1);
	assert_in_range(plan->changes[0].saved_ns, 500000, 700000);
	kwhy_plan_free(plan);
}

/*
 * Only every second step has work, as if the profiler had skipped the others. If a step with work is merged
 * with one without, the work must stay: only the time between is saved.
 */
static void steps_without_work_are_merged_into_none(void **state)
{
	struct build build = build_new(1);
	struct kwhy_plan *plan;

	(void)state;
	for (int i = 0; i < 16; i++) {
		build_step(&build, 100 * i, 100 * i + 90);
		if (i % 2)
			launch_named(&build, "work", 100 * i + 10);
	}
	plan = made(&build, "bigger-batch", 2, NULL);
	assert_int_equal(plan->change_count, 1);
	assert_int_equal(plan->changes[0].places, 8);
	assert_in_range(plan->changes[0].after.time_ns, 600000, 1000000);
	kwhy_plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_batch_cannot_grow_where_no_steps_are_known),
		cmocka_unit_test(the_last_steps_of_a_batch_do_no_more_work_than_there_is),
		cmocka_unit_test(a_larger_batch_takes_longer_where_the_device_is_full),
		cmocka_unit_test(what_comes_behind_the_steps_is_none),
		cmocka_unit_test(a_step_with_a_long_pause_is_none),
		cmocka_unit_test(steps_without_work_are_merged_into_none),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
