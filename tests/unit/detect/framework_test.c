/* SPDX-License-Identifier: Apache-2.0 */
/* Tests detectors that use the names, shapes and ranges of a machine-learning framework. */
#include "build.h"
#include "ledger/ledger_new.h"

#include <stdio.h>
#include <string.h>

static struct kwhy_error error;

enum { US = 1000, KERNEL_US = 10 };

/*
 * Adds an operator that launches a kernel of 10 us. Operators that begin 10 us apart give kernels without
 * gaps between them.
 */
static void add_operator(struct build *build, const char *name, const char *shape, int64_t at)
{
	build_operator(build, name, shape, at, at + 5);
	build_issued_kernel(build, (struct build_issue){0, "cudaLaunchKernel", at + 1, at + 3}, 0, at + 5,
		at + 5 + KERNEL_US);
}

/* Makes three layers, each with the given operators. */
static struct build layers(const char *const *names, size_t count)
{
	struct build build = build_new(1);
	int64_t at = 0;

	for (int layer = 0; layer < 3; layer++)
		for (size_t i = 0; i < count; i++, at += KERNEL_US)
			add_operator(&build, names[i], ";;", at);
	return build;
}

#define LAYERS(...)                                \
	layers((const char *const[]){__VA_ARGS__}, \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void conversions_around_convolutions_may_go(void **state)
{
	static const char *const names[] = {"void cudnn::ops::nchwToNhwcKernel<float, float, float>(",
		"void cudnn::ops::nhwcToNchwKernel<float, float, float>(", "batched_transpose_16x32_half"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct build build = build_new(1);

		for (int64_t at = 0; at < 80; at += 20) {
			build_kernel(&build, 0, names[i], at, at + 5);
			build_kernel(&build, 0, "sm80_xmma_fprop_implicit_gemm_tf32f32_nhwckrsc_nhwc", at + 5,
				at + 20);
		}
		ASSERT_FINDING(build_find(&build, "layout-transforms", NULL), 4, 20, 20);
		build_free(&build);
	}
}

/* The kernels' names contain a memory layout, but the kernels do not convert between layouts. */
static void work_in_a_layout_converts_nothing(void **state)
{
	struct build build = build_new(1);

	(void)state;
	for (int64_t at = 0; at < 80; at += 20) {
		build_kernel(
			&build, 0, "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int>", at, at + 5);
		build_kernel(
			&build, 0, "sm80_xmma_fprop_implicit_gemm_tf32f32_nhwckrsc_nhwc", at + 5, at + 10);
		build_kernel(
			&build, 0, "void at::native::max_pool_forward_nchw<float, float>", at + 10, at + 20);
	}
	assert_null(build_find(&build, "layout-transforms", NULL));
	build_free(&build);
}

static void a_softmax_between_two_batched_products_is_attention(void **state)
{
	struct build build = LAYERS("aten::bmm", "aten::div_", "aten::_softmax", "aten::bmm", "aten::addmm");
	const struct kwhy_finding *finding = build_find(&build, "unfused-attention", NULL);

	(void)state;
	/* of four kernels per layer, the two matrix products remain in a fused attention */
	ASSERT_FINDING(finding, 3, 3 * 4 * KERNEL_US, 3 * 2 * KERNEL_US);
	assert_non_null(strstr(finding->cure, "scaled_dot_product_attention"));
	build_free(&build);
}

static void attention_with_masks_and_dropout_is_attention(void **state)
{
	struct build build = LAYERS("aten::baddbmm", "aten::masked_fill_", "aten::add", "aten::_softmax",
		"aten::native_dropout", "aten::bmm", "aten::addmm");

	(void)state;
	ASSERT_FINDING(
		build_find(&build, "unfused-attention", NULL), 3, 3 * 6 * KERNEL_US, 3 * 4 * KERNEL_US);
	build_free(&build);
}

/*
 * Sequences of operators that are no attention: products of linear layers (mm), the softmax of a loss, no
 * softmax, other work between softmax and product, and so on.
 */
static void other_softmaxes_are_no_attention(void **state)
{
	struct build others[] = {LAYERS("aten::mm", "aten::_softmax", "aten::mm"),
		LAYERS("aten::bmm", "aten::_log_softmax", "aten::bmm"),
		LAYERS("aten::bmm", "aten::_softmax", "aten::topk", "aten::bmm"),
		LAYERS("aten::bmm", "aten::div", "aten::bmm"),
		LAYERS("aten::_softmax", "aten::bmm", "aten::addmm"),
		LAYERS("aten::bmm", "aten::_softmax", "aten::_softmax", "aten::bmm")};

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		assert_null(build_find(&others[i], "unfused-attention", NULL));
		build_free(&others[i]);
	}
}

