/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_ANALYSE_POWERS_H
#define KWHY_ANALYSE_POWERS_H

#include "kwhy/analyse.h"
#include "ledger/ledger_new.h"

/* Learnt powers, one item for each of the learnt_paths (--powers) of an analysis. */
struct kwhy_powers_files {
	struct kwhy_learnt_powers **items;
	size_t count;
};

/*
 * Reads the learnt_paths of `options`: files of learnt powers, or recordings, whose ledgers are made with the
 * profile and the seed of `options` and give the powers. Refuses powers of devices that `recording` does not
 * have. `recording` must be finished.
 */
KWHY_MUST_USE enum kwhy_status kwhy_powers_files_read(struct kwhy_powers_files *files,
	const struct kwhy_analysis_options *options, const struct kwhy_recording *recording,
	struct kwhy_error *error);
/*
 * Checks the learnt_paths before they are read. KWHY_E_USAGE: one is among the `traces` of the run itself or
 * is given twice, so that its data would count twice. Missing files are reported later, by
 * kwhy_powers_files_read().
 */
KWHY_MUST_USE enum kwhy_status kwhy_powers_check_paths(const struct kwhy_analysis_options *options,
	const char *const *traces, size_t trace_count, struct kwhy_error *error);
void kwhy_powers_files_done(struct kwhy_powers_files *files);

#endif
