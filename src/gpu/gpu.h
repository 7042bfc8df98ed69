/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_GPU_GPU_H
#define KWHY_GPU_GPU_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * GPUs to run work on: memory, streams, events, copies, kernels and graphs through one table of calls. There
 * is a back end for each vendor and one on the host (real memory, a worker thread for each stream), which
 * runs everything without a GPU. Opening a GPU makes a context, which on most GPUs raises the idle power;
 * closing it destroys the context. Clocks, limits and modes are never changed.
 *
 * Threads: a thread calls enter() before its first call on a GPU, and again when it changes to another GPU.
 * Several threads may use one GPU concurrently if each uses streams, events, gates and graphs of its own.
 * Only one thread opens and closes GPUs.
 *
 * Streams, events and graphs of "cuda" and "hip" are the driver's own objects (CUstream, hipStream_t), so an
 * application's can be passed in place of ours.
 *
 * Addresses are uint64_t: the device's address of device memory, the pointer's value of host memory.
 */
struct kwhy_gpu;
struct kwhy_gpu_module; /* compiled kernels */
struct kwhy_gpu_kernel; /* borrowed from its module */
struct kwhy_gpu_stream; /* work in order; NULL everywhere: the GPU's own stream */
struct kwhy_gpu_event;	/* a point in a stream, with its time */
struct kwhy_gpu_graph;	/* recorded work of one stream, which can be launched repeatedly */
struct kwhy_gpu_gate;	/* holds streams back until the host opens it */

struct kwhy_gpu_facts {
	char name[96];
	char pci_address[16]; /* "0000:19:00.0"; "" unknown, as on the host */
	int index;	      /* number in the vendor's library */
	int numa_node;	      /* nearest NUMA node; -1: unknown */
	int architecture;     /* 90 for compute capability 9.0; 0: the host */
	char driver_api[16];  /* newest CUDA that the driver speaks: "13.0" */
	char compiler[16];    /* version of NVRTC: "13.0" */
	uint32_t sm_count, threads_per_sm, registers_per_sm, shared_bytes_per_sm; /* 0: unknown */
	uint32_t copy_engines;							  /* 0: unknown */
	uint64_t memory_bytes;							  /* 0: unknown */
	bool can_manage; /* the driver lets host and device use managed memory concurrently */
};

struct kwhy_gpu_grid {
	uint32_t blocks, threads_per_block;
	uint32_t shared_bytes; /* dynamic shared memory of a block */
};

enum { KWHY_GPU_HOST_ARGUMENTS_MAX = 16, KWHY_GPU_HOST_ARGUMENT_BYTES_MAX = 4096 };

/*
 * A kernel for the host back end: a function that runs the whole grid, given the addresses of the arguments.
 */
struct kwhy_gpu_host_kernel {
	const char *name;
	void (*run)(const struct kwhy_gpu_grid *grid, void **arguments);
	/*
	 * Sizes of the arguments, which are copied at launch; {8, 4} are a pointer and an int. Ends with 0.
	 * The total, each size rounded up to 8, is at most KWHY_GPU_HOST_ARGUMENT_BYTES_MAX.
	 */
	uint16_t argument_bytes[KWHY_GPU_HOST_ARGUMENTS_MAX + 1];
};

/* Kernels in CUDA C, which hiprtc also accepts, and the same kernels in C for the host. */
struct kwhy_gpu_source {
	const char *title; /* names it in messages */
	const char *text;
	const char *const
		*options; /* compiler options such as "-fmad=false", ends with NULL; NULL: no options */
	const struct kwhy_gpu_host_kernel
		*on_host; /* ends with a NULL name; NULL: the host back end fails with KWHY_E_UNSUPPORTED */
};

struct kwhy_gpu_launch {
	const struct kwhy_gpu_kernel *kernel;
	uint32_t blocks, threads_per_block;
	void **arguments; /* addresses of the arguments, in their order */
	uint32_t shared_bytes;
	bool cooperative; /* all blocks run concurrently and may wait for each other */
	/*
	 * The kernel may begin before earlier work in its stream has ended, and waits for that work itself:
	 * on CUDA by griddepcontrol.wait. On other back ends it begins after that work. Not with
	 * `cooperative`.
	 */
	bool early;
	struct kwhy_gpu_stream *stream;
};

enum kwhy_gpu_host_kind {
	KWHY_GPU_HOST_PAGEABLE,
	KWHY_GPU_HOST_PINNED,	      /* page-locked; the device can access it */
	KWHY_GPU_HOST_WRITE_COMBINED, /* pinned; slow to read for the CPU */
	KWHY_GPU_HOST_REGISTERED,     /* pageable memory that is page-locked later, such as memory that others
					 allocated */
	KWHY_GPU_HOST_MANAGED,	      /* migrates; only if facts.can_manage is set and a user asked for it */
	KWHY_GPU_HOST_KIND_COUNT
};