static void attention_has_at_most_eight_kernels_between_two_of_its_parts(void **state)
{
#define FOUR "aten::add", "aten::mul", "aten::add", "aten::mul"
	struct build eight = LAYERS("aten::bmm", FOUR, FOUR, "aten::_softmax", FOUR, FOUR, "aten::bmm",
			     "aten::addmm"),
		     nine = LAYERS("aten::bmm", FOUR, FOUR, "aten::add", "aten::_softmax", "aten::bmm",
			     "aten::addmm");

	(void)state;
	assert_non_null(build_find(&eight, "unfused-attention", NULL));
	assert_null(build_find(&nine, "unfused-attention", NULL));
	build_free(&eight);
	build_free(&nine);
#undef FOUR
}

static void a_call_for_fused_attention_that_was_not_fused_has_another_cure(void **state)
{
	static const char *const names[] = {"aten::bmm", "aten::_softmax", "aten::bmm"};
	struct build build = build_new(1);
	const struct kwhy_finding *finding;

	(void)state;
	build_operator(&build, "aten::_scaled_dot_product_attention_math", ";;", 0, 200);
	for (int i = 0; i < 9; i++)
		add_operator(&build, names[i % 3], ";;", KERNEL_US * i);
	finding = build_find(&build, "unfused-attention", NULL);
	assert_non_null(finding);
	assert_non_null(strstr(finding->cure, "fell back"));
	build_free(&build);
}

/*
 * Makes the caches of two layers, each of which grows by aten::cat `count` times. A cache has `first` entries
 * at first and `step` more each time; one entry is appended each time. A matrix product follows each
 * aten::cat.
 */
static struct build caches(int64_t first, int64_t step, int count)
{
	struct build build = build_new(1);
	int64_t at = 0;

	for (int i = 0; i < 2 * count; i++, at += 2 * KERNEL_US) {
		char shape[80];

		snprintf(shape, sizeof(shape), "[[[1, 8, %d, 64], [1, 8, 1, 64]], []];;",
			(int)(first + step * (i / 2)));
		add_operator(&build, "aten::cat", shape, at);
		add_operator(&build, "aten::bmm", ";;", at + KERNEL_US);
	}
	return build;
}

static void a_cache_that_grows_by_copies_may_be_static(void **state)
{
	struct build build = caches(1000, 1, 20);
	const struct kwhy_finding *finding = build_find(&build, "growing-caches", NULL);

	(void)state;
	assert_non_null(finding);
	assert_int_equal(finding->count, 40);
	assert_int_equal(finding->time_ns, 40 * KERNEL_US * US);
	/* writing only the appended entry remains, about 1/1000 of the time */
	assert_in_range(finding->saving.time_ns, 399 * US, 400 * US);
	build_free(&build);
}

/*
 * Two caches grow in turn, one in its first dimension and one in its third. The appended entries
 * have equal shapes, so the detector must distinguish the caches by the dimension in which they
 * grow.
 */
static void caches_that_grow_in_other_dimensions_are_apart(void **state)
{
	struct build build = build_new(1);
	const struct kwhy_finding *finding;

	(void)state;
	for (int i = 0; i < 40; i++) {
		char shape[80];

		snprintf(shape, sizeof(shape),
			i % 2 ? "[[[1, 8, %d, 64], [1, 8, 1, 64]], []];;"
			      : "[[[%d, 8, 1, 64], [1, 8, 1, 64]], []];;",
			(i % 2 ? 1000 : 500) + i / 2);
		add_operator(&build, "aten::cat", shape, (int64_t)i * KERNEL_US);
	}
	finding = build_find(&build, "growing-caches", NULL);
	assert_non_null(finding);
	assert_int_equal(finding->count, 40);
	build_free(&build);
}

static void other_concatenations_are_no_caches(void **state)
{
	struct build others[] = {caches(1000, 0, 20) /* constant size */,
		caches(1000, 3, 20) /* grows by too much */, caches(1000, 1, 10) /* too few */};

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		assert_null(build_find(&others[i], "growing-caches", NULL));
		build_free(&others[i]);
	}
}

static void without_shapes_no_cache_is_seen_to_grow(void **state)
{
	struct build build = LAYERS("aten::cat", "aten::bmm");

	(void)state;
	assert_null(build_find(&build, "growing-caches", NULL));
	build_free(&build);
}

/*
 * Makes six steps of 100 us. In each a thread launches `launches` kernels of `kernel_us`, one every 10 us.
 * `optimizer`: name of a range in each step; NULL: none.
 */
static struct build steps(int launches, int64_t kernel_us, const char *optimizer)
{
	struct build build = build_new(1);

	for (int64_t i = 0; i < 6; i++) {
		build_range(&build, 0, "step", 100 * i, 100 * i + 99);
		if (optimizer)
			build_range(&build, 0, optimizer, 100 * i + 70, 100 * i + 95);
		for (int64_t k = 0; k < launches; k++)
			build_issued_kernel(&build,
				(struct build_issue){
					0, "cudaLaunchKernel", 100 * i + 10 * k, 100 * i + 10 * k + 4},
				0, 100 * i + 10 * k + 5, 100 * i + 10 * k + 5 + kernel_us);
	}
	for (size_t i = 0; i < build.recording->range_count; i++)
		if (i % (optimizer ? 2 : 1) == 0)
			build.recording->ranges[i].kind = KWHY_RANGE_STEP;
	build_finish(&build, false);
	return build;
}

