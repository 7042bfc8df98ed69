/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"
#include "ok.h"

#include <string.h>

static struct kwhy_error error;

/*
 * Makes a recording of a Tesla T4 (data sheet: 300 GB/s, 8.1 TFLOP/s in FP32): a kernel from 20 us on, of
 * `length_us`, and then another of 100 us. The first is launched within an operator from 0 to 10 us, unless
 * `operator` is NULL.
 */
static struct build on_t4(const char *operator, const char * shape, int64_t length_us)
{
	struct build build = build_new(1);
	struct build_issue issue = {0, "cudaLaunchKernel", 2, 8};

	build.recording->devices[0].name = "Tesla T4";
	if (operator)
		build_operator(&build, operator, shape, 0, 10);
	build_issued_kernel(&build, issue, 0, 20, 20 + length_us);
	build_kernel(&build, 0, "other", 20 + length_us, 120 + length_us);
	return build;
}

/* A product of 4096 x 4096 by 4096 x 8192: 275 GFLOP, 33.9 ms at 8.1 TFLOP/s. */
static const char product[] = "[[4096,4096],[4096,8192]];[\"float\",\"float\"];;";
/* A sum of two vectors: 3 x 30 Mi values of 4 bytes are 377 MB, 1.258 ms at 300 GB/s. */
static const char sum[] = "[[31457280],[31457280],[]];[\"float\",\"float\",\"Scalar\"];;";

static void kernels_far_below_the_roofline_are_slow(void **state)
{
	static const struct {
		const char *operator, * shape, *words, *share;
		int64_t length_us, saved_ns;
	} cases[] = {
		{"aten::mm", product, "2.75 TFLOP/s", "33.9 % of the roofline", 100000, 66064496},
		{"aten::add", sum, "75.5 GB/s", "25.2 % of the roofline", 5000, 3741709},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct build build = on_t4(cases[i].operator, cases[i].shape, cases[i].length_us);
		const struct kwhy_finding *finding = build_find(&build, "slow-kernels", NULL);

		assert_non_null(finding);
		assert_int_equal(finding->count, 1);
		assert_int_equal(finding->time_ns, cases[i].length_us * 1000);
		assert_in_range(finding->saving.time_ns, cases[i].saved_ns - 1000, cases[i].saved_ns + 1000);
		assert_non_null(strstr(finding->title, cases[i].operator));
		assert_non_null(strstr(finding->title, cases[i].words));
		assert_non_null(strstr(finding->title, cases[i].share));
		assert_non_null(strstr(finding->evidence[0].what, cases[i].operator));
		assert_non_null(strstr(finding->saving.assumption, "data sheet"));
		build_free(&build);
	}
}

