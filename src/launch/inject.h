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
	char library[KWHY_INJECT_PATH_BYTES]; /* path of the library; "": not found; see `absence` */
	/* a sentence that says why the library was not found and what to do; "": it was found */
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
	 * largest half-width of the interval of an account's power, as a share of the power, at which the
	 * power counts as known
	 */
	double within_ratio;
	double budget_s; /* limit of the seconds in bursts; NAN: the library's default */
	/* limit of the bytes for copies of memory on the device; 0: the library's default */
	uint64_t memory_bytes;
	const char *verify; /* which repetitions are verified: "first", "all" or "none" */
	/* patterns of names of kernels that are not repeated, one on each line; NULL: no patterns */
	const char *skip;
	uint64_t seed; /* seed of the random choice of launches and times */
	/*
	 * if set, each launch is repeated with this probability; NAN: the library chooses launches by how
	 * well their power is known
	 */
	double share_ratio;
	double burst_ms; /* longest burst in ms; NAN: the library's default */
	/* file with kernels whose power is known already (inject/probe/known.h); NULL: no file */
	const char *known;
};

/*
 * What the library records. Absolute times are set separately by kwhy_inject_prepare_times(), once they are
 * known.
 */
struct kwhy_inject_request {
	const char *folder;   /* absolute path of the recording's folder */
	uint64_t limit_bytes; /* limit of the bytes in each process's file; 0: no limit */
	const char *graphs;   /* how graphs are recorded: "node" or "graph"; NULL: the library's default */
	bool memory;	      /* whether to record allocations and frees of memory */
	bool without_calls;   /* whether to leave out CUDA calls on the host */
	bool without_lines;   /* whether to leave out the lines of the program that call CUDA */
	/* pattern of range names; activities are recorded only inside such ranges; NULL: everywhere */
	const char *range;
	double share_ratio; /* share of the time that random windows cover; NAN: all time is recorded */
	int64_t window_ns;  /* mean length of these windows; 0: the library's default */
	uint64_t seed;	    /* seed of the windows' random times */
	const struct kwhy_inject_probe *probe; /* how kernels are repeated; NULL: no kernel is repeated */
};

/* Sets the library's variables in the environment of the commands that it is to record. */
KWHY_MUST_USE enum kwhy_status kwhy_inject_prepare(const struct kwhy_inject *inject,
	const struct kwhy_inject_request *request, struct kwhy_environment *environment,
	struct kwhy_error *error);

/*
 * Sets the times between which activities of these commands are recorded; until_unix_ns INT64_MAX: until they
 * end. They are Unix times, which processes on other machines share. Random windows count from `from_unix_ns`
 * on.
 */
KWHY_MUST_USE enum kwhy_status kwhy_inject_prepare_times(int64_t from_unix_ns, int64_t until_unix_ns,
	struct kwhy_environment *environment, struct kwhy_error *error);

/*
 * The rank of this process in a distributed program, by its launcher's environment variables; -1: they give
 * no rank.
 */
int64_t kwhy_launch_rank(void);

#endif