struct kwhy_gpu_host {
	void *memory;
	size_t bytes;
	enum kwhy_gpu_host_kind kind;
	int numa_node;	  /* NUMA node that it was bound to; -1: the system chose */
	uint64_t address; /* address in kernels; 0: kernels cannot access it */
};

/* Handle of device memory for other processes of this host. */
struct kwhy_gpu_shared {
	unsigned char bytes[64];
};

struct kwhy_gpu_copy {
	uint64_t to, from; /* addresses on device or host, which their values distinguish */
	size_t bytes;
};

/*
 * Calls that can fail return KWHY_E_UNSUPPORTED with the vendor's words, KWHY_E_MEMORY if memory is short,
 * and KWHY_E_LOST once the device is gone: then only freeing and closing are useful. close() frees what was
 * not freed before, unless the driver keeps the context for other users or, as HIP, permanently; such objects
 * stay until the process ends. Freeing NULL or 0 is allowed. Slots marked optional may be NULL.
 */
struct kwhy_gpu_ops {
	const char *name; /* "cuda", "hip", "host" */
	void (*close)(struct kwhy_gpu *gpu);
	enum kwhy_status (*enter)(struct kwhy_gpu *gpu, struct kwhy_error *error);

	enum kwhy_status (*module_new)(struct kwhy_gpu *gpu, const struct kwhy_gpu_source *source,
		struct kwhy_gpu_module **out, struct kwhy_error *error);
	void (*module_free)(struct kwhy_gpu *gpu, struct kwhy_gpu_module *module);
	enum kwhy_status (*kernel_find)(struct kwhy_gpu *gpu, struct kwhy_gpu_module *module,
		const char *name, const struct kwhy_gpu_kernel **out, struct kwhy_error *error);
	/* Number of blocks of the kernel that a multiprocessor holds concurrently. */
	enum kwhy_status (*resident_blocks)(struct kwhy_gpu *gpu, const struct kwhy_gpu_kernel *kernel,
		uint32_t threads_per_block, uint32_t *out, struct kwhy_error *error);

	enum kwhy_status (*memory_new)(
		struct kwhy_gpu *gpu, size_t bytes, uint64_t *out_address, struct kwhy_error *error);
	void (*memory_free)(struct kwhy_gpu *gpu, uint64_t address);
	/*
	 * Optional, all three or none: share memory of memory_new() with another process of this host. That
	 * process can use it like its own until memory_close(); the owner frees it after that. Work and its
	 * time belong to the process that queues it.
	 */
	enum kwhy_status (*memory_share)(struct kwhy_gpu *gpu, uint64_t address, struct kwhy_gpu_shared *out,
		struct kwhy_error *error);
	enum kwhy_status (*memory_open)(struct kwhy_gpu *gpu, const struct kwhy_gpu_shared *shared,
		uint64_t *out_address, struct kwhy_error *error);
	void (*memory_close)(struct kwhy_gpu *gpu, uint64_t address);
	/* Optional: allocate from the driver's pool and free, in the order of a stream. */
	enum kwhy_status (*pool_new)(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, size_t bytes,
		uint64_t *out_address, struct kwhy_error *error);
	enum kwhy_status (*pool_free)(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, uint64_t address,
		struct kwhy_error *error);
	/* Allocates host memory, aligned to at least 256 bytes. numa_node -1: the system chooses. */
	enum kwhy_status (*host_new)(struct kwhy_gpu *gpu, enum kwhy_gpu_host_kind kind, size_t bytes,
		int numa_node, struct kwhy_gpu_host *out, struct kwhy_error *error);
	void (*host_free)(struct kwhy_gpu *gpu, struct kwhy_gpu_host *host);

	/* Copies and returns when the bytes are visible to every stream. */
	enum kwhy_status (*copy_now)(
		struct kwhy_gpu *gpu, const struct kwhy_gpu_copy *copy, struct kwhy_error *error);
	/*
	 * The driver's plain copy; the caller asserts that one end is host memory. From pageable memory to
	 * the device it returns when the source may be overwritten, and streams do not wait for the copy.
	 */
	enum kwhy_status (*copy_host_now)(
		struct kwhy_gpu *gpu, const struct kwhy_gpu_copy *copy, struct kwhy_error *error);
	/* Queues a copy. Either end may be on another GPU of the same back end. */
	enum kwhy_status (*copy)(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
		const struct kwhy_gpu_copy *copy, struct kwhy_error *error);
	/* Optional: queues many copies by one call; their order is undefined. */
	enum kwhy_status (*copy_batch)(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
		const struct kwhy_gpu_copy *copies, size_t count, struct kwhy_error *error);
	enum kwhy_status (*fill)(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, uint64_t address,
		uint8_t value, size_t bytes, struct kwhy_error *error);
	/*
	 * Lets kernels and copies of `gpu` access memory of `other` directly; KWHY_E_UNSUPPORTED if they
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

	/* timed: it can tell its time, and costs a little more. */
	enum kwhy_status (*event_new)(
		struct kwhy_gpu *gpu, bool timed, struct kwhy_gpu_event **out, struct kwhy_error *error);
	void (*event_free)(struct kwhy_gpu *gpu, struct kwhy_gpu_event *event);
	enum kwhy_status (*event_record)(struct kwhy_gpu *gpu, struct kwhy_gpu_event *event,
		struct kwhy_gpu_stream *stream, struct kwhy_error *error);
	enum kwhy_status (*event_synchronize)(
		struct kwhy_gpu *gpu, struct kwhy_gpu_event *event, struct kwhy_error *error);
	/* Whether the stream has reached the event; does not wait. */
	enum kwhy_status (*event_reached)(
		struct kwhy_gpu *gpu, struct kwhy_gpu_event *event, bool *out, struct kwhy_error *error);
	/* Both events must be timed and reached. CUDA's resolution is about 0.5 us. */
	enum kwhy_status (*event_elapsed_ns)(struct kwhy_gpu *gpu, const struct kwhy_gpu_event *start,
		const struct kwhy_gpu_event *end, double *out_ns, struct kwhy_error *error);

