/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_GPU_HOST_H
#define KWHY_GPU_HOST_H

#include "gpu/gpu.h"
#include "gpu/numa.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * The back end on the host, which needs no GPU, declared for its own files and tests. Its GPUs are NUMA
 * nodes, device memory is memory of that node, a stream is a thread that runs queued operations in order, and
 * a kernel is a C function that runs the whole grid. Waiting threads sleep and do not spin.
 *
 * As on CUDA, an event, a gate or a graph may be freed while queued work uses it, since the queue keeps it
 * alive. Three things differ from CUDA. A queued copy from pageable memory reads its source when the copy
 * runs. Freeing a stream waits until its work has run. A graph can hold copies, fills and kernels only: no
 * events, waits, gates or pools.
 */

enum { KWHY_GPU_HOST_QUEUE = 1024 };

struct kwhy_gpu_host_gpu;

/*
 * First member of streams, events, memory and other objects of a GPU, which links them in the GPU's list.
 * Closing the GPU frees those that were not freed before.
 */
struct kwhy_gpu_host_owned {
	struct kwhy_gpu_host_owned *previous, *next;
	struct kwhy_gpu_host_gpu *gpu;
	void (*release)(
		struct kwhy_gpu_host_owned *owned); /* frees the object and removes it from the list */
};

struct kwhy_gpu_host_gpu {
	struct kwhy_gpu gpu;
	struct kwhy_numa_node node; /* its NUMA node; number -1: unknown */
	pthread_mutex_t lock;	    /* protects the list whose head is `owned` */
	struct kwhy_gpu_host_owned owned;
	struct kwhy_gpu_stream *stream; /* the stream that NULL stands for in calls */
};

static inline struct kwhy_gpu_host_gpu *kwhy_gpu_host_of(struct kwhy_gpu *gpu)
{
	return (struct kwhy_gpu_host_gpu *)(void *)gpu;
}

/* Add an object to its GPU's list, and remove it from the list. */
void kwhy_gpu_host_keep(struct kwhy_gpu *gpu, struct kwhy_gpu_host_owned *owned,
	void (*release)(struct kwhy_gpu_host_owned *owned));
void kwhy_gpu_host_forget(struct kwhy_gpu_host_owned *owned);

struct kwhy_gpu_host_operation;

/*
 * The functions of one kind of operation of a stream. run() does the operation, many times if it is in a
 * graph that is launched repeatedly; drop() is called once, at the end.
 */
struct kwhy_gpu_host_verb {
	void (*run)(const struct kwhy_gpu_host_operation *operation);
	void (*drop)(struct kwhy_gpu_host_operation
			/* frees what the operation holds; NULL: it holds nothing */
			*operation);
	bool recordable; /* whether a graph can contain the operation */
};

struct kwhy_gpu_host_operation {
	const struct kwhy_gpu_host_verb *verb;
	union {
		struct kwhy_gpu_copy copy;
		struct {
			struct kwhy_gpu_copy *copies; /* freed with the operation */
			size_t count;
		} batch;
		struct {
			uint64_t address;
			size_t bytes;
			uint8_t value;
		} fill;
		struct {
			void (*run)(const struct kwhy_gpu_grid *grid, void **arguments);
			struct kwhy_gpu_grid grid;
			const uint16_t *argument_bytes;
			uint64_t arguments[KWHY_GPU_HOST_ARGUMENT_BYTES_MAX /
				/* each argument is rounded up to 8 bytes */
				8];
		} launch;
		struct {
			struct kwhy_gpu_event *event; /* kept alive by the operation */
			uint64_t ticket;
		} event;
		struct {
			struct kwhy_gpu_gate *gate; /* kept alive by the operation */
			uint64_t ticket;
		} gate;
		struct kwhy_gpu_graph *graph; /* kept alive by the operation */
		struct {
			struct kwhy_gpu *gpu;
			uint64_t address;
		} freed;
	};
};

/*
 * Queues an operation, or records it if the stream is recording. Waits while the queue is full. The caller
 * gives up the objects that the operation holds: they are freed after the operation has run, or by this call
 * if it fails.
 */
KWHY_MUST_USE enum kwhy_status kwhy_gpu_host_queue(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
	struct kwhy_gpu_host_operation *operation, struct kwhy_error *error);

/* Adds an operation to a graph that is being recorded. The graph then owns the operation. */
KWHY_MUST_USE enum kwhy_status kwhy_gpu_host_record(struct kwhy_gpu_graph *graph,
	const struct kwhy_gpu_host_operation *operation, struct kwhy_error *error);

/*
 * Address of the stream's pointer to the graph that is being recorded; that pointer is NULL if the stream
 * is not recording.
 */
struct kwhy_gpu_graph **kwhy_gpu_host_recording(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream);

/* A lock with a condition variable, whose waits are timed by CLOCK_MONOTONIC. */
struct kwhy_gpu_host_monitor {
	pthread_mutex_t lock;
	pthread_cond_t changed;
};

void kwhy_gpu_host_monitor_init(struct kwhy_gpu_host_monitor *monitor);
void kwhy_gpu_host_monitor_done(struct kwhy_gpu_host_monitor *monitor);

struct kwhy_gpu_gate {
	struct kwhy_gpu_host_owned owned;
	atomic_uint holders;
	struct kwhy_gpu_host_monitor monitor;
	/*
	 * holds: number of calls of gate_hold() so far; opened: how many of these calls no longer hold their
	 * stream, because the gate was opened after them
	 */
	uint64_t holds, opened;
	int64_t limit_ns; /* time on CLOCK_MONOTONIC at which the gate opens by itself */
	bool gave_up;
};

