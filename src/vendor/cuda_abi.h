/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_CUDA_ABI_H
#define KWHY_VENDOR_CUDA_ABI_H

#include <stddef.h>

/*
 * The part of the CUDA driver's binary interface that we call, declared by hand from its public documentation
 * (CUDA 13; every entry point has been there since CUDA 11.4 or longer). Functions keep the vendor's names,
 * types have ours. The test unit_vendor_cuda_layout compares with the toolkit's cuda.h where there is one.
 */

/* Results; every other value is an error too. */
enum kwhy_cuda_result {
	KWHY_CUDA_SUCCESS = 0,
	KWHY_CUDA_OUT_OF_MEMORY = 2,
	KWHY_CUDA_NO_DEVICE = 100,
	KWHY_CUDA_INVALID_DEVICE = 101,
	KWHY_CUDA_UNKNOWN = 999
};

enum {
	KWHY_CUDA_ATTRIBUTE_MULTIPROCESSORS = 16,
	KWHY_CUDA_ATTRIBUTE_MEMORY_CLOCK_KHZ = 36,
	KWHY_CUDA_ATTRIBUTE_MEMORY_BUS_BITS = 37,
	KWHY_CUDA_ATTRIBUTE_THREADS_PER_MULTIPROCESSOR = 39,
	KWHY_CUDA_ATTRIBUTE_CAPABILITY_MAJOR = 75,
	KWHY_CUDA_ATTRIBUTE_CAPABILITY_MINOR = 76,
	KWHY_CUDA_ATTRIBUTE_SHARED_BYTES_PER_MULTIPROCESSOR = 81,
	KWHY_CUDA_ATTRIBUTE_REGISTERS_PER_MULTIPROCESSOR = 82
};

enum { KWHY_CUDA_STREAM_NON_BLOCKING = 1 };
enum { KWHY_CUDA_CAPTURE_THREAD_LOCAL = 1 };

struct kwhy_cuda_uuid {
	unsigned char bytes[16];
};

typedef int kwhy_cuda_device;
typedef unsigned long long kwhy_cuda_address;
typedef struct kwhy_cuda_context_opaque *kwhy_cuda_context;
typedef struct kwhy_cuda_module_opaque *kwhy_cuda_module;
typedef struct kwhy_cuda_function_opaque *kwhy_cuda_function;
typedef struct kwhy_cuda_stream_opaque *kwhy_cuda_stream;
typedef struct kwhy_cuda_graph_opaque *kwhy_cuda_graph;
typedef struct kwhy_cuda_graph_exec_opaque *kwhy_cuda_graph_exec;

enum kwhy_cuda_result cuInit(unsigned flags);
enum kwhy_cuda_result cuGetErrorString(enum kwhy_cuda_result result, const char **out_words);
enum kwhy_cuda_result cuDriverGetVersion(int *out_version);
enum kwhy_cuda_result cuDeviceGet(kwhy_cuda_device *out_device, int ordinal);
enum kwhy_cuda_result cuDeviceGetByPCIBusId(kwhy_cuda_device *out_device, const char *pci_address);
enum kwhy_cuda_result cuDeviceGetCount(int *out_count);
enum kwhy_cuda_result cuDeviceGetUuid(struct kwhy_cuda_uuid *out_uuid, kwhy_cuda_device device);
enum kwhy_cuda_result cuDeviceGetUuid_v2(struct kwhy_cuda_uuid *out_uuid, kwhy_cuda_device device);
enum kwhy_cuda_result cuDeviceTotalMem_v2(size_t *out_bytes, kwhy_cuda_device device);
enum kwhy_cuda_result cuDeviceGetName(char *out_name, int room_bytes, kwhy_cuda_device device);
enum kwhy_cuda_result cuDeviceGetAttribute(int *out_value, int attribute, kwhy_cuda_device device);
enum kwhy_cuda_result cuDevicePrimaryCtxRetain(kwhy_cuda_context *out_context, kwhy_cuda_device device);
enum kwhy_cuda_result cuDevicePrimaryCtxRelease_v2(kwhy_cuda_device device);
enum kwhy_cuda_result cuCtxSetCurrent(kwhy_cuda_context context);
enum kwhy_cuda_result cuModuleLoadData(kwhy_cuda_module *out_module, const void *image);
enum kwhy_cuda_result cuModuleUnload(kwhy_cuda_module module);
enum kwhy_cuda_result cuModuleGetFunction(
	kwhy_cuda_function *out_function, kwhy_cuda_module module, const char *name);
enum kwhy_cuda_result cuOccupancyMaxActiveBlocksPerMultiprocessor(
	int *out_blocks, kwhy_cuda_function function, int threads, size_t shared_bytes);
enum kwhy_cuda_result cuMemAlloc_v2(kwhy_cuda_address *out_address, size_t bytes);
enum kwhy_cuda_result cuMemFree_v2(kwhy_cuda_address address);
enum kwhy_cuda_result cuMemAllocHost_v2(void **out_memory, size_t bytes);
enum kwhy_cuda_result cuMemFreeHost(void *memory);
enum kwhy_cuda_result cuMemcpyHtoD_v2(kwhy_cuda_address to, const void *from, size_t bytes);
enum kwhy_cuda_result cuMemcpyDtoH_v2(void *to, kwhy_cuda_address from, size_t bytes);
enum kwhy_cuda_result cuStreamCreate(kwhy_cuda_stream *out_stream, unsigned flags);
enum kwhy_cuda_result cuStreamDestroy_v2(kwhy_cuda_stream stream);
enum kwhy_cuda_result cuStreamSynchronize(kwhy_cuda_stream stream);
enum kwhy_cuda_result cuLaunchKernel(kwhy_cuda_function function, unsigned grid_x, unsigned grid_y,
	unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
	kwhy_cuda_stream stream, void **arguments, void **extra);
enum kwhy_cuda_result cuStreamBeginCapture_v2(kwhy_cuda_stream stream, int mode);
enum kwhy_cuda_result cuStreamEndCapture(kwhy_cuda_stream stream, kwhy_cuda_graph *out_graph);
enum kwhy_cuda_result cuGraphInstantiateWithFlags(
	kwhy_cuda_graph_exec *out_exec, kwhy_cuda_graph graph, unsigned long long flags);
enum kwhy_cuda_result cuGraphLaunch(kwhy_cuda_graph_exec exec, kwhy_cuda_stream stream);
enum kwhy_cuda_result cuGraphExecDestroy(kwhy_cuda_graph_exec exec);
enum kwhy_cuda_result cuGraphDestroy(kwhy_cuda_graph graph);

#endif
