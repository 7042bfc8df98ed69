/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_ONE_RUN_H
#define KWHY_IMPORT_ONE_RUN_H

#include "base/status.h"
#include "model/recording.h"

/*
 * Several traces are the ranks of one run: none twice (copies: import/identity.h), and their windows overlap.
 * Clocks of two machines may be KWHY_ONE_RUN_SLACK_NS apart; recordings of one machine share a clock and have
 * no such slack.
 */
#define KWHY_ONE_RUN_SLACK_NS INT64_C(10000000000)

/* How far a recording had come before a trace was read into it. */
struct kwhy_one_run {
	size_t sources, processes, activities, calls, coverage;
};

struct kwhy_one_run kwhy_one_run_begin(const struct kwhy_recording *recording);

/* Before a trace is read: refuses a file that was read already. */
KWHY_MUST_USE enum kwhy_status kwhy_one_run_check_file(
	const struct kwhy_recording *recording, const char *path, struct kwhy_error *error);

/* Afterwards: refuses one whose window is not that of the traces before. */
KWHY_MUST_USE enum kwhy_status kwhy_one_run_check_window(const struct kwhy_recording *recording,
	const struct kwhy_one_run *before, const char *path, struct kwhy_error *error);

#endif
