/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_PATTERN_H
#define KWHY_REPLAY_PATTERN_H

#include "base/arena.h"
#include "gpu/gpu.h"
#include "replay/changes.h"

/*
 * What a recording asked of one device, as it can be asked again: for each host thread its calls with the
 * pauses between them, for each call the work that it issues or waits for. Of the recording's graph as it was
 * played last, changed or not. Pure.
 */

enum kwhy_replay_kind { KWHY_REPLAY_KERNEL, KWHY_REPLAY_COPY, KWHY_REPLAY_FILL };

enum kwhy_replay_direction { KWHY_REPLAY_H2D, KWHY_REPLAY_D2H, KWHY_REPLAY_D2D };

/* One thing that the device does. A kernel stands for one of that length and grid. */
struct kwhy_replay_work {
	int64_t length_ns;
	int64_t issue_ns;	/* from the start of the call to its own, where nothing else held it back */
	uint64_t bytes;		/* of copies and fills */
	uint32_t replay_stream; /* a stream, or what a change moved out of one */
	uint32_t grid;		/* of a kernel: row of the grids */
	uint32_t account;	/* of a kernel: row of the accounts; KWHY_NONE */
	uint32_t after[2];	/* work of other lanes that comes before it; KWHY_NONE */
	uint32_t mark;		/* the event after it; KWHY_NONE: nobody waits for it alone */
	uint8_t kind;		/* enum kwhy_replay_kind */
	uint8_t way;		/* enum kwhy_replay_direction, of a copy */
	uint8_t host;		/* enum kwhy_gpu_host_kind, of its host memory */
};

enum kwhy_replay_wait {
	KWHY_REPLAY_WAIT_NONE,
	KWHY_REPLAY_WAIT_REPLAY_STREAM, /* until everything in the lane of that work has run */
	KWHY_REPLAY_WAIT_WORK		/* until that work has run */
};

/* A call of a host thread. */
struct kwhy_replay_op {
	int64_t gap_ns;	   /* since the end of the one before it on its thread */
	int64_t own_ns;	   /* it takes that long at least */
	int64_t return_ns; /* from the end of what it waits for to its return */
	int64_t start_ns;  /* as played, from the start of the first; orders the ops of all threads */
	uint32_t work, work_count;
	uint32_t graph;	   /* launches its work as that graph; KWHY_NONE */
	uint32_t wait;	   /* row of the work that it waits for; KWHY_NONE */
	uint32_t after_op; /* an op of another thread that comes before it; KWHY_NONE */
	int64_t after_ns;  /* so long before it at least */
	uint8_t wait_kind; /* enum kwhy_replay_wait */
};

struct kwhy_replay_thread {
	uint32_t op, op_count;
};

struct kwhy_replay_replay_stream {
	uint32_t last_work; /* as issued */
};

struct kwhy_replay_grid {
	uint32_t blocks, threads_per_block;
};

/* An account of the ledger: kernels that share a power. */
struct kwhy_replay_account {
	const char *name;
	double power_w; /* gross, while they ran; NAN: unknown */
	int64_t time_ns;
	uint64_t count;
	int64_t longest_ns;
	uint32_t grid; /* of the longest of them */
};

/* Launches of the same sequence share a graph; it has the work of the first of them, of mean lengths. */
struct kwhy_replay_graph {
	uint32_t work, work_count, launches;
};

/* What a replay does otherwise than the recording, counted. */
struct kwhy_replay_left {
	uint64_t other_devices;	 /* work of other devices, left out */
	uint64_t collectives;	 /* kernels of their length */
	uint64_t peer_copies;	 /* within the device */
	uint64_t unknown;	 /* copies and fills of unknown size or direction: kernels of their length */
	uint64_t uncalled;	 /* work without a call: issued at its own time */
	uint64_t allocations;	 /* and frees: time of the host */
	uint64_t guessed_memory; /* copies whose host memory is not known: pageable */
	uint64_t overlaps;	 /* work that ran beside the work before it in its stream: after it */
	uint64_t orders;	 /* links between streams or threads that could not be kept */
};

struct kwhy_replay_pattern {
	struct kwhy_arena arena; /* names */
	uint32_t device;	 /* of the recording */
	int64_t span_ns;	 /* as played: from the first start to the last end of its work */
	int64_t queued_ns;	 /* between kernels that were queued in time, as recorded */
	int64_t issue_ns,
		return_ns; /* of a kernel that found its stream idle, of a call that waited; -1: unknown */
	struct kwhy_replay_thread *threads;
	struct kwhy_replay_op *ops;
	struct kwhy_replay_work *works; /* those of an op follow each other */
	struct kwhy_replay_replay_stream *replay_streams;
	struct kwhy_replay_grid *grids;
	struct kwhy_replay_account *accounts;
	struct kwhy_replay_graph *graphs;
	size_t thread_count, op_count, work_count, replay_stream_count, grid_count, account_count,
		graph_count;
	size_t op_capacity, work_capacity, replay_stream_capacity, grid_capacity, graph_capacity;
	uint32_t mark_count, first_work; /* the work that starts first */
	uint64_t kernels, copies, fills, waits;
	struct kwhy_replay_left left;
};

enum { KWHY_REPLAY_GRIDS_MAX = 256 };

/* The device of a recording that has most to do, which is replayed; KWHY_NONE: none has anything. */
uint32_t kwhy_replay_device(const struct kwhy_recording *recording);

/*
 * `changes` were made by kwhy_replay_change() on that whatif, whose graph must not have been edited since.
 * KWHY_E_INPUT where the recording holds no work of a device.
 */
KWHY_MUST_USE enum kwhy_status kwhy_replay_pattern_new(const struct kwhy_whatif *whatif,
	const struct kwhy_replay_changes *changes, struct kwhy_replay_pattern **out,
	struct kwhy_error *error);
void kwhy_replay_pattern_free(struct kwhy_replay_pattern *pattern);

#endif
