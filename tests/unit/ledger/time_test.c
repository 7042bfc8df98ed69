/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/ledger/build.h"

#include <math.h>

/* Returns the times of device 0. */
static const struct kwhy_device_time *time_of(const struct kwhy_ledger *ledger)
{
	return &ledger->devices[0].time;
}

static void a_copy_or_a_collective_under_compute_is_overlap(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;
	const struct kwhy_device_time *time;

	(void)state;
	build_kind(recording, 0, 0, 100, KWHY_ACTIVITY_KERNEL);
	build_kind(recording, 0, 10, 30, KWHY_ACTIVITY_COPY);
	build_kind(recording, 0, 50, 60, KWHY_ACTIVITY_COLLECTIVE);
	build_kind(recording, 0, 70, 90, KWHY_ACTIVITY_MEMSET);
	ledger = build_ledger(recording);
	time = time_of(ledger);
	assert_int_equal(time->overlap_ns, 30);
	assert_int_equal(time->compute_ns, 70);
	assert_int_equal(time->copy_ns + time->collective_ns + time->memset_ns, 0);
	assert_int_equal(time->memset_union_ns, 20);
	assert_int_equal(time->collective_overlap_ns, 10);
	assert_int_equal(time->collective_exposed_ns, 0);
	build_free(recording, ledger);
}

static void a_copy_beside_a_collective_counts_as_collective_and_a_memset_under_a_copy_as_copy(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;
	const struct kwhy_device_time *time;

	(void)state;
	build_kind(recording, 0, 0, 20, KWHY_ACTIVITY_COLLECTIVE);
	build_kind(recording, 0, 10, 40, KWHY_ACTIVITY_COPY);
	build_kind(recording, 0, 30, 50, KWHY_ACTIVITY_MEMSET);
	ledger = build_ledger(recording);
	time = time_of(ledger);
	assert_int_equal(time->collective_ns, 20);
	assert_int_equal(time->copy_ns, 20);
	assert_int_equal(time->memset_ns, 10);
	assert_int_equal(time->overlap_ns, 0);
	assert_int_equal(time->collective_exposed_ns, 20);
	assert_int_equal(time->copy_union_ns, 30);
	build_free(recording, ledger);
}

static void a_graph_row_is_a_kernel_and_computes(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;
	const struct kwhy_device_time *time;

	(void)state;
	build_kind(recording, 0, 0, 20, KWHY_ACTIVITY_GRAPH);
	build_kind(recording, 0, 30, 40, KWHY_ACTIVITY_KERNEL);
	ledger = build_ledger(recording);
	time = time_of(ledger);
	assert_int_equal(time->compute_ns, 30);
	assert_int_equal(time->kernel_count, 2);
	assert_int_equal(time->graph_count, 1);
	assert_int_equal(time->idle_ns, 10);
	build_free(recording, ledger);
}

static void concurrent_kernels_are_busy_once_and_counted_each(void **state)
{
	struct kwhy_recording *recording = build_one();
	uint32_t other = build_stream(recording, 0, 0, 8);
	struct kwhy_ledger *ledger;
	const struct kwhy_device_time *time;

	(void)state;
	build_stream(recording, 0, 0, 9); /* a stream without work */
	build_kernel(recording, 0, 0, 100, "a");
	build_kernel(recording, other, 40, 60, "b");
	build_kernel(recording, other, 60, 120, "c");
	ledger = build_ledger(recording);
	time = time_of(ledger);
	assert_int_equal(time->busy_ns, 120);
	assert_int_equal(time->kernel_total_ns, 180);
	assert_int_equal(time->kernel_union_ns, 120);
	assert_int_equal(time->max_concurrency, 2);
	assert_int_equal(time->stream_count, 2);
	assert_true(time->mean_concurrency == 1.5);
	build_free(recording, ledger);
}

static void an_activity_of_no_length_splits_the_gap_it_lies_in_and_is_never_busy(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;
	const struct kwhy_device_time *time;

	(void)state;
	build_kernel(recording, 0, 0, 10, "a");
	build_kernel(recording, 0, 20, 20, "b");
	build_kernel(recording, 0, 20, 20, "c");
	build_kernel(recording, 0, 30, 40, "d");
	build_kernel(recording, 0, 35, 35, "e");
	build_kernel(recording, 0, 50, 50, "f");
	ledger = build_ledger(recording);
	time = time_of(ledger);
	assert_int_equal(time->span_ns, 50);
	assert_int_equal(time->busy_ns, 20);
	assert_int_equal(time->idle_gaps, 3);
	assert_int_equal(time->kernel_count, 6);
	assert_int_equal(time->max_concurrency, 1);
	build_free(recording, ledger);
}