/*
 * Returns whether there is a finding host-limited-steps, by a ledger, which contains the steps. Copies the
 * finding and its cure, and frees the recording.
 */
static bool find_steps(struct build *build, struct kwhy_finding *out, char *cure, size_t bytes)
{
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_ledger *ledger = NULL;
	const struct kwhy_finding *finding;

	assert_int_equal(kwhy_ledger_new(build->recording, &options, &ledger, &error), KWHY_OK);
	build->ledger = ledger;
	finding = build_find(build, "host-limited-steps", NULL);
	if (finding) {
		*out = *finding;
		snprintf(cure, bytes, "%s", finding->cure);
	}
	kwhy_ledger_free(ledger);
	build->ledger = NULL;
	build_free(build);
	return finding != NULL;
}

/*
 * A kernel of 2 us is launched every 10 us, so the device waits 8 us each time. The five waits between two
 * steps do not count.
 */
static void steps_that_wait_for_launches_may_be_larger(void **state)
{
	struct build build = steps(10, 2, NULL);
	struct kwhy_finding finding;
	char cure[256];

	(void)state;
	assert_true(find_steps(&build, &finding, cure, sizeof(cure)));
	assert_int_equal(finding.time_ns, 54 * 8 * US);
	assert_int_equal(finding.saving.time_ns, 54 * 4 * US);
	assert_null(strstr(cure, "optimizer"));
}

static void an_optimizer_whose_ranges_are_known_may_step_less_often(void **state)
{
	struct build build = steps(10, 2, "Optimizer.step#AdamW.step");
	struct kwhy_finding finding;
	char cure[256];

	(void)state;
	assert_true(find_steps(&build, &finding, cure, sizeof(cure)));
	assert_non_null(strstr(cure, "gradients accumulated"));
	assert_non_null(strstr(cure, "25.3 %"));
}

/*
 * The device waits for the host only outside of the steps, whose ranges end 60 us earlier than the
 * work. The steps must not be found. First the device is busy in the steps; then the steps have
 * only the first 5 us of the work.
 */
static void waits_outside_of_steps_are_not_those_of_steps(void **state)
{
	struct build build = steps(10, 8, NULL);
	struct kwhy_finding finding;
	char cure[256];

	(void)state;
	for (size_t i = 0; i < build.recording->range_count; i++)
		build.recording->ranges[i].end_ns -= 60 * US;
	assert_false(find_steps(&build, &finding, cure, sizeof(cure)));
	build = steps(10, 2, NULL);
	for (size_t i = 0; i < build.recording->range_count; i++)
		build.recording->ranges[i].end_ns = build.recording->ranges[i].start_ns + 5 * US;
	assert_false(find_steps(&build, &finding, cure, sizeof(cure)));
}

/*
 * The range of the first of six periods is no step, so the waits in it must not count, though its launches
 * are as slow.
 */
static void waits_before_the_first_step_do_not_count(void **state)
{
	struct build build = steps(10, 2, NULL);
	struct kwhy_finding finding;
	char cure[256];

	(void)state;
	for (size_t i = 0; i < build.recording->range_count - 5; i++)
		build.recording->ranges[i].kind = KWHY_RANGE_NVTX;
	assert_true(find_steps(&build, &finding, cure, sizeof(cure)));
	assert_int_equal(finding.time_ns, 45 * 8 * US);
}

static void steps_that_fill_the_device_are_large_enough(void **state)
{
	struct build build = steps(10, 8, NULL);
	struct kwhy_finding finding;
	char cure[256];

	(void)state;
	assert_false(find_steps(&build, &finding, cure, sizeof(cure)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conversions_around_convolutions_may_go),
		cmocka_unit_test(work_in_a_layout_converts_nothing),
		cmocka_unit_test(a_softmax_between_two_batched_products_is_attention),
		cmocka_unit_test(attention_with_masks_and_dropout_is_attention),
		cmocka_unit_test(other_softmaxes_are_no_attention),
		cmocka_unit_test(attention_has_at_most_eight_kernels_between_two_of_its_parts),
		cmocka_unit_test(a_call_for_fused_attention_that_was_not_fused_has_another_cure),
		cmocka_unit_test(a_cache_that_grows_by_copies_may_be_static),
		cmocka_unit_test(caches_that_grow_in_other_dimensions_are_apart),
		cmocka_unit_test(other_concatenations_are_no_caches),
		cmocka_unit_test(without_shapes_no_cache_is_seen_to_grow),
		cmocka_unit_test(steps_that_wait_for_launches_may_be_larger),
		cmocka_unit_test(waits_outside_of_steps_are_not_those_of_steps),
		cmocka_unit_test(an_optimizer_whose_ranges_are_known_may_step_less_often),
		cmocka_unit_test(waits_before_the_first_step_do_not_count),
		cmocka_unit_test(steps_that_fill_the_device_are_large_enough),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
