/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RUN_PROBE_JOB_H
#define KWHY_CLI_RUN_PROBE_JOB_H

#include "cli/run/probe_watch.h"
#include "cli/run/record_job.h"
#include "model/probing.h"

/*
 * State that `kwhy probe` needs in addition to the state of `kwhy record`. Initialise it with zeros; end with
 * kwhy_probe_job_close().
 */
struct kwhy_probe_job {
	const struct kwhy_record_options *options;
	struct kwhy_probing
		/* results of the earlier recordings, and later also those of the new one */
		probing;
	/* results of the earlier recordings as text, in the form that the injected library reads */
	struct kwhy_text known;
	struct kwhy_probe_watch watch;
	bool is_watched;
};

/*
 * Reads the earlier recordings (--append). KWHY_E_USAGE: one of them is at `path`, where the new recording is
 * to be. KWHY_E_INPUT: one of them is no recording of kwhy probe.
 */
KWHY_MUST_USE enum kwhy_status kwhy_probe_job_open(struct kwhy_probe_job *job,
	const struct kwhy_record_options *options, const char *path, struct kwhy_error *error);

/*
 * Writes into the folder of the recording the files through which kwhy and the injected library communicate:
 * a file with the results of the earlier recordings, if there are any, and a file in which the library
 * reports its progress, if progress is shown.
 */
KWHY_MUST_USE enum kwhy_status kwhy_probe_job_prepare(
	struct kwhy_probe_job *job, const char *folder, struct kwhy_error *error);

/*
 * Prints a summary of which kernels were repeated and what is known of their power. recording: the finished
 * recording; NULL: it is read from `path`. Returns true if memory differed after the repeats of any kernel,
 * so that the program's results may be wrong.
 */
bool kwhy_probe_job_tell(
	struct kwhy_probe_job *job, const struct kwhy_recording *recording, const char *path);

void kwhy_probe_job_close(struct kwhy_probe_job *job);

#endif
