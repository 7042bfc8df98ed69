/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RUN_PROBE_KNOWN_H
#define KWHY_CLI_RUN_PROBE_KNOWN_H

#include "base/text.h"
#include "cli/options.h"
#include "model/probing.h"

/*
 * Adds the results of earlier recordings to `probing`, and writes them as text for the injected library
 * (inject/probe/known.h). Each line has the relative half-width of the 90 % interval of a kernel's power, its
 * blocks, threads per block and mangled name, separated by tabs. Kernels with too few bursts to compute a
 * half-width, and kernels whose mangled name is not in the recordings, are left out; the injected library
 * therefore probes them anew. KWHY_E_INPUT: one of the files is no recording of kwhy probe.
 */
KWHY_MUST_USE enum kwhy_status kwhy_probe_known_list(struct kwhy_probing *probing,
	const struct kwhy_strings *earlier, struct kwhy_text *out, struct kwhy_error *error);

#endif
