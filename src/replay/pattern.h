/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_PATTERN_H
#define KWHY_REPLAY_PATTERN_H

#include "base/arena.h"
#include "gpu/gpu.h"
#include "replay/changes.h"

/*
 * The calls of a recording that a replay makes again for one device. For each host thread it has the calls
 * and the pauses between them; for each call it has the work that the call issues or waits for. Its times are
 * those of the last simulation of the whatif graph, in which changes may have been made. Pure.
 */

enum kwhy_replay_kind { KWHY_REPLAY_KERNEL, KWHY_REPLAY_COPY, KWHY_REPLAY_FILL };

enum kwhy_replay_direction { KWHY_REPLAY_H2D, KWHY_REPLAY_D2H, KWHY_REPLAY_D2D };

/* One piece of work of the device. A kernel is replayed by a proxy kernel of the same length and grid. */
struct kwhy_replay_work {
	int64_t length_ns;
	/*
	 * time from the start of the call that issues the work to the start of the work, if the stream was
	 * idle; 0: no recorded call issued it
	 */
	int64_t issue_ns;
	uint64_t bytes; /* size of a copy or fill, bytes */
	/*
	 * index of a stream of the replay, which stands for a recorded stream or for a group of its work that
	 * a change moved out
	 */
	uint32_t replay_stream;
	uint32_t grid;	  /* for a kernel: index in the pattern's grids */
	uint32_t account; /* for a kernel: index in the pattern's accounts; KWHY_NONE: it has no account */
	/*
	 * indices of at most two pieces of work in other streams that must end before this work begins;
	 * KWHY_NONE: no such work
	 */
	uint32_t after[2];
	/*
	 * number of the event that is recorded after the work, if work of other streams or a call waits for
	 * this event; KWHY_NONE: no event is recorded
	 */
	uint32_t mark;
	uint8_t kind; /* enum kwhy_replay_kind */
	uint8_t way;  /* enum kwhy_replay_direction; for copies only */
	uint8_t host; /* enum kwhy_gpu_host_kind of the host memory; for copies only */
};

enum kwhy_replay_wait {
	KWHY_REPLAY_WAIT_NONE,
	KWHY_REPLAY_WAIT_REPLAY_STREAM, /* waits until all work has run that was issued in the stream of the
					   work `wait` */
	KWHY_REPLAY_WAIT_WORK		/* waits until the work `wait` has run */
};

/* A call of a host thread. */
struct kwhy_replay_op {
	int64_t gap_ns; /* pause since the end of the thread's previous op */
	int64_t own_ns; /* minimum duration of the call, without waiting for the device */
	/* time from the end of the work that the call waits for to the return of the call */
	int64_t return_ns;
	/*
	 * start of the call in the simulated graph, after the start of the pattern's first call; the ops of
	 * all threads are ordered by it
	 */
	int64_t start_ns;
	uint32_t work, work_count;
	uint32_t graph; /* index of the graph that the call launches; KWHY_NONE: it launches no graph */
	uint32_t wait;	/* index of the work that the call waits for; KWHY_NONE: it does not wait */
	/* index of an op of another thread that must end before this one begins; KWHY_NONE: no such op */
	uint32_t after_op;
	int64_t after_ns;  /* minimum time from the end of after_op to the start of this op */
	uint8_t wait_kind; /* enum kwhy_replay_wait */
};

struct kwhy_replay_thread {
	uint32_t op, op_count;
};

struct kwhy_replay_stream {
	uint32_t last_work; /* index of the stream's last work in the pattern */
};

struct kwhy_replay_grid {
	uint32_t blocks, threads_per_block;
};

/* An account of the ledger: kernels of one kind, for which the ledger states one power. */
struct kwhy_replay_account {
	const char *name;
	double power_w; /* gross power of the account while its kernels ran; NAN: unknown */
	int64_t time_ns;
	uint64_t count;
	int64_t longest_ns;
	uint32_t grid; /* index of the grid of the account's longest kernel */
};

/*
 * A graph that all launches of the same sequence of work share. `work` is the index of the first launch's
 * first work; each length_ns of that work becomes the mean over all `launches`.
 */
struct kwhy_replay_graph {
	uint32_t work, work_count, launches;
};

/* Counts of differences between the replay and the recorded program. */
struct kwhy_replay_left {
	uint64_t other_devices; /* work of other devices, which is left out */
	uint64_t collectives;	/* collectives, which are replaced by kernels of the same length */
	/* copies to peer devices, which are replaced by copies within the device */
	uint64_t peer_copies;
	/* copies and fills of unknown size or direction, which are replaced by kernels of the same length */
	uint64_t unknown;
	uint64_t uncalled;	 /* work without a recorded call, which is issued at its recorded start */
	uint64_t allocations;	 /* allocations and frees, which are replaced by pauses of the host */
	uint64_t guessed_memory; /* copies whose kind of host memory is unknown and taken as pageable */
	/*
	 * work that was recorded as running at the same time as the work before it in its stream, and is
	 * replayed after it
	 */
	uint64_t overlaps;
	uint64_t orders; /* recorded dependences between streams or threads that the replay does not keep */
};

struct kwhy_replay_pattern {
	struct kwhy_arena arena; /* memory of the names */
	uint32_t device;	 /* number of the replayed device in the recording */
	/* time from the first start to the last end of the pattern's work in the simulated graph */
	int64_t span_ns;
	/*
	 * recorded gap in ns between the end of a kernel and the start of the next in its stream, if that was
	 * queued before the end
	 */
	int64_t queued_ns;
	/*
	 * recorded latencies. issue_ns: from the call to the start of a kernel in an idle stream. return_ns:
	 * from the end of work to the return of the call that waited for it. -1: unknown
	 */
	int64_t issue_ns, return_ns;
	struct kwhy_replay_thread *threads;
	struct kwhy_replay_op *ops;
	struct kwhy_replay_work *works; /* the work of all ops; the work of one op is contiguous */
	struct kwhy_replay_stream *replay_streams;
	struct kwhy_replay_grid *grids;
	struct kwhy_replay_account *accounts;
	struct kwhy_replay_graph *graphs;
	size_t thread_count, op_count, work_count, replay_stream_count, grid_count, account_count,
		graph_count;
	size_t op_capacity, work_capacity, replay_stream_capacity, grid_capacity, graph_capacity;
	uint32_t mark_count, first_work; /* mark_count: number of events (kwhy_replay_work.mark); first_work:
					    index of the work that starts first */
	uint64_t kernels, copies, fills, waits;
	struct kwhy_replay_left left;
};

enum { KWHY_REPLAY_GRIDS_MAX = 256 };

/*
 * The device that is replayed: the one with most activities in the recording; KWHY_NONE: the recording has no
 * activities.
 */
uint32_t kwhy_replay_device(const struct kwhy_recording *recording);

/*
 * Makes the pattern. `changes` come from kwhy_replay_change() on the same `whatif`, whose graph must not have
 * been edited since. KWHY_E_INPUT: the recording has no work of a device, or the changes leave none.
 */
KWHY_MUST_USE enum kwhy_status kwhy_replay_pattern_new(const struct kwhy_whatif *whatif,
	const struct kwhy_replay_changes *changes, struct kwhy_replay_pattern **out,
	struct kwhy_error *error);
void kwhy_replay_pattern_free(struct kwhy_replay_pattern *pattern);

#endif
