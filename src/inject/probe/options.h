/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_OPTIONS_H
#define KWHY_INJECT_PROBE_OPTIONS_H

#include "inject/probe/pace.h"

enum kwhy_probe_verify { KWHY_PROBE_VERIFY_FIRST, KWHY_PROBE_VERIFY_ALL, KWHY_PROBE_VERIFY_NONE };

/*
 * Options that the launcher passes in environment variables. A value that is not a number counts as absent.
 */
struct kwhy_probe_options {
	struct kwhy_probe_plan plan; /* KWHY_PROBE_WITHIN_PPM, _RATIO_PPM, _BUDGET_NS, _SHARE_PPM, _BURST_NS
					and _SEED of the environment */
	uint64_t memory_bytes;	     /* KWHY_PROBE_MEMORY: largest size of the copies; 0: a tenth of the free
					memory, at most 1 GiB */
	enum kwhy_probe_verify verify; /* KWHY_PROBE_VERIFY: the bursts in which all memory is checked: the
					  first of each account, all, or none */
	char skip[4096]; /* KWHY_PROBE_SKIP: patterns of kernel names for fnmatch(3), one on each line */
	char log[1024];	 /* KWHY_PROBE_LOG: path of a log file; "": no log */
};

/* Reads the options. False: probing is off, because KWHY_PROBE is not 1. */
bool kwhy_probe_options_read(struct kwhy_probe_options *out, char *(*get)(const char *name));

/* Whether the options exclude a kernel with this mangled name. */
bool kwhy_probe_options_skip(const struct kwhy_probe_options *options, const char *name);

#endif
