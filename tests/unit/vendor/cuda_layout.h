/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_UNIT_VENDOR_CUDA_LAYOUT_H
#define KWHY_TESTS_UNIT_VENDOR_CUDA_LAYOUT_H

#include <stddef.h>

/*
 * Sizes and constants that both declarations of the CUDA driver and NVRTC must agree on, ours and the
 * toolkit's: T(ours, theirs) is a size, C(ours, theirs) a constant.
 */
#define CUDA_LAYOUT(T, C)                                                                     \
	T(kwhy_cuda_device, CUdevice)                                                         \
	T(kwhy_cuda_address, CUdeviceptr)                                                     \
	T(enum kwhy_cuda_result, CUresult)                                                    \
	T(enum kwhy_nvrtc_result, nvrtcResult)                                                \
	C(KWHY_CUDA_SUCCESS, CUDA_SUCCESS)                                                    \
	C(KWHY_CUDA_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY)                                  \
	C(KWHY_CUDA_NO_DEVICE, CUDA_ERROR_NO_DEVICE)                                          \
	C(KWHY_CUDA_INVALID_DEVICE, CUDA_ERROR_INVALID_DEVICE)                                \
	C(KWHY_CUDA_UNKNOWN, CUDA_ERROR_UNKNOWN)                                              \
	C(KWHY_CUDA_ATTRIBUTE_MULTIPROCESSORS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)      \
	C(KWHY_CUDA_ATTRIBUTE_THREADS_PER_MULTIPROCESSOR,                                     \
		CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)                           \
	C(KWHY_CUDA_ATTRIBUTE_CAPABILITY_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) \
	C(KWHY_CUDA_ATTRIBUTE_CAPABILITY_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) \
	C(KWHY_CUDA_ATTRIBUTE_SHARED_BYTES_PER_MULTIPROCESSOR,                                \
		CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)                     \
	C(KWHY_CUDA_ATTRIBUTE_REGISTERS_PER_MULTIPROCESSOR,                                   \
		CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)                         \
	C(KWHY_CUDA_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING)                              \
	C(KWHY_CUDA_CAPTURE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)                \
	C(KWHY_NVRTC_SUCCESS, NVRTC_SUCCESS)                                                  \
	C(KWHY_NVRTC_COMPILATION, NVRTC_ERROR_COMPILATION)

struct cuda_layout_row {
	const char *what;
	size_t value;
};

extern const struct cuda_layout_row cuda_layout_of_toolkit[];

#endif
