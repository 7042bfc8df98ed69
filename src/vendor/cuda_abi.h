/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_CUDA_ABI_H
#define KWHY_VENDOR_CUDA_ABI_H

#include <stddef.h>

/*
 * The part of the CUDA driver's binary interface that kwhy calls, declared by hand from its public
 * documentation (CUDA 13; every function exists since CUDA 11.4 or earlier, or is optional). Functions have
 * the vendor's names, types have kwhy's. The test unit_vendor_cuda_layout compares the declarations with the
 * toolkit's cuda.h where it is installed.
 */

/* Results of calls. Any other value is also an error. */
enum kwhy_cuda_result {
	KWHY_CUDA_SUCCESS = 0,
	KWHY_CUDA_INVALID_VALUE = 1,
	KWHY_CUDA_OUT_OF_MEMORY = 2,
	KWHY_CUDA_DEINITIALIZED = 4,
	KWHY_CUDA_DEVICE_UNAVAILABLE = 46,
	KWHY_CUDA_NO_DEVICE = 100,
	KWHY_CUDA_INVALID_DEVICE = 101,
	KWHY_CUDA_INVALID_CONTEXT = 201,
	KWHY_CUDA_ECC_UNCORRECTABLE = 214,
	KWHY_CUDA_NVLINK_UNCORRECTABLE = 220,
	KWHY_CUDA_CONTAINED = 226,
	KWHY_CUDA_NOT_FOUND = 500,
	KWHY_CUDA_NOT_READY = 600,
	KWHY_CUDA_ILLEGAL_ADDRESS = 700,
	KWHY_CUDA_LAUNCH_TIMEOUT = 702,
	KWHY_CUDA_PEER_ALREADY_ENABLED = 704,
	KWHY_CUDA_CONTEXT_DESTROYED = 709,
	KWHY_CUDA_ASSERT = 710,
	KWHY_CUDA_HARDWARE_STACK = 714,
	KWHY_CUDA_ILLEGAL_INSTRUCTION = 715,
	KWHY_CUDA_MISALIGNED_ADDRESS = 716,
	KWHY_CUDA_INVALID_ADDRESS_SPACE = 717,
	KWHY_CUDA_INVALID_PC = 718,
	KWHY_CUDA_LAUNCH_FAILED = 719,
	KWHY_CUDA_COOPERATIVE_TOO_LARGE = 720,
	KWHY_CUDA_NOT_SUPPORTED = 801,
	KWHY_CUDA_CAPTURE_UNSUPPORTED = 900,
	KWHY_CUDA_UNKNOWN = 999
};

enum {
	KWHY_CUDA_ATTRIBUTE_MULTIPROCESSORS = 16,
	KWHY_CUDA_ATTRIBUTE_MEMORY_CLOCK_KHZ = 36,
	KWHY_CUDA_ATTRIBUTE_MEMORY_BUS_BITS = 37,
	KWHY_CUDA_ATTRIBUTE_THREADS_PER_MULTIPROCESSOR = 39,
	KWHY_CUDA_ATTRIBUTE_COPY_ENGINES = 40,
	KWHY_CUDA_ATTRIBUTE_CAPABILITY_MAJOR = 75,
	KWHY_CUDA_ATTRIBUTE_CAPABILITY_MINOR = 76,
	KWHY_CUDA_ATTRIBUTE_SHARED_BYTES_PER_MULTIPROCESSOR = 81,
	KWHY_CUDA_ATTRIBUTE_REGISTERS_PER_MULTIPROCESSOR = 82,
	KWHY_CUDA_ATTRIBUTE_PAGEABLE_ACCESS = 88,
	KWHY_CUDA_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS = 89,
	KWHY_CUDA_ATTRIBUTE_COOPERATIVE_LAUNCH = 95,
	KWHY_CUDA_ATTRIBUTE_MEMORY_POOLS = 115
};

