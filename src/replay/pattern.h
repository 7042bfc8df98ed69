/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_PATTERN_H
#define KWHY_REPLAY_PATTERN_H

#include "base/arena.h"
#include "gpu/gpu.h"
#include "replay/changes.h"

/*
 * The calls of a recording that a replay makes again for one device: for each host thread its calls with the
 * pauses between them, for each call the work that it issues or waits for. It is taken from the recording's
 * graph as last played, changed or not. Pure.
 */

enum kwhy_replay_kind { KWHY_REPLAY_KERNEL, KWHY_REPLAY_COPY, KWHY_REPLAY_FILL };

enum kwhy_replay_direction { KWHY_REPLAY_H2D, KWHY_REPLAY_D2H, KWHY_REPLAY_D2D };

/* One piece of work of the device. A kernel is replaced by a proxy kernel of the same length and grid. */
struct kwhy_replay_work {
	int64_t length_ns;
	int64_t issue_ns;	/* from the start of the call to the start of the work, unless something else
				   delayed it */
	uint64_t bytes;		/* size of a copy or fill */
	uint32_t replay_stream; /* stream of the replay: a recorded stream, or a group of its work that a
				   change moved out */
	uint32_t grid;		/* row in grids, of a kernel */
	uint32_t account;	/* row in accounts, of a kernel; KWHY_NONE: no account */
	uint32_t after[2];	/* work of other streams that must end before it; KWHY_NONE: no such work */
	uint32_t mark;		/* event recorded after it; KWHY_NONE: nothing waits for it alone */
	uint8_t kind;		/* enum kwhy_replay_kind */
	uint8_t way;		/* enum kwhy_replay_direction; for copies only */
	uint8_t host;		/* enum kwhy_gpu_host_kind of the host memory; for copies only */
};

enum kwhy_replay_wait {
	KWHY_REPLAY_WAIT_NONE,
	KWHY_REPLAY_WAIT_REPLAY_STREAM, /* until everything in the stream of that work has run */
	KWHY_REPLAY_WAIT_WORK		/* until that work has run */
};

/* A call of a host thread. */
struct kwhy_replay_op {
	int64_t gap_ns;	   /* since the end of the call before it on its thread */
	int64_t own_ns;	   /* least time that the call takes */
	int64_t return_ns; /* from the end of the work that it waits for to its return */
	int64_t start_ns;  /* as played, from the start of the first call; orders the ops of all threads */
	uint32_t work, work_count;
	uint32_t graph;	   /* graph as which it launches its work; KWHY_NONE: no graph */
	uint32_t wait;	   /* index of the work that it waits for; KWHY_NONE: it does not wait */
	uint32_t after_op; /* op of another thread that comes before it; KWHY_NONE: no such op */
	int64_t after_ns;  /* least time from the end of after_op to its start */
	uint8_t wait_kind; /* enum kwhy_replay_wait */
};

struct kwhy_replay_thread {
	uint32_t op, op_count;
};

struct kwhy_replay_replay_stream {
	uint32_t last_work; /* in the order of issue */
};

struct kwhy_replay_grid {
	uint32_t blocks, threads_per_block;
};

/* An account of the ledger, with the kernels that share its power. */
struct kwhy_replay_account {
	const char *name;
	double power_w; /* gross power while its kernels ran; NAN: unknown */
	int64_t time_ns;
	uint64_t count;
	int64_t longest_ns;
	uint32_t grid; /* grid of the longest of them */
};

/*
 * A graph shared by all launches of the same sequence of work. It has the work of the first launch, with mean
 * lengths over all launches.
 */
struct kwhy_replay_graph {
	uint32_t work, work_count, launches;
};

/* Counts of what a replay does differently from the recording. */
struct kwhy_replay_left {
	uint64_t other_devices; /* work of other devices, left out */
	uint64_t collectives;	/* collectives, replaced by kernels of their length */
	uint64_t peer_copies;	/* copies to peer devices, replaced by copies within the device */
	uint64_t unknown;	/* copies and fills of unknown size or direction, replaced by kernels of their
				   length */
	uint64_t uncalled;	/* work without a recorded call, issued at its own start */
	uint64_t allocations;	/* allocations and frees, replaced by time of the host */
	uint64_t guessed_memory; /* copies whose kind of host memory is unknown, taken as pageable */
	uint64_t overlaps; /* work that ran concurrently with the work before it in its stream; replayed after
			      it */
	uint64_t orders;   /* links between streams or threads that could not be kept */
};

struct kwhy_replay_pattern {
	struct kwhy_arena arena; /* names */
	uint32_t device;	 /* number of the device in the recording */
	int64_t span_ns;	 /* as played: from the first start to the last end of its work */
	int64_t queued_ns;	 /* recorded gap between kernels that were queued in time */
	int64_t issue_ns,
		return_ns; /* recorded latencies: from the call to the start of a kernel in an idle stream,
			      and from the end of work to the return of the call that waited; -1: unknown */
	struct kwhy_replay_thread *threads;
	struct kwhy_replay_op *ops;
	struct kwhy_replay_work *works; /* the works of an op are adjacent */
	struct kwhy_replay_replay_stream *replay_streams;
	struct kwhy_replay_grid *grids;
	struct kwhy_replay_account *accounts;
	struct kwhy_replay_graph *graphs;
	size_t thread_count, op_count, work_count, replay_stream_count, grid_count, account_count,
		graph_count;
	size_t op_capacity, work_capacity, replay_stream_capacity, grid_capacity, graph_capacity;
	uint32_t mark_count, first_work; /* first_work is the work that starts first */
	uint64_t kernels, copies, fills, waits;
	struct kwhy_replay_left left;
};

enum { KWHY_REPLAY_GRIDS_MAX = 256 };

/*
 * The device that is replayed: the one with most activities in the recording; KWHY_NONE: no device has any.
 */
uint32_t kwhy_replay_device(const struct kwhy_recording *recording);

/*
 * Makes the pattern. `changes` were made by kwhy_replay_change() on that whatif, whose graph must not have
 * been edited since. KWHY_E_INPUT where the recording holds no work of a device, or the changes leave none.
 */
KWHY_MUST_USE enum kwhy_status kwhy_replay_pattern_new(const struct kwhy_whatif *whatif,
	const struct kwhy_replay_changes *changes, struct kwhy_replay_pattern **out,
	struct kwhy_error *error);
void kwhy_replay_pattern_free(struct kwhy_replay_pattern *pattern);

#endif