static void a_device_without_activities_has_no_span_and_no_ratios(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger = build_ledger(recording);
	const struct kwhy_device_time *time = time_of(ledger);

	(void)state;
	assert_int_equal(time->span_ns, 0);
	assert_int_equal(time->idle_gaps, 0);
	assert_true(isnan(time->busy_ratio));
	assert_true(isnan(time->mean_concurrency));
	assert_true(isnan(time->sm_weighted_ratio));
	assert_int_equal(ledger->devices[0].account_count, 0);
	build_free(recording, ledger);
}

static void devices_are_accounted_apart(void **state)
{
	struct kwhy_recording *recording = build_one();
	uint32_t device = build_device(recording, 1);
	uint32_t stream = build_stream(recording, device, 0, 7);
	struct kwhy_ledger *ledger;

	(void)state;
	build_kernel(recording, stream, 50, 90, "b");
	build_kernel(recording, 0, 0, 10, "a");
	build_kernel(recording, 0, 15, 20, "a");
	ledger = build_ledger(recording);
	assert_int_equal(ledger->devices[0].time.busy_ns, 15);
	assert_int_equal(ledger->devices[0].time.idle_ns, 5);
	assert_int_equal(ledger->devices[1].time.first_ns, 50);
	assert_int_equal(ledger->devices[1].time.busy_ns, 40);
	assert_int_equal(ledger->devices[1].time.idle_ns, 0);
	build_free(recording, ledger);
}

static void copies_are_summed_by_kind_memories_and_size_class(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_activity back = build_activity(recording, 0, 60, 70, "");
	struct kwhy_ledger *ledger;
	const struct kwhy_device_time *time;

	(void)state;
	back.kind = KWHY_ACTIVITY_COPY;
	back.copy_kind = KWHY_COPY_D2H;
	back.bytes = 1;
	build_add(recording, back);
	build_h2d(recording, 0, 0, 10, 4095, "");
	build_h2d(recording, 0, 10, 30, 4096, "");
	build_h2d(recording, 0, 30, 35, 8191, "");
	build_h2d(recording, 0, 35, 40, KWHY_UNKNOWN_BYTES, "");
	ledger = build_ledger(recording);
	time = time_of(ledger);
	assert_int_equal(time->copy_sum_count, 2);
	assert_int_equal(time->copies[0].kind, KWHY_COPY_H2D);
	assert_int_equal(time->copies[0].count, 4);
	assert_int_equal(time->copies[0].bytes, 4095 + 4096 + 8191);
	assert_int_equal(time->copies[0].unknown_bytes, 1);
	assert_int_equal(time->copies[0].total_ns, 40);
	assert_int_equal(time->copies[1].kind, KWHY_COPY_D2H);
	assert_int_equal(time->copy_class_count, 4);
	assert_int_equal(time->copy_classes[0].size_class, 11);
	assert_int_equal(time->copy_classes[1].size_class, 12);
	assert_int_equal(time->copy_classes[1].count, 2);
	assert_int_equal(time->copy_classes[2].size_class, KWHY_NONE);
	assert_int_equal(time->copy_classes[3].size_class, 0);
	assert_int_equal(time->small_h2d_count, 1);
	build_free(recording, ledger);
}

static void sums_of_absurd_lengths_and_sizes_stop_at_the_largest_number(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;
	const struct kwhy_device_time *time;

	(void)state;
	for (int i = 0; i < 4; i++)
		build_h2d(recording, 0, -(INT64_MAX / 4), INT64_MAX / 4, UINT64_MAX - 1, "");
	for (int i = 0; i < 4; i++)
		build_kernel(recording, 0, -(INT64_MAX / 4), INT64_MAX / 4, "forever");
	ledger = build_ledger(recording);
	time = time_of(ledger);
	assert_int_equal(time->span_ns, INT64_MAX / 4 * 2);
	assert_true(time->kernel_total_ns == INT64_MAX);
	assert_int_equal(time->kernel_union_ns, INT64_MAX / 4 * 2);
	assert_true(time->copies[0].bytes == UINT64_MAX);
	build_free(recording, ledger);
}

/*
 * Makes a recording of an H200: 132 multiprocessors, each with 2,048 threads, 65,536 registers and 233,472
 * bytes of shared memory.
 */
static struct kwhy_recording *build_h200(void)
{
	struct kwhy_recording *recording = build_one();

	recording->devices[0].sm_count = 132;
	recording->devices[0].threads_per_sm = 2048;
	recording->devices[0].registers_per_sm = 65536;
	recording->devices[0].shared_bytes_per_sm = 233472;
	return recording;
}

static void add_grid(
	struct kwhy_recording *recording, int64_t start_ns, int64_t end_ns, uint32_t blocks, uint16_t threads)
{
	struct kwhy_activity activity = build_activity(recording, 0, start_ns, end_ns, "k");

	activity.blocks = blocks;
	activity.threads_per_block = threads;
	build_add(recording, activity);
}

