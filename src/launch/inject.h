/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_INJECT_H
#define KWHY_LAUNCH_INJECT_H

#include "base/status.h"
#include "launch/environment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The library that records what a CUDA program does on its devices from inside: the CUDA driver loads it
 * into every process that finds CUDA_INJECTION64_PATH in its environment, NVTX by NVTX_INJECTION64_PATH. It
 * reads what to do from the environment too.
 */
#define KWHY_INJECT_PATH_BYTES 4096
#define KWHY_INJECT_ABSENCE_BYTES 600

struct kwhy_inject {
	char library[KWHY_INJECT_PATH_BYTES];	 /* "": none, for the reason below */
	char absence[KWHY_INJECT_ABSENCE_BYTES]; /* one sentence with its cure; "": none */
};

/* Looks where KWHY_INJECT says, else beside the running program as it was installed or built. */
void kwhy_inject_find(struct kwhy_inject *inject);

/* How the library is to launch kernels again. */
struct kwhy_inject_probe {
	double within_ratio;   /* half-width of an account's power that is enough */
	double budget_s;       /* of the time in bursts; NAN: as the library likes it */
	uint64_t memory_bytes; /* for copies on the device; 0: as the library likes it */
	const char *verify;    /* "first", "all", "none" */
	const char *skip;      /* patterns of names, a line each; NULL: none */
	uint64_t seed;	       /* of what is chosen when */
	double share_ratio;    /* of all launches, whatever they are; NAN: by what is known */
	double burst_ms;       /* length of a burst at most; NAN: as the library likes it */
	const char *known;     /* file of kernels whose power is known (inject/probe/known.h); NULL: none */
};

/* What the library is to record; absolute times are set apart, when they are known. */
struct kwhy_inject_request {
	const char *folder;   /* of the recording, absolute */
	uint64_t limit_bytes; /* of each process's file; 0: any */
	const char *graphs;   /* "node", "graph"; NULL: as the library likes it */
	bool memory;	      /* memory taken and given back, too */
	bool without_calls;   /* of CUDA on the host */
	bool without_lines;   /* of the program, where it calls CUDA */
	const char *range;    /* pattern of the ranges inside which activity is recorded; NULL: everywhere */
	double share_ratio;   /* of the time that random windows cover; NAN: all of it */
	int64_t window_ns;    /* their mean length; 0: as the library likes it */
	uint64_t seed;	      /* of their places */
	const struct kwhy_inject_probe *probe; /* NULL: nothing is launched again */
};

/* Sets the environment of the commands that it is to record. */
KWHY_MUST_USE enum kwhy_status kwhy_inject_prepare(const struct kwhy_inject *inject,
	const struct kwhy_inject_request *request, struct kwhy_environment *environment,
	struct kwhy_error *error);

/*
 * When activity of those commands is recorded: Unix times, which processes on other machines share;
 * until_unix_ns INT64_MAX: to the end. Random windows count from `from_unix_ns` on.
 */
KWHY_MUST_USE enum kwhy_status kwhy_inject_prepare_times(int64_t from_unix_ns, int64_t until_unix_ns,
	struct kwhy_environment *environment, struct kwhy_error *error);

/* The number of this process among those of a distributed program, as its launcher names it; -1: none. */
int64_t kwhy_launch_rank(void);

#endif
