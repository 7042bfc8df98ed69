/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_UNIT_VENDOR_HIP_FACTS_H
#define KWHY_TESTS_UNIT_VENDOR_HIP_FACTS_H

/*
 * Lists constants that must be equal in kwhy's declarations and in the vendor's header, X(ours, theirs).
 * Each side is compiled in a file of its own, as both define the same names.
 */
#define HIP_FACTS(X)                                                                                        \
	X(KWHY_CUDA_SUCCESS, hipSuccess)                                                                    \
	X(KWHY_CUDA_INVALID_VALUE, hipErrorInvalidValue)                                                    \
	X(KWHY_CUDA_OUT_OF_MEMORY, hipErrorOutOfMemory)                                                     \
	X(KWHY_CUDA_DEINITIALIZED, hipErrorDeinitialized)                                                   \
	X(KWHY_CUDA_NO_DEVICE, hipErrorNoDevice)                                                            \
	X(KWHY_CUDA_INVALID_DEVICE, hipErrorInvalidDevice)                                                  \
	X(KWHY_CUDA_INVALID_CONTEXT, hipErrorInvalidContext)                                                \
	X(KWHY_CUDA_ECC_UNCORRECTABLE, hipErrorECCNotCorrectable)                                           \
	X(KWHY_CUDA_NOT_FOUND, hipErrorNotFound)                                                            \
	X(KWHY_CUDA_NOT_READY, hipErrorNotReady)                                                            \
	X(KWHY_CUDA_ILLEGAL_ADDRESS, hipErrorIllegalAddress)                                                \
	X(KWHY_CUDA_LAUNCH_TIMEOUT, hipErrorLaunchTimeOut)                                                  \
	X(KWHY_CUDA_PEER_ALREADY_ENABLED, hipErrorPeerAccessAlreadyEnabled)                                 \
	X(KWHY_CUDA_CONTEXT_DESTROYED, hipErrorContextIsDestroyed)                                          \
	X(KWHY_CUDA_ASSERT, hipErrorAssert)                                                                 \
	X(KWHY_CUDA_LAUNCH_FAILED, hipErrorLaunchFailure)                                                   \
	X(KWHY_CUDA_COOPERATIVE_TOO_LARGE, hipErrorCooperativeLaunchTooLarge)                               \
	X(KWHY_CUDA_NOT_SUPPORTED, hipErrorNotSupported)                                                    \
	X(KWHY_CUDA_CAPTURE_UNSUPPORTED, hipErrorStreamCaptureUnsupported)                                  \
	X(KWHY_CUDA_UNKNOWN, hipErrorUnknown)                                                               \
	X(KWHY_CUDA_STREAM_NON_BLOCKING, hipStreamNonBlocking)                                              \
	X(KWHY_CUDA_EVENT_DISABLE_TIMING, hipEventDisableTiming)                                            \
	X(KWHY_CUDA_CAPTURE_THREAD_LOCAL, hipStreamCaptureModeThreadLocal)                                  \
	X(KWHY_CUDA_HOST_PORTABLE, hipHostMallocPortable)                                                   \
	X(KWHY_CUDA_HOST_MAPPED, hipHostMallocMapped)                                                       \
	X(KWHY_CUDA_HOST_WRITE_COMBINED, hipHostMallocWriteCombined)                                        \
	X(KWHY_CUDA_REGISTER_PORTABLE, hipHostRegisterPortable)                                             \
	X(KWHY_CUDA_REGISTER_MAPPED, hipHostRegisterMapped)                                                 \
	X(KWHY_CUDA_MANAGED_GLOBAL, hipMemAttachGlobal)                                                     \
	X(KWHY_HIP_COPY_DEFAULT, hipMemcpyDefault)                                                          \
	X(KWHY_HIP_ATTRIBUTE_COPY_ENGINES, hipDeviceAttributeAsyncEngineCount)                              \
	X(KWHY_HIP_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, hipDeviceAttributeConcurrentManagedAccess)          \
	X(KWHY_HIP_ATTRIBUTE_COOPERATIVE_LAUNCH, hipDeviceAttributeCooperativeLaunch)                       \
	X(KWHY_HIP_ATTRIBUTE_CAPABILITY_MAJOR, hipDeviceAttributeComputeCapabilityMajor)                    \
	X(KWHY_HIP_ATTRIBUTE_CAPABILITY_MINOR, hipDeviceAttributeComputeCapabilityMinor)                    \
	X(KWHY_HIP_ATTRIBUTE_THREADS_PER_MULTIPROCESSOR, hipDeviceAttributeMaxThreadsPerMultiProcessor)     \
	X(KWHY_HIP_ATTRIBUTE_MULTIPROCESSORS, hipDeviceAttributeMultiprocessorCount)                        \
	X(KWHY_HIP_ATTRIBUTE_PAGEABLE_ACCESS, hipDeviceAttributePageableMemoryAccess)                       \
	X(KWHY_HIP_ATTRIBUTE_REGISTERS_PER_MULTIPROCESSOR, hipDeviceAttributeMaxRegistersPerMultiprocessor) \
	X(KWHY_HIP_ATTRIBUTE_MEMORY_POOLS, hipDeviceAttributeMemoryPoolsSupported)                          \
	X(KWHY_HIP_ATTRIBUTE_SHARED_BYTES_PER_MULTIPROCESSOR,                                               \
		hipDeviceAttributeMaxSharedMemoryPerMultiprocessor)                                         \
	X(KWHY_NVRTC_SUCCESS, HIPRTC_SUCCESS)                                                               \
	X(KWHY_NVRTC_COMPILATION, HIPRTC_ERROR_COMPILATION)

enum {
	HIP_FACT_COUNT = 0
#define COUNT_ONE(ours, theirs) +1
	HIP_FACTS(COUNT_ONE)
#undef COUNT_ONE
};

extern const long hip_vendor_facts[HIP_FACT_COUNT];

#endif
