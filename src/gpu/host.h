/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_GPU_HOST_H
#define KWHY_GPU_HOST_H

#include "gpu/gpu.h"
#include "gpu/numa.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * The back end on the host, declared for its own files and tests: a GPU is a NUMA node, device memory is
 * memory of that node, a stream is a thread that runs queued operations in order, and a kernel is a C
 * function that runs the whole grid. Nothing spins; waiting threads sleep.
 *
 * As on CUDA, an event, a gate or a graph may be freed while queued work still uses it: the queue keeps it
 * alive. Unlike on CUDA, a queued copy from pageable memory reads the source when it runs, freeing a stream
 * waits until its work has run, and a graph can hold only copies, fills and kernels: no events, waits, gates
 * or pools.
 */

enum { KWHY_GPU_HOST_QUEUE = 1024 };

struct kwhy_gpu_host_gpu;

/*
 * First member of streams, events, memory and other objects, which closing the GPU frees if they were not
 * freed before.
 */
struct kwhy_gpu_host_owned {
	struct kwhy_gpu_host_owned *previous, *next;
	struct kwhy_gpu_host_gpu *gpu;
	void (*release)(struct kwhy_gpu_host_owned *owned); /* frees it and removes it from the list */
};

struct kwhy_gpu_host_gpu {
	struct kwhy_gpu gpu;
	struct kwhy_numa_node node; /* node -1: unknown */
	pthread_mutex_t lock;	    /* protects the list */
	struct kwhy_gpu_host_owned owned;
	struct kwhy_gpu_stream *stream; /* the GPU's own stream */
};

static inline struct kwhy_gpu_host_gpu *kwhy_gpu_host_of(struct kwhy_gpu *gpu)
{
	return (struct kwhy_gpu_host_gpu *)(void *)gpu;
}

/* Adds an object to its GPU's list, or removes it. */
void kwhy_gpu_host_keep(struct kwhy_gpu *gpu, struct kwhy_gpu_host_owned *owned,
	void (*release)(struct kwhy_gpu_host_owned *owned));
void kwhy_gpu_host_forget(struct kwhy_gpu_host_owned *owned);

struct kwhy_gpu_host_operation;

/*
 * Functions of a kind of operation. run() may be called often if a graph holds the operation, drop() is
 * called once.
 */
struct kwhy_gpu_host_verb {
	void (*run)(const struct kwhy_gpu_host_operation *operation);
	void (*drop)(struct kwhy_gpu_host_operation
			*operation); /* frees what the operation holds; NULL: it holds nothing */
	bool recordable;	     /* can be recorded in a graph */
};

struct kwhy_gpu_host_operation {
	const struct kwhy_gpu_host_verb *verb;
	union {
		struct kwhy_gpu_copy copy;
		struct {
			struct kwhy_gpu_copy *copies; /* owned by the operation */
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
				8]; /* each argument rounded up to 8 bytes */
		} launch;
		struct {
			struct kwhy_gpu_event *event; /* held */
			uint64_t ticket;
		} event;
		struct {
			struct kwhy_gpu_gate *gate; /* held */
			uint64_t ticket;
		} gate;
		struct kwhy_gpu_graph *graph; /* held */
		struct {
			struct kwhy_gpu *gpu;
			uint64_t address;
		} freed;
	};
};

/*
 * Queues an operation, or records it if the stream records; blocks while the queue is full. The stream owns
 * the objects that the operation holds from here on, also on failure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_gpu_host_queue(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
	struct kwhy_gpu_host_operation *operation, struct kwhy_error *error);

/* Adds an operation to a graph that is being recorded, which then owns it. */
KWHY_MUST_USE enum kwhy_status kwhy_gpu_host_record(struct kwhy_gpu_graph *graph,
	const struct kwhy_gpu_host_operation *operation, struct kwhy_error *error);

/* The graph that the stream records into; NULL: it does not record. */
struct kwhy_gpu_graph **kwhy_gpu_host_recording(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream);

/* A lock with a condition whose waits are timed by CLOCK_MONOTONIC. */
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
	uint64_t holds, opened; /* number of holds, and the last hold that was opened */
	int64_t limit_ns;	/* time after which it opens by itself */
	bool gave_up;
};

/* The slots of the table, by file. */

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
