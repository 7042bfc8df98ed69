/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_GPU_GPU_H
#define KWHY_GPU_GPU_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * GPUs to run work on: memory, streams, events, copies, kernels and graphs behind one table of calls, with a
 * back end per vendor and one on the host (real memory, a worker thread a stream), which runs everything
 * without a GPU. Opening a GPU makes a context, which on most raises the idle power; closing it gives that
 * back. Clocks, limits and modes are never touched.
 *
 * Threads: a thread calls enter() before its first call on a GPU, and again when it turns to another GPU.
 * Several threads may use one GPU at a time where each uses streams, events, gates and graphs of its own;
 * opening and closing are one thread's.
 *
 * A stream, an event or a graph of "cuda" and "hip" is the driver's own (CUstream, hipStream_t): an
 * application's may be given where one of ours may.
 *
 * Addresses are uint64_t: of device memory as the device has them, of host memory the pointer's value.
 */
struct kwhy_gpu;
struct kwhy_gpu_module; /* compiled kernels */
struct kwhy_gpu_kernel; /* borrowed from its module */
struct kwhy_gpu_stream; /* work in order; NULL everywhere: the GPU's own stream */
struct kwhy_gpu_event;	/* a place in a stream, with its time */
struct kwhy_gpu_graph;	/* work of one stream, recorded, ready to be launched again */
struct kwhy_gpu_gate;	/* holds streams back until the host opens it */

struct kwhy_gpu_facts {
	char name[96];
	char pci_address[16]; /* "0000:19:00.0"; "" unknown, as on the host */
	int index;	      /* as its library counts */
	int numa_node;	      /* nearest; -1: unknown */
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
	uint32_t shared_bytes; /* dynamic, a block */
};

enum { KWHY_GPU_HOST_ARGUMENTS_MAX = 16, KWHY_GPU_HOST_ARGUMENT_BYTES_MAX = 4096 };

/* What the host back end runs for a kernel: the whole grid, with the addresses of the arguments. */
struct kwhy_gpu_host_kernel {
	const char *name;
	void (*run)(const struct kwhy_gpu_grid *grid, void **arguments);
	/* {8, 4}: a pointer and an int, copied when it is launched; ends with 0. In all, each rounded up to
	 * 8, no more than KWHY_GPU_HOST_ARGUMENT_BYTES_MAX. */
	uint16_t argument_bytes[KWHY_GPU_HOST_ARGUMENTS_MAX + 1];
};

/* Kernels in CUDA C, which hiprtc takes too, and the same in C for the host. */
struct kwhy_gpu_source {
	const char *title; /* names it in messages */
	const char *text;
	const char *const *options; /* of the compiler, "-fmad=false"; ends with NULL; NULL: none */
	const struct kwhy_gpu_host_kernel
		*on_host; /* ends with a NULL name; NULL: none, KWHY_E_UNSUPPORTED */
};

struct kwhy_gpu_launch {
	const struct kwhy_gpu_kernel *kernel;
	uint32_t blocks, threads_per_block;
	void **arguments; /* addresses of the arguments, in their order */
	uint32_t shared_bytes;
	bool cooperative; /* all blocks run concurrently and may wait for each other */
	/* It may begin before what is queued before it has ended, and waits for that itself: on CUDA by
	 * griddepcontrol.wait. Elsewhere it begins after it. Not with `cooperative`. */
	bool early;
	struct kwhy_gpu_stream *stream;
};

enum kwhy_gpu_host_kind {
	KWHY_GPU_HOST_PAGEABLE,
	KWHY_GPU_HOST_PINNED,	      /* page-locked; the device reaches it by its own address */
	KWHY_GPU_HOST_WRITE_COMBINED, /* pinned; slow to read for the CPU */
	KWHY_GPU_HOST_REGISTERED,     /* pageable, then page-locked: for what others allocated */
	KWHY_GPU_HOST_MANAGED, /* migrates; only where facts.can_manage, and where a user asked for it */
	KWHY_GPU_HOST_KIND_COUNT
};

struct kwhy_gpu_host {
	void *memory;
	size_t bytes;
	enum kwhy_gpu_host_kind kind;
	int numa_node;	  /* that it was bound to; -1: wherever the system put it */
	uint64_t address; /* as kernels reach it; 0: they cannot */
};

