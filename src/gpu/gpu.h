/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_GPU_GPU_H
#define KWHY_GPU_GPU_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * GPUs to run work on: memory, streams, events, copies, kernels and graphs through one table of calls. There
 * is a back end for each vendor, and one on the host, whose memory is host memory and in which a thread does
 * the work of each stream, so that everything can be run without a GPU. Opening a GPU makes a context, which
 * on most GPUs raises the idle power; closing it destroys the context. Clock rates, power limits and modes of
 * the GPU are never changed.
 *
 * Threads: a thread calls enter() before its first call on a GPU, and again when it changes to another GPU.
 * Several threads may use one GPU concurrently if each uses streams, events, gates and graphs of its own.
 * Only one thread opens and closes GPUs.
 *
 * The back ends "cuda" and "hip" use the driver's own objects as streams, events and graphs (CUstream,
 * hipStream_t), so those of an application can be passed in.
 *
 * Addresses are uint64_t. For device memory they are the device's address, for host memory the value of the
 * pointer.
 */
struct kwhy_gpu;
struct kwhy_gpu_module; /* compiled kernels of one source */
struct kwhy_gpu_kernel; /* a kernel; borrowed from its module */
struct kwhy_gpu_stream; /* runs work in order; NULL stands for the GPU's own stream */
struct kwhy_gpu_event;	/* a point in a stream's work, which has a time if it was made with `timed` */
struct kwhy_gpu_graph;	/* work recorded from one stream, which can be launched repeatedly */
struct kwhy_gpu_gate;	/* keeps a stream's later work waiting until the host opens the gate */

struct kwhy_gpu_facts {
	char name[96];
	char pci_address[16]; /* such as "0000:19:00.0"; "": unknown, or the host */
	int index;	      /* number of the GPU in CUDA or HIP, not in NVML */
	int numa_node;	      /* number of the nearest NUMA node; -1: unknown */
	int architecture;     /* compute capability times 10, such as 90; 0: the host */
	char driver_api[16];  /* newest version of CUDA (or HIP) that the driver supports, such as "13.0" */
	char compiler[16];    /* version of the run-time compiler, such as "13.0" */
	/*
	 * sm_count: number of multiprocessors; the other three: limits of each multiprocessor; 0: unknown
	 */
	uint32_t sm_count, threads_per_sm, registers_per_sm, shared_bytes_per_sm;
	uint32_t copy_engines; /* number of copy engines; 0: unknown */
	uint64_t memory_bytes; /* size of device memory; 0: unknown */
	bool can_manage;       /* whether host and device may access managed memory at the same time (CUDA's
				  concurrentManagedAccess) */
};

struct kwhy_gpu_grid {
	uint32_t blocks, threads_per_block;
	uint32_t shared_bytes; /* dynamic shared memory of each block, in bytes */
};

enum { KWHY_GPU_HOST_ARGUMENTS_MAX = 16, KWHY_GPU_HOST_ARGUMENT_BYTES_MAX = 4096 };

/*
 * A kernel of the host back end: a C function that does the work of the whole grid. arguments[i] is the
 * address of argument i.
 */
struct kwhy_gpu_host_kernel {
	const char *name;
	void (*run)(const struct kwhy_gpu_grid *grid, void **arguments);
	/*
	 * Sizes of the arguments in bytes, which are copied at launch, such as {8, 4} for a pointer and an
	 * int. The list ends with 0. Each size is rounded up to a multiple of 8; their sum is at most
	 * KWHY_GPU_HOST_ARGUMENT_BYTES_MAX.
	 */
	uint16_t argument_bytes[KWHY_GPU_HOST_ARGUMENTS_MAX + 1];
};

/* Kernels as text in CUDA C, which hipRTC compiles, too, and the same kernels in C for the host. */
struct kwhy_gpu_source {
	const char *title; /* name of the source in messages */
	const char *text;
	const char *const
		/* options of the compiler, such as "-fmad=false"; ends with NULL; NULL: no options */
		*options;
	const struct kwhy_gpu_host_kernel
		/*
		 * C versions of the kernels; the last entry has the name NULL; `on_host` NULL: there are
		 * none, and the host back end cannot run the source (KWHY_E_UNSUPPORTED)
		 */
		*on_host;
};

