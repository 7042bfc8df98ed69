/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "import/collectives.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct kwhy_error error;

static struct kwhy_collectives *table_of(const char *path)
{
	struct kwhy_collectives *table;

	if (kwhy_collectives_new(path, &table, &error))
		fail_msg("%s", error.text);
	return table;
}

static void check_all(const char *const *names, size_t count, bool expected)
{
	struct kwhy_collectives *table = table_of(NULL);

	for (size_t i = 0; i < count; i++)
		if (kwhy_collectives_match(table, names[i]) != expected)
			fail_msg("%s is %sa collective", names[i], expected ? "not " : "");
	kwhy_collectives_free(table);
}

static void kernels_of_the_known_libraries_are_collectives(void **state)
{
	static const char *const names[] = {
		"ncclKernel_AllReduce_RING_LL_Sum_half(ncclWorkElem)",
		"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)",
		"ncclAllReduceRingLLKernel_sum_f32(ncclColl)",
		"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<(unsigned long)4096>)",
		"ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)",
		"ncclSymDevKernel_AllReduce_AGxLL_R_sum_bf16(ncclSymDevArgs)",
		"ncclSymkDevKernel_AllGather_STMC(ncclSymkDevWorkArgs4K)",
		"void my::nccl_barrier<true>(int)",
		"NCCL_probe",
		"rcclGenericKernel(rccl::Args)",
		"mscclKernel_Sum_half_Simple_false(ncclDevComm*)",
		"void mscclpp::collective::allreducePacket<__half>(__half*)",
		"void deep_ep::internode::dispatch<false, 8, false, 8192>(int4*, float*)",
		"void deep_ep::internode_ll::combine<true, 7168, 9>(void*, void*)",
		"void internode::notify_dispatch<false, 4>(int const*)",
		"void intranode::combine<__nv_bfloat16, 8, 768, 4096>(__nv_bfloat16*)",
		"_ZN7deep_ep9intranode8dispatchILi8EEEvP4int4",
		"void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)",
		"multimem_one_shot_all_reduce_kernel",
		"void (anonymous namespace)::two_shot_all_reduce_kernel<float, 16, 8, true>(float*)",
		"void c10d::symmetric_memory::barrier_kernel(unsigned int**, int, int, int, unsigned long)",
		"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)",
		"void sglang::cross_device_reduce_2stage<half, 4>(sglang::RankData*)",
		"void quickreduce::allreduce_prototype_twoshot<quickreduce::AllReduceTwoshot<half>>(half*)",
		"void tensorrt_llm::kernels::oneShotAllReduceKernel<__half, 8, true>(AllReduceParams)",
		"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<int>(int)",
		"void tensorrt_llm::kernels::lamport_style_one_shot_all_reduce_norm_kernel<half>(int)",
		"void tensorrt_llm::kernels::moe_comm::moeA2ADispatchKernel<int>(int)",
		"userbuffers_fp16_sum_inplace_gpu_mc_rs",
		"kuserbuffers_pushrecv(int, int, int*, int*, int)",
		"nvshmemi_barrier_all_on_stream_kernel",
		"oneccl_allreduce_large<float>",
		"void mori::moe::EpDispatchIntraNodeKernel<hip_bfloat16>(mori::moe::Args)",
	};

	(void)state;
	check_all(names, sizeof(names) / sizeof(names[0]), true);
}

static void kernels_that_only_sound_like_collectives_are_none(void **state)
{
	static const char *const names[] = {
		"",
		"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(at::native::ReduceOp)",
		"void cub::DeviceReduceSingleTileKernel<int>(int)",
		"void cub::DeviceScanKernel<int>(int)",
		"void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*)",
		"void at::native::_scatter_gather_elementwise_kernel<128, 4>(int)",
		"void asyncClone<float>(float*)",
		"void runFuncClosure<int>(int)",
		"encClip",
		"triton_poi_fused_all_gather_into_tensor_wait_tensor_0",
		"triton_red_fused_add_all_reduce_native_layer_norm_3",
		"input_reduce_scatter_fusion_2",
		"loop_all_reduce_fusion",
		"block_all_reduce_sum_f32x4_f32_kernel",
		"void LayerNormBlockAllReduceKernel<float>(float*)",
		"void tensorrt_llm::kernels::lamport_initialize_kernel<float>(float*)",
		"void deep_ep::layout::get_dispatch_layout<256, 32, 8>(long const*)",
		"sharpen_filter",
		"nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN",
		"void arcclip_kernel(float*)",
		"succ_update",
	};

	(void)state;
	check_all(names, sizeof(names) / sizeof(names[0]), false);
}

static void write_table(char path[32], const void *bytes, size_t length)
{
	int file;

	strcpy(path, "/tmp/kwhy-collectives-XXXXXX");
	file = mkstemp(path);
	assert_true(file >= 0);
	assert_int_equal(write(file, bytes, length), length);
	close(file);
}

static void a_table_of_the_user_extends_and_overrides_the_built_in_one(void **state)
{
	static const char text[] =
		"# ours\r\n\r\n  halo_push*\t\r\n!*AllReduce_free*\n!*nccl_mock*\n*nccl_mock_2*";
	struct kwhy_collectives *table;
	char path[32];

	(void)state;
	write_table(path, text, sizeof(text) - 1);
	table = table_of(path);
	unlink(path);
	assert_true(kwhy_collectives_match(table, "halo_push_kernel<4>(int)"));
	assert_true(kwhy_collectives_match(table, "HALO_PUSH"));
	assert_false(kwhy_collectives_match(table, "void halo_push()"));
	assert_false(kwhy_collectives_match(table, "adam_allreduce_free"));
	assert_false(kwhy_collectives_match(table, "nccl_mock"));
	assert_true(kwhy_collectives_match(table, "nccl_mock_2"));
	assert_true(kwhy_collectives_match(table, "ncclDevKernel_AllGather_RING_LL"));
	assert_false(kwhy_collectives_match(table, "# ours"));
	kwhy_collectives_free(table);
}

static void refuses(const void *bytes, size_t length, const char *words)
{
	struct kwhy_collectives *table = NULL;
	char path[32];

	write_table(path, bytes, length);
	assert_int_equal(kwhy_collectives_new(path, &table, &error), KWHY_E_INPUT);
	unlink(path);
	assert_null(table);
	assert_non_null(strstr(error.text, words));
	assert_non_null(strstr(error.text, path));
}

static void a_table_that_is_none_is_refused_with_its_place(void **state)
{
	char *large = malloc((1 << 20) + 1);
	struct kwhy_collectives *table = NULL;

	(void)state;
	assert_non_null(large);
	memset(large, 'a', (1 << 20) + 1);
	refuses(large, (1 << 20) + 1, "at most 1 MiB");
	free(large);
	refuses("a\0b", 3, "one pattern");
	refuses("a*\n ! \n", 7, "line 2");
	assert_int_equal(kwhy_collectives_new("/nonexistent/table", &table, &error), KWHY_E_IO);
	assert_non_null(strstr(error.text, "/nonexistent/table"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_of_the_known_libraries_are_collectives),
		cmocka_unit_test(kernels_that_only_sound_like_collectives_are_none),
		cmocka_unit_test(a_table_of_the_user_extends_and_overrides_the_built_in_one),
		cmocka_unit_test(a_table_that_is_none_is_refused_with_its_place),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
