/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_PROBED_PROGRAM_H
#define KWHY_TESTS_PROBED_PROGRAM_H

#include "fakes/cuda/fake_mapping.h"
#include "gpu/gpu.h"
#include "vendor/cuda_abi.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Parts of a CUDA program for tests of kwhy probe. It runs on the fake driver (libcuda.so.1 in
 * LD_LIBRARY_PATH) and the fake CUPTI. If a call fails, the program ends with an exit status of 89 or
 * above.
 */

/*
 * probed_calls.c: calls of the driver. The fake CUPTI makes its callbacks before and after them, as CUPTI
 * does.
 */

enum { PROBED_WORDS = 4096 }; /* number of elements of `in` and `out` */

struct probed_memory {
	uint64_t *in, *out, *counter;
};

extern struct probed_driver {
	__typeof__(cuInit) *init;
	__typeof__(cuDevicePrimaryCtxRetain) *retain;
	__typeof__(cuCtxSetCurrent) *set_current;
	__typeof__(cuMemAlloc_v2) *allocate;
	__typeof__(cuMemFree_v2) *free;
	__typeof__(cuMemAllocAsync) *allocate_from_pool;
	__typeof__(cuMemFreeAsync) *free_to_pool;
	__typeof__(cuMemAddressReserve) *reserve;
	__typeof__(cuMemMap) *map;
	__typeof__(cuMemSetAccess) *set_access;
	__typeof__(cuMemUnmap) *unmap;
	__typeof__(cuMemAllocManaged) *allocate_managed;
	__typeof__(cuModuleLoadData) *load;
	__typeof__(cuModuleGetFunction) *get_function;
	__typeof__(cuLaunchKernel) *launch;
	__typeof__(cuMemcpyAsync) *copy;
	__typeof__(cuMemsetD32Async) *set;
	__typeof__(cuMemHostAlloc) *allocate_pinned;
	__typeof__(cuStreamCreate) *new_stream;
	__typeof__(cuStreamBeginCapture_v2) *begin_capture;
	__typeof__(cuStreamEndCapture) *end_capture;
	__typeof__(cuGraphInstantiateWithFlags) *instantiate;
	__typeof__(cuGraphLaunch) *launch_graph;
	__typeof__(cuGraphExecDestroy) *destroy_exec;
	__typeof__(cuGraphGetNodes) *get_nodes;
	__typeof__(cuGraphAddChildGraphNode) *add_child;
	__typeof__(cuGraphExecKernelNodeSetParams_v2) *set_kernel;
	__typeof__(cuGraphExecChildGraphNodeSetParams) *set_child;
	__typeof__(cuGraphDestroy) *destroy_graph;
	__typeof__(cuStreamSynchronize) *wait;
} probed_cuda;

extern kwhy_cuda_stream probed_stream; /* stream of all launches */

/* Loads the driver, CUPTI and the library that CUDA_INJECTION64_PATH names, and creates a context. */
void probed_initialise(void);

/* Makes the context current in the calling thread. */
void probed_use_context(void);

uint64_t *probed_allocate(size_t bytes); /* zeroed */
void probed_release(uint64_t *memory);
struct probed_memory probed_new_memory(void);

/*
 * Launch the kernel `name`: by cuLaunchKernel, or by the driver call that `driver_call` names. Both are
 * recorded as called by cudaLaunchKernel.
 */
void probed_launch(const char *name, void **arguments);
void probed_launch_by(const char *driver_call, const char *name, void **arguments);

/* Copy or fill memory. `name` is the driver's call. */
void probed_copy(const char *name, void *to, const void *from, size_t bytes);
void probed_set(void *to, unsigned value, size_t count);

kwhy_cuda_function probed_function_of(const char *name);

/*
 * Calls kwhy's callback for the driver call `name`, at its start (`site` KWHY_CUPTI_ENTER) or end
 * (KWHY_CUPTI_EXIT). Fills in the members of `data` that are the same for all calls.
 */
struct kwhy_cupti_callback;
void probed_call(const char *name, struct kwhy_cupti_callback *data, int site);
uint32_t probed_next_correlation(void);

/* probed_kernels.c: kernels of the program; the last entry has the name NULL. */
enum { PROBED_KERNELS_MAX = 8 };
extern const struct kwhy_gpu_host_kernel probed_kernels[PROBED_KERNELS_MAX];

/* Ends the program with the exit status `status` in run number `run` of the kernel "add". */
void probed_die_in(unsigned run, unsigned status);

/* probed_graphs.c: launch graphs that work on the memory `own`. */
void probed_graph(struct probed_memory *own, int launches);
void probed_cold_graph(struct probed_memory *own, int launches);
void probed_nested_graph(struct probed_memory *own, int launches);

/*
 * probed_pieces.c: launch kernels on memory of a pool (cuMemAllocAsync), and on pieces of memory that are
 * mapped into a range of addresses (cuMemMap).
 */
void probed_pool(struct probed_memory *own, int rounds);
void probed_segments(struct probed_memory *own, int rounds);

#endif
