/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_OPTIONS_H
#define KWHY_INJECT_PROBE_OPTIONS_H

#include "inject/probe/pace.h"

enum kwhy_probe_verify { KWHY_PROBE_VERIFY_FIRST, KWHY_PROBE_VERIFY_ALL, KWHY_PROBE_VERIFY_NONE };

/*
 * Options that the launcher passes in environment variables. A value that is not a number counts as absent.
 */
struct kwhy_probe_options {
	struct kwhy_probe_plan
		plan;	       /* from KWHY_PROBE_WITHIN_PPM, KWHY_PROBE_RATIO_PPM, KWHY_PROBE_BUDGET_NS,
				  KWHY_PROBE_SHARE_PPM, KWHY_PROBE_BURST_NS and KWHY_PROBE_SEED */
	uint64_t memory_bytes; /* KWHY_PROBE_MEMORY: device memory in bytes for copies of the program's
				  memory; 0: a tenth of the free memory, at most 1 GiB */
	enum kwhy_probe_verify
		verify;	 /* KWHY_PROBE_VERIFY: in which bursts of each account it is checked that all live
			    memory was restored: only the first one, all or none */
	char skip[4096]; /* KWHY_PROBE_SKIP: patterns (fnmatch(3)) of mangled names of kernels that are not
			    probed, one on each line */
	char log[1024];	 /* KWHY_PROBE_LOG: path of a log file; "": no log */
};

/* Reads the options. False: probing is off, because KWHY_PROBE is not 1. */
bool kwhy_probe_options_read(struct kwhy_probe_options *out, char *(*get)(const char *name));

/* Whether the options exclude a kernel with this mangled name. */
bool kwhy_probe_options_skip(const struct kwhy_probe_options *options, const char *name);

#endif
