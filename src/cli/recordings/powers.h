/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RECORDINGS_POWERS_H
#define KWHY_CLI_RECORDINGS_POWERS_H

#include "cli/recordings/job.h"
#include "ledger/ledger_new.h"

/* The files of one --powers, read. */
struct kwhy_powers_files {
	struct kwhy_learnt_powers **items;
	size_t count;
};

/*
 * Reads files of powers, and recordings, of which the ledger are made as those of a job with the same options
 * (profile, seed). Refuses what is not of a device of `recording`, which is finished.
 */
KWHY_MUST_USE enum kwhy_status kwhy_powers_files_read(struct kwhy_powers_files *files,
	const struct kwhy_job_options *options, const struct kwhy_recording *recording,
	struct kwhy_error *error);
/*
 * KWHY_E_USAGE where one of --powers is a trace of the run itself, or is named twice: what it taught would be
 * counted again. Files that are not there are not judged.
 */
KWHY_MUST_USE enum kwhy_status kwhy_powers_check_paths(const struct kwhy_job_options *options,
	char *const *traces, size_t trace_count, struct kwhy_error *error);
/* The profile of that path; NULL: the bundled one of the first device that has one, which may be none. */
KWHY_MUST_USE enum kwhy_status kwhy_job_profile_read(const char *path, const struct kwhy_recording *recording,
	struct kwhy_profile **out, struct kwhy_error *error);
void kwhy_powers_files_done(struct kwhy_powers_files *files);

#endif
