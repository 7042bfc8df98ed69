/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests launches whose calls take long because many calls of another kind came before, and their projected
 * time if a change removes those calls.
 */
#include "planned.h"

/*
 * Returns eight launches and then, three times, ten read-backs, a wait, a launch (memset: a memset) whose
 * call takes cold_us, and three launches of 2 us.
 */
static struct build loops_of_read_backs(bool memset, int64_t cold_us)
{
	struct build build = build_new(1);
	int64_t at_us = 0;

	for (int i = 0; i < 8; i++, at_us += 10)
		launch(&build, at_us, at_us + 5, at_us + 7);
	for (int loop = 0; loop < 3; loop++) {
		for (int i = 0; i < 10; i++, at_us += 10)
			build_issued_copy(&build, issue("cudaMemcpyAsync", at_us, at_us + 2), 0,
				copied(KWHY_COPY_D2H, KWHY_MEMORY_PINNED, 8, at_us + 5, at_us + 7));
		build_call(&build, 0, "cudaStreamSynchronize", at_us, at_us + 2);
		at_us += 10;
		if (memset)
			build_issued_memset(&build, issue("cudaMemsetAsync", at_us, at_us + cold_us), 0,
				at_us + cold_us + 3, at_us + cold_us + 5);
		else
			build_issued_kernel(&build, issue("cudaLaunchKernel", at_us, at_us + cold_us), 0,
				at_us + cold_us + 3, at_us + cold_us + 5);
		at_us += cold_us + 8;
		for (int i = 0; i < 3; i++, at_us += 10)
			launch(&build, at_us, at_us + 5, at_us + 7);
	}
	return build;
}

static struct kwhy_projection packed(bool memset, int64_t cold_us)
{
	struct build build = loops_of_read_backs(memset, cold_us);
	struct kwhy_profile profile;
	struct kwhy_projection after;
	struct kwhy_plan *plan;

	kwhy_profile_init(&profile);
	plan = made(&build, "pack-d2h", 0, &profile);
	assert_int_equal(plan->change_count, 1);
	after = *kwhy_plan_after(plan);
	kwhy_plan_free(plan);
	return after;
}

static void a_launch_behind_its_own_kind_again_takes_what_is_usual(void **state)
{
	struct kwhy_projection warm = packed(false, 2), warmups = packed(false, 40);

	(void)state;
	assert_int_equal(warmups.time_ns, warm.time_ns);
	/* at the slow end of the interval the three calls keep their 40 us, 38 us more than usual */
	assert_true(warmups.time_high_ns >= warm.time_high_ns + 3 * 38 * US);
}

static void one_that_takes_little_longer_stays_as_it_is(void **state)
{
	struct kwhy_projection warm = packed(false, 2), slower = packed(false, 4);

	(void)state;
	assert_int_equal(slower.time_ns, warm.time_ns + 3 * 2 * US);
}

/*
 * The recording has no fast memset, but fast launches. The later memsets must take the time of a launch; the
 * first one keeps its time, as it may load code.
 */
static void a_memset_that_is_never_warm_takes_what_a_launch_does(void **state)
{
	(void)state;
	assert_int_equal(packed(true, 40).time_ns, packed(true, 2).time_ns + 38 * US);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_launch_behind_its_own_kind_again_takes_what_is_usual),
		cmocka_unit_test(one_that_takes_little_longer_stays_as_it_is),
		cmocka_unit_test(a_memset_that_is_never_warm_takes_what_a_launch_does),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
