/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_ANALYSE_ANALYSIS_H
#define KWHY_ANALYSE_ANALYSIS_H

#include "analyse/savings.h"
#include "kwhy/analyse.h"
#include "report/report.h"

enum { KWHY_ANALYSIS_TABLES = 2, KWHY_ANALYSIS_COLUMNS_MAX = 16 };

/*
 * Which values of a column are known, as a bit mask: bit i % 8 of byte i / 8 for row i. is_found: bits and
 * unknown_count are set.
 */
struct kwhy_known {
	unsigned char *bits; /* NULL: all values are known */
	uint64_t unknown_count;
	bool is_found;
};

/* All that was made from the recordings or traces of one run. */
struct kwhy_analysis {
	struct kwhy_arena arena;
	struct kwhy_recording *recording;
	struct kwhy_profile *profile; /* NULL: no profile */
	struct kwhy_ledger *ledger;
	struct kwhy_findings *findings;
	struct kwhy_whatif *whatif; /* dependency graph; NULL: no saving or plan has needed it yet */
	double min_gain_ratio;
	struct kwhy_probing probing; /* bursts of kwhy probe; valid if report.probing is not NULL, which then
					points here */
	struct kwhy_known known[KWHY_ANALYSIS_TABLES][KWHY_ANALYSIS_COLUMNS_MAX];
	struct kwhy_report report; /* report that refers to the objects above; without a plan, and without
				      modelled power until it is added */
};

/*
 * Fills a zeroed analysis from the files at `paths`, for kwhy_analysis_open(). `given` has all fields of this
 * version. If it fails, the caller must close the analysis.
 */
KWHY_MUST_USE enum kwhy_status kwhy_analysis_make(struct kwhy_analysis *analysis, const char *const *paths,
	size_t path_count, const struct kwhy_analysis_options *given, struct kwhy_error *error);

/*
 * Returns the dependency graph of the recording. The first call makes it; the analysis owns it.
 * KWHY_E_UNSUPPORTED as in kwhy_whatif_new().
 */
KWHY_MUST_USE enum kwhy_status kwhy_analysis_graph(
	struct kwhy_analysis *analysis, struct kwhy_whatif **out, struct kwhy_error *error);

/*
 * Add what only the HTML report shows: an excerpt of the run to `plan`, and the modelled power over time to
 * analysis->report.
 */
KWHY_MUST_USE enum kwhy_status kwhy_analysis_add_stretch(
	struct kwhy_analysis *analysis, struct kwhy_plan *plan, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_analysis_add_model_power(
	struct kwhy_analysis *analysis, struct kwhy_error *error);

/*
 * Writes the message of an error to message[message_bytes], cut to fit; `message` may be NULL. Returns the
 * code of the error.
 */
int kwhy_analysis_say(const struct kwhy_error *error, char *message, size_t message_bytes);

/*
 * Copies `from` to a caller's struct, up to the size that the caller has put into its first field, which
 * stays. Thus callers built with older and newer versions work. KWHY_ANALYSE_E_USAGE: that size is too small.
 */
int kwhy_analysis_give(void *out, const void *from, size_t from_size);

#endif
