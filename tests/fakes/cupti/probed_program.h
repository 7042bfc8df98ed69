/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_PROBED_PROGRAM_H
#define KWHY_TESTS_PROBED_PROGRAM_H

#include "gpu/gpu.h"
#include "vendor/cuda_abi.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Parts of a CUDA program for kwhy probe, on the fake driver (libcuda.so.1 of LD_LIBRARY_PATH) and the fake
 * CUPTI. If a call fails, the program ends with a status of 89 or above.
 */

/* probed_calls.c: the driver's calls. The fake CUPTI calls back before and after them, as CUPTI does. */

enum { PROBED_WORDS = 4096 }; /* of `in` and `out` */

struct probed_memory {
	uint64_t *in, *out, *counter;
};

extern struct probed_driver {
	__typeof__(cuInit) *init;
	__typeof__(cuDevicePrimaryCtxRetain) *retain;
	__typeof__(cuCtxSetCurrent) *set_current;
	__typeof__(cuMemAlloc_v2) *allocate;
	__typeof__(cuMemFree_v2) *free;
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

extern kwhy_cuda_stream probed_stream; /* in which kernels are launched */

/* Loads driver, CUPTI and the library that the environment names, and makes a context. */
void probed_initialise(void);

/* Makes the context that of the calling thread. */
void probed_use_context(void);

uint64_t *probed_allocate(size_t bytes); /* set to 0 */
void probed_release(uint64_t *memory);
struct probed_memory probed_new_memory(void);

/* Launch the kernel of that name, by cuLaunchKernel or by another call of the driver. */
void probed_launch(const char *name, void **arguments);
void probed_launch_by(const char *driver_call, const char *name, void **arguments);

/* `name` is that of the driver's call. */
void probed_copy(const char *name, void *to, const void *from, size_t bytes);
void probed_set(void *to, unsigned value, size_t count);

kwhy_cuda_function probed_function_of(const char *name);

/* Calls back. `data` lacks what is the same for all calls; site: KWHY_CUPTI_ENTER or KWHY_CUPTI_EXIT. */
struct kwhy_cupti_callback;
void probed_call(const char *name, struct kwhy_cupti_callback *data, int site);
uint32_t probed_next_correlation(void);

/* probed_kernels.c. The last one has no name. */
enum { PROBED_KERNELS_MAX = 8 };
extern const struct kwhy_gpu_host_kernel probed_kernels[PROBED_KERNELS_MAX];

/* The program ends with `status` in the run number `run` of the kernel add. */
void probed_die_in(unsigned run, unsigned status);

/* probed_graphs.c: work by launches of graphs, on the memory `own`. */
void probed_graph(struct probed_memory *own, int launches);
void probed_cold_graph(struct probed_memory *own, int launches);
void probed_nested_graph(struct probed_memory *own, int launches);

#endif
