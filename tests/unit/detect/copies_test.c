/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"

#include <string.h>

/*
 * Makes a kernel of 10 us and then 16 copies of 4 us with 1 us of idle time before each. The call of a copy
 * lasts from the start of that idle time to the end of the copy.
 */
static struct build sixteen_copies(uint64_t bytes, bool kernels_between)
{
	struct build build = build_new(1);

	build_kernel(&build, 0, "k", 0, 10);
	for (int64_t i = 0; i < 16; i++) {
		int64_t at = 10 + i * 5;

		build_issued_copy(&build, (struct build_issue){0, "cudaMemcpyAsync", at, at + 5}, 0,
			(struct build_copied){KWHY_COPY_H2D, KWHY_MEMORY_PINNED, bytes, at + 1, at + 5});
		if (kernels_between)
			build_kernel(&build, 0, "k", at + 5, at + 5);
	}
	return build;
}

static void small_copies_in_a_row_cost_their_time_and_the_idle_time_inside_their_calls(void **state)
{
	struct build build = sixteen_copies(64, false);

	(void)state;
	/*
	 * cost: 16 x (4 us copy + 1 us idle) = 80 us; packed into one copy, one of the 16 remains, which
	 * saves 75 us
	 */
	ASSERT_FINDING(build_find(&build, "small-copies", NULL), 16, 80, 75);
	assert_non_null(strstr(build.findings->items[0].title, "16 under 65.5 kB"));
	build_free(&build);
}

static void large_copies_are_no_small_copies(void **state)
{
	struct build build = sixteen_copies(65536, false);

	(void)state;
	assert_null(build_find(&build, "small-copies", NULL));
	assert_non_null(build_find(&build, "small-copies", "small-copies.max_bytes=65537"));
	build_free(&build);
}

static void small_copies_each_between_kernels_cannot_be_packed(void **state)
{
	struct build build = sixteen_copies(64, true);

	(void)state;
	assert_null(build_find(&build, "small-copies", NULL));
	build_free(&build);
}

/*
 * Makes a kernel of 20 us and two copies to the device of 1 MB and 40 us each, from this kind of host memory
 * by this call, with 5 us of idle time inside either call.
 */
static struct build pageable(const char *call, enum kwhy_memory_kind memory)
{
	struct build build = build_new(1);

	build_kernel(&build, 0, "k", 0, 20);
	build_issued_copy(&build, (struct build_issue){0, call, 15, 60}, 0,
		(struct build_copied){KWHY_COPY_H2D, memory, 1000000, 20, 60});
	build_issued_copy(&build, (struct build_issue){0, call, 60, 110}, 0,
		(struct build_copied){KWHY_COPY_D2H, memory, 1000000, 65, 105});
	build_kernel(&build, 0, "k", 110, 120);
	return build;
}

static void pageable_copies_of_the_driver_api_are_found_by_their_memory(void **state)
{
	struct build build = pageable("cuMemcpyHtoDAsync", KWHY_MEMORY_PAGEABLE);
	const struct kwhy_finding *finding = build_find(&build, "pageable-copies", NULL);

	(void)state;
	assert_non_null(finding);
	/*
	 * cost: 80 us of copies and 2 x 5 us of idle time inside their calls. No rate is known, so 63.0 GB/s
	 * is assumed, that of PCIe 5.0 x16: 31.7 us remain
	 */
	assert_int_equal(finding->time_ns, 90000);
	assert_int_equal(finding->saving.time_ns, 58261);
	build_free(&build);
}