enum { KWHY_CUDA_STREAM_NON_BLOCKING = 1 };
enum { KWHY_CUDA_EVENT_DISABLE_TIMING = 2 };
enum { KWHY_CUDA_CAPTURE_THREAD_LOCAL = 1, KWHY_CUDA_CAPTURE_RELAXED = 2 };
enum { KWHY_CUDA_CAPTURE_NONE = 0 };
/* Stream handle that stands for each thread's own default stream. */
enum { KWHY_CUDA_STREAM_PER_THREAD = 2 };
/* Keys of the list in a launch's `extra`; the value of each follows it. */
enum { KWHY_CUDA_EXTRA_END, KWHY_CUDA_EXTRA_BUFFER, KWHY_CUDA_EXTRA_BUFFER_BYTES };
enum { KWHY_CUDA_HOST_PORTABLE = 1, KWHY_CUDA_HOST_MAPPED = 2, KWHY_CUDA_HOST_WRITE_COMBINED = 4 };
enum { KWHY_CUDA_REGISTER_PORTABLE = 1, KWHY_CUDA_REGISTER_MAPPED = 2 };
enum { KWHY_CUDA_MANAGED_GLOBAL = 1 };
/*
 * Attributes of a kernel: static bytes of shared memory of a block, and the most dynamic bytes that a launch
 * may request.
 */
enum { KWHY_CUDA_FUNCTION_SHARED_BYTES = 1, KWHY_CUDA_FUNCTION_SHARED_BYTES_MAX = 8 };
enum { KWHY_CUDA_POINTER_MEMORY_TYPE = 2, KWHY_CUDA_POINTER_IS_MANAGED = 8, KWHY_CUDA_POINTER_DEVICE = 9 };
enum { KWHY_CUDA_MEMORY_HOST = 1, KWHY_CUDA_MEMORY_DEVICE = 2 };
enum { KWHY_CUDA_BATCH_IN_STREAM_ORDER = 1 };

struct kwhy_cuda_uuid {
	unsigned char bytes[16];
};

/* Handle by which other processes can open device memory. */
struct kwhy_cuda_shared {
	char bytes[64];
};
enum { KWHY_CUDA_SHARED_ENABLE_PEER = 1 };

typedef int kwhy_cuda_device;
typedef unsigned long long kwhy_cuda_address;
typedef struct kwhy_cuda_context_opaque *kwhy_cuda_context;
typedef struct kwhy_cuda_module_opaque *kwhy_cuda_module;
typedef struct kwhy_cuda_function_opaque *kwhy_cuda_function;
typedef struct kwhy_cuda_stream_opaque *kwhy_cuda_stream;
typedef struct kwhy_cuda_graph_opaque *kwhy_cuda_graph;
typedef struct kwhy_cuda_graph_exec_opaque *kwhy_cuda_graph_exec;
typedef struct kwhy_cuda_graph_node_opaque *kwhy_cuda_graph_node;
enum { KWHY_CUDA_GRAPH_NODE_KERNEL = 0, KWHY_CUDA_GRAPH_NODE_CHILD = 4 };

typedef struct kwhy_cuda_event_opaque *kwhy_cuda_event;

/*
 * Attributes of the copies of a batch that begin at a given index. The location hints are for managed memory.
 */
struct kwhy_cuda_batch_attributes {
	int source_order; /* one of KWHY_CUDA_BATCH_... */
	struct {
		int type, id;
	} source_hint, destination_hint;
	unsigned flags;
};

enum {
	KWHY_CUDA_LAUNCH_COOPERATIVE = 2,
	KWHY_CUDA_LAUNCH_CLUSTER = 4,
	KWHY_CUDA_LAUNCH_CLUSTER_SCHEDULING = 5,
	KWHY_CUDA_LAUNCH_EARLY = 6, /* the kernel may begin before earlier work in the stream has ended */
	KWHY_CUDA_LAUNCH_EARLY_EVENT = 7,
	KWHY_CUDA_LAUNCH_COMPLETION_EVENT = 12,
	KWHY_CUDA_LAUNCH_UPDATABLE_NODE = 13
};

struct kwhy_cuda_launch_attribute {
	int id;
	char unused[4];
	union {
		char bytes[64];
		int number;
	} value;
};

