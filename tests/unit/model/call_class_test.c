/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "model/recording.h"

static void calls_are_classified_by_what_the_device_waits_for(void **state)
{
	static const struct {
		const char *name;
		enum kwhy_call_class class;
	} cases[] = {
		{"cudaLaunchKernel", KWHY_CALL_LAUNCH},
		{"cudaLaunchKernelExC", KWHY_CALL_LAUNCH},
		{"cuLaunchKernelEx", KWHY_CALL_LAUNCH},
		{"cudaLaunchHostFunc", KWHY_CALL_OTHER},
		{"cudaGraphLaunch", KWHY_CALL_LAUNCH},
		{"hipExtModuleLaunchKernel", KWHY_CALL_LAUNCH},
		{"hipModuleLaunchKernel", KWHY_CALL_LAUNCH},
		{"cudaMemcpyAsync", KWHY_CALL_LAUNCH},
		{"cuMemcpyHtoDAsync", KWHY_CALL_LAUNCH},
		{"cudaMemcpy", KWHY_CALL_COPY},
		{"hipMemcpyWithStream", KWHY_CALL_COPY},
		{"cudaStreamSynchronize", KWHY_CALL_SYNC},
		{"cuCtxSynchronize", KWHY_CALL_SYNC},
		{"cudaEventSynchronize", KWHY_CALL_SYNC},
		{"cudaMalloc", KWHY_CALL_ALLOC},
		{"cudaHostAlloc", KWHY_CALL_ALLOC},
		{"cuMemAlloc", KWHY_CALL_ALLOC},
		{"cudaFree", KWHY_CALL_FREE},
		{"cudaFreeHost", KWHY_CALL_FREE},
		{"cuMemFree", KWHY_CALL_FREE},
		{"cudaGetDevice", KWHY_CALL_OTHER},
		{"cudaMemPoolTrimTo", KWHY_CALL_OTHER},
		{"cudaStreamIsCapturing", KWHY_CALL_OTHER},
		{"cudaEventRecord", KWHY_CALL_OTHER},
		{"ncclAllReduce", KWHY_CALL_OTHER},
		{"musaMemcpyAsync", KWHY_CALL_LAUNCH},
		{"muStreamSynchronize", KWHY_CALL_SYNC},
		{"urEnqueueUSMMemcpy", KWHY_CALL_LAUNCH},
		{"piEventsWait", KWHY_CALL_SYNC},
		{"zeCommandListAppendLaunchKernel", KWHY_CALL_LAUNCH},
		{"clEnqueueReadBuffer", KWHY_CALL_COPY},
		{"clFinish", KWHY_CALL_SYNC},
		/* The prefixes mu, ur, ze and cl count only if an upper-case letter follows. */
		{"mulLaunch", KWHY_CALL_OTHER},
		{"urfinish", KWHY_CALL_OTHER},
		{"clFree", KWHY_CALL_FREE},
		{"clfree", KWHY_CALL_OTHER},
		{"zeroFree", KWHY_CALL_OTHER},
		{"", KWHY_CALL_OTHER},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (kwhy_call_class_of(cases[i].name) != cases[i].class)
			fail_msg("%s is of class %d", cases[i].name, kwhy_call_class_of(cases[i].name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_classified_by_what_the_device_waits_for),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
