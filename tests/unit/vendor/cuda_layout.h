/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_UNIT_VENDOR_CUDA_LAYOUT_H
#define KWHY_TESTS_UNIT_VENDOR_CUDA_LAYOUT_H

#include <stddef.h>

/*
 * Lists sizes and constants that must be equal in kwhy's and in the toolkit's declarations of the CUDA
 * driver and NVRTC: T(ours, theirs) is a size, C(ours, theirs) a constant.
 */
#define CUDA_LAYOUT(T, C)                                                                                \
	T(kwhy_cuda_device, CUdevice)                                                                    \
	T(struct kwhy_cuda_kernel_node, CUDA_KERNEL_NODE_PARAMS)                                         \
	C(KWHY_CUDA_GRAPH_NODE_KERNEL, CU_GRAPH_NODE_TYPE_KERNEL)                                        \
	C(KWHY_CUDA_LAUNCH_CLUSTER, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)                               \
	C(KWHY_CUDA_LAUNCH_CLUSTER_SCHEDULING, CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE) \
	T(kwhy_cuda_address, CUdeviceptr)                                                                \
	T(struct kwhy_cuda_shared, CUipcMemHandle)                                                       \
	C(KWHY_CUDA_SHARED_ENABLE_PEER, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)                              \
	T(enum kwhy_cuda_result, CUresult)                                                               \
	T(enum kwhy_nvrtc_result, nvrtcResult)                                                           \
	C(KWHY_CUDA_SUCCESS, CUDA_SUCCESS)                                                               \
	C(KWHY_CUDA_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY)                                             \
	C(KWHY_CUDA_NO_DEVICE, CUDA_ERROR_NO_DEVICE)                                                     \
	C(KWHY_CUDA_INVALID_DEVICE, CUDA_ERROR_INVALID_DEVICE)                                           \
	C(KWHY_CUDA_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE)                                             \
	C(KWHY_CUDA_DEINITIALIZED, CUDA_ERROR_DEINITIALIZED)                                             \
	C(KWHY_CUDA_DEVICE_UNAVAILABLE, CUDA_ERROR_DEVICE_UNAVAILABLE)                                   \
	C(KWHY_CUDA_INVALID_CONTEXT, CUDA_ERROR_INVALID_CONTEXT)                                         \
	C(KWHY_CUDA_ECC_UNCORRECTABLE, CUDA_ERROR_ECC_UNCORRECTABLE)                                     \
	C(KWHY_CUDA_NVLINK_UNCORRECTABLE, CUDA_ERROR_NVLINK_UNCORRECTABLE)                               \
	C(KWHY_CUDA_CONTAINED, CUDA_ERROR_CONTAINED)                                                     \
	C(KWHY_CUDA_NOT_FOUND, CUDA_ERROR_NOT_FOUND)                                                     \
	C(KWHY_CUDA_NOT_READY, CUDA_ERROR_NOT_READY)                                                     \
	C(KWHY_CUDA_ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS)                                         \
	C(KWHY_CUDA_LAUNCH_TIMEOUT, CUDA_ERROR_LAUNCH_TIMEOUT)                                           \
	C(KWHY_CUDA_PEER_ALREADY_ENABLED, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)                        \
	C(KWHY_CUDA_CONTEXT_DESTROYED, CUDA_ERROR_CONTEXT_IS_DESTROYED)                                  \
	C(KWHY_CUDA_ASSERT, CUDA_ERROR_ASSERT)                                                           \
	C(KWHY_CUDA_HARDWARE_STACK, CUDA_ERROR_HARDWARE_STACK_ERROR)                                     \
	C(KWHY_CUDA_ILLEGAL_INSTRUCTION, CUDA_ERROR_ILLEGAL_INSTRUCTION)                                 \
	C(KWHY_CUDA_MISALIGNED_ADDRESS, CUDA_ERROR_MISALIGNED_ADDRESS)                                   \
	C(KWHY_CUDA_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_ADDRESS_SPACE)                             \
	C(KWHY_CUDA_INVALID_PC, CUDA_ERROR_INVALID_PC)                                                   \
	C(KWHY_CUDA_LAUNCH_FAILED, CUDA_ERROR_LAUNCH_FAILED)                                             \
	C(KWHY_CUDA_COOPERATIVE_TOO_LARGE, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)                      \
	C(KWHY_CUDA_NOT_SUPPORTED, CUDA_ERROR_NOT_SUPPORTED)                                             \
	C(KWHY_CUDA_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)                          \
	C(KWHY_CUDA_ATTRIBUTE_COPY_ENGINES, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT)                      \
	C(KWHY_CUDA_ATTRIBUTE_PAGEABLE_ACCESS, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS)               \
	C(KWHY_CUDA_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS)  \
	C(KWHY_CUDA_ATTRIBUTE_COOPERATIVE_LAUNCH, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)                \
	C(KWHY_CUDA_ATTRIBUTE_MEMORY_POOLS, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)                  \
	C(KWHY_CUDA_EVENT_DISABLE_TIMING, CU_EVENT_DISABLE_TIMING)                                       \
	C(KWHY_CUDA_HOST_PORTABLE, CU_MEMHOSTALLOC_PORTABLE)                                             \
	C(KWHY_CUDA_HOST_MAPPED, CU_MEMHOSTALLOC_DEVICEMAP)                                              \
	C(KWHY_CUDA_HOST_WRITE_COMBINED, CU_MEMHOSTALLOC_WRITECOMBINED)                                  \
	C(KWHY_CUDA_REGISTER_PORTABLE, CU_MEMHOSTREGISTER_PORTABLE)                                      \
	C(KWHY_CUDA_REGISTER_MAPPED, CU_MEMHOSTREGISTER_DEVICEMAP)                                       \
	C(KWHY_CUDA_MANAGED_GLOBAL, CU_MEM_ATTACH_GLOBAL)                                                \
	C(KWHY_CUDA_FUNCTION_SHARED_BYTES, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)                          \
	C(KWHY_CUDA_FUNCTION_SHARED_BYTES_MAX, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)          \
	C(KWHY_CUDA_POINTER_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_MEMORY_TYPE)                               \
	C(KWHY_CUDA_MEMORY_DEVICE, CU_MEMORYTYPE_DEVICE)                                                 \
	C(KWHY_CUDA_MEMORY_HOST, CU_MEMORYTYPE_HOST)                                                     \
	C(KWHY_CUDA_POINTER_IS_MANAGED, CU_POINTER_ATTRIBUTE_IS_MANAGED)                                 \
	C(KWHY_CUDA_POINTER_DEVICE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)                                 \
	C(KWHY_CUDA_STREAM_PER_THREAD, (uintptr_t)CU_STREAM_PER_THREAD)                                  \
	C(KWHY_CUDA_CAPTURE_RELAXED, CU_STREAM_CAPTURE_MODE_RELAXED)                                     \
	C(KWHY_CUDA_CAPTURE_NONE, CU_STREAM_CAPTURE_STATUS_NONE)                                         \
	C(KWHY_CUDA_EXTRA_BUFFER, (uintptr_t)CU_LAUNCH_PARAM_BUFFER_POINTER)                             \
	C(KWHY_CUDA_EXTRA_BUFFER_BYTES, (uintptr_t)CU_LAUNCH_PARAM_BUFFER_SIZE)                          \
	C(KWHY_CUDA_LOCATION_DEVICE, CU_MEM_LOCATION_TYPE_DEVICE)                                        \
	C(KWHY_CUDA_ACCESS_READ_WRITE, CU_MEM_ACCESS_FLAGS_PROT_READWRITE)                               \
	C(KWHY_CUDA_UNKNOWN, CUDA_ERROR_UNKNOWN)                                                         \
	C(KWHY_CUDA_ATTRIBUTE_MULTIPROCESSORS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)                 \
	C(KWHY_CUDA_ATTRIBUTE_THREADS_PER_MULTIPROCESSOR,                                                \
		CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)                                      \
	C(KWHY_CUDA_ATTRIBUTE_CAPABILITY_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)            \
	C(KWHY_CUDA_ATTRIBUTE_CAPABILITY_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)            \
	C(KWHY_CUDA_ATTRIBUTE_SHARED_BYTES_PER_MULTIPROCESSOR,                                           \
		CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)                                \
	C(KWHY_CUDA_ATTRIBUTE_REGISTERS_PER_MULTIPROCESSOR,                                              \
		CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)                                    \
	C(KWHY_CUDA_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING)                                         \
	C(KWHY_CUDA_CAPTURE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)                           \
	C(KWHY_NVRTC_SUCCESS, NVRTC_SUCCESS)                                                             \
	C(KWHY_NVRTC_COMPILATION, NVRTC_ERROR_COMPILATION)

