/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_UNIT_VENDOR_CUPTI_LAYOUT_H
#define KWHY_TESTS_UNIT_VENDOR_CUPTI_LAYOUT_H

#include <stddef.h>

/*
 * Lists what must be equal in kwhy's and in the toolkit's declarations of CUPTI's records: M(type, type,
 * member, member) is an offset, C(ours, theirs) a constant. Records of the newest form are compared; the
 * members that kwhy reads are at the beginning of all forms since CUDA 12.0.
 */
#define KERNEL(M, our, their) M(struct kwhy_cupti_kernel, CUpti_ActivityKernel9, our, their)
#define COPY(M, our, their) M(struct kwhy_cupti_copy, CUpti_ActivityMemcpy5, our, their)
#define PEER(M, our, their) M(struct kwhy_cupti_peer_copy, CUpti_ActivityMemcpyPtoP4, our, their)
#define SET(M, our, their) M(struct kwhy_cupti_memset, CUpti_ActivityMemset4, our, their)
#define CALL(M, our, their) M(struct kwhy_cupti_call, CUpti_ActivityAPI, our, their)
#define MEMORY(M, our, their) M(struct kwhy_cupti_memory, CUpti_ActivityMemory3, our, their)
#define OVERHEAD(M, our, their) M(struct kwhy_cupti_overhead, CUpti_ActivityOverhead2, our, their)
#define GRAPH(M, our, their) M(struct kwhy_cupti_graph, CUpti_ActivityGraphTrace, our, their)

