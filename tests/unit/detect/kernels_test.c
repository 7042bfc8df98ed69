/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"
#include "detect/families.h"

#include <string.h>

/* Makes `count` kernels of `length_us` with gaps of `gap_us`. */
static struct build row_of_kernels(int count, int64_t length_us, int64_t gap_us)
{
	struct build build = build_new(1);

	for (int64_t i = 0; i < count; i++)
		build_kernel(&build, 0, "k", i * (length_us + gap_us), i * (length_us + gap_us) + length_us);
	return build;
}

static void tiny_kernels_in_a_row_are_a_chain_whose_gaps_may_go(void **state)
{
	struct build build = row_of_kernels(10, 3, 2);
	const struct kwhy_finding *finding = build_find(&build, "tiny-kernel-chains", NULL);

	(void)state;
	/* time: 30 us of kernels and nine gaps of 2 us; saving: the gaps */
	ASSERT_FINDING(finding, 10, 48, 18);
	assert_string_equal(finding->evidence[0].what, "k, then k");
	assert_string_equal(finding->evidence[0].kernels[0], "k");
	assert_string_equal(finding->evidence[0].kernels[1], "k");
	build_free(&build);
}

static void a_chain_as_long_as_a_fraction_asks_for_has_its_beginning(void **state)
{
	struct build build = row_of_kernels(10, 3, 2);

	(void)state;
	ASSERT_FINDING(
		build_find(&build, "tiny-kernel-chains", "tiny-kernel-chains.min_length=8.5"), 10, 48, 18);
	build_free(&build);
}

static void few_long_or_scattered_kernels_are_no_chain(void **state)
{
	static const int shapes[][3] = {{7, 3, 2}, {20, 11, 2}, {20, 3, 21}};

	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct build build = row_of_kernels(shapes[i][0], shapes[i][1], shapes[i][2]);

		assert_null(build_find(&build, "tiny-kernel-chains", NULL));
		build_free(&build);
	}
}

/* Kernels that the host waits for can neither be fused nor be put into one graph. */
static void kernels_with_waits_between_are_no_chain(void **state)
{
	(void)state;
	for (int waits = 0; waits < 2; waits++) {
		struct build build = build_new(1);

		for (int64_t at = 0; at < 200; at += 20) {
			build_issued_kernel(&build, (struct build_issue){0, "cudaLaunchKernel", at, at + 2},
				0, at + 4, at + 9);
			if (waits)
				build_call(&build, 0, "cudaStreamSynchronize", at + 3, at + 10);
		}
		assert_int_equal(build_find(&build, "tiny-kernel-chains", NULL) != NULL, !waits);
		build_free(&build);
	}
}

static void chains_of_two_streams_share_the_gaps(void **state)
{
	struct build build = row_of_kernels(10, 3, 2);
	uint32_t other = build_stream(&build, 0);

	(void)state;
	for (int64_t i = 0; i < 10; i++)
		build_kernel(&build, other, "k", i * 5 + 1, i * 5 + 4);
	/* the kernels of the two streams overlap: busy for 10 x 4 us, with nine gaps of 1 us */
	ASSERT_FINDING(build_find(&build, "tiny-kernel-chains", NULL), 20, 49, 9);
	build_free(&build);
}

static void kernels_with_few_blocks_leave_multiprocessors_empty(void **state)
{
	struct build build = build_new(1);

	(void)state;
	build_blocks(&build, 0, 25, 0, 100);
	build_blocks(&build, 0, 500, 100, 300);
	/*
	 * the first kernel's 25 blocks use 25 of 100 multiprocessors; on all of them the kernel would take
	 * a quarter of the time
	 */
	ASSERT_FINDING(build_find(&build, "under-filled-kernels", NULL), 1, 100, 75);
	build_free(&build);
}

/*
 * Two of four launches are in a range of one source file, one is in a range of another, and one in no range:
 * the first file must be named.
 */
static void small_kernels_name_the_line_that_launched_most_of_them(void **state)
{
	struct build build = build_new(1);
	const struct kwhy_finding *finding;

	(void)state;
	build_host_range(&build, KWHY_HOST_PYTHON, "forward", "src/other.py", 95, 120);
	build_host_range(&build, KWHY_HOST_PYTHON, "backward", "src/train.py", 195, 420);
	for (int64_t i = 0; i < 4; i++) {
		struct build_issue issue = {0, "cudaLaunchKernel", 100 * i, 100 * i + 5};

		build_issued_kernel(&build, issue, 0, 100 * i + 10, 100 * i + 90);
		build.recording->activities.blocks[i] = 25;
	}
	finding = build_find(&build, "under-filled-kernels", NULL);
	assert_non_null(finding);
	assert_non_null(
		strstr(finding->title, "; 2 of 3 launches whose line is known in backward (train.py:42)"));
	build_free(&build);
}

