/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_CUPTI_ABI_H
#define KWHY_VENDOR_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

/*
 * The part of CUPTI's activity and callback interfaces that kwhy uses, declared by hand (CUPTI of CUDA 12 and
 * 13). Functions have the vendor's names, types have kwhy's. Activity records grow with every version but
 * keep their first members. Each record is therefore declared only as far as kwhy reads it, and the next
 * record is found by cuptiActivityGetNextRecord() and never by sizeof. The test unit_vendor_cupti_layout
 * compares the declarations with the toolkit's headers where they are installed.
 */

/* Results of calls. Any other value is also an error. */
enum kwhy_cupti_result {
	KWHY_CUPTI_SUCCESS = 0,
	KWHY_CUPTI_MAX_LIMIT_REACHED =
		/*
		 * the buffer has no more records; or, for a subscription, another client has subscribed
		 * already
		 */
	12,
	KWHY_CUPTI_MULTIPLE_SUBSCRIBERS = 39,
	KWHY_CUPTI_UNKNOWN = 999
};

enum kwhy_cupti_kind {
	KWHY_CUPTI_KIND_MEMCPY = 1,
	KWHY_CUPTI_KIND_MEMSET = 2,
	KWHY_CUPTI_KIND_KERNEL =
		/* serialised kernels; kwhy does not request them, but some versions deliver them */
	3,
	KWHY_CUPTI_KIND_DRIVER = 4,
	KWHY_CUPTI_KIND_RUNTIME = 5,
	KWHY_CUPTI_KIND_CONCURRENT_KERNEL = 10,
	KWHY_CUPTI_KIND_OVERHEAD = 17,
	KWHY_CUPTI_KIND_MEMCPY2 = 22, /* copies between two devices */
	KWHY_CUPTI_KIND_MEMORY2 = 49,
	KWHY_CUPTI_KIND_GRAPH_TRACE = 51
};

enum { KWHY_CUPTI_DOMAIN_DRIVER = 1, KWHY_CUPTI_DOMAIN_RUNTIME = 2, KWHY_CUPTI_DOMAIN_RESOURCE = 3 };
enum { KWHY_CUPTI_ATTRIBUTE_ZEROED_BUFFERS = 5 };
enum { KWHY_CUPTI_THREADS_OF_SYSTEM = 1 };
enum { KWHY_CUPTI_FLUSH_FORCED = 1 };
enum { KWHY_CUPTI_MEMORY_TAKEN = 1, KWHY_CUPTI_MEMORY_GIVEN_BACK = 2 };
enum { KWHY_CUPTI_OBJECT_THREAD = 2 };

/* Kinds of memory, with the values of enum kwhy_memory_kind, and kinds of copies. */
enum { KWHY_CUPTI_MEMORY_PAGEABLE = 1, KWHY_CUPTI_MEMORY_PINNED = 2, KWHY_CUPTI_MEMORY_MANAGED_STATIC = 7 };
enum {
	KWHY_CUPTI_COPY_HTOD = 1,
	KWHY_CUPTI_COPY_DTOH,
	KWHY_CUPTI_COPY_HTOA,
	KWHY_CUPTI_COPY_ATOH,
	KWHY_CUPTI_COPY_ATOA,
	KWHY_CUPTI_COPY_ATOD,
	KWHY_CUPTI_COPY_DTOA,
	KWHY_CUPTI_COPY_DTOD,
	KWHY_CUPTI_COPY_HTOH,
	KWHY_CUPTI_COPY_PTOP
};

enum {
	KWHY_CUPTI_OVERHEAD_BUFFER_FLUSH = 1 << 16,
	KWHY_CUPTI_OVERHEAD_INSTRUMENTATION = 2 << 16,
	KWHY_CUPTI_OVERHEAD_RESOURCE = 3 << 16,
	/* overhead of the driver itself; the profiler does not cause it */
	KWHY_CUPTI_OVERHEAD_FUNCTION_LOADING = 5 << 16,
	KWHY_CUPTI_OVERHEAD_BUFFER_WANTED = 7 << 16
};

/* First member of every record. */
struct kwhy_cupti_record {
	uint32_t kind; /* one of enum kwhy_cupti_kind */
};

struct kwhy_cupti_kernel {
	uint32_t kind;
	uint8_t cache, shared_memory_config;
	uint16_t registers;
	uint32_t partitioned_cache[2];
	uint64_t start_ns, end_ns,
		/* on the clock that kwhy registered or, if there is none, on CUPTI's own clock */
		completed_ns;
	uint32_t device, context, stream;
	int32_t grid[3], block[3];
	int32_t static_shared_bytes, dynamic_shared_bytes;
	uint32_t local_per_thread_bytes, local_bytes, correlation;
	int64_t grid_id;
	const char *name; /* mangled name, in memory of CUPTI */
	uint64_t reserved[4];
	/*
	 * node of the graph that launched the kernel; 0: no graph did; this member and later ones exist since
	 * CUDA 11.0
	 */
	uint64_t graph_node;
	uint32_t shared_limit, graph;
};