static void a_wait_behind_a_pageable_copy_up_costs_the_idle_time_that_follows(void **state)
{
	struct build build = build_new(1);
	const struct kwhy_finding *finding;

	(void)state;
	build_kernel(&build, 0, "k", 0, 50);
	build_issued_copy(&build, (struct build_issue){0, "cudaMemcpyAsync", 20, 45}, 0,
		(struct build_copied){KWHY_COPY_H2D, KWHY_MEMORY_PAGEABLE, 8, 50, 51});
	build_call(&build, 0, "cudaStreamSynchronize", 45, 53);
	build_kernel(&build, 0, "k", 70, 100);
	finding = build_find(&build, "pageable-copies", NULL);
	assert_non_null(finding);
	/*
	 * cost: 1 us of copy, and 19 us of idle time until the next kernel. From pinned memory the 8 bytes
	 * would take less than 1 ns
	 */
	assert_int_equal(finding->time_ns, 20000);
	assert_int_equal(finding->saving.time_ns, 19999);
	build_free(&build);
}

static void pageable_copies_keep_what_they_take_at_the_pinned_rate(void **state)
{
	struct build build = pageable("cudaMemcpy", KWHY_MEMORY_PAGEABLE);
	struct kwhy_profile profile = {
		.h2d_pinned_rate_bytes_per_s = {50e9, 0}, .d2h_pinned_rate_bytes_per_s = {50e9, 0}};

	(void)state;
	build.profile = &profile;
	/* 1 MB at 50 GB/s takes 20 us, so 2 x 20 us of copies remain */
	ASSERT_FINDING(build_find(&build, "pageable-copies", NULL), 2, 90, 50);
	build_free(&build);
}

static void a_pinned_rate_that_is_not_known_is_that_of_the_link(void **state)
{
	static const char *const expected[] = {
		"no more up than PCIe 5.0 x16 allows (63.0 GB/s; no rate is known here) and no more down",
		"(63.0 GB/s; no rate is known here) and 50.0 GB/s down"};
	struct kwhy_profile profile = {.d2h_pinned_rate_bytes_per_s = {50e9, 0}};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct build build = pageable("cudaMemcpy", KWHY_MEMORY_PAGEABLE);
		const struct kwhy_finding *finding;

		build.profile = i ? &profile : NULL;
		finding = build_find(&build, "pageable-copies", NULL);
		assert_non_null(strstr(finding->saving.assumption, expected[i]));
		assert_null(strstr(finding->saving.assumption, "n/a"));
		build_free(&build);
	}
}

static void pinned_copies_are_not_pageable(void **state)
{
	struct build build = pageable("cudaMemcpyAsync", KWHY_MEMORY_PINNED);

	(void)state;
	assert_null(build_find(&build, "pageable-copies", NULL));
	build_free(&build);
}

static void copies_with_no_kernel_beside_can_hide_in_kernel_time(void **state)
{
	struct build build = build_new(1);
	uint32_t side = build_stream(&build, 0);

	(void)state;
	build_kernel(&build, 0, "k", 0, 30);
	build_copy(&build, side, KWHY_COPY_H2D, 1 << 20, 20, 40); /* overlaps the kernel for 10 us */
	build_copy(&build, 0, KWHY_COPY_D2H, 1 << 20, 40, 80);
	/*
	 * cost: 10 + 40 us of copies without a kernel; saving: the kernel runs for 20 us without a copy,
	 * which is all that can be hidden
	 */
	ASSERT_FINDING(build_find(&build, "unoverlapped-copies", NULL), 2, 50, 20);
	build_free(&build);
}

/*
 * A kernel runs during all but the last 5 us of the first copy, so the count leaves this copy out.
 * Those 5 us are still part of the finding's time, with the 40 us of the other copy.
 */
static void copies_with_a_kernel_beside_most_of_their_time_are_not_counted(void **state)
{
	struct build build = build_new(1);
	uint32_t side = build_stream(&build, 0);
	const struct kwhy_finding *finding;

	(void)state;
	build_kernel(&build, 0, "k", 0, 30);
	build_copy(&build, 0, KWHY_COPY_D2H, 1 << 20, 40, 80);
	build_kernel(&build, 0, "k", 80, 110);
	build_copy(&build, side, KWHY_COPY_H2D, 1 << 20, 95, 115);
	finding = build_find(&build, "unoverlapped-copies", NULL);
	ASSERT_FINDING(finding, 1, 45, 45);
	assert_string_equal(finding->title, "Unoverlapped copies: 1 large copies ran with no kernel running");
	assert_int_equal(finding->evidence_count, 1);
	build_free(&build);
}

