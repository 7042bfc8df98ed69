/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"
#include "whatif/curves.h"
#include "whatif/whatif.h"

#include <math.h>
#include <string.h>

static struct kwhy_error error;

enum { US = 1000 };

/*
 * Measured curve: page-locked copies to the device take 2 us + 0.1 ns/B up to 64 KiB, then 4 us + 0.025 ns/B.
 */
static struct kwhy_transfer_curve curves[] = {
	{.strategy = "pinned",
		.direction = KWHY_TRANSFER_H2D,
		.clock = KWHY_TRANSFER_BACK_TO_BACK,
		.segments = {{1, 65536, 2e-6, 1e-10}, {65536, 1 << 24, 4e-6, 0.25e-10}},
		.segment_count = 2,
		.residual_ratio = 0.01},
	{.strategy = "pageable",
		.direction = KWHY_TRANSFER_H2D,
		.clock = KWHY_TRANSFER_BY_HOST,
		.segments = {{1, 1 << 24, 5e-6, 1e-10}},
		.segment_count = 1,
		.residual_ratio = NAN},
	{.strategy = "pinned",
		.direction = KWHY_TRANSFER_D2H,
		.clock = KWHY_TRANSFER_BY_HOST,
		.segments = {{1, 1 << 24, 5e-6, 1e-10}},
		.segment_count = 1},
	{.strategy = "pinned",
		.direction = KWHY_TRANSFER_H2D,
		.is_energy = true,
		.clock = KWHY_TRANSFER_BACK_TO_BACK,
		.segments = {{1, 1 << 24, 5e-3, 1e-8}},
		.segment_count = 1},
};

static const struct kwhy_transfers transfers = {.curves = curves, .curve_count = 4};

static struct kwhy_profile with_curves(void)
{
	struct kwhy_profile profile;

	kwhy_profile_init(&profile);
	profile.transfers = &transfers;
	profile.queued_kernel_s.value = 1.5e-6;
	return profile;
}

static void a_curve_is_the_one_of_the_memory_and_of_the_devices_clock(void **state)
{
	struct kwhy_profile profile = with_curves();

	(void)state;
	assert_ptr_equal(kwhy_whatif_copy_curve(&profile, KWHY_COPY_H2D, false), &curves[0]);
	assert_ptr_equal(kwhy_whatif_copy_curve(&profile, KWHY_COPY_H2D, true), &curves[1]);
	assert_null(kwhy_whatif_copy_curve(&profile, KWHY_COPY_D2H, false));
	assert_null(kwhy_whatif_copy_curve(&profile, KWHY_COPY_D2D, false));
	profile.transfers = NULL;
	assert_null(kwhy_whatif_copy_curve(&profile, KWHY_COPY_H2D, false));
	assert_null(kwhy_whatif_copy_curve(NULL, KWHY_COPY_H2D, false));
}

static void the_piece_that_holds_the_size_is_taken_and_the_nearest_beyond(void **state)
{
	(void)state;
	assert_float_equal(kwhy_whatif_curve_ns(&curves[0], 0), 2000, 1e-6);
	assert_float_equal(kwhy_whatif_curve_ns(&curves[0], 10000), 3000, 1e-6);
	assert_float_equal(kwhy_whatif_curve_ns(&curves[0], 80000), 6000, 1e-6);
	assert_float_equal(kwhy_whatif_curve_ns(&curves[0], 1e9), 25004000, 1e-3);
}

static int64_t packed_ns(struct build *build, const struct kwhy_profile *profile, const char *says)
{
	struct kwhy_whatif_request change_request = {kwhy_whatif_change_find("pack-h2d"), 0};
	struct kwhy_whatif *whatif;
	struct kwhy_plan *plan;
	int64_t after_ns;

	build_finish(build, false);
	assert_int_equal(kwhy_whatif_new(build->recording, NULL, profile, &whatif, &error), KWHY_OK);
	assert_int_equal(kwhy_whatif_project(whatif, &change_request, 1, &plan, &error), KWHY_OK);
	assert_int_equal(plan->change_count, 1);
	assert_non_null(strstr(plan->changes[0].assumption, says));
	after_ns = plan->changes[0].after.time_ns;
	kwhy_plan_free(plan);
	kwhy_whatif_free(whatif);
	build_free(build);
	return after_ns;
}

/* Returns `count` page-locked copies to the device, of these sizes, of 1 us each, 3 us apart. */
static struct build copies(const uint64_t *bytes, size_t count)
{
	struct build build = build_new(1);

	for (size_t i = 0; i < count; i++)
		build_copy(&build, 0, KWHY_COPY_H2D, bytes[i], 4 * (int64_t)i, 4 * (int64_t)i + 1);
	return build;
}

/*
 * Eight copies of 1000 bytes take 1 us each in the recording. By the curve 8000 bytes take 0.7 us more than
 * 1000 bytes, so the packed copy is projected to take 1.7 us; the kernel that scatters its data takes 1.5 us.
 */
static void a_packed_copy_takes_what_was_recorded_and_what_the_curve_adds(void **state)
{
	static const uint64_t bytes[8] = {1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000};
	struct build build = copies(bytes, 8);
	struct kwhy_profile profile = with_curves();

	(void)state;
	assert_int_equal(packed_ns(&build, &profile, "curve"), 1700 + 1500);
}

