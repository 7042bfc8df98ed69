/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_BENCH_PAIRS_SHOW_H
#define KWHY_CLI_BENCH_PAIRS_SHOW_H

#include "model/pairs.h"

/* Options of a command that shows measured pairs. */
struct kwhy_pairs_show {
	const char *output;	/* NULL: stdout */
	const char *simulators; /* folder for inputs of simulators; NULL: not written */
	const char *against;	/* file of predictions to compare with the measurement; NULL: no comparison */
	const char *compat; /* name of another tool whose output is printed instead of the report; NULL: the
			       report */
	bool json, verbose, no_color;
};

/*
 * Whether a folder holds measured pairs, as kwhy bench pairs writes them, or torch.profiler's traces of
 * ranks.
 */
bool kwhy_pairs_folder_is_one(const char *folder);
/* Reads such a folder. End with kwhy_pairs_free(). */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_folder_read(
	const char *folder, struct kwhy_pairs **out, struct kwhy_error *error);

KWHY_MUST_USE enum kwhy_status kwhy_pairs_show(
	const struct kwhy_pairs *pairs, const struct kwhy_pairs_show *show, struct kwhy_error *error);

/*
 * Writes the files that summarise all pairs into their folder: pairs.json, and traces and metadata of each
 * rank.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_keep(const struct kwhy_pairs *pairs, struct kwhy_error *error);

#endif