/* Names memory of a device for other processes of this host. */
struct kwhy_gpu_shared {
	unsigned char bytes[64];
};

struct kwhy_gpu_copy {
	uint64_t to, from; /* device or host, distinguished by their values */
	size_t bytes;
};

/*
 * All calls that may fail give KWHY_E_UNSUPPORTED with the vendor's words, KWHY_E_MEMORY where memory lacks,
 * KWHY_E_LOST once the device is gone: then nothing but freeing and closing makes sense. What was not freed
 * before close() goes with it, unless its driver keeps a context for others or, as HIP, permanently; then it
 * stays until the process ends. Freeing NULL or 0 is allowed. Slots marked optional may be NULL.
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
	/* How many blocks of it a multiprocessor holds concurrently. */
	enum kwhy_status (*resident_blocks)(struct kwhy_gpu *gpu, const struct kwhy_gpu_kernel *kernel,
		uint32_t threads_per_block, uint32_t *out, struct kwhy_error *error);

	enum kwhy_status (*memory_new)(
		struct kwhy_gpu *gpu, size_t bytes, uint64_t *out_address, struct kwhy_error *error);
	void (*memory_free)(struct kwhy_gpu *gpu, uint64_t address);
	/* Optional, all three or none: memory of memory_new() that another process of this host reaches, and
	 * as this one does until it is closed; the owner frees it after that. Work and time stay those of the
	 * process that queues it. */
	enum kwhy_status (*memory_share)(struct kwhy_gpu *gpu, uint64_t address, struct kwhy_gpu_shared *out,
		struct kwhy_error *error);
	enum kwhy_status (*memory_open)(struct kwhy_gpu *gpu, const struct kwhy_gpu_shared *shared,
		uint64_t *out_address, struct kwhy_error *error);
	void (*memory_close)(struct kwhy_gpu *gpu, uint64_t address);
	/* Optional: from the driver's pool, in the order of a stream. */
	enum kwhy_status (*pool_new)(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, size_t bytes,
		uint64_t *out_address, struct kwhy_error *error);
	enum kwhy_status (*pool_free)(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, uint64_t address,
		struct kwhy_error *error);
	/* Host memory, aligned to 256 bytes at least. numa_node -1: wherever the system puts it. */
	enum kwhy_status (*host_new)(struct kwhy_gpu *gpu, enum kwhy_gpu_host_kind kind, size_t bytes,
		int numa_node, struct kwhy_gpu_host *out, struct kwhy_error *error);
	void (*host_free)(struct kwhy_gpu *gpu, struct kwhy_gpu_host *host);

	/* Returns when the bytes are there, for every stream. */
	enum kwhy_status (*copy_now)(
		struct kwhy_gpu *gpu, const struct kwhy_gpu_copy *copy, struct kwhy_error *error);
	/* The driver's plain call, where one end is the host's by the caller's word. Pageable to device:
	 * returns when the bytes may be overwritten, and a stream does not wait for them. */
	enum kwhy_status (*copy_host_now)(
		struct kwhy_gpu *gpu, const struct kwhy_gpu_copy *copy, struct kwhy_error *error);
	/* Queued. The device at either end may be another GPU of the same back end. */
	enum kwhy_status (*copy)(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
		const struct kwhy_gpu_copy *copy, struct kwhy_error *error);
	/* Optional: many copies by one call, in no order among themselves. */
	enum kwhy_status (*copy_batch)(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
		const struct kwhy_gpu_copy *copies, size_t count, struct kwhy_error *error);
	enum kwhy_status (*fill)(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, uint64_t address,
		uint8_t value, size_t bytes, struct kwhy_error *error);
	/* Lets kernels and copies of `gpu` reach `other` directly; KWHY_E_UNSUPPORTED where they cannot. */
	enum kwhy_status (*peer_enable)(
		struct kwhy_gpu *gpu, struct kwhy_gpu *other, struct kwhy_error *error);

	enum kwhy_status (*stream_new)(
		struct kwhy_gpu *gpu, struct kwhy_gpu_stream **out, struct kwhy_error *error);
	void (*stream_free)(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream);
	enum kwhy_status (*stream_wait)(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
		const struct kwhy_gpu_event *event, struct kwhy_error *error);
	/* Returns when everything queued in it has run. */
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
	/* Whether it was reached; does not wait. */
	enum kwhy_status (*event_reached)(
		struct kwhy_gpu *gpu, struct kwhy_gpu_event *event, bool *out, struct kwhy_error *error);
	/* Both timed and reached. CUDA's resolution is about 0.5 us. */
	enum kwhy_status (*event_elapsed_ns)(struct kwhy_gpu *gpu, const struct kwhy_gpu_event *start,
		const struct kwhy_gpu_event *end, double *out_ns, struct kwhy_error *error);

	/* Queues it; returns before it has run. */
	enum kwhy_status (*launch)(
		struct kwhy_gpu *gpu, const struct kwhy_gpu_launch *launch, struct kwhy_error *error);

	/* What the stream is given between the two is recorded instead of run. Optional, all four or none. */
	enum kwhy_status (*capture_begin)(
		struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, struct kwhy_error *error);
	enum kwhy_status (*capture_end)(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
		struct kwhy_gpu_graph **out, struct kwhy_error *error);
	enum kwhy_status (*graph_launch)(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
		struct kwhy_gpu_graph *graph, struct kwhy_error *error);
	void (*graph_free)(struct kwhy_gpu *gpu, struct kwhy_gpu_graph *graph);

	/*
	 * A gate holds what is queued after it, so that work can be queued whole and then runs without the
	 * host. It opens by itself after 10 s; then gate_open() says so with KWHY_E_UNSUPPORTED. No more than
	 * about a hundred operations may be queued after one: a full queue blocks the host before it opens.
	 * Freeing opens it.
	 * What is queued after one must have run once before, and no memory may be allocated or freed
	 * meanwhile: a driver that loads code or changes mappings waits for the device.
	 */
	enum kwhy_status (*gate_new)(
		struct kwhy_gpu *gpu, struct kwhy_gpu_gate **out, struct kwhy_error *error);
	void (*gate_free)(struct kwhy_gpu *gpu, struct kwhy_gpu_gate *gate);
	enum kwhy_status (*gate_hold)(struct kwhy_gpu *gpu, struct kwhy_gpu_gate *gate,
		struct kwhy_gpu_stream *stream, struct kwhy_error *error); /* closes it, too */
	enum kwhy_status (*gate_open)(
		struct kwhy_gpu *gpu, struct kwhy_gpu_gate *gate, struct kwhy_error *error);
};