	/* Queues a kernel; returns before it has run. */
	enum kwhy_status (*launch)(
		struct kwhy_gpu *gpu, const struct kwhy_gpu_launch *launch, struct kwhy_error *error);

	/*
	 * Work queued in the stream between capture_begin() and capture_end() is recorded instead of run.
	 * Optional, all four or none.
	 */
	enum kwhy_status (*capture_begin)(
		struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, struct kwhy_error *error);
	enum kwhy_status (*capture_end)(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
		struct kwhy_gpu_graph **out, struct kwhy_error *error);
	enum kwhy_status (*graph_launch)(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
		struct kwhy_gpu_graph *graph, struct kwhy_error *error);
	void (*graph_free)(struct kwhy_gpu *gpu, struct kwhy_gpu_graph *graph);

	/*
	 * A gate blocks the work that is queued after it, so that work can be queued completely and then runs
	 * without the host. It opens by itself after 10 s; gate_open() then fails with KWHY_E_UNSUPPORTED. At
	 * most about a hundred operations may be queued after one, because a full queue blocks the host
	 * before it can open the gate. Freeing a gate opens it.
	 *
	 * Everything queued after a gate must have run once before, and no memory may be allocated or freed
	 * while it is closed: a driver that loads code or changes mappings waits for the device.
	 */
	enum kwhy_status (*gate_new)(
		struct kwhy_gpu *gpu, struct kwhy_gpu_gate **out, struct kwhy_error *error);
	void (*gate_free)(struct kwhy_gpu *gpu, struct kwhy_gpu_gate *gate);
	enum kwhy_status (*gate_hold)(struct kwhy_gpu *gpu, struct kwhy_gpu_gate *gate,
		struct kwhy_gpu_stream *stream, struct kwhy_error *error); /* also closes the gate */
	enum kwhy_status (*gate_open)(
		struct kwhy_gpu *gpu, struct kwhy_gpu_gate *gate, struct kwhy_error *error);
};

/* The first member of every back end's GPU object. */
struct kwhy_gpu {
	const struct kwhy_gpu_ops *ops;
	struct kwhy_gpu_facts facts;
};

enum kwhy_gpu_backend { KWHY_GPU_CUDA, KWHY_GPU_HIP, KWHY_GPU_HOST, KWHY_GPU_BACKEND_COUNT };

const char *kwhy_gpu_backend_name(enum kwhy_gpu_backend backend); /* "cuda", "hip", "host" */

/*
 * Number of GPUs. The host back end has one for each NUMA node, but at least two, because pairs need two
 * ends.
 */
KWHY_MUST_USE enum kwhy_status kwhy_gpu_count(
	enum kwhy_gpu_backend backend, uint32_t *out, struct kwhy_error *error);

/*
 * `device` is the number in the vendor's library or the PCI address, "0000:19:00.0"; NULL: the first.
 * KWHY_E_UNSUPPORTED, with what to do, if there is no driver, no such GPU or no compiler. End with
 * gpu->ops->close(gpu).
 */
KWHY_MUST_USE enum kwhy_status kwhy_gpu_open(
	enum kwhy_gpu_backend backend, const char *device, struct kwhy_gpu **out, struct kwhy_error *error);

/*
 * Records the work that `work` queues in the stream as a graph. After any failure the stream no longer
 * records and *out is NULL. KWHY_E_UNSUPPORTED if this GPU cannot record graphs, or not of this work.
 */
KWHY_MUST_USE enum kwhy_status kwhy_gpu_capture(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
	enum kwhy_status (*work)(void *context, struct kwhy_error *error), void *context,
	struct kwhy_gpu_graph **out, struct kwhy_error *error);

/*
 * Converts between pointers to host memory and addresses; on the host back end device memory is host memory,
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
