/* SPDX-License-Identifier: Apache-2.0 */
#include "planned.h"
#include "whatif/busy.h"

#include <math.h>

static struct kwhy_error error;

/*
 * Returns a recording: on device 0 two kernels of 40 us, and a third on another stream within the first one's
 * time; on device 1 a kernel of 20 us. It lasts 100 us.
 */
static struct build build_two(void)
{
	struct build build = build_new(2);

	build_kernel(&build, 0, "a", 0, 40);
	build_kernel(&build, build_stream(&build, 0), "inside", 20, 30);
	build_kernel(&build, 0, "b", 60, 100);
	build_kernel(&build, 1, "c", 0, 20);
	build_finish(&build, false);
	return build;
}

static struct kwhy_plan *plan_of(const struct build *build, const char *id, uint32_t number)
{
	struct kwhy_whatif_request change_request = {kwhy_whatif_change_find(id), number};
	struct kwhy_whatif *whatif;
	struct kwhy_plan *plan;

	assert_int_equal(kwhy_whatif_new(build->recording, NULL, NULL, &whatif, &error), KWHY_OK);
	assert_int_equal(kwhy_whatif_project(whatif, &change_request, 1, &plan, &error), KWHY_OK);
	assert_true(isnan(plan->busy_before_ratio));
	assert_int_equal(kwhy_whatif_add_busy(whatif, plan, &error), KWHY_OK);
	kwhy_whatif_free(whatif);
	return plan;
}

/* Of 100 us device 0 is busy for 80 us and device 1 for 20 us: 0.5 on average. */
static void busy_is_the_mean_of_the_devices_that_worked(void **state)
{
	struct build build = build_two();
	struct kwhy_plan *plan = plan_of(&build, "pinned", 0);

	(void)state;
	assert_int_equal(plan->change_count, 0);
	assert_float_equal(plan->busy_before_ratio, 0.5, 1e-9);
	assert_float_equal(plan->busy_after_ratio, 0.5, 1e-9);
	kwhy_plan_free(plan);
	build_free(&build);
}

/*
 * Kernels of 10 us start every 100 us, as the host launches them. A host twice as fast (200 %) shortens the
 * pauses, so that the busy share rises.
 */
static void work_that_follows_sooner_is_busier(void **state)
{
	struct build build = build_new(1);
	struct kwhy_plan *plan;
	double work_us = 80;

	(void)state;
	for (int i = 0; i < 8; i++)
		launch(&build, 100 * i, 100 * i + 5, 100 * i + 15);
	build_finish(&build, false);
	plan = plan_of(&build, "host-speed", 200);
	assert_int_equal(plan->change_count, 1);
	assert_float_equal(plan->busy_before_ratio, work_us / 710, 1e-9);
	assert_float_equal(
		plan->busy_after_ratio, work_us * US / (double)kwhy_plan_after(plan)->time_ns, 1e-9);
	assert_true(plan->busy_after_ratio > 1.5 * plan->busy_before_ratio);
	kwhy_plan_free(plan);
	build_free(&build);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(busy_is_the_mean_of_the_devices_that_worked),
		cmocka_unit_test(work_that_follows_sooner_is_busier),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
