/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_HIP_ABI_H
#define KWHY_VENDOR_HIP_ABI_H

#include "vendor/cuda_abi.h"
#include "vendor/nvrtc_abi.h"

/*
 * The part of HIP's binary interface that kwhy calls, declared by hand from its public documentation (ROCm
 * 5.2 to 7). HIP is modelled on CUDA's driver interface: the calls in driver_calls.def and rtc_calls.def have
 * the same parameters, and results and flags have the same values. The test unit_vendor_hip_layout compares
 * the declarations with the vendor's headers where they are installed.
 */
#define X(slot, cuda, hip, need) extern __typeof__(cuda) hip;
#include "vendor/driver_calls.def"
#undef X
#define X(slot, nvrtc, hiprtc) extern __typeof__(nvrtc) hiprtc;
#include "vendor/rtc_calls.def"
#undef X

/* Kind of a copy whose direction follows from its addresses. */
enum { KWHY_HIP_COPY_DEFAULT = 4 };

enum {
	KWHY_HIP_ATTRIBUTE_COPY_ENGINES = 2,
	KWHY_HIP_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS = 9,
	KWHY_HIP_ATTRIBUTE_COOPERATIVE_LAUNCH = 10,
	KWHY_HIP_ATTRIBUTE_CAPABILITY_MAJOR = 23,
	KWHY_HIP_ATTRIBUTE_THREADS_PER_MULTIPROCESSOR = 57,
	KWHY_HIP_ATTRIBUTE_CAPABILITY_MINOR = 61,
	KWHY_HIP_ATTRIBUTE_MULTIPROCESSORS = 63,
	KWHY_HIP_ATTRIBUTE_PAGEABLE_ACCESS = 65,
	KWHY_HIP_ATTRIBUTE_REGISTERS_PER_MULTIPROCESSOR = 72,
	KWHY_HIP_ATTRIBUTE_MEMORY_POOLS = 88,
	KWHY_HIP_ATTRIBUTE_SHARED_BYTES_PER_MULTIPROCESSOR = 10002
};

const char *hipGetErrorString(enum kwhy_cuda_result result);
enum kwhy_cuda_result hipSetDevice(int device);
enum kwhy_cuda_result hipDeviceEnablePeerAccess(int peer, unsigned flags);
enum kwhy_cuda_result hipMemcpy(kwhy_cuda_address to, kwhy_cuda_address from, size_t bytes, int kind);
enum kwhy_cuda_result hipMemcpyAsync(
	kwhy_cuda_address to, kwhy_cuda_address from, size_t bytes, int kind, kwhy_cuda_stream stream);

#endif