static void where_all_copies_have_one_beside_most_of_their_time_it_is_said(void **state)
{
	struct build build = build_new(1);
	uint32_t side = build_stream(&build, 0);
	const struct kwhy_finding *finding;

	(void)state;
	build_kernel(&build, 0, "k", 0, 30);
	build_copy(&build, side, KWHY_COPY_H2D, 1 << 20, 15, 40);
	finding = build_find(&build, "unoverlapped-copies", NULL);
	ASSERT_FINDING(finding, 1, 10, 10);
	assert_string_equal(finding->title,
		"Unoverlapped copies: 1 large copies ran for less than half their time with no kernel "
		"running");
	assert_int_equal(finding->evidence_count, 1);
	build_free(&build);
}

static void copies_beside_kernels_are_overlapped(void **state)
{
	struct build build = build_new(1);
	uint32_t side = build_stream(&build, 0);

	(void)state;
	build_kernel(&build, 0, "k", 0, 100);
	build_copy(&build, side, KWHY_COPY_H2D, 1 << 20, 20, 90);
	assert_null(build_find(&build, "unoverlapped-copies", NULL));
	build_free(&build);
}

static void data_that_comes_straight_back_is_a_round_trip(void **state)
{
	struct build build = build_new(1);

	(void)state;
	build_kernel(&build, 0, "k", 0, 10);
	build_copy(&build, 0, KWHY_COPY_D2H, 4096, 10, 15);
	build_copy(&build, 0, KWHY_COPY_H2D, 4096, 25, 32);
	build_kernel(&build, 0, "k", 32, 50);
	/* cost: copies of 5 us and 7 us, and 10 us of idle time between them */
	ASSERT_FINDING(build_find(&build, "round-trips", NULL), 1, 22, 22);
	assert_string_equal(
		build.findings->items[0].evidence[0].what, "d2h copy 4.10 kB, then h2d copy 4.10 kB");
	build_free(&build);
}

static void other_sizes_and_work_between_are_no_round_trip(void **state)
{
	struct build build = build_new(1);

	(void)state;
	build_copy(&build, 0, KWHY_COPY_D2H, 4096, 10, 15);
	build_copy(&build, 0, KWHY_COPY_H2D, 8192, 25, 32);
	build_copy(&build, 0, KWHY_COPY_D2H, 4096, 40, 45);
	build_kernel(&build, 0, "k", 46, 50);
	build_copy(&build, 0, KWHY_COPY_H2D, 4096, 55, 60);
	assert_null(build_find(&build, "round-trips", NULL));
	build_free(&build);
}

/*
 * Makes pairs of copies, from device `from` to the host and then from the host to device `to`, in a recording
 * of `devices` devices. A kernel follows each pair.
 */
static struct build staged_between(uint32_t devices, uint32_t from, uint32_t to, int pairs, uint64_t bytes_up)
{
	struct build build = build_new(devices);

	for (int64_t i = 0; i < pairs; i++) {
		build_copy(&build, from, KWHY_COPY_D2H, 1 << 20, i * 100, i * 100 + 30);
		build_copy(&build, to, KWHY_COPY_H2D, bytes_up, i * 100 + 40, i * 100 + 60);
		build_kernel(&build, to, "k", i * 100 + 60, i * 100 + 135);
	}
	return build;
}

static struct build staged(int pairs, uint64_t bytes_up)
{
	return staged_between(2, 0, 1, pairs, bytes_up);
}

