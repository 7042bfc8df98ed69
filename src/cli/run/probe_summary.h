/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RUN_PROBE_SUMMARY_H
#define KWHY_CLI_RUN_PROBE_SUMMARY_H

#include "base/text.h"
#include "cli/options.h"
#include "model/probing.h"

/*
 * What the summary that `kwhy probe` prints at its end states apart from the results. within_ratio: relative
 * half-width up to which a kernel's power counts as known.
 */
struct kwhy_probe_summary {
	const char *path; /* path of the recording */
	double within_ratio;
	const struct kwhy_strings *earlier; /* recordings given with --append */
};

/* Writes the summary as a few messages of one line each. */
void kwhy_probe_summary_write(
	const struct kwhy_probe_summary *summary, const struct kwhy_probing *probing, struct kwhy_text *out);

#endif