struct kwhy_gpu_launch {
	const struct kwhy_gpu_kernel *kernel;
	uint32_t blocks, threads_per_block;
	void **arguments; /* addresses of the kernel's arguments, in their order */
	uint32_t shared_bytes;
	bool cooperative; /* all blocks run concurrently, so they may wait for each other */
	/*
	 * The kernel may begin before earlier work in its stream has ended, and waits for that work by
	 * griddepcontrol.wait. This works on CUDA only; on other back ends the kernel begins after that work.
	 * Cannot be combined with `cooperative`.
	 */
	bool early;
	struct kwhy_gpu_stream *stream;
};

enum kwhy_gpu_host_kind {
	KWHY_GPU_HOST_PAGEABLE,
	KWHY_GPU_HOST_PINNED,	      /* page-locked, so that the device can access it */
	KWHY_GPU_HOST_WRITE_COMBINED, /* page-locked; the CPU reads it slowly */
	/*
	 * allocated as pageable and page-locked afterwards (cuMemHostRegister), as is done with memory of
	 * other libraries
	 */
	KWHY_GPU_HOST_REGISTERED,
	/*
	 * managed memory, which migrates between host and device; only if facts.can_manage is set and a user
	 * asked for it
	 */
	KWHY_GPU_HOST_MANAGED,
	KWHY_GPU_HOST_KIND_COUNT
};

struct kwhy_gpu_host {
	void *memory;
	size_t bytes;
	enum kwhy_gpu_host_kind kind;
	int numa_node;	  /* NUMA node that the memory is bound to; -1: the system chose */
	uint64_t address; /* address by which kernels access the memory; 0: they cannot */
};

/* Handle by which other processes on this host open device memory. */
struct kwhy_gpu_shared {
	unsigned char bytes[64];
};

struct kwhy_gpu_copy {
	uint64_t to, from; /* addresses of device or host memory; the value of an address shows which of the
			      two it is */
	size_t bytes;
};

/*
 * The calls. A call that can fail returns KWHY_E_UNSUPPORTED with the vendor's words, KWHY_E_MEMORY if
 * memory is short, or KWHY_E_LOST once the device is gone; after that only freeing and closing are useful.
 * close() frees what was not freed before. If the driver keeps the context (for its other users or, as HIP
 * does, permanently), objects that were not freed stay until the process ends. Freeing NULL or 0 is
 * allowed. Functions marked as optional may be NULL.
 */
struct kwhy_gpu_ops {
	const char *name; /* name of the back end: "cuda", "hip" or "host" */
	void (*close)(struct kwhy_gpu *gpu);
	enum kwhy_status (*enter)(struct kwhy_gpu *gpu, struct kwhy_error *error);

	enum kwhy_status (*module_new)(struct kwhy_gpu *gpu, const struct kwhy_gpu_source *source,
		struct kwhy_gpu_module **out, struct kwhy_error *error);
	void (*module_free)(struct kwhy_gpu *gpu, struct kwhy_gpu_module *module);
	enum kwhy_status (*kernel_find)(struct kwhy_gpu *gpu, struct kwhy_gpu_module *module,
		const char *name, const struct kwhy_gpu_kernel **out, struct kwhy_error *error);
	/*
	 * Gets how many blocks of the kernel, of threads_per_block threads each, a multiprocessor can hold at
	 * the same time.
	 */
	enum kwhy_status (*resident_blocks)(struct kwhy_gpu *gpu, const struct kwhy_gpu_kernel *kernel,
		uint32_t threads_per_block, uint32_t *out, struct kwhy_error *error);