static void kernels_that_fill_the_device_or_whose_grid_is_unknown_are_fine(void **state)
{
	struct build build = build_new(1);

	(void)state;
	build_blocks(&build, 0, 50, 0, 100);
	build_blocks(&build, 0, KWHY_UNKNOWN_BLOCKS, 100, 300);
	build_blocks(&build, 0, 0, 300, 500);
	assert_null(build_find(&build, "under-filled-kernels", NULL));
	build_free(&build);
	build = build_new(1);
	build.recording->devices[0].sm_count = 0; /* unknown */
	build_blocks(&build, 0, 1, 0, 100);
	assert_null(build_find(&build, "under-filled-kernels", NULL));
	build_free(&build);
}

static void a_kernel_fills_at_most_the_whole_device(void **state)
{
	static const struct {
		uint32_t blocks;
		double ratio;
	} cases[] = {{1, 0.01}, {50, 0.5}, {100, 1}, {200, 1}, {0, 1}, {KWHY_UNKNOWN_BLOCKS, 1}};
	struct build build = build_new(1);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		build_blocks(&build, 0, cases[i].blocks, 100 * (int64_t)i, 100 * (int64_t)i + 100);
	build_finish(&build, false);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_float_equal(kwhy_detect_fill_ratio(build.recording, i), cases[i].ratio, 1e-12);
	build_free(&build);
}

static void small_kernels_side_by_side_fill_the_device_together(void **state)
{
	struct build build = build_new(1);

	(void)state;
	for (uint32_t i = 0; i < 5; i++)
		build_blocks(&build, i ? build_stream(&build, 0) : 0, 20, 0, 100);
	assert_null(build_find(&build, "under-filled-kernels", NULL));
	build_free(&build);
}

static struct build with_memory(uint64_t unused_bytes)
{
	struct build build = build_new(1);
	struct kwhy_memory_sum *memory;

	build_blocks(&build, 0, 10, 0, 100);
	build_blocks(&build, 0, 500, 100, 200);
	build_finish(&build, true);
	memory = kwhy_arena_alloc(&build.ledger->arena, 1, sizeof(*memory));
	*memory = (struct kwhy_memory_sum){.device = 0, .device_bytes = 1000, .unused_bytes = unused_bytes};
	build.ledger->memory = memory;
	build.ledger->memory_count = 1;
	return build;
}

static void small_kernels_while_memory_lies_free_let_the_batch_grow(void **state)
{
	struct build build = with_memory(800);

	(void)state;
	/*
	 * of 1000 bytes 800 are free, so the batch can be five times as large, in which the same work takes
	 * 1/5 of 100 us
	 */
	ASSERT_FINDING(build_find(&build, "batch-could-grow", NULL), 1, 100, 80);
	build_free(&build);
}

static void without_free_or_known_memory_nothing_is_said_of_the_batch(void **state)
{
	static const uint64_t unused[] = {400, KWHY_UNKNOWN_BYTES};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct build build = with_memory(unused[i]);

		assert_null(build_find(&build, "batch-could-grow", NULL));
		build_free(&build);
	}
}

static struct build product(const char *name)
{
	struct build build = build_new(1);

	build_kernel(&build, 0, name, 0, 80);
	build_kernel(&build, 0, "elementwise", 80, 100);
	return build;
}

static void products_named_after_fp32_units_may_use_tensor_cores(void **state)
{
	static const char *const names[] = {"ampere_sgemm_128x64_tn", "volta_sgemm_32x128_nn",
		"void cutlass::Kernel<cutlass_80_simt_sgemm_256x128_8x4_nn_align1>(T1::Params)",
		"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct build build = product(names[i]);

		ASSERT_FINDING(build_find(&build, "fp32-matmul", NULL), 1, 80, 70);
		assert_non_null(strstr(build_find(&build, "fp32-matmul", NULL)->title, "may"));
		build_free(&build);
	}
}

static void products_on_tensor_cores_are_fine(void **state)
{
	static const char *const names[] = {"ampere_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_nn",
		"volta_h884gemm_128x64_ldg8_nn", "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize64",
		"nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN", "ampere_tf32_s1688gemm_128x128"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct build build = product(names[i]);

		assert_null(build_find(&build, "fp32-matmul", NULL));
		build_free(&build);
	}
}

static const struct kwhy_finding *fp32_on(struct build *build, const char *name, uint32_t compute_major)
{
	*build = build_new(1);
	build->recording->devices[0].name = name;
	build->recording->devices[0].compute_major = compute_major;
	build_kernel(build, 0, "ampere_sgemm_128x64_nn", 0, 80);
	build_kernel(build, 0, "other", 80, 100);
	return build_find(build, "fp32-matmul", NULL);
}

/*
 * Tensor cores support TF32 and BF16 from compute capability 8.0 on; those of Volta and Turing have no
 * floating-point type but FP16.
 */
static void what_tensor_cores_lack_is_not_advised(void **state)
{
	static const struct {
		const char *name;
		uint32_t compute_major;
	} cases[] = {{"Tesla V100-SXM2-32GB", 0}, {"Tesla V100-SXM2-32GB", 7},
		{"NVIDIA GeForce RTX 2080 Ti", 0}, {"Tesla T4", 0}, {NULL, 7}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct build build;
		const struct kwhy_finding *finding = fp32_on(&build, cases[i].name, cases[i].compute_major);

		ASSERT_FINDING(finding, 1, 80, 70);
		assert_non_null(strstr(finding->cure, "use FP16"));
		assert_null(strstr(finding->cure, "allow_tf32"));
		build_free(&build);
	}
}