struct kwhy_cupti_copy {
	uint32_t kind;
	uint8_t copy_kind, src_memory, dst_memory, flags;
	uint64_t bytes, start_ns, end_ns;
	uint32_t device, context, stream, correlation, runtime_correlation, padding;
	uint64_t reserved;
	uint64_t graph_node; /* exists since CUDA 11.1 */
};

struct kwhy_cupti_peer_copy {
	uint32_t kind;
	uint8_t copy_kind, src_memory, dst_memory, flags;
	uint64_t bytes, start_ns, end_ns;
	uint32_t device, context, stream, src_device, src_context, dst_device, dst_context, correlation;
	uint64_t reserved;
	uint64_t graph_node; /* exists since CUDA 11.1 */
};

struct kwhy_cupti_memset {
	uint32_t kind, value;
	uint64_t bytes, start_ns, end_ns;
	uint32_t device, context, stream, correlation;
	uint16_t flags, memory;
	uint32_t padding;
	uint64_t reserved;
	uint64_t graph_node; /* exists since CUDA 11.1 */
};

struct kwhy_cupti_call {
	uint32_t kind, id;
	uint64_t start_ns, end_ns;
	uint32_t process, thread, correlation, result;
};

struct kwhy_cupti_memory {
	uint32_t kind, operation, memory, correlation;
	uint64_t address, bytes, time_ns, pc;
	uint32_t process, device;
};

/* The object that an overhead belongs to. For a thread, the process comes before the thread. */
struct kwhy_cupti_overhead {
	uint32_t kind, overhead, object;
	uint32_t process, thread, stream;
	uint64_t start_ns, end_ns;
};

struct kwhy_cupti_graph {
	uint32_t kind, correlation;
	uint64_t start_ns, end_ns;
	uint32_t device, graph, context, stream;
};

enum { KWHY_CUPTI_ENTER = 0, KWHY_CUPTI_EXIT = 1 };

/* What a callback receives about a call of the driver or the runtime. */
struct kwhy_cupti_callback {
	int site; /* one of KWHY_CUPTI_ENTER, ... */
	const char *function;
	const void *parameters; /* the call's parameters: a struct kwhy_cupti_parameters_... below */
	const void *result;	/* the call's result; valid once the call has returned */
	const char *symbol;	/* mangled name of the kernel, if the call launches one */
	struct kwhy_cuda_context_opaque *context;
	uint32_t context_id;
	uint64_t *kept;
	uint32_t correlation;
};

/* What a callback receives about a context or stream that is created or destroyed. */
struct kwhy_cupti_resource {
	struct kwhy_cuda_context_opaque *context;
	struct kwhy_cuda_stream_opaque *stream;
	void *descriptor;
};

enum {
	KWHY_CUPTI_RESOURCE_CONTEXT_ENDS = 2,
	KWHY_CUPTI_RESOURCE_STREAM_BEGINS = 3,
	KWHY_CUPTI_RESOURCE_STREAM_ENDS = 4
};

/* Parameters of cuLaunchKernel and cuLaunchCooperativeKernel, as far as kwhy reads them. */
struct kwhy_cupti_parameters_launch {
	struct kwhy_cuda_function_opaque *function;
	unsigned grid[3], block[3], shared_bytes;
	struct kwhy_cuda_stream_opaque *stream;
	void **arguments, **extra; /* `extra`: in cuLaunchKernel only */
};

struct kwhy_cupti_parameters_launch_with {
	const struct kwhy_cuda_launch_config *config;
	struct kwhy_cuda_function_opaque *function;
	void **arguments, **extra;
};

/* Parameters of cuMemAlloc_v2, cuMemAllocAsync and cuMemAllocFromPoolAsync. */
struct kwhy_cupti_parameters_memory {
	unsigned long long *out_address;
	size_t bytes;
};

/* Parameters of cuMemAllocPitch_v2. */
struct kwhy_cupti_parameters_pitch {
	unsigned long long *out_address;
	size_t *out_pitch_bytes;
	size_t width_bytes, height;
};

/* Parameters of cuMemFree_v2 and cuMemFreeAsync, before the stream. */
struct kwhy_cupti_parameters_free {
	unsigned long long address;
};