static void kernels_near_the_roofline_short_or_unknown_ones_are_fine(void **state)
{
	static const struct {
		const char *operator, * shape;
		int64_t length_us;
	} cases[] = {
		{"aten::mm", product,
			60000}, /* takes 33.9 ms at the roofline: 57 % of it, which is not slow */
		{"aten::add", sum, 2000},
		{"aten::add", "[[8],[8],[]];[\"float\",\"float\",\"Scalar\"];;", 19},
		{"aten::mm", "[[4096,4096],[4096,8192]];[\"c10::BFloat16\",\"c10::BFloat16\"];;", 100000},
		{"aten::mm", "[[4096,4096],[4096,8192]];[];;", 100000},
		{NULL, NULL, 100000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct build build = on_t4(cases[i].operator, cases[i].shape, cases[i].length_us);

		assert_null(build_find(&build, "slow-kernels", NULL));
		build_free(&build);
	}
}

/*
 * An operator with two kernels: its work is divided between them in proportion to their times, so both are
 * found.
 */
static void all_kernels_of_an_operator_do_its_work_together(void **state)
{
	struct build build = on_t4("aten::add", sum, 5000);
	struct build_issue issue = {0, "cudaLaunchKernel", 8, 9};

	(void)state;
	build_issued_kernel(&build, issue, 0, 5120, 6120);
	assert_int_equal(build_find(&build, "slow-kernels", NULL)->count, 2);
	assert_in_range(build.findings->items[0].saving.time_ns, 4740709, 4742709);
	build_free(&build);
}

static void an_unknown_device_has_no_roofline(void **state)
{
	struct build build = on_t4("aten::add", sum, 5000);

	(void)state;
	build.recording->devices[0].name = "NVIDIA GeForce GTX 9999";
	assert_null(build_find(&build, "slow-kernels", NULL));
	build_free(&build);
}

static void copies_on_the_device_and_memsets_are_judged_by_their_bytes(void **state)
{
	struct build build = on_t4(NULL, NULL, 100);

	(void)state;
	/*
	 * copies within the device: 300 MB are read and written, which takes 2 ms at 300 GB/s. The first copy
	 * takes 5 ms, so 3 ms can be saved; the second takes 3.5 ms, which is not slow
	 */
	build_copy(&build, 0, KWHY_COPY_D2D, 300000000, 1000, 6000);
	build_copy(&build, 0, KWHY_COPY_D2D, 300000000, 6000, 9500);
	build_copy(&build, 0, KWHY_COPY_H2D, 300000000, 10000, 50000);
	ASSERT_FINDING(build_find(&build, "slow-kernels", NULL), 1, 5000, 3000);
	build_free(&build);
}

static void add_gauge(struct build *build, enum kwhy_gauge gauge, int64_t time_us, int64_t value)
{
	OK(kwhy_recording_add_gauge(build->recording, gauge, 0, time_us * 1000, value, &error));
}

/*
 * Makes a kernel from 150 ms to 550 ms, and six readings of two counters, one every 100 ms, each the activity
 * since the reading before. memory, fp32: thousandths of the time in which device memory and the FP32 units
 * were active.
 */
static struct build with_counters(int64_t memory, int64_t fp32)
{
	struct build build = on_t4(NULL, NULL, 100);

	build_kernel(&build, 0, "stencil", 150000, 550000);
	for (int64_t i = 1; i <= 6; i++) {
		add_gauge(&build, KWHY_GAUGE_DRAM_ACTIVE, i * 100000, memory);
		add_gauge(&build, KWHY_GAUGE_FP32_ACTIVE, i * 100000, fp32);
		add_gauge(&build, KWHY_GAUGE_TENSOR_ACTIVE, i * 100000, 0);
	}
	return build;
}

static void the_devices_counters_tell_of_kernels_without_shapes(void **state)
{
	struct build slow = with_counters(200, 100), good = with_counters(700, 100),
		     computes = with_counters(200, 700);

	(void)state;
	ASSERT_FINDING(build_find(&slow, "slow-kernels", NULL), 1, 400000, 320000);
	assert_null(build_find(&good, "slow-kernels", NULL));
	assert_null(build_find(&computes, "slow-kernels", NULL));
	build_free(&computes);
	build_free(&slow);
	build_free(&good);
}

/*
 * Kernels "slow" and "good" take turns, each for one interval of the counters. In those of "slow" memory is
 * active for 20 % and FP32 for 10 %; only it may be found: 2 intervals of 100 ms, of which 80 % could be
 * saved.
 */
static void an_interval_counts_for_the_kernel_that_filled_it(void **state)
{
	struct build build = on_t4(NULL, NULL, 100);

	(void)state;
	for (int64_t i = 1; i <= 5; i++) {
		if (i > 1)
			build_kernel(&build, 0, i % 2 ? "slow" : "good", (i - 1) * 100000, i * 100000);
		add_gauge(&build, KWHY_GAUGE_DRAM_ACTIVE, i * 100000, i % 2 ? 200 : 900);
		add_gauge(&build, KWHY_GAUGE_FP32_ACTIVE, i * 100000, 100);
	}
	ASSERT_FINDING(build_find(&build, "slow-kernels", NULL), 2, 200000, 160000);
	build_free(&build);
	build = on_t4(
		NULL, NULL, 100); /* a kernel that fills only one interval of the counters is not judged */
	build_kernel(&build, 0, "slow", 100000, 200000);
	for (int64_t i = 1; i <= 2; i++) {
		add_gauge(&build, KWHY_GAUGE_DRAM_ACTIVE, i * 100000, 200);
		add_gauge(&build, KWHY_GAUGE_FP32_ACTIVE, i * 100000, 100);
	}
	assert_null(build_find(&build, "slow-kernels", NULL));
	build_free(&build);
}

/*
 * Makes a recording like that of a published OpenMP program on a T4: an array of 64 million doubles (512 MB)
 * is copied to the device, then a kernel of `blocks` blocks with 128 threads runs for `length_us`. 500,000
 * blocks have one thread for each double.
 */
static struct build with_array(uint32_t blocks, int64_t length_us)
{
	struct build build = on_t4(NULL, NULL, 100);

	build.recording->devices[0].memory_rate_bytes_per_s = 320e9;
	build_copy(&build, 0, KWHY_COPY_H2D, 512000000, 1000, 101000);
	build_blocks(&build, 0, blocks, 110000, 110000 + length_us);
	build.recording->activities.threads_per_block[build.recording->activities.count - 1] = 128;
	return build;
}

static void a_launch_for_each_value_of_a_copied_array_passes_over_arrays(void **state)
{
	struct build slow = with_array(500000, 20640), good = with_array(500000, 4240);
	struct build other = with_array(500001, 20640), named = with_array(500000, 20640),
		     mixed = with_array(500000, 20640);
	const struct kwhy_finding *finding = build_find(&slow, "slow-kernels", NULL);

	(void)state;
	/* reading and writing the array, 1.024 GB, takes 3.2 ms at 320 GB/s */
	ASSERT_FINDING(finding, 1, 20640, 17440);
	assert_non_null(strstr(finding->title, "49.6 GB/s"));
	assert_non_null(strstr(finding->saving.assumption, "one thread for each value"));
	assert_non_null(strstr(finding->cure, "order of loops"));
	assert_null(build_find(&good, "slow-kernels", NULL));
	assert_null(build_find(&other, "slow-kernels", NULL));
	build_copy(&mixed, 0, KWHY_COPY_H2D, 600000000, 200000, 300000);
	assert_null(build_find(&mixed, "slow-kernels", NULL));
	build_free(&mixed);
	build_kernel(&named, 0, "sgemm", 200000, 200100);
	named.recording->activities.name[3] = named.recording->activities.name[4];
	assert_null(build_find(&named, "slow-kernels", NULL));
	build_free(&slow);
	build_free(&good);
	build_free(&other);
	build_free(&named);
}

static void an_array_is_at_least_half_of_the_copies_and_its_blocks_are_as_many_as_it_needs(void **state)
{
	static const struct {
		uint32_t blocks;
		uint64_t more_bytes; /* size of two further copies to the device, each; 0: none */
		size_t count;
	} cases[] = {
		{500000, 256000000, 1}, /* the array is exactly half of the copied bytes: it counts */
		{1000000, 256000100, 0},
		{499999, 0, 0},	 /* one block too few for a thread for each double: it does not count */
		{1000000, 0, 1}, /* one thread for each value of 4 bytes */
		{1000001, 0, 0}, {250000, 256000000, 1}, /* one thread for each double of 256,000,000 x 8
							    bytes, the other half of the copies */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct build build = with_array(cases[i].blocks, 20640);
		const struct kwhy_finding *finding;

		for (int64_t k = 0; cases[i].more_bytes && k < 2; k++)
			build_copy(&build, 0, KWHY_COPY_D2H, cases[i].more_bytes, 200000 + k * 100000,
				300000 + k * 100000);
		finding = build_find(&build, "slow-kernels", NULL);
		if ((finding ? finding->count : 0) != cases[i].count)
			fail_msg("%u blocks, %d bytes", cases[i].blocks, (int)cases[i].more_bytes);
		build_free(&build);
	}
}

static void stated_work_says_nothing_of_a_part_of_the_run(void **state)
{
	enum { SECOND_DEVICE, TIME_NOT_RECORDED, PART_CHOSEN, CASES };

	(void)state;
	for (int i = 0; i < CASES; i++) {
		struct build build = on_t4(NULL, NULL, 9900);

		if (i == SECOND_DEVICE) {
			build_free(&build);
			build = build_new(2);
			build.recording->devices[0].name = "Tesla T4";
			build_kernel(&build, 0, "one", 0, 10000);
			build_kernel(&build, 1, "two", 0, 10);
		}
		OK(kwhy_recording_add_work(build.recording, "bytes", 6e8, &error));
		build_finish(&build, true);
		build.ledger->devices[0].time.unrecorded_ns = i == TIME_NOT_RECORDED;
		if (i == PART_CHOSEN)
			build.ledger->devices[0].coverage.choice = KWHY_CHOICE_ALL + 1;
		assert_null(build_find(&build, "slow-kernels", NULL));
		build_free(&build);
	}
}

static void stated_work_tells_of_all_kernels(void **state)
{
	struct build build = on_t4(NULL, NULL, 9900);

	(void)state;
	/* 600 MB take 2 ms at 300 GB/s; the two kernels take 10 ms, so 8 ms can be saved */
	OK(kwhy_recording_add_work(build.recording, "bytes", 6e8, &error));
	build_finish(&build, true);
	ASSERT_FINDING(build_find(&build, "slow-kernels", NULL), 2, 10000, 8000);
	build_free(&build);
	/*
	 * 8.1 GFLOP take 1 ms in FP32, then 65 GFLOP 1 ms in FP16: 2 ms of 10 ms. The 300 MB take 1 ms at the
	 * same time and add nothing
	 */
	build = on_t4(NULL, NULL, 9900);
	OK(kwhy_recording_add_work(build.recording, "bytes", 3e8, &error));
	OK(kwhy_recording_add_work(build.recording, "flop_fp32", 8.1e9, &error));
	OK(kwhy_recording_add_work(build.recording, "flop_fp16", 65e9, &error));
	build_finish(&build, true);
	ASSERT_FINDING(build_find(&build, "slow-kernels", NULL), 2, 10000, 8000);
	build_free(&build);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_far_below_the_roofline_are_slow),
		cmocka_unit_test(kernels_near_the_roofline_short_or_unknown_ones_are_fine),
		cmocka_unit_test(all_kernels_of_an_operator_do_its_work_together),
		cmocka_unit_test(an_unknown_device_has_no_roofline),
		cmocka_unit_test(copies_on_the_device_and_memsets_are_judged_by_their_bytes),
		cmocka_unit_test(the_devices_counters_tell_of_kernels_without_shapes),
		cmocka_unit_test(a_launch_for_each_value_of_a_copied_array_passes_over_arrays),
		cmocka_unit_test(an_interval_counts_for_the_kernel_that_filled_it),
		cmocka_unit_test(
			an_array_is_at_least_half_of_the_copies_and_its_blocks_are_as_many_as_it_needs),
		cmocka_unit_test(stated_work_says_nothing_of_a_part_of_the_run),
		cmocka_unit_test(stated_work_tells_of_all_kernels),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