#define CUPTI_LAYOUT(M, C)                                                                            \
	KERNEL(M, kind, kind)                                                                         \
	KERNEL(M, registers, registersPerThread)                                                      \
	KERNEL(M, start_ns, start)                                                                    \
	KERNEL(M, end_ns, end)                                                                        \
	KERNEL(M, device, deviceId)                                                                   \
	KERNEL(M, context, contextId)                                                                 \
	KERNEL(M, stream, streamId)                                                                   \
	KERNEL(M, grid, gridX)                                                                        \
	KERNEL(M, block, blockX)                                                                      \
	KERNEL(M, static_shared_bytes, staticSharedMemory)                                            \
	KERNEL(M, dynamic_shared_bytes, dynamicSharedMemory)                                          \
	KERNEL(M, correlation, correlationId)                                                         \
	KERNEL(M, name, name)                                                                         \
	KERNEL(M, graph_node, graphNodeId)                                                            \
	KERNEL(M, graph, graphId)                                                                     \
	COPY(M, copy_kind, copyKind)                                                                  \
	COPY(M, src_memory, srcKind)                                                                  \
	COPY(M, dst_memory, dstKind)                                                                  \
	COPY(M, bytes, bytes)                                                                         \
	COPY(M, start_ns, start)                                                                      \
	COPY(M, end_ns, end)                                                                          \
	COPY(M, device, deviceId)                                                                     \
	COPY(M, context, contextId)                                                                   \
	COPY(M, stream, streamId)                                                                     \
	COPY(M, correlation, correlationId)                                                           \
	COPY(M, graph_node, graphNodeId)                                                              \
	PEER(M, copy_kind, copyKind)                                                                  \
	PEER(M, bytes, bytes)                                                                         \
	PEER(M, start_ns, start)                                                                      \
	PEER(M, device, deviceId)                                                                     \
	PEER(M, src_device, srcDeviceId)                                                              \
	PEER(M, dst_device, dstDeviceId)                                                              \
	PEER(M, correlation, correlationId)                                                           \
	PEER(M, graph_node, graphNodeId)                                                              \
	SET(M, bytes, bytes)                                                                          \
	SET(M, start_ns, start)                                                                       \
	SET(M, device, deviceId)                                                                      \
	SET(M, correlation, correlationId)                                                            \
	SET(M, memory, memoryKind)                                                                    \
	SET(M, graph_node, graphNodeId)                                                               \
	CALL(M, id, cbid)                                                                             \
	CALL(M, start_ns, start)                                                                      \
	CALL(M, end_ns, end)                                                                          \
	CALL(M, thread, threadId)                                                                     \
	CALL(M, correlation, correlationId)                                                           \
	CALL(M, result, returnValue)                                                                  \
	MEMORY(M, operation, memoryOperationType)                                                     \
	MEMORY(M, memory, memoryKind)                                                                 \
	MEMORY(M, correlation, correlationId)                                                         \
	MEMORY(M, address, address)                                                                   \
	MEMORY(M, bytes, bytes)                                                                       \
	MEMORY(M, time_ns, timestamp)                                                                 \
	MEMORY(M, device, deviceId)                                                                   \
	OVERHEAD(M, overhead, overheadKind)                                                           \
	OVERHEAD(M, object, objectKind)                                                               \
	OVERHEAD(M, process, objectId.pt.processId)                                                   \
	OVERHEAD(M, thread, objectId.pt.threadId)                                                     \
	OVERHEAD(M, start_ns, start)                                                                  \
	OVERHEAD(M, end_ns, end)                                                                      \
	GRAPH(M, correlation, correlationId)                                                          \
	GRAPH(M, start_ns, start)                                                                     \
	GRAPH(M, end_ns, end)                                                                         \
	GRAPH(M, device, deviceId)                                                                    \
	GRAPH(M, graph, graphId)                                                                      \
	GRAPH(M, context, contextId)                                                                  \
	GRAPH(M, stream, streamId)                                                                    \
	C(KWHY_CUPTI_MAX_LIMIT_REACHED, CUPTI_ERROR_MAX_LIMIT_REACHED)                                \
	C(KWHY_CUPTI_MULTIPLE_SUBSCRIBERS, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)            \
	C(KWHY_CUPTI_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY)                                         \
	C(KWHY_CUPTI_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET)                                         \
	C(KWHY_CUPTI_KIND_KERNEL, CUPTI_ACTIVITY_KIND_KERNEL)                                         \
	C(KWHY_CUPTI_KIND_DRIVER, CUPTI_ACTIVITY_KIND_DRIVER)                                         \
	C(KWHY_CUPTI_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME)                                       \
	C(KWHY_CUPTI_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)                   \
	C(KWHY_CUPTI_KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD)                                     \
	C(KWHY_CUPTI_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2)                                       \
	C(KWHY_CUPTI_KIND_MEMORY2, CUPTI_ACTIVITY_KIND_MEMORY2)                                       \
	C(KWHY_CUPTI_KIND_GRAPH_TRACE, CUPTI_ACTIVITY_KIND_GRAPH_TRACE)                               \
	C(KWHY_CUPTI_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API)                                       \
	C(KWHY_CUPTI_DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API)                                     \
	C(KWHY_CUPTI_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE)                                       \
	C(KWHY_CUPTI_ENTER, CUPTI_API_ENTER)                                                          \
	C(KWHY_CUPTI_EXIT, CUPTI_API_EXIT)                                                            \
	C(KWHY_CUPTI_RESOURCE_CONTEXT_ENDS, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)             \
	C(KWHY_CUPTI_RESOURCE_STREAM_BEGINS, CUPTI_CBID_RESOURCE_STREAM_CREATED)                      \
	C(KWHY_CUPTI_RESOURCE_STREAM_ENDS, CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING)               \
	M(struct kwhy_cupti_callback, CUpti_CallbackData, site, callbackSite)                         \
	M(struct kwhy_cupti_callback, CUpti_CallbackData, parameters, functionParams)                 \
	M(struct kwhy_cupti_callback, CUpti_CallbackData, result, functionReturnValue)                \
	M(struct kwhy_cupti_callback, CUpti_CallbackData, symbol, symbolName)                         \
	M(struct kwhy_cupti_callback, CUpti_CallbackData, context, context)                           \
	M(struct kwhy_cupti_callback, CUpti_CallbackData, context_id, contextUid)                     \
	M(struct kwhy_cupti_callback, CUpti_CallbackData, correlation, correlationId)                 \
	M(struct kwhy_cupti_resource, CUpti_ResourceData, context, context)                           \
	M(struct kwhy_cupti_resource, CUpti_ResourceData, stream, resourceHandle)                     \
	M(struct kwhy_cupti_parameters_launch, cuLaunchKernel_params, function, f)                    \
	M(struct kwhy_cupti_parameters_launch, cuLaunchKernel_params, grid, gridDimX)                 \
	M(struct kwhy_cupti_parameters_launch, cuLaunchKernel_params, block, blockDimX)               \
	M(struct kwhy_cupti_parameters_launch, cuLaunchKernel_params, shared_bytes, sharedMemBytes)   \
	M(struct kwhy_cupti_parameters_launch, cuLaunchKernel_params, stream, hStream)                \
	M(struct kwhy_cupti_parameters_launch, cuLaunchKernel_params, arguments, kernelParams)        \
	M(struct kwhy_cupti_parameters_launch, cuLaunchKernel_params, extra, extra)                   \
	M(struct kwhy_cupti_parameters_launch_with, cuLaunchKernelEx_params, config, config)          \
	M(struct kwhy_cupti_parameters_launch_with, cuLaunchKernelEx_params, function, f)             \
	M(struct kwhy_cupti_parameters_launch_with, cuLaunchKernelEx_params, arguments, kernelParams) \
	M(struct kwhy_cupti_parameters_launch_with, cuLaunchKernelEx_params, extra, extra)            \
	M(struct kwhy_cupti_parameters_memory, cuMemAlloc_v2_params, out_address, dptr)               \
	M(struct kwhy_cupti_parameters_memory, cuMemAlloc_v2_params, bytes, bytesize)                 \
	M(struct kwhy_cupti_parameters_memory, cuMemAllocAsync_params, out_address, dptr)             \
	M(struct kwhy_cupti_parameters_memory, cuMemAllocAsync_params, bytes, bytesize)               \
	M(struct kwhy_cupti_parameters_memory, cuMemAllocFromPoolAsync_params, out_address, dptr)     \
	M(struct kwhy_cupti_parameters_memory, cuMemAllocFromPoolAsync_params, bytes, bytesize)       \
	M(struct kwhy_cupti_parameters_pitch, cuMemAllocPitch_v2_params, out_pitch_bytes, pPitch)     \
	M(struct kwhy_cupti_parameters_pitch, cuMemAllocPitch_v2_params, height, Height)              \
	M(struct kwhy_cupti_parameters_free, cuMemFree_v2_params, address, dptr)                      \
	M(struct kwhy_cupti_parameters_free, cuMemFreeAsync_params, address, dptr)                    \
	M(struct kwhy_cupti_parameters_map, cuMemMap_params, address, ptr)                            \
	M(struct kwhy_cupti_parameters_map, cuMemMap_params, bytes, size)                             \
	M(struct kwhy_cupti_parameters_map, cuMemUnmap_params, bytes, size)                           \
	M(struct kwhy_cupti_parameters_share, cuIpcGetMemHandle_params, address, dptr)                \
	M(struct kwhy_cupti_parameters_shared, cuIpcOpenMemHandle_v2_params, out_address, pdptr)      \
	C(KWHY_CUPTI_ATTRIBUTE_ZEROED_BUFFERS, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER)        \
	C(KWHY_CUPTI_THREADS_OF_SYSTEM, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM)                         \
	C(KWHY_CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED)                                  \
	C(KWHY_CUPTI_MEMORY_GIVEN_BACK, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE)                 \
	C(KWHY_CUPTI_OBJECT_THREAD, CUPTI_ACTIVITY_OBJECT_THREAD)                                     \
	C(KWHY_CUPTI_MEMORY_MANAGED_STATIC, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC)                \
	C(KWHY_CUPTI_COPY_HTOD, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD)                                      \
	C(KWHY_CUPTI_COPY_DTOD, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD)                                      \
	C(KWHY_CUPTI_COPY_PTOP, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP)                                      \
	C(KWHY_CUPTI_OVERHEAD_BUFFER_FLUSH, CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH)               \
	C(KWHY_CUPTI_OVERHEAD_INSTRUMENTATION, CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION)         \
	C(KWHY_CUPTI_OVERHEAD_RESOURCE, CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE)                       \
	C(KWHY_CUPTI_OVERHEAD_FUNCTION_LOADING, CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING)

