/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "inject/calls.h"

#include <string.h>

static void assert_name(const char *cupti_name, const char *expected)
{
	char name[KWHY_INJECT_CALL_NAME_BYTES];

	kwhy_inject_call_name(cupti_name, name);
	assert_string_equal(name, expected);
}

static void names_lose_what_only_versions_need(void **state)
{
	(void)state;
	assert_name("cudaLaunchKernel_v7000", "cudaLaunchKernel");
	assert_name("cudaLaunchKernel_ptsz_v7000", "cudaLaunchKernel");
	assert_name("__cudaLaunchKernel_ptsz_v13000", "cudaLaunchKernel");
	assert_name("cuMemcpyHtoDAsync_v2_ptsz", "cuMemcpyHtoDAsync");
	assert_name("cuMemAlloc_v2", "cuMemAlloc");
	assert_name("cuCtxSynchronize", "cuCtxSynchronize");
	assert_name("cudaMalloc_very", "cudaMalloc_very");
	assert_name("cuThing_v", "cuThing_v");
	assert_name("", "");
}

static void very_long_names_are_cut(void **state)
{
	char name[KWHY_INJECT_CALL_NAME_BYTES], long_name[300];

	(void)state;
	memset(long_name, 'x', sizeof(long_name));
	long_name[299] = '\0';
	kwhy_inject_call_name(long_name, name);
	assert_int_equal(strlen(name), KWHY_INJECT_CALL_NAME_BYTES - 1);
}

static void calls_that_start_wait_take_or_give_back_matter(void **state)
{
	static const char *const those[] = {"cudaLaunchKernel", "cudaLaunchKernelExC",
		"cudaLaunchCooperativeKernel", "cudaGraphLaunch", "cudaMemcpy", "cudaMemcpyAsync",
		"cudaMemcpyBatchAsync", "cudaMemset2DAsync", "cudaStreamSynchronize", "cudaDeviceSynchronize",
		"cudaEventSynchronize", "cudaMalloc", "cudaMallocAsync", "cudaHostAlloc", "cudaFree",
		"cudaFreeHost", "cuLaunchKernel", "cuLaunchKernelEx", "cuGraphLaunch", "cuMemcpyHtoDAsync",
		"cuMemsetD32Async", "cuStreamSynchronize", "cuMemAlloc", "cuMemAllocHost", "cuMemFree",
		"cuMemCreate", "cuMemUnmap"};

	(void)state;
	for (size_t i = 0; i < sizeof(those) / sizeof(those[0]); i++)
		if (!kwhy_inject_call_matters(those[i]))
			fail_msg("%s should matter", those[i]);
}

static void calls_by_the_hundred_thousand_do_not(void **state)
{
	static const char *const those[] = {"cudaGetDevice", "cudaSetDevice", "cudaGetLastError",
		"cudaPeekAtLastError", "cudaStreamIsCapturing", "cudaEventRecord", "cudaEventQuery",
		"cudaLaunchHostFunc", "cuLaunchHostFunc", "cudaMemSetMemPool", "cuMemSetAccess",
		"cudaGraphAddMemcpyNode", "cudaFuncGetAttributes", "cuPointerGetAttribute", "cuCtxGetCurrent",
		"cudaMemGetInfo", "cudaOccupancyMaxActiveBlocksPerMultiprocessor"};

	(void)state;
	for (size_t i = 0; i < sizeof(those) / sizeof(those[0]); i++)
		if (kwhy_inject_call_matters(those[i]))
			fail_msg("%s should not matter", those[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_lose_what_only_versions_need),
		cmocka_unit_test(very_long_names_are_cut),
		cmocka_unit_test(calls_that_start_wait_take_or_give_back_matter),
		cmocka_unit_test(calls_by_the_hundred_thousand_do_not),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