static void copies_down_one_device_and_up_another_are_staged(void **state)
{
	struct build build = staged(4, 1 << 20);
	const struct kwhy_finding *finding = build_find(&build, "staged-peer-copies", NULL);

	(void)state;
	/*
	 * cost on device 1: 4 copies of 20 us, and 5 us of idle time before each except the first, before
	 * which device 1 has no activity
	 */
	ASSERT_FINDING(finding, 4, 95, 95);
	assert_int_equal(finding->device, 1);
	build_free(&build);
}

/* Of three devices one, `idle`, has no work. Copies between the two others must be found all the same. */
static void copies_are_staged_between_any_two_devices(void **state)
{
	(void)state;
	for (uint32_t idle = 0; idle < 3; idle++) {
		const uint32_t to = idle == 2 ? 1 : 2;
		struct build build = staged_between(3, idle == 0, to, 4, 1 << 20);
		const struct kwhy_finding *finding = build_find(&build, "staged-peer-copies", NULL);

		ASSERT_FINDING(finding, 4, 95, 95);
		assert_int_equal(finding->device, to);
		build_free(&build);
	}
}

/*
 * A copy from one device and the copy to another are one finding, not one for each order in which the two
 * devices may be compared.
 */
static void a_staged_copy_is_one_finding(void **state)
{
	struct build build = staged(4, 1 << 20);
	size_t count = 0;

	(void)state;
	build_find(&build, "staged-peer-copies", NULL);
	for (size_t i = 0; i < build.findings->count; i++)
		count += strcmp(build.findings->items[i].id, "staged-peer-copies") == 0;
	assert_int_equal(count, 1);
	build_free(&build);
}

static void copies_up_alone_are_no_round_trip(void **state)
{
	struct build build = build_new(1);

	(void)state;
	for (int64_t i = 0; i < 4; i++)
		build_copy(&build, 0, KWHY_COPY_H2D, 8000000, 110 * i, 110 * i + 100);
	assert_null(build_find(&build, "round-trips", NULL));
	build_free(&build);
}

static void copies_of_different_sizes_on_two_devices_are_unrelated(void **state)
{
	struct build build = staged(4, 2 << 20);

	(void)state;
	assert_null(build_find(&build, "staged-peer-copies", NULL));
	build_free(&build);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_copies_in_a_row_cost_their_time_and_the_idle_time_inside_their_calls),
		cmocka_unit_test(large_copies_are_no_small_copies),
		cmocka_unit_test(small_copies_each_between_kernels_cannot_be_packed),
		cmocka_unit_test(pageable_copies_of_the_driver_api_are_found_by_their_memory),
		cmocka_unit_test(a_wait_behind_a_pageable_copy_up_costs_the_idle_time_that_follows),
		cmocka_unit_test(pageable_copies_keep_what_they_take_at_the_pinned_rate),
		cmocka_unit_test(a_pinned_rate_that_is_not_known_is_that_of_the_link),
		cmocka_unit_test(pinned_copies_are_not_pageable),
		cmocka_unit_test(copies_with_no_kernel_beside_can_hide_in_kernel_time),
		cmocka_unit_test(copies_with_a_kernel_beside_most_of_their_time_are_not_counted),
		cmocka_unit_test(where_all_copies_have_one_beside_most_of_their_time_it_is_said),
		cmocka_unit_test(copies_beside_kernels_are_overlapped),
		cmocka_unit_test(data_that_comes_straight_back_is_a_round_trip),
		cmocka_unit_test(other_sizes_and_work_between_are_no_round_trip),
		cmocka_unit_test(copies_down_one_device_and_up_another_are_staged),
		cmocka_unit_test(copies_are_staged_between_any_two_devices),
		cmocka_unit_test(a_staged_copy_is_one_finding),
		cmocka_unit_test(copies_up_alone_are_no_round_trip),
		cmocka_unit_test(copies_of_different_sizes_on_two_devices_are_unrelated),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