/*
 * The functions of the table of calls (struct kwhy_gpu_ops) of this back end, grouped by the files that
 * define them.
 */

enum kwhy_status kwhy_gpu_host_memory_new(
	struct kwhy_gpu *gpu, size_t bytes, uint64_t *out_address, struct kwhy_error *error);
void kwhy_gpu_host_memory_free(struct kwhy_gpu *gpu, uint64_t address);
enum kwhy_status kwhy_gpu_host_memory_share(
	struct kwhy_gpu *gpu, uint64_t address, struct kwhy_gpu_shared *out, struct kwhy_error *error);
enum kwhy_status kwhy_gpu_host_memory_open(struct kwhy_gpu *gpu, const struct kwhy_gpu_shared *shared,
	uint64_t *out_address, struct kwhy_error *error);
void kwhy_gpu_host_memory_close(struct kwhy_gpu *gpu, uint64_t address);
enum kwhy_status kwhy_gpu_host_pool_new(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, size_t bytes,
	uint64_t *out_address, struct kwhy_error *error);
enum kwhy_status kwhy_gpu_host_pool_free(
	struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, uint64_t address, struct kwhy_error *error);
enum kwhy_status kwhy_gpu_host_host_new(struct kwhy_gpu *gpu, enum kwhy_gpu_host_kind kind, size_t bytes,
	int numa_node, struct kwhy_gpu_host *out, struct kwhy_error *error);
void kwhy_gpu_host_host_free(struct kwhy_gpu *gpu, struct kwhy_gpu_host *host);

enum kwhy_status kwhy_gpu_host_copy_now(
	struct kwhy_gpu *gpu, const struct kwhy_gpu_copy *copy, struct kwhy_error *error);
enum kwhy_status kwhy_gpu_host_copy(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
	const struct kwhy_gpu_copy *copy, struct kwhy_error *error);
enum kwhy_status kwhy_gpu_host_copy_batch(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
	const struct kwhy_gpu_copy *copies, size_t count, struct kwhy_error *error);
enum kwhy_status kwhy_gpu_host_fill(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, uint64_t address,
	uint8_t value, size_t bytes, struct kwhy_error *error);
enum kwhy_status kwhy_gpu_host_launch(
	struct kwhy_gpu *gpu, const struct kwhy_gpu_launch *launch, struct kwhy_error *error);

enum kwhy_status kwhy_gpu_host_stream_new(
	struct kwhy_gpu *gpu, struct kwhy_gpu_stream **out, struct kwhy_error *error);
void kwhy_gpu_host_stream_free(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream);
void kwhy_gpu_host_stream_release(struct kwhy_gpu_host_owned *owned);
enum kwhy_status kwhy_gpu_host_synchronize(
	struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, struct kwhy_error *error);

enum kwhy_status kwhy_gpu_host_event_new(
	struct kwhy_gpu *gpu, bool timed, struct kwhy_gpu_event **out, struct kwhy_error *error);
void kwhy_gpu_host_event_free(struct kwhy_gpu *gpu, struct kwhy_gpu_event *event);
enum kwhy_status kwhy_gpu_host_event_record(struct kwhy_gpu *gpu, struct kwhy_gpu_event *event,
	struct kwhy_gpu_stream *stream, struct kwhy_error *error);
enum kwhy_status kwhy_gpu_host_event_synchronize(
	struct kwhy_gpu *gpu, struct kwhy_gpu_event *event, struct kwhy_error *error);
enum kwhy_status kwhy_gpu_host_event_reached(
	struct kwhy_gpu *gpu, struct kwhy_gpu_event *event, bool *out, struct kwhy_error *error);
enum kwhy_status kwhy_gpu_host_event_elapsed_ns(struct kwhy_gpu *gpu, const struct kwhy_gpu_event *start,
	const struct kwhy_gpu_event *end, double *out_ns, struct kwhy_error *error);
enum kwhy_status kwhy_gpu_host_stream_wait(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
	const struct kwhy_gpu_event *event, struct kwhy_error *error);

enum kwhy_status kwhy_gpu_host_gate_new(
	struct kwhy_gpu *gpu, struct kwhy_gpu_gate **out, struct kwhy_error *error);
void kwhy_gpu_host_gate_free(struct kwhy_gpu *gpu, struct kwhy_gpu_gate *gate);
void kwhy_gpu_host_gate_release(struct kwhy_gpu_host_owned *owned);
enum kwhy_status kwhy_gpu_host_gate_hold(struct kwhy_gpu *gpu, struct kwhy_gpu_gate *gate,
	struct kwhy_gpu_stream *stream, struct kwhy_error *error);
enum kwhy_status kwhy_gpu_host_gate_open(
	struct kwhy_gpu *gpu, struct kwhy_gpu_gate *gate, struct kwhy_error *error);

enum kwhy_status kwhy_gpu_host_capture_begin(
	struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, struct kwhy_error *error);
enum kwhy_status kwhy_gpu_host_capture_end(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
	struct kwhy_gpu_graph **out, struct kwhy_error *error);
enum kwhy_status kwhy_gpu_host_graph_launch(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
	struct kwhy_gpu_graph *graph, struct kwhy_error *error);
void kwhy_gpu_host_graph_free(struct kwhy_gpu *gpu, struct kwhy_gpu_graph *graph);

#endif