static void what_tensor_cores_have_is_advised(void **state)
{
	static const char *const names[] = {"NVIDIA A100-SXM4-80GB", "NVIDIA H100 80GB HBM3", "NVIDIA L4",
		"NVIDIA GeForce RTX 3090", NULL};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct build build;
		const struct kwhy_finding *finding = fp32_on(&build, names[i], 0);

		ASSERT_FINDING(finding, 1, 80, 70);
		assert_non_null(strstr(finding->cure, "TF32"));
		build_free(&build);
	}
}

static void without_tensor_cores_fp32_products_are_fine(void **state)
{
	static const struct {
		const char *name;
		uint32_t compute_major;
	} cases[] = {{"NVIDIA GeForce GTX 1060 6GB", 0}, {"NVIDIA GeForce GTX 1660 Ti", 7},
		{"Tesla P100-PCIE-16GB", 0}, {NULL, 6}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct build build;

		assert_null(fp32_on(&build, cases[i].name, cases[i].compute_major));
		build_free(&build);
	}
}

static void fp32_products_beside_mostly_tensor_ones_are_fine(void **state)
{
	struct build build = product("ampere_sgemm_128x64_tn");

	(void)state;
	build_kernel(&build, 0, "nvjet_tst_192x192", 100, 300);
	assert_null(build_find(&build, "fp32-matmul", NULL));
	build_free(&build);
}

static void a_sparse_matrix_made_dense_and_multiplied_is_named(void **state)
{
	struct build build = build_new(1);

	(void)state;
	build_kernel(&build, 0, "void cusparse::csr2dense_kernel<float>", 0, 20);
	build_kernel(&build, 0, "nvjet_tst_192x192", 20, 70);
	build_kernel(&build, 0, "nvjet_tst_192x192", 70, 100);
	ASSERT_FINDING(build_find(&build, "dense-on-sparse", NULL), 2, 70, 70);
	build_free(&build);
}

static void all_names_of_conversions_to_dense_are_known(void **state)
{
	static const char *const names[] = {"sparse_to_dense_kernel", "sparseToDenseKernel",
		"cusparseSparseToDense", "sparse2dense", "csc2dense_kernel", "coo2dense_kernel",
		"csr_to_dense", "coo_to_dense"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct build build = build_new(1);

		build_kernel(&build, 0, names[i], 0, 20);
		build_kernel(&build, 0, "nvjet_tst_192x192", 20, 70);
		ASSERT_FINDING(build_find(&build, "dense-on-sparse", NULL), 2, 70, 70);
		build_free(&build);
	}
}

static void dense_products_without_evidence_of_sparse_data_are_not_accused(void **state)
{
	struct build build = build_new(1);

	(void)state;
	build_kernel(&build, 0, "masked_fill_kernel", 0, 20);
	build_kernel(&build, 0, "nvjet_tst_192x192", 20, 70);
	assert_null(build_find(&build, "dense-on-sparse", NULL));
	build_free(&build);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tiny_kernels_in_a_row_are_a_chain_whose_gaps_may_go),
		cmocka_unit_test(a_chain_as_long_as_a_fraction_asks_for_has_its_beginning),
		cmocka_unit_test(few_long_or_scattered_kernels_are_no_chain),
		cmocka_unit_test(kernels_with_waits_between_are_no_chain),
		cmocka_unit_test(chains_of_two_streams_share_the_gaps),
		cmocka_unit_test(kernels_with_few_blocks_leave_multiprocessors_empty),
		cmocka_unit_test(small_kernels_name_the_line_that_launched_most_of_them),
		cmocka_unit_test(kernels_that_fill_the_device_or_whose_grid_is_unknown_are_fine),
		cmocka_unit_test(a_kernel_fills_at_most_the_whole_device),
		cmocka_unit_test(small_kernels_side_by_side_fill_the_device_together),
		cmocka_unit_test(small_kernels_while_memory_lies_free_let_the_batch_grow),
		cmocka_unit_test(without_free_or_known_memory_nothing_is_said_of_the_batch),
		cmocka_unit_test(products_named_after_fp32_units_may_use_tensor_cores),
		cmocka_unit_test(products_on_tensor_cores_are_fine),
		cmocka_unit_test(what_tensor_cores_lack_is_not_advised),
		cmocka_unit_test(what_tensor_cores_have_is_advised),
		cmocka_unit_test(without_tensor_cores_fp32_products_are_fine),
		cmocka_unit_test(fp32_products_beside_mostly_tensor_ones_are_fine),
		cmocka_unit_test(a_sparse_matrix_made_dense_and_multiplied_is_named),
		cmocka_unit_test(all_names_of_conversions_to_dense_are_known),
		cmocka_unit_test(dense_products_without_evidence_of_sparse_data_are_not_accused),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