struct cuda_layout_row {
	const char *what;
	size_t value;
};

/* Lists what exists only since CUDA 12.8; the toolkit's header may be older. */
#define CUDA_BATCH_LAYOUT(T, C)                                                              \
	T(struct kwhy_cuda_launch_config, CUlaunchConfig)                                    \
	T(struct kwhy_cuda_launch_attribute, CUlaunchAttribute)                              \
	C(KWHY_CUDA_LAUNCH_EARLY, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)     \
	C(KWHY_CUDA_LAUNCH_COOPERATIVE, CU_LAUNCH_ATTRIBUTE_COOPERATIVE)                     \
	C(KWHY_CUDA_LAUNCH_EARLY_EVENT, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT)              \
	C(KWHY_CUDA_LAUNCH_COMPLETION_EVENT, CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)    \
	C(KWHY_CUDA_LAUNCH_UPDATABLE_NODE, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE) \
	T(struct kwhy_cuda_batch_attributes, CUmemcpyAttributes)                             \
	C(KWHY_CUDA_BATCH_IN_STREAM_ORDER, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM)

extern const struct cuda_layout_row cuda_layout_of_toolkit[], cuda_batch_layout_of_toolkit[];
extern const size_t cuda_batch_layout_rows; /* 0: the toolkit's header is older */

#endif
