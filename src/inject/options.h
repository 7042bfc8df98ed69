/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_OPTIONS_H
#define KWHY_INJECT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What may be recorded, by the words of KWHY_RECORD_KINDS. */
enum kwhy_inject_kind {
	KWHY_INJECT_KERNEL = 1,
	KWHY_INJECT_COPY = 2,
	KWHY_INJECT_MEMSET = 4,
	KWHY_INJECT_CALL = 8,
	KWHY_INJECT_OVERHEAD = 16,
	KWHY_INJECT_RANGE = 32,
	KWHY_INJECT_MEMORY = 64, /* device memory taken and given back: not unless asked for */
	KWHY_INJECT_GRAPH =
		128, /* whole graph launches instead of their kernels; also KWHY_RECORD_GRAPHS=graph */
	KWHY_INJECT_LINE = 256, /* call stacks at some calls, with which they are recorded alone */
	KWHY_INJECT_USUAL = KWHY_INJECT_KERNEL | KWHY_INJECT_COPY | KWHY_INJECT_MEMSET | KWHY_INJECT_CALL |
		KWHY_INJECT_OVERHEAD | KWHY_INJECT_RANGE | KWHY_INJECT_LINE
};

/* What the launcher says through the environment; a value that is no number counts as not given. */
struct kwhy_inject_options {
	char folder[3072];    /* KWHY_RECORD_DIR: where the blocks go, which exists */
	char cupti[1024];     /* KWHY_CUPTI: path of the library; "": find one */
	uint64_t limit_bytes; /* KWHY_RECORD_MAX_BYTES: of this process; 0: none */
	unsigned kinds;	      /* KWHY_RECORD_KINDS: words of enum kwhy_inject_kind with commas, less what
				 KWHY_RECORD_LINES=off leaves out */
	unsigned period_ms;   /* KWHY_RECORD_PERIOD_MS: how much a killed program may lose; 100 */
	size_t buffer_bytes;  /* KWHY_RECORD_BUFFER_KIB: of one of CUPTI's buffers; 1 MiB */
	size_t buffer_count;  /* KWHY_RECORD_BUFFERS: 32 */
	/* Windows, with times as Unix time, which all machines of a run share; 0: not bounded, no origin. */
	int64_t from_unix_ns, until_unix_ns, origin_unix_ns; /* KWHY_RECORD_FROM, _UNTIL, _ORIGIN */
	uint32_t share_ppm; /* KWHY_RECORD_SHARE_PPM: of the time that windows cover; 0: all */
	int64_t window_ns;  /* KWHY_RECORD_WINDOW_NS: their mean length; 0.3 s */
	uint64_t seed;	    /* KWHY_RECORD_SEED: of their places */
	char range[256];    /* KWHY_RECORD_RANGE: a pattern of names; "": any time */
};

/*
 * Reads them by `get` (getenv, as a parameter for tests). False: no folder is named, or its name is too long;
 * then nothing is to be recorded.
 */
bool kwhy_inject_options_read(struct kwhy_inject_options *out, char *(*get)(const char *name));

#endif
