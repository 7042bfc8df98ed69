/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_BENCH_PAIRS_SHOW_H
#define KWHY_CLI_BENCH_PAIRS_SHOW_H

#include "model/pairs.h"

/* How measured pairs are shown, by the options of a command. */
struct kwhy_pairs_show {
	const char *output;	/* NULL: stdout */
	const char *simulators; /* their inputs go into this folder; NULL: not */
	const char *against;	/* predictions to hold against; NULL: none */
	const char *compat;	/* what this other tool would print, alone; NULL: a report */
	bool json, verbose, no_color;
};

/* Whether a folder holds measured pairs: what kwhy bench pairs keeps, or torch.profiler's traces of ranks. */
bool kwhy_pairs_folder_is_one(const char *folder);
/* End with kwhy_pairs_free(). */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_folder_read(
	const char *folder, struct kwhy_pairs **out, struct kwhy_error *error);

KWHY_MUST_USE enum kwhy_status kwhy_pairs_show(
	const struct kwhy_pairs *pairs, const struct kwhy_pairs_show *show, struct kwhy_error *error);

/* The files of its folder that are made of the whole: pairs.json, and of each rank traces and metadata. */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_keep(const struct kwhy_pairs *pairs, struct kwhy_error *error);

#endif