/* The head of what a back end makes. */
struct kwhy_gpu {
	const struct kwhy_gpu_ops *ops;
	struct kwhy_gpu_facts facts;
};

enum kwhy_gpu_backend { KWHY_GPU_CUDA, KWHY_GPU_HIP, KWHY_GPU_HOST, KWHY_GPU_BACKEND_COUNT };

const char *kwhy_gpu_backend_name(enum kwhy_gpu_backend backend); /* "cuda", "hip", "host" */

/* How many GPUs there are; on the host one a NUMA node, at least two: pairs need two ends. */
KWHY_MUST_USE enum kwhy_status kwhy_gpu_count(
	enum kwhy_gpu_backend backend, uint32_t *out, struct kwhy_error *error);

/*
 * `device` is its number, as its library counts, or its PCI address, "0000:19:00.0"; NULL: the first.
 * KWHY_E_UNSUPPORTED, with the cure, where there is no driver, no such GPU or no compiler. End with
 * gpu->ops->close(gpu).
 */
KWHY_MUST_USE enum kwhy_status kwhy_gpu_open(
	enum kwhy_gpu_backend backend, const char *device, struct kwhy_gpu **out, struct kwhy_error *error);

/*
 * Records what `work` gives the stream as a graph. Whatever fails, the stream records no longer and *out is
 * NULL. KWHY_E_UNSUPPORTED where this GPU records no graphs, or not of this.
 */
KWHY_MUST_USE enum kwhy_status kwhy_gpu_capture(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
	enum kwhy_status (*work)(void *context, struct kwhy_error *error), void *context,
	struct kwhy_gpu_graph **out, struct kwhy_error *error);

/* The host's memory as an address, and back; on the host back end a device's memory is the host's. */
static inline uint64_t kwhy_gpu_address(const void *host)
{
	return (uint64_t)(uintptr_t)host;
}

static inline void *kwhy_gpu_at(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

#endif
