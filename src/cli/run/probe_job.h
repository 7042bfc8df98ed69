/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RUN_PROBE_JOB_H
#define KWHY_CLI_RUN_PROBE_JOB_H

#include "cli/run/probe_watch.h"
#include "cli/run/record_job.h"
#include "model/probing.h"

/* The part of `kwhy probe` that `kwhy record` lacks. Zero-initialise; end with kwhy_probe_job_close(). */
struct kwhy_probe_job {
	const struct kwhy_record_options *options;
	struct kwhy_probing
		probing;	/* results of the earlier recordings, to which this recording's are added */
	struct kwhy_text known; /* the same results as text, for the library in the command */
	struct kwhy_probe_watch watch;
	bool is_watched;
};

/* Reads earlier recordings. KWHY_E_USAGE: the new recording would replace one of them. */
KWHY_MUST_USE enum kwhy_status kwhy_probe_job_open(struct kwhy_probe_job *job,
	const struct kwhy_record_options *options, const char *path, struct kwhy_error *error);

/* Writes the library's input files into the folder of the recording. */
KWHY_MUST_USE enum kwhy_status kwhy_probe_job_prepare(
	struct kwhy_probe_job *job, const char *folder, struct kwhy_error *error);

/*
 * Prints which launches were repeated, from the finished recording or, where that is NULL, from the file at
 * `path`. True: memory did not have its earlier contents after a repeat.
 */
bool kwhy_probe_job_tell(
	struct kwhy_probe_job *job, const struct kwhy_recording *recording, const char *path);

void kwhy_probe_job_close(struct kwhy_probe_job *job);

#endif
