/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_BENCH_PAIRS_SHOW_H
#define KWHY_CLI_BENCH_PAIRS_SHOW_H

#include "cli/output.h"
#include "model/pairs.h"

/* Options of a command that shows measurements of pairs of GPUs. */
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
/* Reads a folder of measured pairs or traces. End with kwhy_pairs_free(). */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_folder_read(
	const char *folder, struct kwhy_pairs **out, struct kwhy_error *error);

/* The form of the results. KWHY_E_USAGE: the options contradict each other. */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_form_of(
	const struct kwhy_pairs_show *show, enum kwhy_output_form *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pairs_show(
	const struct kwhy_pairs *pairs, const struct kwhy_pairs_show *show, struct kwhy_error *error);

/*
 * Writes the results of the measurement into its folder: pairs.json for all pairs, and traces and metadata
 * for each rank.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_keep(const struct kwhy_pairs *pairs, struct kwhy_error *error);

#endif