struct kwhy_cuda_launch_config {
	unsigned grid[3], block[3], shared_bytes;
	kwhy_cuda_stream stream;
	struct kwhy_cuda_launch_attribute *attributes;
	unsigned attribute_count;
};

/* Parameters of a kernel node of a graph. If `function` is NULL, `kernel` is a kernel of a library. */
struct kwhy_cuda_kernel_node {
	kwhy_cuda_function function;
	unsigned grid[3], block[3], shared_bytes;
	void **arguments, **extra;
	kwhy_cuda_function kernel;
	kwhy_cuda_context context;
};

/* Parameters of a node for cuGraphExecNodeSetParams. `type` is one of KWHY_CUDA_GRAPH_NODE_... */
struct kwhy_cuda_node {
	int type, unused[3];
	union {
		struct kwhy_cuda_kernel_node kernel;
		kwhy_cuda_graph child;
		long long bytes[30];
	} parameters;
};

/* A place from which memory is accessed: a device or the host. */
struct kwhy_cuda_location {
	int type, id;
};
enum { KWHY_CUDA_LOCATION_DEVICE = 1 };
enum { KWHY_CUDA_ACCESS_READ_WRITE = 3 };

enum kwhy_cuda_result cuInit(unsigned flags);
enum kwhy_cuda_result cuGetErrorString(enum kwhy_cuda_result result, const char **out_words);
enum kwhy_cuda_result cuDriverGetVersion(int *out_version);
enum kwhy_cuda_result cuDeviceGet(kwhy_cuda_device *out_device, int ordinal);
enum kwhy_cuda_result cuDeviceGetByPCIBusId(kwhy_cuda_device *out_device, const char *pci_address);
enum kwhy_cuda_result cuDeviceGetPCIBusId(char *out_address, int space_bytes, kwhy_cuda_device device);
enum kwhy_cuda_result cuDeviceGetCount(int *out_count);
enum kwhy_cuda_result cuDeviceGetUuid(struct kwhy_cuda_uuid *out_uuid, kwhy_cuda_device device);
enum kwhy_cuda_result cuDeviceGetUuid_v2(struct kwhy_cuda_uuid *out_uuid, kwhy_cuda_device device);
enum kwhy_cuda_result cuDeviceTotalMem_v2(size_t *out_bytes, kwhy_cuda_device device);
enum kwhy_cuda_result cuDeviceGetName(char *out_name, int space_bytes, kwhy_cuda_device device);
enum kwhy_cuda_result cuDeviceGetAttribute(int *out_value, int attribute, kwhy_cuda_device device);
enum kwhy_cuda_result cuDevicePrimaryCtxGetState(
	kwhy_cuda_device device, unsigned *out_flags, int *out_is_active);
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
enum kwhy_cuda_result cuMemAllocAsync(kwhy_cuda_address *out_address, size_t bytes, kwhy_cuda_stream stream);
enum kwhy_cuda_result cuMemFreeAsync(kwhy_cuda_address address, kwhy_cuda_stream stream);
enum kwhy_cuda_result cuIpcGetMemHandle(struct kwhy_cuda_shared *out_handle, kwhy_cuda_address address);
enum kwhy_cuda_result cuIpcOpenMemHandle_v2(
	kwhy_cuda_address *out_address, struct kwhy_cuda_shared handle, unsigned flags);
enum kwhy_cuda_result cuIpcCloseMemHandle(kwhy_cuda_address address);
enum kwhy_cuda_result cuMemAllocManaged(kwhy_cuda_address *out_address, size_t bytes, unsigned flags);
enum kwhy_cuda_result cuMemHostAlloc(void **out_memory, size_t bytes, unsigned flags);
enum kwhy_cuda_result cuMemFreeHost(void *memory);
enum kwhy_cuda_result cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags);
enum kwhy_cuda_result cuMemHostUnregister(void *memory);
enum kwhy_cuda_result cuMemHostGetDevicePointer_v2(
	kwhy_cuda_address *out_address, void *memory, unsigned flags);