/* Parameters of cuMemMap and cuMemUnmap. */
struct kwhy_cupti_parameters_map {
	unsigned long long address;
	size_t bytes;
};

/* Parameters of copies and memsets in a stream. */
struct kwhy_cupti_parameters_copy {
	unsigned long long to, from;
	size_t bytes;
	struct kwhy_cuda_stream_opaque *stream;
};

struct kwhy_cupti_parameters_set {
	unsigned long long to;
	unsigned value; /* the call determines whether 8, 16 or 32 bits of it are used */
	size_t count;
	struct kwhy_cuda_stream_opaque *stream;
};

/* Parameters of cuGraphInstantiate..., cuGraphLaunch and cuGraphExecDestroy. */
struct kwhy_cupti_parameters_instantiate {
	struct kwhy_cuda_graph_exec_opaque **out_exec;
	struct kwhy_cuda_graph_opaque *graph;
};

struct kwhy_cupti_parameters_graph {
	struct kwhy_cuda_graph_exec_opaque *exec;
	struct kwhy_cuda_stream_opaque *stream; /* in cuGraphLaunch only */
};

/*
 * Parameters of calls that change an executable graph: cuGraphExecUpdate..., and calls that change one of its
 * nodes: cuGraphExecKernelNodeSetParams..., cuGraphExecChildGraphNodeSetParams, cuGraphExecNodeSetParams and
 * cuGraphNodeSetEnabled. They identify a node by the corresponding node of the graph from which the
 * executable graph was made.
 */
struct kwhy_cupti_parameters_update {
	struct kwhy_cuda_graph_exec_opaque *exec;
	struct kwhy_cuda_graph_opaque *graph;
};

struct kwhy_cupti_parameters_set_node {
	struct kwhy_cuda_graph_exec_opaque *exec;
	struct kwhy_cuda_graph_node_opaque *node;
	union {
		const struct kwhy_cuda_kernel_node
			/* in the first version of the call this struct ends with `extra` */
			*kernel;
		struct kwhy_cuda_graph_opaque *child;
		const struct kwhy_cuda_node *node;
		unsigned is_enabled;
	} to;
};

struct kwhy_cupti_parameters_share {
	void *out_handle;
	unsigned long long address;
};

struct kwhy_cupti_parameters_shared {
	unsigned long long *out_address;
};

typedef void kwhy_cupti_on_call(void *context, int domain, uint32_t id, const void *data);
typedef struct kwhy_cupti_subscriber_opaque *kwhy_cupti_subscriber;

typedef void kwhy_cupti_buffer_wanted(uint8_t **out_buffer, size_t *out_bytes, size_t *out_most_records);
typedef void kwhy_cupti_buffer_done(
	void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes);
typedef uint64_t kwhy_cupti_clock(void);

enum kwhy_cupti_result cuptiGetVersion(uint32_t *out_version);
enum kwhy_cupti_result cuptiGetResultString(enum kwhy_cupti_result result, const char **out_words);
enum kwhy_cupti_result cuptiGetTimestamp(uint64_t *out_ns);
enum kwhy_cupti_result cuptiGetCallbackName(int domain, uint32_t id, const char **out_name);
enum kwhy_cupti_result cuptiSetThreadIdType(int type);
enum kwhy_cupti_result cuptiActivitySetAttribute(int attribute, size_t *value_bytes, void *value);
enum kwhy_cupti_result cuptiActivityRegisterCallbacks(
	kwhy_cupti_buffer_wanted *wanted, kwhy_cupti_buffer_done *done);
enum kwhy_cupti_result cuptiActivityRegisterTimestampCallback(kwhy_cupti_clock *clock);
enum kwhy_cupti_result cuptiActivityEnable(int kind);
enum kwhy_cupti_result cuptiActivityDisable(int kind);
enum kwhy_cupti_result cuptiActivityEnableRuntimeApi(uint32_t id, uint8_t enable);
enum kwhy_cupti_result cuptiActivityEnableDriverApi(uint32_t id, uint8_t enable);
enum kwhy_cupti_result cuptiActivityGetNextRecord(
	uint8_t *buffer, size_t valid_bytes, struct kwhy_cupti_record **record);
enum kwhy_cupti_result cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *out_records);
enum kwhy_cupti_result cuptiActivityFlushAll(uint32_t flags);
enum kwhy_cupti_result cuptiSubscribe(
	kwhy_cupti_subscriber *out_subscriber, kwhy_cupti_on_call *on_call, void *context);
enum kwhy_cupti_result cuptiEnableCallback(
	uint32_t enable, kwhy_cupti_subscriber subscriber, int domain, uint32_t id);

#endif
