/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_OPTIONS_H
#define KWHY_INJECT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds of records that KWHY_RECORD_KINDS can name. */
enum kwhy_inject_kind {
	KWHY_INJECT_KERNEL = 1,
	KWHY_INJECT_COPY = 2,
	KWHY_INJECT_MEMSET = 4,
	KWHY_INJECT_CALL = 8,
	KWHY_INJECT_OVERHEAD = 16,
	KWHY_INJECT_RANGE = 32,
	KWHY_INJECT_MEMORY = 64, /* allocations and frees of device memory; recorded only if KWHY_RECORD_KINDS
				    names them */
	KWHY_INJECT_GRAPH = 128, /* launches of whole graphs instead of their kernels;
				    KWHY_RECORD_GRAPHS=graph selects this, too */
	KWHY_INJECT_LINE = 256,	 /* call stacks at some of the calls; not recorded unless calls are */
	KWHY_INJECT_USUAL = KWHY_INJECT_KERNEL | KWHY_INJECT_COPY | KWHY_INJECT_MEMSET | KWHY_INJECT_CALL |
		KWHY_INJECT_OVERHEAD | KWHY_INJECT_RANGE | KWHY_INJECT_LINE
};

/*
 * Options that the launcher passes in environment variables. A value that is not a number counts as absent.
 */
struct kwhy_inject_options {
	char folder[3072]; /* KWHY_RECORD_DIR: existing folder in which the recording's files are created */
	char cupti[1024];  /* KWHY_CUPTI: path of the CUPTI library; "": the library is searched for */
	uint64_t limit_bytes; /* KWHY_RECORD_MAX_BYTES: limit of the bytes that this process writes; 0: no
				 limit */
	unsigned kinds;	      /* KWHY_RECORD_KINDS: bits of enum kwhy_inject_kind, given as words separated by
				 commas; KWHY_RECORD_LINES=off removes KWHY_INJECT_LINE */
	unsigned period_ms;   /* KWHY_RECORD_PERIOD_MS: time between two writes to the file; a killed program
				 loses at most the records of this time; default 100 */
	size_t buffer_bytes;  /* KWHY_RECORD_BUFFER_KIB: size of each of CUPTI's buffers; default 1 MiB */
	size_t buffer_count;  /* KWHY_RECORD_BUFFERS: number of CUPTI's buffers; default 32 */
	/*
	 * Bounds of the windows in which activity is collected, and the time at which the sequence of random
	 * windows begins. They are Unix times, so that all machines of a run have the same windows. 0: no
	 * bound or origin is given.
	 */
	int64_t from_unix_ns, until_unix_ns,
		origin_unix_ns; /* KWHY_RECORD_FROM, KWHY_RECORD_UNTIL, KWHY_RECORD_ORIGIN */
	uint32_t share_ppm;	/* KWHY_RECORD_SHARE_PPM: share of the run that random windows cover, in
				   millionths; 0: there are no random windows */
	int64_t window_ns; /* KWHY_RECORD_WINDOW_NS: mean length of random windows in ns; default 0.3 s */
	uint64_t seed;	   /* KWHY_RECORD_SEED: seed of the windows' random times */
	char range[256]; /* KWHY_RECORD_RANGE: pattern (fnmatch(3)) of range names: activity is collected only
			    while a thread is inside a range whose name matches; "": ranges do not matter */
};

/*
 * Reads the options through `get`, which is secure_getenv or a test's function. False: no folder is named, or
 * its name is too long. Then the process records nothing.
 */
bool kwhy_inject_options_read(struct kwhy_inject_options *out, char *(*get)(const char *name));

#endif