	enum kwhy_status (*memory_new)(
		struct kwhy_gpu *gpu, size_t bytes, uint64_t *out_address, struct kwhy_error *error);
	void (*memory_free)(struct kwhy_gpu *gpu, uint64_t address);
	/*
	 * Optional; a back end has all three or none. memory_share() makes a handle for memory of
	 * memory_new(), by which another process on this host opens it, to use it like its own until
	 * memory_close(). The owner must free the memory only after that.
	 */
	enum kwhy_status (*memory_share)(struct kwhy_gpu *gpu, uint64_t address, struct kwhy_gpu_shared *out,
		struct kwhy_error *error);
	enum kwhy_status (*memory_open)(struct kwhy_gpu *gpu, const struct kwhy_gpu_shared *shared,
		uint64_t *out_address, struct kwhy_error *error);
	void (*memory_close)(struct kwhy_gpu *gpu, uint64_t address);
	/*
	 * Optional. pool_new() allocates memory from the driver's pool, and pool_free() returns memory to the
	 * pool. Both take effect in stream order: after the stream has run the work that was queued before
	 * the call.
	 */
	enum kwhy_status (*pool_new)(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, size_t bytes,
		uint64_t *out_address, struct kwhy_error *error);
	enum kwhy_status (*pool_free)(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, uint64_t address,
		struct kwhy_error *error);
	/*
	 * Allocates host memory, aligned to at least 256 bytes, on NUMA node numa_node; -1: the system
	 * chooses the node.
	 */
	enum kwhy_status (*host_new)(struct kwhy_gpu *gpu, enum kwhy_gpu_host_kind kind, size_t bytes,
		int numa_node, struct kwhy_gpu_host *out, struct kwhy_error *error);
	void (*host_free)(struct kwhy_gpu *gpu, struct kwhy_gpu_host *host);

	/*
	 * Copies between any two addresses, and returns when the copied bytes are visible to work of every
	 * stream. It need not wait for work that was queued before.
	 */
	enum kwhy_status (*copy_now)(
		struct kwhy_gpu *gpu, const struct kwhy_gpu_copy *copy, struct kwhy_error *error);
	/*
	 * Copies by the driver's synchronous call; one end must be host memory. From pageable memory to the
	 * device it may return before the bytes have arrived, as soon as the source may be overwritten; other
	 * streams do not wait for the rest.
	 */
	enum kwhy_status (*copy_host_now)(
		struct kwhy_gpu *gpu, const struct kwhy_gpu_copy *copy, struct kwhy_error *error);
	/* Queues a copy. Either end may be on another GPU of the same back end. */
	enum kwhy_status (*copy)(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
		const struct kwhy_gpu_copy *copy, struct kwhy_error *error);
	/* Optional. Queues many copies by one call; the copies may run in any order. */
	enum kwhy_status (*copy_batch)(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
		const struct kwhy_gpu_copy *copies, size_t count, struct kwhy_error *error);
	enum kwhy_status (*fill)(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, uint64_t address,
		uint8_t value, size_t bytes, struct kwhy_error *error);
	/*
	 * Lets kernels and copies of `gpu` access memory of `other` directly. KWHY_E_UNSUPPORTED: they
	 * cannot.
	 */
	enum kwhy_status (*peer_enable)(
		struct kwhy_gpu *gpu, struct kwhy_gpu *other, struct kwhy_error *error);

	enum kwhy_status (*stream_new)(
		struct kwhy_gpu *gpu, struct kwhy_gpu_stream **out, struct kwhy_error *error);
	void (*stream_free)(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream);
	enum kwhy_status (*stream_wait)(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
		const struct kwhy_gpu_event *event, struct kwhy_error *error);
	/* Returns when all work queued in the stream has run. */
	enum kwhy_status (*synchronize)(
		struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, struct kwhy_error *error);

	/* Makes an event. If `timed`, the event records its time and costs slightly more. */
	enum kwhy_status (*event_new)(
		struct kwhy_gpu *gpu, bool timed, struct kwhy_gpu_event **out, struct kwhy_error *error);
	void (*event_free)(struct kwhy_gpu *gpu, struct kwhy_gpu_event *event);
	enum kwhy_status (*event_record)(struct kwhy_gpu *gpu, struct kwhy_gpu_event *event,
		struct kwhy_gpu_stream *stream, struct kwhy_error *error);
	enum kwhy_status (*event_synchronize)(
		struct kwhy_gpu *gpu, struct kwhy_gpu_event *event, struct kwhy_error *error);
	/*
	 * Gets, without waiting, whether the stream has run the work that was queued in it before the last
	 * event_record() of this event.
	 */
	enum kwhy_status (*event_reached)(
		struct kwhy_gpu *gpu, struct kwhy_gpu_event *event, bool *out, struct kwhy_error *error);
	/*
	 * Gets the time between two events, in nanoseconds. Both must be timed, and streams must have reached
	 * both. CUDA's resolution is about 0.5 us.
	 */
	enum kwhy_status (*event_elapsed_ns)(struct kwhy_gpu *gpu, const struct kwhy_gpu_event *start,
		const struct kwhy_gpu_event *end, double *out_ns, struct kwhy_error *error);

