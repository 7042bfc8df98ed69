/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"
#include "whatif/stretch.h"

static struct kwhy_error error;

enum { US = 1000 };

/*
 * Returns `count` steps, one every 100 us, each with two kernels and two waits. The last kernel of the last
 * step takes 200 us longer than the others.
 */
static struct build steps(int count)
{
	struct build build = build_new(1);

	for (int i = 0; i < count; i++) {
		int64_t at = 100 * i;

		build_issued_kernel(
			&build, (struct build_issue){0, "cudaLaunchKernel", at, at + 2}, 0, at + 10, at + 20);
		build_issued_kernel(&build, (struct build_issue){0, "cudaLaunchKernel", at + 3, at + 5}, 0,
			at + 21, at + (i == count - 1 ? 240 : 40));
		build_call(&build, 0, "cudaDeviceSynchronize", at + 6, at + (i == count - 1 ? 242 : 42));
		build_call(&build, 0, "cudaDeviceSynchronize", at + (i == count - 1 ? 243 : 43),
			at + (i == count - 1 ? 250 : 50));
		build_range(&build, 0, "step", at, at + 60);
	}
	return build;
}

static struct kwhy_plan *plan_of(struct build *build, const char *id)
{
	struct kwhy_whatif_request change_request = {kwhy_whatif_change_find(id), 0};
	struct kwhy_whatif *whatif;
	struct kwhy_plan *plan;

	build_finish(build, false);
	assert_int_equal(kwhy_whatif_new(build->recording, NULL, NULL, &whatif, &error), KWHY_OK);
	assert_int_equal(kwhy_whatif_project(whatif, &change_request, 1, &plan, &error), KWHY_OK);
	assert_int_equal(kwhy_whatif_add_stretch(whatif, plan, &error), KWHY_OK);
	kwhy_whatif_free(whatif);
	return plan;
}

static void four_steps_stand_for_many(void **state)
{
	struct build build = steps(20);
	struct kwhy_plan *plan;
	const struct kwhy_stretch *stretch;

	(void)state;
	for (size_t i = 0; i < build.recording->range_count; i++)
		build.recording->ranges[i].kind = KWHY_RANGE_STEP;
	plan = plan_of(&build, "drop-waits");
	stretch = plan->stretch;
	assert_non_null(stretch);
	assert_int_equal(stretch->step_count, 20);
	assert_int_equal(stretch->first_step, 8);
	assert_int_equal(stretch->end_step, 12);
	assert_int_equal(stretch->item_count, 4 * 6);
	assert_int_equal(stretch->left_out_count, 0);
	/* from the first launch to the end of the last wait of these four steps */
	assert_int_equal(stretch->before_ns, 350 * US);
	kwhy_plan_free(plan);
	build_free(&build);
}

static void what_goes_has_no_place_behind_the_changes(void **state)
{
	struct build build = steps(2);
	struct kwhy_plan *plan = plan_of(&build, "drop-waits");
	const struct kwhy_stretch *stretch = plan->stretch;
	size_t gone = 0;

	(void)state;
	assert_int_equal(stretch->step_count, 0);
	assert_int_equal(stretch->item_count, 2 * 6);
	for (size_t i = 0; i < stretch->item_count; i++) {
		const struct kwhy_stretch_item *item = &stretch->items[i];
		bool goes = item->after_start_ns == KWHY_UNKNOWN_TIME;

		gone += goes;
		assert_int_equal(goes, item->after_end_ns == KWHY_UNKNOWN_TIME);
		assert_true(!goes || item->call != KWHY_NONE);
		assert_true(i == 0 || item->before_start_ns >= stretch->items[i - 1].before_start_ns);
	}
	assert_int_equal(gone, 2);
	assert_true(stretch->after_ns < stretch->before_ns);
	kwhy_plan_free(plan);
	build_free(&build);
}

static void without_changes_both_are_as_recorded(void **state)
{
	struct build build = steps(3);
	struct kwhy_plan *plan = plan_of(&build, "pinned");

	(void)state;
	assert_int_equal(plan->change_count, 0);
	assert_int_equal(plan->stretch->after_ns, plan->stretch->before_ns);
	for (size_t i = 0; i < plan->stretch->item_count; i++) {
		assert_int_equal(
			plan->stretch->items[i].after_start_ns, plan->stretch->items[i].before_start_ns);
		assert_int_equal(plan->stretch->items[i].after_end_ns, plan->stretch->items[i].before_end_ns);
	}
	kwhy_plan_free(plan);
	build_free(&build);
}

static void a_stretch_of_more_than_a_picture_holds_is_cut_and_says_so(void **state)
{
	struct build build = build_new(1);
	struct kwhy_plan *plan;

	(void)state;
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < KWHY_WHATIF_STRETCH_ITEMS + 5; k++)
			build_kernel(&build, 0, k ? "k" : "first", 5000 * i + 3 * k, 5000 * i + 3 * k + 2);
		build_range(&build, 0, "step", 5000 * i, 5000 * i + 4000);
	}
	for (size_t i = 0; i < build.recording->range_count; i++)
		build.recording->ranges[i].kind = KWHY_RANGE_STEP;
	plan = plan_of(&build, "pinned");
	assert_int_equal(plan->stretch->item_count, KWHY_WHATIF_STRETCH_ITEMS);
	assert_int_equal(plan->stretch->left_out_count, 5);
	assert_int_equal(plan->stretch->first_step, 1);
	assert_int_equal(plan->stretch->end_step, plan->stretch->first_step + 1);
	kwhy_plan_free(plan);
	build_free(&build);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(four_steps_stand_for_many),
		cmocka_unit_test(what_goes_has_no_place_behind_the_changes),
		cmocka_unit_test(without_changes_both_are_as_recorded),
		cmocka_unit_test(a_stretch_of_more_than_a_picture_holds_is_cut_and_says_so),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
