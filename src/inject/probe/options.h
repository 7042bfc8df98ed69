/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_OPTIONS_H
#define KWHY_INJECT_PROBE_OPTIONS_H

#include "inject/probe/pace.h"

enum kwhy_probe_verify { KWHY_PROBE_VERIFY_FIRST, KWHY_PROBE_VERIFY_ALL, KWHY_PROBE_VERIFY_NONE };

/* What the launcher says through the environment; a value that is no number counts as not given. */
struct kwhy_probe_options {
	struct kwhy_probe_plan
		plan; /* KWHY_PROBE_WITHIN_PPM, _RATIO_PPM, _BUDGET_NS, _SHARE_PPM, _BURST_NS, _SEED */
	uint64_t memory_bytes;	       /* KWHY_PROBE_MEMORY: of the copies; 0: as the prober likes it */
	enum kwhy_probe_verify verify; /* KWHY_PROBE_VERIFY: first, all, none */
	char skip[4096];	       /* KWHY_PROBE_SKIP: patterns of names, as fnmatch(3), a line each */
	char log[1024];		       /* KWHY_PROBE_LOG: a file that is told what is done; "": none */
};

/* False: nothing is to be probed (KWHY_PROBE is not 1). */
bool kwhy_probe_options_read(struct kwhy_probe_options *out, char *(*get)(const char *name));

/* Is a kernel of that name left out? The name is mangled as CUPTI has it. */
bool kwhy_probe_options_skip(const struct kwhy_probe_options *options, const char *name);

#endif