enum kwhy_cuda_result cuPointerGetAttribute(void *out_value, int attribute, kwhy_cuda_address address);
enum kwhy_cuda_result cuMemcpy(kwhy_cuda_address to, kwhy_cuda_address from, size_t bytes);
enum kwhy_cuda_result cuMemcpyAsync(
	kwhy_cuda_address to, kwhy_cuda_address from, size_t bytes, kwhy_cuda_stream stream);
/* The call as CUDA 12.8 and as CUDA 13.0 declare it. The library of CUDA 13.0 has both. */
enum kwhy_cuda_result cuMemcpyBatchAsync(kwhy_cuda_address *to, kwhy_cuda_address *from, size_t *bytes,
	size_t count, struct kwhy_cuda_batch_attributes *attributes, size_t *attribute_begins,
	size_t attribute_count, size_t *out_failed, kwhy_cuda_stream stream);
enum kwhy_cuda_result cuMemcpyBatchAsync_v2(kwhy_cuda_address *to, kwhy_cuda_address *from, size_t *bytes,
	size_t count, struct kwhy_cuda_batch_attributes *attributes, size_t *attribute_begins,
	size_t attribute_count, kwhy_cuda_stream stream);
enum kwhy_cuda_result cuMemsetD8Async(
	kwhy_cuda_address address, unsigned char value, size_t bytes, kwhy_cuda_stream stream);
enum kwhy_cuda_result cuDeviceCanAccessPeer(int *out_can, kwhy_cuda_device device, kwhy_cuda_device peer);
enum kwhy_cuda_result cuCtxEnablePeerAccess(kwhy_cuda_context peer, unsigned flags);
enum kwhy_cuda_result cuStreamCreate(kwhy_cuda_stream *out_stream, unsigned flags);
enum kwhy_cuda_result cuStreamDestroy_v2(kwhy_cuda_stream stream);
enum kwhy_cuda_result cuStreamSynchronize(kwhy_cuda_stream stream);
enum kwhy_cuda_result cuStreamWaitEvent(kwhy_cuda_stream stream, kwhy_cuda_event event, unsigned flags);
enum kwhy_cuda_result cuEventCreate(kwhy_cuda_event *out_event, unsigned flags);
enum kwhy_cuda_result cuEventDestroy_v2(kwhy_cuda_event event);
enum kwhy_cuda_result cuEventRecord(kwhy_cuda_event event, kwhy_cuda_stream stream);
enum kwhy_cuda_result cuEventSynchronize(kwhy_cuda_event event);
enum kwhy_cuda_result cuEventQuery(kwhy_cuda_event event);
enum kwhy_cuda_result cuEventElapsedTime(float *out_ms, kwhy_cuda_event start, kwhy_cuda_event end);
enum kwhy_cuda_result cuFuncGetAttribute(int *out, int attribute, kwhy_cuda_function function);
enum kwhy_cuda_result cuFuncSetAttribute(kwhy_cuda_function function, int attribute, int value);
enum kwhy_cuda_result cuLaunchKernel(kwhy_cuda_function function, unsigned grid_x, unsigned grid_y,
	unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
	kwhy_cuda_stream stream, void **arguments, void **extra);
enum kwhy_cuda_result cuLaunchCooperativeKernel(kwhy_cuda_function function, unsigned grid_x, unsigned grid_y,
	unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
	kwhy_cuda_stream stream, void **arguments);
enum kwhy_cuda_result cuLaunchKernelEx(const struct kwhy_cuda_launch_config *config,
	kwhy_cuda_function function, void **arguments, void **extra);
enum kwhy_cuda_result cuFuncGetParamInfo(
	kwhy_cuda_function function, size_t index, size_t *out_offset, size_t *out_bytes);
/*
 * Does the same as cuFuncGetParamInfo for a kernel of a library. The CUDA runtime passes such kernels in
 * place of functions.
 */
enum kwhy_cuda_result cuKernelGetParamInfo(
	kwhy_cuda_function kernel, size_t index, size_t *out_offset, size_t *out_bytes);
