/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RUN_PROBE_SUMMARY_H
#define KWHY_CLI_RUN_PROBE_SUMMARY_H

#include "base/text.h"
#include "cli/options.h"
#include "model/probing.h"

/* What `kwhy probe` says at its end. */
struct kwhy_probe_summary {
	const char *path; /* of the recording */
	double within_ratio;
	const struct kwhy_strings *earlier; /* recordings of --append */
};

/* A few lines, each a message of its own. */
void kwhy_probe_summary_write(
	const struct kwhy_probe_summary *summary, const struct kwhy_probing *probing, struct kwhy_text *out);

#endif
