/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"
#include "replay/pattern.h"

static struct kwhy_error error;

/* A projection, its changes, and the pattern that a replay of the changed work would use. */
struct after {
	struct kwhy_whatif *whatif;
	struct kwhy_replay_changes changes;
	struct kwhy_replay_pattern *pattern;
};

static struct after change(struct build *build, const char *id, uint32_t number)
{
	struct kwhy_whatif_request change_request = {kwhy_whatif_change_find(id), number};
	struct after after;

	build_finish(build, true);
	assert_int_equal(
		kwhy_whatif_new(build->recording, build->ledger, build->profile, &after.whatif, &error),
		KWHY_OK);
	assert_int_equal(
		kwhy_replay_change(after.whatif, &change_request, 1, &after.changes, &error), KWHY_OK);
	assert_int_equal(
		kwhy_replay_pattern_new(after.whatif, &after.changes, &after.pattern, &error), KWHY_OK);
	return after;
}

static void done(struct build *build, struct after *after)
{
	kwhy_replay_pattern_free(after->pattern);
	kwhy_replay_changes_done(&after->changes);
	kwhy_whatif_free(after->whatif);
	build_free(build);
}

static void launch(struct build *build, int64_t call_us, int64_t start_us, int64_t end_us)
{
	build_issued_kernel(build, (struct build_issue){0, "cudaLaunchKernel", call_us, call_us + 2}, 0,
		start_us, end_us);
}

static void launch_blocks(struct build *build, int64_t call_us, int64_t start_us, uint32_t blocks)
{
	struct kwhy_activities *rows = &build->recording->activities;

	launch(build, call_us, start_us, start_us + 2);
	rows->blocks[rows->count - 1] = blocks;
}

static void copy(struct build *build, enum kwhy_copy_kind kind, uint64_t bytes, int64_t call_us)
{
	build_issued_copy(build, (struct build_issue){0, "cudaMemcpyAsync", call_us, call_us + 2}, 0,
		(struct build_copied){kind, KWHY_MEMORY_PINNED, bytes, call_us + 10, call_us + 15});
}

static void a_packed_copy_has_all_bytes_and_a_kernel_that_scatters_them(void **state)
{
	struct build build = build_new(1);
	struct after after;

	(void)state;
	for (int i = 0; i < 3; i++)
		copy(&build, KWHY_COPY_H2D, 1000, 40 * i);
	launch(&build, 200, 210, 212);
	after = change(&build, "pack-h2d", 1);
	assert_int_equal(after.pattern->copies, 1);
	assert_int_equal(after.pattern->kernels, 2);
	assert_int_equal(after.pattern->works[0].kind, KWHY_REPLAY_COPY);
	assert_int_equal(after.pattern->works[0].bytes, 3000);
	assert_int_equal(after.pattern->works[1].kind, KWHY_REPLAY_KERNEL);
	assert_int_equal(after.pattern->ops[0].work_count, 2);
	done(&build, &after);
}

/*
 * pack-h2d replaces three copies with one copy and a kernel that scatters its bytes. The call of that copy is
 * longer by the launch of this kernel: 2 us + 2 us.
 */
static void the_call_of_a_packed_copy_is_longer_by_one_launch(void **state)
{
	struct build build = build_new(1);
	struct after after;

	(void)state;
	for (int i = 0; i < 3; i++)
		copy(&build, KWHY_COPY_H2D, 1000, 40 * i);
	for (int i = 0; i < 3; i++)
		launch(&build, 200 + 20 * i, 210 + 20 * i, 212 + 20 * i);
	after = change(&build, "pack-h2d", 1);
	assert_int_equal(after.pattern->ops[0].own_ns, 4000);
	done(&build, &after);
}

static void a_packed_read_back_has_its_kernel_before_it(void **state)
{
	struct build build = build_new(1);
	struct after after;

	(void)state;
	launch(&build, 0, 5, 8);
	copy(&build, KWHY_COPY_D2H, 1000, 20);
	copy(&build, KWHY_COPY_D2H, 500, 40);
	after = change(&build, "pack-d2h", 1);
	assert_int_equal(after.pattern->work_count, 3);
	assert_int_equal(after.pattern->works[1].kind, KWHY_REPLAY_KERNEL);
	assert_int_equal(after.pattern->works[2].kind, KWHY_REPLAY_COPY);
	assert_int_equal(after.pattern->works[2].bytes, 1500);
	done(&build, &after);
}

static void batched_launches_have_the_sum_of_their_blocks(void **state)
{
	struct build build = build_new(1);
	struct after after;

	(void)state;
	for (int i = 0; i < 4; i++)
		launch_blocks(&build, 3 * i, 20 + 3 * i, 10);
	after = change(&build, "batch", 4);
	assert_int_equal(after.pattern->kernels, 1);
	assert_int_equal(after.pattern->grids[after.pattern->works[0].grid].blocks, 40);
	done(&build, &after);
}

static void fused_work_is_one_kernel_of_the_largest_grid(void **state)
{
	struct build build = build_new(1);
	struct after after;

	(void)state;
	launch_blocks(&build, 0, 20, 64);
	launch_blocks(&build, 3, 23, 64);
	launch_blocks(&build, 6, 26, 8);
	after = change(&build, "fuse", 1);
	assert_int_equal(after.pattern->kernels, 1);
	assert_int_equal(after.pattern->grids[after.pattern->works[0].grid].blocks, 64);
	done(&build, &after);
}

static void pinned_copies_come_from_page_locked_memory(void **state)
{
	struct build build = build_new(1);
	struct kwhy_profile profile;
	struct after after;

	(void)state;
	kwhy_profile_init(&profile);
	profile.h2d_pinned_rate_bytes_per_s.value = 50e9;
	build.profile = &profile;
	build_issued_copy(&build, (struct build_issue){0, "cudaMemcpyAsync", 0, 120}, 0,
		(struct build_copied){KWHY_COPY_H2D, KWHY_MEMORY_PAGEABLE, 1000000, 10, 110});
	for (int i = 0; i < 3; i++)
		launch(&build, 121 + 3 * i, 131 + 20 * i, 150 + 20 * i);
	after = change(&build, "pinned", 1);
	assert_int_equal(after.pattern->works[0].host, KWHY_GPU_HOST_PINNED);
	assert_int_equal(after.pattern->ops[0].wait_kind, KWHY_REPLAY_WAIT_NONE);
	done(&build, &after);
}

static void a_refused_change_leaves_the_pattern_as_it_was(void **state)
{
	struct build build = build_new(1);
	struct after after;

	(void)state;
	launch(&build, 0, 10, 20);
	after = change(&build, "pinned", 1);
	assert_false(after.changes.pinned);
	assert_int_equal(after.pattern->kernels, 1);
	assert_int_equal(after.pattern->span_ns, 10000);
	done(&build, &after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_packed_copy_has_all_bytes_and_a_kernel_that_scatters_them),
		cmocka_unit_test(the_call_of_a_packed_copy_is_longer_by_one_launch),
		cmocka_unit_test(a_packed_read_back_has_its_kernel_before_it),
		cmocka_unit_test(batched_launches_have_the_sum_of_their_blocks),
		cmocka_unit_test(fused_work_is_one_kernel_of_the_largest_grid),
		cmocka_unit_test(pinned_copies_come_from_page_locked_memory),
		cmocka_unit_test(a_refused_change_leaves_the_pattern_as_it_was),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