static void a_multiprocessor_holds_as_many_blocks_as_its_compute_capability_allows(void **state)
{
	static const struct {
		uint32_t major, minor, held;
	} cases[] = {{0, 0, 32}, {7, 0, 32}, {7, 5, 16}, {8, 0, 32}, {8, 6, 16}, {8, 9, 24}, {9, 0, 32},
		{12, 0, 24}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kwhy_recording *recording = build_h200();
		struct kwhy_ledger *ledger;

		recording->devices[0].compute_major = cases[i].major;
		recording->devices[0].compute_minor = cases[i].minor;
		add_grid(recording, 0, 1000, 66, 32);
		ledger = build_ledger(recording);
		assert_true(fabs(time_of(ledger)->sm_weighted_ratio - 0.5 / cases[i].held) < 1e-9);
		build_free(recording, ledger);
	}
}

static void blocks_are_weighed_against_what_the_device_holds_by_its_tightest_limit(void **state)
{
	static const struct {
		uint32_t shared_bytes;
		uint16_t threads, registers;
		uint32_t held; /* expected number of blocks that a multiprocessor can hold */
	} cases[] = {
		{KWHY_NONE, 256, KWHY_UNKNOWN_U16, 8}, /* limited by threads */
		{KWHY_NONE, 32, KWHY_UNKNOWN_U16, 32}, /* limited to 32 blocks */
		{KWHY_NONE, 256, 128, 2},	       /* limited by registers */
		{KWHY_NONE, 256, 33, 6}, /* limited by registers: 33 for each thread are rounded up to a
					    multiple of 256 for each warp */
		{100000, 256, 32, 2},	 /* limited by shared memory */
		{KWHY_NONE, KWHY_UNKNOWN_U16, 128, 1}, /* unknown block size */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kwhy_recording *recording = build_h200();
		struct kwhy_activity activity = build_activity(recording, 0, 0, 1000, "k");
		struct kwhy_ledger *ledger;

		activity.blocks = 66;
		activity.shared_bytes = cases[i].shared_bytes;
		activity.threads_per_block = cases[i].threads;
		activity.registers = cases[i].registers;
		build_add(recording, activity);
		ledger = build_ledger(recording);
		assert_true(fabs(time_of(ledger)->sm_weighted_ratio - 0.5 / cases[i].held) < 1e-9);
		build_free(recording, ledger);
	}
}

static void concurrent_grids_fill_the_device_at_most_once(void **state)
{
	struct kwhy_recording *recording = build_h200();
	struct kwhy_ledger *ledger;

	(void)state;
	add_grid(recording, 0, 100, 132 * 6, 256);    /* 3/4 of the blocks that the device holds */
	add_grid(recording, 50, 100, 132 * 6, 256);   /* concurrent: another 3/4 of these blocks */
	add_grid(recording, 100, 200, 132 * 80, 256); /* ten times the blocks that the device holds */
	add_grid(recording, 200, 300, 132 * 2, 256);
	add_grid(recording, 220, 300, KWHY_UNKNOWN_BLOCKS, 256);
	ledger = build_ledger(recording);
	assert_true(
		fabs(time_of(ledger)->sm_weighted_ratio - (0.75 * 50 + 50 + 100 + 0.25 * 100) / 300) < 1e-9);
	assert_true(fabs(time_of(ledger)->sm_weighted_known_ratio - 350.0 / 430) < 1e-9);
	build_free(recording, ledger);
}

static void without_any_known_grid_the_weighted_share_is_unknown(void **state)
{
	struct kwhy_recording *recording = build_h200();
	struct kwhy_ledger *ledger;

	(void)state;
	build_kernel(recording, 0, 0, 10, "k");
	ledger = build_ledger(recording);
	assert_true(isnan(time_of(ledger)->sm_weighted_ratio));
	assert_true(time_of(ledger)->sm_weighted_known_ratio == 0);
	build_free(recording, ledger);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_or_a_collective_under_compute_is_overlap),
		cmocka_unit_test(
			a_copy_beside_a_collective_counts_as_collective_and_a_memset_under_a_copy_as_copy),
		cmocka_unit_test(a_graph_row_is_a_kernel_and_computes),
		cmocka_unit_test(concurrent_kernels_are_busy_once_and_counted_each),
		cmocka_unit_test(an_activity_of_no_length_splits_the_gap_it_lies_in_and_is_never_busy),
		cmocka_unit_test(a_device_without_activities_has_no_span_and_no_ratios),
		cmocka_unit_test(devices_are_accounted_apart),
		cmocka_unit_test(copies_are_summed_by_kind_memories_and_size_class),
		cmocka_unit_test(sums_of_absurd_lengths_and_sizes_stop_at_the_largest_number),
		cmocka_unit_test(a_multiprocessor_holds_as_many_blocks_as_its_compute_capability_allows),
		cmocka_unit_test(blocks_are_weighed_against_what_the_device_holds_by_its_tightest_limit),
		cmocka_unit_test(concurrent_grids_fill_the_device_at_most_once),
		cmocka_unit_test(without_any_known_grid_the_weighted_share_is_unknown),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