/*
 * Copies of 800 and 8000 bytes show a time per byte, here 0. It must not be extrapolated far beyond 8000
 * bytes; there the curve must be used.
 */
static void a_fit_of_the_recording_goes_on_with_the_curve(void **state)
{
	uint64_t bytes[24];
	struct build build;
	struct kwhy_profile profile = with_curves();

	(void)state;
	for (size_t i = 0; i < 24; i++)
		bytes[i] = i % 2 ? 8000 : 800;
	build = copies(bytes, 24);
	/*
	 * 12 x 800 + 12 x 8000 = 105600 bytes: the recorded 1 us and the curve's difference from 8000 to
	 * 105600 bytes, 6.64 us less 2.8 us; scattering takes 1.5 us.
	 */
	assert_int_equal(packed_ns(&build, &profile, "curve"), 1000 + 6640 - 2800 + 1500);
}

/*
 * The calls of ten blocking copies of one byte take 12 us each, and those of launches 5 us. Page-locked
 * copies do not block; their calls come every 2 us, as such copies follow each other by the curve (back to
 * back), and not every 5 us as launches do.
 */
static void a_queued_copys_call_takes_no_longer_than_such_copies_follow_each_other(void **state)
{
	struct kwhy_whatif_request change_request = {kwhy_whatif_change_find("pinned"), 0};
	struct kwhy_profile profile = with_curves();
	struct build build = build_new(1);
	struct kwhy_whatif *whatif;
	struct kwhy_plan *plan;

	(void)state;
	for (int i = 0; i < 10; i++)
		build_issued_copy(&build, (struct build_issue){0, "cudaMemcpyAsync", 12 * i, 12 * i + 12}, 0,
			(struct build_copied){
				KWHY_COPY_H2D, KWHY_MEMORY_PAGEABLE, 1, 12 * i + 10, 12 * i + 11});
	for (int i = 0; i < 3; i++)
		build_issued_kernel(&build,
			(struct build_issue){0, "cudaLaunchKernel", 120 + 5 * i, 125 + 5 * i}, 0, 130 + 5 * i,
			132 + 5 * i);
	build_finish(&build, false);
	assert_int_equal(kwhy_whatif_new(build.recording, NULL, &profile, &whatif, &error), KWHY_OK);
	assert_int_equal(kwhy_whatif_project(whatif, &change_request, 1, &plan, &error), KWHY_OK);
	assert_int_equal(plan->changes[0].places, 10);
	/* 10 copies, 2 us apart, and 12 to 13 us for the launches and the last kernel */
	assert_in_range(plan->changes[0].after.time_ns, 10 * 2000 + 12 * US, 10 * 2000 + 13 * US);
	assert_true(plan->changes[0].after.time_high_ns >= 10 * 5000 + 12 * US);
	kwhy_plan_free(plan);
	kwhy_whatif_free(whatif);
	build_free(&build);
}

/*
 * The host's time to queue a copy must come from a curve that was measured back to back and in the direction
 * of the copy.
 */
static void a_curve_is_that_of_the_direction(void **state)
{
	struct kwhy_transfer_curve both[] = {curves[0], curves[0], curves[0]};
	const struct kwhy_transfers measured = {.curves = both, .curve_count = 3};
	struct kwhy_profile profile = with_curves();

	(void)state;
	both[1].direction = KWHY_TRANSFER_D2H;
	both[2].clock = KWHY_TRANSFER_ISOLATED;
	profile.transfers = &measured;
	for (enum kwhy_copy_kind kind = 0; kind < KWHY_COPY_KIND_COUNT; kind++) {
		const struct kwhy_transfer_curve *curve = kind == KWHY_COPY_H2D ? &both[0]
			: kind == KWHY_COPY_D2H					? &both[1]
										: NULL;

		assert_ptr_equal(kwhy_whatif_copy_curve(&profile, kind, false), curve);
		assert_ptr_equal(kwhy_whatif_queued_copy_curve(&profile, kind), curve);
		assert_null(kwhy_whatif_copy_curve(&profile, kind, true));
	}
	both[0].direction = KWHY_TRANSFER_D2H;
	assert_ptr_equal(kwhy_whatif_copy_curve(&profile, KWHY_COPY_H2D, false), &both[2]);
	assert_null(kwhy_whatif_queued_copy_curve(&profile, KWHY_COPY_H2D));
	assert_null(kwhy_whatif_queued_copy_curve(NULL, KWHY_COPY_H2D));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_curve_is_the_one_of_the_memory_and_of_the_devices_clock),
		cmocka_unit_test(the_piece_that_holds_the_size_is_taken_and_the_nearest_beyond),
		cmocka_unit_test(a_packed_copy_takes_what_was_recorded_and_what_the_curve_adds),
		cmocka_unit_test(a_fit_of_the_recording_goes_on_with_the_curve),
		cmocka_unit_test(a_queued_copys_call_takes_no_longer_than_such_copies_follow_each_other),
		cmocka_unit_test(a_curve_is_that_of_the_direction),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
