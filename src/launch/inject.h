/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_INJECT_H
#define KWHY_LAUNCH_INJECT_H

#include "base/status.h"
#include "launch/environment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The library that records from inside what a CUDA program does on its devices. The CUDA driver loads it into
 * every process that has CUDA_INJECTION64_PATH in its environment, NVTX loads it by NVTX_INJECTION64_PATH. It
 * reads its options from the environment, too.
 */
#define KWHY_INJECT_PATH_BYTES 4096
#define KWHY_INJECT_ABSENCE_BYTES 600

struct kwhy_inject {
	char library[KWHY_INJECT_PATH_BYTES];	 /* path; "": not found, for the reason below */
	char absence[KWHY_INJECT_ABSENCE_BYTES]; /* why it was not found and what to do, in one sentence; "":
						    it was found */
};

/*
 * Looks for the library at KWHY_INJECT; otherwise near the running program, where it is installed or built.
 */
void kwhy_inject_find(struct kwhy_inject *inject);

/* How the library repeats kernels. */
struct kwhy_inject_probe {
	double within_ratio;   /* half-width of an account's power, as a ratio, at which it counts as known */
	double budget_s;       /* limit of the time in bursts; NAN: the library's default */
	uint64_t memory_bytes; /* limit for copies on the device; 0: the library's default */
	const char *verify;    /* "first", "all", "none" */
	const char *skip;   /* patterns of kernel names to leave out, one on each line; NULL: no patterns */
	uint64_t seed;	    /* seed of the random choice of launches and times */
	double share_ratio; /* share of all launches, equally likely, that are repeated; NAN: chosen by what
			       is known */
	double burst_ms;    /* longest burst; NAN: the library's default */
	const char *known;  /* file of kernels whose power is known (inject/probe/known.h); NULL: no file */
};

/*
 * What the library records; kwhy_inject_prepare_times() sets absolute times separately, once they are known.
 */
struct kwhy_inject_request {
	const char *folder;   /* absolute path of the recording's folder */
	uint64_t limit_bytes; /* limit of each process's file; 0: no limit */
	const char *graphs;   /* "node", "graph"; NULL: the library's default */
	bool memory;	      /* record allocations and frees of memory, too */
	bool without_calls;   /* do not record CUDA calls on the host */
	bool without_lines;   /* do not record lines of the program that call CUDA */
	const char *range;    /* pattern of the ranges inside which activity is recorded; NULL: everywhere */
	double share_ratio;   /* share of the time that random windows cover; NAN: all of it */
	int64_t window_ns;    /* mean length of windows; 0: the library's default */
	uint64_t seed;	      /* seed of the windows' random times */
	const struct kwhy_inject_probe *probe; /* NULL: no kernel is repeated */
};

/* Sets the variables for the library in the environment of the commands that it records. */
KWHY_MUST_USE enum kwhy_status kwhy_inject_prepare(const struct kwhy_inject *inject,
	const struct kwhy_inject_request *request, struct kwhy_environment *environment,
	struct kwhy_error *error);

/*
 * Sets the times between which activity of these commands is recorded, as Unix times, which processes on
 * other machines share; until_unix_ns INT64_MAX: to the end. Random windows count from `from_unix_ns` on.
 */
KWHY_MUST_USE enum kwhy_status kwhy_inject_prepare_times(int64_t from_unix_ns, int64_t until_unix_ns,
	struct kwhy_environment *environment, struct kwhy_error *error);

/* Rank of this process in a distributed program, from its launcher's variables; -1: no rank is set. */
int64_t kwhy_launch_rank(void);

#endif