enum kwhy_cuda_result cuMemGetAddressRange_v2(
	kwhy_cuda_address *out_base, size_t *out_bytes, kwhy_cuda_address address);
enum kwhy_cuda_result cuMemGetAccess(
	unsigned long long *out_flags, const struct kwhy_cuda_location *location, kwhy_cuda_address address);
enum kwhy_cuda_result cuMemGetInfo_v2(size_t *out_free, size_t *out_total);
enum kwhy_cuda_result cuMemcpyDtoDAsync_v2(
	kwhy_cuda_address to, kwhy_cuda_address from, size_t bytes, kwhy_cuda_stream stream);
enum kwhy_cuda_result cuMemcpyDtoHAsync_v2(
	void *to, kwhy_cuda_address from, size_t bytes, kwhy_cuda_stream stream);
enum kwhy_cuda_result cuMemsetD16Async(
	kwhy_cuda_address address, unsigned short value, size_t count, kwhy_cuda_stream stream);
enum kwhy_cuda_result cuMemsetD32Async(
	kwhy_cuda_address address, unsigned value, size_t count, kwhy_cuda_stream stream);
enum kwhy_cuda_result cuCtxGetDevice(kwhy_cuda_device *out_device);
enum kwhy_cuda_result cuStreamQuery(kwhy_cuda_stream stream);
enum kwhy_cuda_result cuStreamIsCapturing(kwhy_cuda_stream stream, int *out_status);
enum kwhy_cuda_result cuThreadExchangeStreamCaptureMode(int *mode);
enum kwhy_cuda_result cuStreamBeginCapture_v2(kwhy_cuda_stream stream, int mode);
enum kwhy_cuda_result cuStreamEndCapture(kwhy_cuda_stream stream, kwhy_cuda_graph *out_graph);
enum kwhy_cuda_result cuGraphInstantiateWithFlags(
	kwhy_cuda_graph_exec *out_exec, kwhy_cuda_graph graph, unsigned long long flags);
enum kwhy_cuda_result cuGraphGetNodes(kwhy_cuda_graph graph, kwhy_cuda_graph_node *out_nodes, size_t *count);
enum kwhy_cuda_result cuGraphChildGraphNodeGetGraph(kwhy_cuda_graph_node node, kwhy_cuda_graph *out_graph);
enum kwhy_cuda_result cuGraphNodeGetType(kwhy_cuda_graph_node node, int *out_type);
enum kwhy_cuda_result cuGraphKernelNodeGetParams_v2(
	kwhy_cuda_graph_node node, struct kwhy_cuda_kernel_node *out_parameters);
/* `out_value` points to a union such as `value` in struct kwhy_cuda_launch_attribute. */
enum kwhy_cuda_result cuGraphKernelNodeGetAttribute(
	kwhy_cuda_graph_node node, int attribute, void *out_value);
/* Get the mangled name of a function and of a kernel of a library. */
enum kwhy_cuda_result cuFuncGetName(const char **out_name, kwhy_cuda_function function);
enum kwhy_cuda_result cuKernelGetName(const char **out_name, kwhy_cuda_function kernel);
enum kwhy_cuda_result cuGraphAddChildGraphNode(kwhy_cuda_graph_node *out_node, kwhy_cuda_graph graph,
	const kwhy_cuda_graph_node *after, size_t after_count, kwhy_cuda_graph child);
enum kwhy_cuda_result cuGraphExecKernelNodeSetParams_v2(
	kwhy_cuda_graph_exec exec, kwhy_cuda_graph_node node, const struct kwhy_cuda_kernel_node *parameters);
enum kwhy_cuda_result cuGraphExecChildGraphNodeSetParams(
	kwhy_cuda_graph_exec exec, kwhy_cuda_graph_node node, kwhy_cuda_graph child);
enum kwhy_cuda_result cuGraphLaunch(kwhy_cuda_graph_exec exec, kwhy_cuda_stream stream);
enum kwhy_cuda_result cuGraphExecDestroy(kwhy_cuda_graph_exec exec);
enum kwhy_cuda_result cuGraphDestroy(kwhy_cuda_graph graph);

#endif
