/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RUN_RECORD_DIGEST_H
#define KWHY_CLI_RUN_RECORD_DIGEST_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Makes digests of a recording that still grows. Each digest is made by a child process, `kwhy digest`,
 * which reads the recording from its start and replaces the previous digest. Only one thread may use it.
 * Initialise it with recording, output and period. `recording` NULL: no digests are made, and the functions
 * do nothing.
 */
struct kwhy_record_digests {
	const char *recording, *output; /* not copied */
	int64_t period_ns;
	int64_t next_mono_ns, began_mono_ns;
	pid_t process;	 /* id of the running child process; 0: none runs */
	bool has_asked;	 /* since a signal asked to end, one digest has been started because of it */
	bool has_failed; /* the last digest failed */
};

/*
 * If no digest is being made, starts one when the period since the last one began has passed. When a signal
 * has asked to end (`asked`), starts one more at once. To be called about once a second while the command
 * runs. After each digest there is a pause of at least 20 times the processor time that the digest used, so
 * that digests of a long recording use at most 5 % of one processor.
 */
void kwhy_record_digests_tick(struct kwhy_record_digests *digests, bool asked);

/*
 * Waits for a running child, and makes the digest of the finished recording. KWHY_E_IO: kwhy digest could not
 * be started, or failed and has printed why.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_digests_finish(
	struct kwhy_record_digests *digests, struct kwhy_error *error);

#endif
