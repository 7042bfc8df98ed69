/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_GPU_GPU_H
#define KWHY_GPU_GPU_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/*
 * One GPU to run work on: memory, kernels, launches, behind one table of calls per vendor. Opening it makes a
 * context, which on most GPUs raises the idle power; closing it gives that back. One thread uses a GPU at a
 * time. Clocks, limits and modes are never touched and no managed memory is used.
 */
struct kwhy_gpu;
struct kwhy_gpu_module; /* compiled kernels */
struct kwhy_gpu_kernel; /* lent by its module */
struct kwhy_gpu_graph;	/* one launch, recorded */

struct kwhy_gpu_facts {
	char name[96];
	int architecture;    /* 90 for compute capability 9.0 */
	char driver_api[16]; /* newest CUDA that the driver speaks: "13.0" */
	char compiler[16];   /* version of NVRTC: "13.0" */
	uint32_t sm_count, threads_per_sm, registers_per_sm, shared_bytes_per_sm; /* 0: unknown */
};

struct kwhy_gpu_launch {
	const struct kwhy_gpu_kernel *kernel;
	uint32_t blocks, threads_per_block;
	void **arguments; /* addresses of the arguments, in their order */
};

/* All calls that may fail give KWHY_E_UNSUPPORTED with the vendor's words, KWHY_E_MEMORY where memory lacks.
 */
struct kwhy_gpu_ops {
	const char *name;
	void (*close)(struct kwhy_gpu *gpu); /* what was not freed before goes with it */
	/* Kernels from the vendor's C, compiled now for this GPU. `title` names the source in messages. */
	enum kwhy_status (*module_new)(struct kwhy_gpu *gpu, const char *title, const char *source,
		struct kwhy_gpu_module **out, struct kwhy_error *error);
	void (*module_free)(struct kwhy_gpu *gpu, struct kwhy_gpu_module *module);
	enum kwhy_status (*kernel_find)(struct kwhy_gpu *gpu, struct kwhy_gpu_module *module,
		const char *name, const struct kwhy_gpu_kernel **out, struct kwhy_error *error);
	/* How many blocks of it a multiprocessor holds at once. */
	enum kwhy_status (*resident_blocks)(struct kwhy_gpu *gpu, const struct kwhy_gpu_kernel *kernel,
		uint32_t threads_per_block, uint32_t *out, struct kwhy_error *error);
	enum kwhy_status (*memory_new)(
		struct kwhy_gpu *gpu, size_t bytes, uint64_t *out_address, struct kwhy_error *error);
	void (*memory_free)(struct kwhy_gpu *gpu, uint64_t address); /* 0 is allowed */
	/* Host memory that the device reaches directly. */
	enum kwhy_status (*pinned_new)(
		struct kwhy_gpu *gpu, size_t bytes, void **out, struct kwhy_error *error);
	void (*pinned_free)(struct kwhy_gpu *gpu, void *memory); /* NULL is allowed */
	/* Synchronous copies, pageable or pinned. */
	enum kwhy_status (*copy_to)(
		struct kwhy_gpu *gpu, uint64_t to, const void *from, size_t bytes, struct kwhy_error *error);
	enum kwhy_status (*copy_from)(
		struct kwhy_gpu *gpu, void *to, uint64_t from, size_t bytes, struct kwhy_error *error);
	/* Queues it; returns before it has run. */
	enum kwhy_status (*launch)(
		struct kwhy_gpu *gpu, const struct kwhy_gpu_launch *launch, struct kwhy_error *error);
	/* Waits until everything queued has run. */
	enum kwhy_status (*synchronize)(struct kwhy_gpu *gpu, struct kwhy_error *error);
	/* NULL slots: this vendor's library has no graphs. */
	enum kwhy_status (*graph_new)(struct kwhy_gpu *gpu, const struct kwhy_gpu_launch *launch,
		struct kwhy_gpu_graph **out, struct kwhy_error *error);
	enum kwhy_status (*graph_launch)(
		struct kwhy_gpu *gpu, struct kwhy_gpu_graph *graph, struct kwhy_error *error);
	void (*graph_free)(struct kwhy_gpu *gpu, struct kwhy_gpu_graph *graph);
};

/* The head of what a vendor's file makes. */
struct kwhy_gpu {
	const struct kwhy_gpu_ops *ops;
	struct kwhy_gpu_facts facts;
};

/*
 * CUDA. `pci_address` names the device, "0000:19:00.0"; NULL: the first one. KWHY_E_UNSUPPORTED, with the
 * cure, where there is no driver, no GPU or no compiler. End with gpu->ops->close(gpu).
 */
KWHY_MUST_USE enum kwhy_status kwhy_gpu_cuda_open(
	const char *pci_address, struct kwhy_gpu **out, struct kwhy_error *error);

#endif
