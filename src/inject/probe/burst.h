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
 * The repetition of one launch, made on the program's thread within the call that launches. The memory that
 * the kernel reaches (to which its parameters point) is copied before the program's own launch and again
 * after it. Before the first repeat the first copy is restored, so that the repeat starts from the same
 * contents as the program's own launch. At the end the second copy is restored. All of this runs in the
 * launch's stream.
 *
 * If the reached memory does not fit into the buffers for the copies, or is too large to be restored before
 * each repeat, only the part is copied that the kernel is predicted to write (inject/probe/writes.h). Until
 * such predictions have proved right, all reached memory is hashed before and after the program's own launch.
 */
struct kwhy_probe_burst {
	const struct kwhy_cuda_probe *driver;
	struct kwhy_probe_memory *memory;
	struct kwhy_probe_context *probe_context;
	struct kwhy_probe_account *account;
	struct kwhy_probe_launch launch;
	struct kwhy_probe_writes *all_writes;
	bool is_of_graph; /* the burst follows the launch of a graph, so it has no single launch of the
			     program */
	bool is_checked;  /* all live memory is hashed before the repeats and at the end of the burst, and
			     compared */
	int64_t wanted_ns;

	/* Results of the burst. */
	int64_t start_mono_ns, end_mono_ns;
	int64_t launch_mono_ns,
		launched_mono_ns; /* start and end of the program's own launch; if there was no burst, both
				     are the end of the attempt, after which the program's launch follows */
	int64_t own_mono_ns;	  /* when the program's earlier work on the device had ended; the program is
				     delayed by the burst from then to end_mono_ns */
	int64_t repeated_ns;	  /* total time of the repeats, without the copies between them */
	uint32_t repeats;	  /* number of repeats; 0: there was no burst */
	bool has_waited;	  /* the attempt got so far as to wait for the device or to prepare memory */
	enum kwhy_probe_check check;
	enum kwhy_cuda_result failure;
	bool is_late;	   /* the device did not finish the burst within 20 s */
	bool is_of_copies; /* only the copies that restore memory were repeated, not the kernel */

	/* Used only by the files burst.c and contents.c. */
	bool is_learning, is_saved;
	struct kwhy_probe_writes *writes; /* what was learnt about where the kernel writes; NULL: all memory
					     that it reaches is copied */
	bool is_looked_at,
		is_end_checked; /* is_looked_at: reached memory is hashed in chunks before and after the
				   program's own launch. is_end_checked: it is hashed at the end. */
	struct kwhy_probe_reach reach;
	struct kwhy_probe_saved saved;
	size_t outside_count;
	struct kwhy_probe_allocation
		outside[KWHY_PROBE_ALLOCATIONS]; /* live allocations that the kernel does not reach */
	kwhy_cuda_stream streams[KWHY_PROBE_STREAMS];
};

/*
 * To be called at the start of the call that launches. Checks whether the launch can be repeated, waits until
 * the program's other work on the device has finished, and copies the memory. After KWHY_PROBE_NONE,
 * kwhy_probe_burst_end() must follow. Any other result says why there is no burst; nothing has been changed
 * then.
 */
enum kwhy_probe_reason kwhy_probe_burst_begin(struct kwhy_probe_burst *burst, uint64_t limit_bytes);

/*
 * To be called after the program's own launch, which must have succeeded. Returns when the device has
 * finished the burst, or after 20 s without that (is_late).
 */
enum kwhy_probe_reason kwhy_probe_burst_end(struct kwhy_probe_burst *burst);

#endif
