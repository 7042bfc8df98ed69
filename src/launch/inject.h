/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_INJECT_H
#define KWHY_LAUNCH_INJECT_H

#include "base/status.h"
#include "launch/environment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The injected library, which records from inside a CUDA program what the program does on its devices. The
 * CUDA driver loads it into every process whose environment has CUDA_INJECTION64_PATH. NVTX loads it by
 * NVTX_INJECTION64_PATH. The library reads its options from the environment.
 */
#define KWHY_INJECT_PATH_BYTES 4096
#define KWHY_INJECT_ABSENCE_BYTES 600

struct kwhy_inject {
	char library[KWHY_INJECT_PATH_BYTES]; /* path of the library; "": it cannot be used, for the reason in
						 `absence` */
	/*
	 * why the library cannot be used (not found, of another version, or another tool is injected) and
	 * what the user can do; "": it can be used
	 */
	char absence[KWHY_INJECT_ABSENCE_BYTES];
};

/*
 * Looks for the library at the path in KWHY_INJECT. Without that variable it looks where the library is
 * installed or built, relative to the running program. A library of another version is refused.
 */
void kwhy_inject_find(struct kwhy_inject *inject);

/* How the library repeats kernels, to measure their power. */
struct kwhy_inject_probe {
	/*
	 * an account's power counts as known if half of its 90 % interval is at most this share of the power
	 */
	double within_ratio;
	double budget_s; /* limit of the total time that bursts take, in seconds; NAN: the library's default
			  */
	/*
	 * limit of the device memory in bytes for copies of the program's memory, from which it is restored
	 * after a burst; 0: the library's default
	 */
	uint64_t memory_bytes;
	const char *verify; /* after which bursts of each account it is checked that all memory was restored:
			       "first", "all" or "none" */
	/*
	 * patterns (fnmatch(3)) of mangled names of kernels that are not repeated, one on each line; NULL:
	 * none
	 */
	const char *skip;
	uint64_t seed; /* seed of the random choice of the launches that are repeated */
	/*
	 * probability with which each launch is repeated; NAN: the library chooses the launches by the busy
	 * time of their kernel, as long as its power is not known (inject/probe/pace.h)
	 */
	double share_ratio;
	double burst_ms; /* longest burst in ms; NAN: the library's default */
	/* file with kernels whose power is known already (inject/probe/known.h); NULL: no file */
	const char *known;
};

/*
 * What the library records. The time window of the recording is set separately, by
 * kwhy_inject_prepare_times(), once it is known.
 */
struct kwhy_inject_request {
	const char *folder;   /* absolute path of the recording's folder */
	uint64_t limit_bytes; /* limit of the bytes in each process's file; 0: no limit */
	const char *graphs;   /* what is recorded of a CUDA graph: "node" (each of its nodes) or "graph" (its
				 launch as a whole); NULL: the library's default */
	bool memory;	      /* whether to record allocations and frees of memory */
	bool without_calls;   /* whether to leave out CUDA calls on the host */
	bool without_lines;   /* whether to leave out the lines of the program that call CUDA */
	/* pattern of range names; activities are recorded only inside such ranges; NULL: everywhere */
	const char *range;
	double share_ratio; /* share of the time that is recorded, in windows at random times, 0 to 1; NAN:
			       all time */
	int64_t window_ns;  /* mean length of the random windows in ns; 0: the library's default */
	uint64_t seed;	    /* seed of the times of the random windows */
	const struct kwhy_inject_probe *probe; /* how kernels are repeated; NULL: no kernel is repeated */
};

/*
 * Sets, in the environment of a command, the variables by which the library is loaded and gets its options.
 */
KWHY_MUST_USE enum kwhy_status kwhy_inject_prepare(const struct kwhy_inject *inject,
	const struct kwhy_inject_request *request, struct kwhy_environment *environment,
	struct kwhy_error *error);

/*
 * Sets the times between which the library records activities; until_unix_ns INT64_MAX: until its process
 * ends. They are Unix times in ns, because CLOCK_MONOTONIC differs between machines. The random windows of
 * all processes are drawn from from_unix_ns on, so they are the same.
 */
KWHY_MUST_USE enum kwhy_status kwhy_inject_prepare_times(int64_t from_unix_ns, int64_t until_unix_ns,
	struct kwhy_environment *environment, struct kwhy_error *error);

/*
 * The rank of this process in a distributed program, from the environment variable of its launcher (Open MPI,
 * PMI, PMIx, Slurm, torchrun); -1: no such variable is set.
 */
int64_t kwhy_launch_rank(void);

#endif
