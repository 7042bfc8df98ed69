/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_BURST_H
#define KWHY_INJECT_PROBE_BURST_H

#include "inject/probe/accounts.h"
#include "inject/probe/context.h"
#include "inject/probe/launch.h"
#include "inject/probe/writes.h"

/* As a recording numbers what a check came to (model/recording.h). */
enum kwhy_probe_check { KWHY_PROBE_UNCHECKED, KWHY_PROBE_SAME, KWHY_PROBE_DIFFERENT };

/*
 * One launch that is repeated, from the call's beginning to its end on the program's thread. The memory that
 * the kernel reaches is copied before the program's own launch and again after it. Each first repeat begins
 * on the first copy, as the program's own did, and in the end the second copy is put back: all in the
 * launch's stream. Of a kernel that reaches more than there is space for, or whose memory is put back before
 * each repeat, only what it writes is copied (inject/probe/writes.h), and all it reaches is hashed before
 * and after its own launch and in the end.
 */
struct kwhy_probe_burst {
	const struct kwhy_cuda_probe *driver;
	struct kwhy_probe_memory *memory;
	struct kwhy_probe_context *probe_context;
	struct kwhy_probe_account *account;
	struct kwhy_probe_launch launch;
	struct kwhy_probe_writes *all_writes;
	bool is_of_graph; /* behind a graph's launch, with no launch of its own */
	bool is_checked;  /* all live memory is hashed before and after */
	int64_t wanted_ns;

	/* What became of it. */
	int64_t start_mono_ns, end_mono_ns;
	int64_t launch_mono_ns, launched_mono_ns; /* around the program's own launch */
	int64_t own_mono_ns; /* the program's own work had become idle; what follows would not be without it
			      */
	int64_t repeated_ns; /* what they took, without the copies between them */
	uint32_t repeats;    /* of the burst itself; 0: there was none */
	enum kwhy_probe_check check;
	enum kwhy_cuda_result failure;
	bool is_late; /* the device did not come to its end in time */

	/* Its own. */
	bool is_learning, is_saved;
	struct kwhy_probe_writes
		*writes; /* of a kernel of which not all that it reaches is copied; else NULL */
	bool is_looked_at, is_end_checked; /* before and after the program's own launch; in the end */
	struct kwhy_probe_reach reach;
	struct kwhy_probe_saved saved;
	size_t outside_count;
	struct kwhy_probe_allocation outside[KWHY_PROBE_ALLOCATIONS]; /* live, and not reached */
	kwhy_cuda_stream streams[KWHY_PROBE_STREAMS];
};

/*
 * At the beginning of the call: looks whether the launch can be repeated, waits until the program's other
 * work on the device has become idle, and copies. NONE: kwhy_probe_burst_end() is to follow; else nothing
 * has changed.
 */
enum kwhy_probe_reason kwhy_probe_burst_begin(struct kwhy_probe_burst *burst, uint64_t limit_bytes);

/* Behind the program's own launch, which did not fail; returns when the device has done everything. */
enum kwhy_probe_reason kwhy_probe_burst_end(struct kwhy_probe_burst *burst);

#endif