	/* Queues a kernel; returns before it has run. */
	enum kwhy_status (*launch)(
		struct kwhy_gpu *gpu, const struct kwhy_gpu_launch *launch, struct kwhy_error *error);

	/*
	 * Optional; a back end has all four or none. Work that is queued in the stream between
	 * capture_begin() and capture_end() is recorded and not run.
	 */
	enum kwhy_status (*capture_begin)(
		struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, struct kwhy_error *error);
	enum kwhy_status (*capture_end)(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
		struct kwhy_gpu_graph **out, struct kwhy_error *error);
	enum kwhy_status (*graph_launch)(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
		struct kwhy_gpu_graph *graph, struct kwhy_error *error);
	void (*graph_free)(struct kwhy_gpu *gpu, struct kwhy_gpu_graph *graph);

	/*
	 * Gates. gate_hold() blocks the work that is queued after it in the stream. With a gate, work can be
	 * queued completely before it begins, and then runs without the host. A gate opens by itself after 10
	 * s; gate_open() then fails with KWHY_E_UNSUPPORTED. At most about a hundred operations may be queued
	 * behind a closed gate: when the driver's queue is full, the host blocks and can no longer open the
	 * gate. Freeing a gate opens it.
	 *
	 * Kernels that are queued behind a gate must have run once before, and no memory may be allocated or
	 * freed while the gate is closed: the driver waits for the device when it loads code or changes
	 * mappings, so the host would never get to open the gate.
	 */
	enum kwhy_status (*gate_new)(
		struct kwhy_gpu *gpu, struct kwhy_gpu_gate **out, struct kwhy_error *error);
	void (*gate_free)(struct kwhy_gpu *gpu, struct kwhy_gpu_gate *gate);
	enum kwhy_status (*gate_hold)(struct kwhy_gpu *gpu, struct kwhy_gpu_gate *gate,
		/* closes the gate for all work that is queued after this call */
		struct kwhy_gpu_stream *stream, struct kwhy_error *error);
	enum kwhy_status (*gate_open)(
		struct kwhy_gpu *gpu, struct kwhy_gpu_gate *gate, struct kwhy_error *error);
};

/* A GPU. Each back end has a struct of its own of which this is the first member. */
struct kwhy_gpu {
	const struct kwhy_gpu_ops *ops;
	struct kwhy_gpu_facts facts;
};

enum kwhy_gpu_backend { KWHY_GPU_CUDA, KWHY_GPU_HIP, KWHY_GPU_HOST, KWHY_GPU_BACKEND_COUNT };

/* Name of a back end: "cuda", "hip" or "host". */
const char *kwhy_gpu_backend_name(enum kwhy_gpu_backend backend);

/*
 * Gets the number of GPUs. The host back end has one for each NUMA node, but at least two, so that work on
 * pairs of GPUs can be tested.
 */
KWHY_MUST_USE enum kwhy_status kwhy_gpu_count(
	enum kwhy_gpu_backend backend, uint32_t *out, struct kwhy_error *error);

/*
 * Opens a GPU. `device` is its number in the vendor's library, or its PCI address such as "0000:19:00.0";
 * NULL: the first GPU. KWHY_E_UNSUPPORTED: there is no driver, no such GPU or no compiler; the message says
 * what to do. End with gpu->ops->close(gpu).
 */
KWHY_MUST_USE enum kwhy_status kwhy_gpu_open(
	enum kwhy_gpu_backend backend, const char *device, struct kwhy_gpu **out, struct kwhy_error *error);

/*
 * Calls work(context), and records as a graph the work that it queues in the stream, which does not run.
 * After a failure the stream no longer records, and *out is NULL. KWHY_E_UNSUPPORTED: this GPU cannot record
 * graphs, or cannot record this work.
 */
KWHY_MUST_USE enum kwhy_status kwhy_gpu_capture(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
	enum kwhy_status (*work)(void *context, struct kwhy_error *error), void *context,
	struct kwhy_gpu_graph **out, struct kwhy_error *error);

/*
 * Convert between pointers to host memory and addresses. On the host back end device memory is host memory,
 * too.
 */
static inline uint64_t kwhy_gpu_address(const void *host)
{
	return (uint64_t)(uintptr_t)host;
}

static inline void *kwhy_gpu_at(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

#endif
