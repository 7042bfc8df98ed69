/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_ANALYSE_ANALYSIS_H
#define KWHY_ANALYSE_ANALYSIS_H

#include "analyse/savings.h"
#include "kwhy/analyse.h"
#include "report/report.h"

enum { KWHY_ANALYSIS_TABLES = 2, KWHY_ANALYSIS_COLUMNS_MAX = 16 };

/* Bits that say which values of a column are known. */
struct kwhy_known {
	unsigned char *bits; /* NULL: all values are known */
	uint64_t unknown_count;
	bool is_found;
};

/* All that was made from the traces of one run, with the report that renderers borrow. */
struct kwhy_analysis {
	struct kwhy_arena arena;
	struct kwhy_recording *recording;
	struct kwhy_profile *profile; /* NULL: no profile */
	struct kwhy_ledger *ledger;
	struct kwhy_findings *findings;
	struct kwhy_whatif *whatif; /* NULL: no saving or plan has needed the dependency graph yet */
	double min_gain_ratio;
	struct kwhy_probing probing; /* report.probing points to it if kwhy probe made the recording */
	struct kwhy_known known[KWHY_ANALYSIS_TABLES][KWHY_ANALYSIS_COLUMNS_MAX];
	struct kwhy_report report; /* report on the objects above, without plan and modelled power */
};

/* Opens an analysis as kwhy_analysis_open() does. `given` has all fields of this version. */
KWHY_MUST_USE enum kwhy_status kwhy_analysis_make(struct kwhy_analysis *analysis, const char *const *paths,
	size_t path_count, const struct kwhy_analysis_options *given, struct kwhy_error *error);

/*
 * Returns the dependency graph of the recording. The first call makes it; the analysis owns it.
 * KWHY_E_UNSUPPORTED as in kwhy_whatif_new().
 */
KWHY_MUST_USE enum kwhy_status kwhy_analysis_graph(
	struct kwhy_analysis *analysis, struct kwhy_whatif **out, struct kwhy_error *error);

/*
 * Adds what only the HTML page shows: to `plan` an excerpt of the run, and to the report of `analysis` the
 * modelled power over time.
 */
KWHY_MUST_USE enum kwhy_status kwhy_analysis_add_stretch(
	struct kwhy_analysis *analysis, struct kwhy_plan *plan, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_analysis_add_model_power(
	struct kwhy_analysis *analysis, struct kwhy_error *error);

/* Writes the message of a failed call and returns the call's code. */
int kwhy_analysis_say(const struct kwhy_error *error, char *message, size_t message_bytes);

/*
 * Fills a caller's struct up to the size that the struct states in its first field, so that older and newer
 * callers both work.
 */
int kwhy_analysis_give(void *out, const void *from, size_t from_size);

#endif
