/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RUN_PROBE_JOB_H
#define KWHY_CLI_RUN_PROBE_JOB_H

#include "cli/run/probe_watch.h"
#include "cli/run/record_job.h"
#include "model/probing.h"

/* What `kwhy probe` does besides what `kwhy record` does. Zero-initialise; end with kwhy_probe_job_close().
 */
struct kwhy_probe_job {
	const struct kwhy_record_options *options;
	struct kwhy_probing probing; /* what earlier recordings taught, then this one */
	struct kwhy_text known;	     /* the same, for the library in the command */
	struct kwhy_probe_watch watch;
	bool is_watched;
};

/* Reads earlier recordings; KWHY_E_USAGE: one of them is where the new one is to be. */
KWHY_MUST_USE enum kwhy_status kwhy_probe_job_open(struct kwhy_probe_job *job,
	const struct kwhy_record_options *options, const char *path, struct kwhy_error *error);

/* Puts what the library needs into the folder of the recording. */
KWHY_MUST_USE enum kwhy_status kwhy_probe_job_prepare(
	struct kwhy_probe_job *job, const char *folder, struct kwhy_error *error);

/*
 * Says at the end what was repeated, from the finished recording, or, where that is NULL, from what is at
 * `path`. True: memory was not what it had been.
 */
bool kwhy_probe_job_tell(
	struct kwhy_probe_job *job, const struct kwhy_recording *recording, const char *path);

void kwhy_probe_job_close(struct kwhy_probe_job *job);

#endif