/* Lists the members and constants of NVTX that must be equal in both declarations. */
#define NVTX_LAYOUT(M, C)                                                                         \
	M(struct kwhy_nvtx_event, nvtxEventAttributes_t, message_type, messageType)               \
	M(struct kwhy_nvtx_event, nvtxEventAttributes_t, message, message)                        \
	M(struct kwhy_nvtx_event, nvtxEventAttributes_t, struct_bytes, size)                      \
	M(struct kwhy_nvtx_callbacks, NvtxExportTableCallbacks, table_of, GetModuleFunctionTable) \
	C(KWHY_NVTX_EXPORT_CALLBACKS, NVTX_ETID_CALLBACKS)                                        \
	C(KWHY_NVTX_MODULE_CORE, NVTX_CB_MODULE_CORE)                                             \
	C(KWHY_NVTX_MODULE_CORE2, NVTX_CB_MODULE_CORE2)                                           \
	C(KWHY_NVTX_START_EX, NVTX_CBID_CORE_RangeStartEx)                                        \
	C(KWHY_NVTX_START_A, NVTX_CBID_CORE_RangeStartA)                                          \
	C(KWHY_NVTX_START_W, NVTX_CBID_CORE_RangeStartW)                                          \
	C(KWHY_NVTX_END, NVTX_CBID_CORE_RangeEnd)                                                 \
	C(KWHY_NVTX_PUSH_EX, NVTX_CBID_CORE_RangePushEx)                                          \
	C(KWHY_NVTX_PUSH_A, NVTX_CBID_CORE_RangePushA)                                            \
	C(KWHY_NVTX_PUSH_W, NVTX_CBID_CORE_RangePushW)                                            \
	C(KWHY_NVTX_POP, NVTX_CBID_CORE_RangePop)                                                 \
	C(KWHY_NVTX_DOMAIN_START_EX, NVTX_CBID_CORE2_DomainRangeStartEx)                          \
	C(KWHY_NVTX_DOMAIN_END, NVTX_CBID_CORE2_DomainRangeEnd)                                   \
	C(KWHY_NVTX_DOMAIN_PUSH_EX, NVTX_CBID_CORE2_DomainRangePushEx)                            \
	C(KWHY_NVTX_DOMAIN_POP, NVTX_CBID_CORE2_DomainRangePop)                                   \
	C(KWHY_NVTX_DOMAIN_REGISTER_A, NVTX_CBID_CORE2_DomainRegisterStringA)                     \
	C(KWHY_NVTX_DOMAIN_REGISTER_W, NVTX_CBID_CORE2_DomainRegisterStringW)                     \
	C(KWHY_NVTX_DOMAIN_CREATE_A, NVTX_CBID_CORE2_DomainCreateA)                               \
	C(KWHY_NVTX_DOMAIN_CREATE_W, NVTX_CBID_CORE2_DomainCreateW)                               \
	C(KWHY_NVTX_MESSAGE_ASCII, NVTX_MESSAGE_TYPE_ASCII)                                       \
	C(KWHY_NVTX_MESSAGE_UNICODE, NVTX_MESSAGE_TYPE_UNICODE)                                   \
	C(KWHY_NVTX_MESSAGE_REGISTERED, NVTX_MESSAGE_TYPE_REGISTERED)

struct cupti_layout_row {
	const char *what;
	size_t value;
};

extern const struct cupti_layout_row cupti_layout_of_toolkit[], nvtx_layout_of_toolkit[];

#endif
