/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_ANALYSE_POWERS_H
#define KWHY_ANALYSE_POWERS_H

#include "kwhy/analyse.h"
#include "ledger/ledger_new.h"

/* The powers learnt from the files in learnt_paths of an analysis. */
struct kwhy_powers_files {
	struct kwhy_learnt_powers **items;
	size_t count;
};

/*
 * Reads files of learnt powers, and recordings from whose ledgers powers are learnt. These ledgers are made
 * with the profile and the seed of `options`. Refuses powers of devices that `recording` does not have.
 * `recording` must be finished.
 */
KWHY_MUST_USE enum kwhy_status kwhy_powers_files_read(struct kwhy_powers_files *files,
	const struct kwhy_analysis_options *options, const struct kwhy_recording *recording,
	struct kwhy_error *error);
/*
 * Checks the learnt_paths. KWHY_E_USAGE: one of them is a trace of the run itself or is given twice, so that
 * its data would count twice. Missing files are not reported here.
 */
KWHY_MUST_USE enum kwhy_status kwhy_powers_check_paths(const struct kwhy_analysis_options *options,
	const char *const *traces, size_t trace_count, struct kwhy_error *error);
void kwhy_powers_files_done(struct kwhy_powers_files *files);

#endif
