/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "inject/probe/fit.h"

static const unsigned flat[3] = {20, 10, 1}, layered[3] = {20, 10, 3};

#define F64                                                                                                \
	"sm90_xmma_gemm_f64f64_f64f64_f64_nn_n_tilesize128x64x16_stage3_warpsize2x2x1_execute_kernel__5x_" \
	"cublas"

/*
 * Blocks of this kernel wait for a counter in memory that blocks of an earlier layer of the grid set. If it
 * ran again without a reset of the counter, it could hang, so it is not fit for repeats if its grid has
 * several layers.
 */
static void a_product_of_several_layers_is_not_run_on_what_it_left(void **state)
{
	(void)state;
	assert_true(kwhy_probe_is_fit(F64, flat));
	assert_true(kwhy_probe_may_rerun(F64, flat));
	assert_false(kwhy_probe_is_fit(F64, layered));
	assert_false(kwhy_probe_may_rerun(F64, layered));
	assert_true(kwhy_probe_may_rerun("cutlass_80_simt_sgemm_128x64_8x5_nn_align1", layered));
}

static void layers_of_other_families_do_not_matter(void **state)
{
	(void)state;
	assert_true(kwhy_probe_is_fit("nvjet_sm90_hsh_128x64_64x8_1x2_h_bz_NNT", layered));
	assert_true(kwhy_probe_may_rerun("at::native::vectorized_elementwise_kernel<4>", layered));
	assert_true(kwhy_probe_may_rerun("at::native::vectorized_gather_kernel<16>", layered));
}

static void kernels_that_count_in_memory_are_never_run_on_what_they_left(void **state)
{
	static const char *const names[] = {"nvjet_sm90_tst_64x8_64x16_2x1_v_bz_splitK_TNT",
		"sm80_xmma_wgrad_implicit_gemm_f16f16", "DeviceRadixSortOnesweepKernel", "spin_kernel"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_false(kwhy_probe_may_rerun(names[i], flat));
}

static void of_a_graph_alone_only_what_takes_no_addresses_is_repeated(void **state)
{
	(void)state;
	assert_true(kwhy_probe_may_begin_in_graph("nvjet_sm90_hsh_128x64_64x8_1x2_h_bz_NNT"));
	assert_false(kwhy_probe_may_begin_in_graph("gemmBatchedKernel"));
	assert_false(kwhy_probe_may_begin_in_graph("vectorized_gather_kernel"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_product_of_several_layers_is_not_run_on_what_it_left),
		cmocka_unit_test(layers_of_other_families_do_not_matter),
		cmocka_unit_test(kernels_that_count_in_memory_are_never_run_on_what_they_left),
		cmocka_unit_test(of_a_graph_alone_only_what_takes_no_addresses_is_repeated),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
