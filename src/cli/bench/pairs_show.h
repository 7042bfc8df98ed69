/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_BENCH_PAIRS_SHOW_H
#define KWHY_CLI_BENCH_PAIRS_SHOW_H

#include "cli/output.h"
#include "model/pairs.h"

/* Options of `kwhy bench pairs` and `kwhy report` that say how measurements of pairs of GPUs are shown. */
struct kwhy_pairs_show {
	const char *output;	/* path of the report; NULL: standard output */
	const char *simulators; /* folder for the inputs of simulators; NULL: they are not written */
	/* file of predictions that are compared with the measurement; NULL: no comparison */
	const char *against;
	/*
	 * name of another tool in whose form the results are printed in place of the report; NULL: the
	 * report is printed
	 */
	const char *compat;
	bool json, verbose, no_color;
};

/*
 * Whether a folder contains measured pairs, as kwhy bench pairs writes them, or traces of ranks by
 * torch.profiler.
 */
bool kwhy_pairs_folder_is_one(const char *folder);
/*
 * Reads a folder for which kwhy_pairs_folder_is_one() is true: the pairs that kwhy bench pairs stored in it
 * or, if there are none, the traces of torch.profiler. End with kwhy_pairs_free().
 */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_folder_read(
	const char *folder, struct kwhy_pairs **out, struct kwhy_error *error);

/*
 * The form of the results: text, JSON, HTML or CSV. KWHY_E_USAGE: `compat` or `against` is set, which need
 * text, and the form is another; or options contradict each other.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_form_of(
	const struct kwhy_pairs_show *show, enum kwhy_output_form *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pairs_show(
	const struct kwhy_pairs *pairs, const struct kwhy_pairs_show *show, struct kwhy_error *error);

/*
 * Writes results into pairs->folder: pairs.json with all pairs, and for each GPU the files
 * metadata_rank_N.yml, rank_N.pt.trace.json and rank_N_CPU_trace.json.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_keep(const struct kwhy_pairs *pairs, struct kwhy_error *error);

#endif
