/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_ANALYSE_ANALYSIS_H
#define KWHY_ANALYSE_ANALYSIS_H

#include "analyse/savings.h"
#include "kwhy/analyse.h"
#include "report/report.h"

/* All that was made of the traces of one run, and the report that lends it to renderers. */
struct kwhy_analysis {
	struct kwhy_arena arena;
	struct kwhy_recording *recording;
	struct kwhy_profile *profile; /* NULL: no profile */
	struct kwhy_ledger *ledger;
	struct kwhy_findings *findings;
	struct kwhy_whatif *whatif; /* NULL: no saving or plan has needed it yet */
	double min_gain_ratio;
	struct kwhy_probing probing; /* report.probing points to it where kwhy probe ran */
	struct kwhy_report report;   /* of the objects above; without plan and modelled power */
};

/* Opens an analysis as kwhy_analysis_open() does. `given` has all members of this version. */
KWHY_MUST_USE enum kwhy_status kwhy_analysis_make(struct kwhy_analysis *analysis, const char *const *paths,
	size_t path_count, const struct kwhy_analysis_options *given, struct kwhy_error *error);

/* The graph of the recording, made at its first use; borrowed. KWHY_E_UNSUPPORTED as kwhy_whatif_new(). */
KWHY_MUST_USE enum kwhy_status kwhy_analysis_graph(
	struct kwhy_analysis *analysis, struct kwhy_whatif **out, struct kwhy_error *error);

/* Adds a stretch of the run to a plan of the analysis, and the modelled power over time to its report: parts
 * that only the page shows. */
KWHY_MUST_USE enum kwhy_status kwhy_analysis_add_stretch(
	struct kwhy_analysis *analysis, struct kwhy_plan *plan, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_analysis_add_model_power(
	struct kwhy_analysis *analysis, struct kwhy_error *error);

/* Writes the message of a failed call, and evaluates to its code. */
int kwhy_analysis_say(const struct kwhy_error *error, char *message, size_t message_bytes);

/* Fills as much of a caller's struct as the size at its start states, so that older and newer callers both
 * work. */
int kwhy_analysis_give(void *out, const void *from, size_t from_size);

#endif
