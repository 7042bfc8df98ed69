/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_BURST_H
#define KWHY_INJECT_PROBE_BURST_H

#include "inject/probe/accounts.h"
#include "inject/probe/context.h"
#include "inject/probe/launch.h"
#include "inject/probe/writes.h"

/* Result of a check, numbered as in a recording (model/recording.h). */
enum kwhy_probe_check { KWHY_PROBE_UNCHECKED, KWHY_PROBE_SAME, KWHY_PROBE_DIFFERENT };

/*
 * The repetition of one launch, from the start to the end of the call on the program's thread. The memory
 * that the kernel reaches is copied before the program's own launch and again after it. Before the first
 * repeat the first copy is restored, so that it starts from the same contents as the program's own launch; at
 * the end the second copy is restored. All of this runs in the launch's stream. If the kernel reaches more
 * memory than fits in the copies, or its memory is restored before each repeat, only what it writes is copied
 * (inject/probe/writes.h), and all that it reaches is hashed before and after the program's own launch and at
 * the end.
 */
struct kwhy_probe_burst {
	const struct kwhy_cuda_probe *driver;
	struct kwhy_probe_memory *memory;
	struct kwhy_probe_context *probe_context;
	struct kwhy_probe_account *account;
	struct kwhy_probe_launch launch;
	struct kwhy_probe_writes *all_writes;
	bool is_of_graph; /* the burst follows a graph's launch and has no launch of its own */
	bool is_checked;  /* all live memory is hashed before and after the burst */
	int64_t wanted_ns;

	/* Results. */
	int64_t start_mono_ns, end_mono_ns;
	int64_t launch_mono_ns, launched_mono_ns; /* start and end of the program's own launch */
	int64_t own_mono_ns; /* when the program's own work had finished; the burst adds all time after it */
	int64_t repeated_ns; /* time of the repeats, without the copies between them */
	uint32_t repeats;    /* number of repeats; 0: there was no burst */
	enum kwhy_probe_check check;
	enum kwhy_cuda_result failure;
	bool is_late;	   /* the device did not finish the burst in time */
	bool is_of_copies; /* the copies that restore memory were repeated without the kernel */

	/* Internal. */
	bool is_learning, is_saved;
	struct kwhy_probe_writes *writes;  /* where the kernel writes; NULL: all that it reaches is copied */
	bool is_looked_at, is_end_checked; /* the chunks are hashed before and after the program's own launch;
					      at the end */
	struct kwhy_probe_reach reach;
	struct kwhy_probe_saved saved;
	size_t outside_count;
	struct kwhy_probe_allocation
		outside[KWHY_PROBE_ALLOCATIONS]; /* live allocations that the kernel does not reach */
	kwhy_cuda_stream streams[KWHY_PROBE_STREAMS];
};

/*
 * To be called at the start of the call. Checks whether the launch can be repeated, waits until the program's
 * other work on the device has finished, and copies the memory. NONE: kwhy_probe_burst_end() must follow. Any
 * other reason: nothing has changed.
 */
enum kwhy_probe_reason kwhy_probe_burst_begin(struct kwhy_probe_burst *burst, uint64_t limit_bytes);

/*
 * To be called after the program's own launch, which must not have failed; returns when the device has
 * finished the burst.
 */
enum kwhy_probe_reason kwhy_probe_burst_end(struct kwhy_probe_burst *burst);

#endif
