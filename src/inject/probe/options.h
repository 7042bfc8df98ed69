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
		plan; /* KWHY_PROBE_WITHIN_PPM, _RATIO_PPM, _BUDGET_NS, _SHARE_PPM, _BURST_NS, _SEED */
	uint64_t memory_bytes;	       /* KWHY_PROBE_MEMORY: limit of the copies; 0: the prober decides */
	enum kwhy_probe_verify verify; /* KWHY_PROBE_VERIFY: first, all, none */
	char skip[4096]; /* KWHY_PROBE_SKIP: patterns of kernel names for fnmatch(3), one on each line */
	char log[1024];	 /* KWHY_PROBE_LOG: path of a log file; "": no log */
};

/* Reads the options. False: probing is off (KWHY_PROBE is not 1). */
bool kwhy_probe_options_read(struct kwhy_probe_options *out, char *(*get)(const char *name));

/* Do the options exclude a kernel of this name? The name is mangled, as CUPTI reports it. */
bool kwhy_probe_options_skip(const struct kwhy_probe_options *options, const char *name);

#endif
