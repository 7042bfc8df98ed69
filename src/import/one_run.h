/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_ONE_RUN_H
#define KWHY_IMPORT_ONE_RUN_H

#include "base/status.h"
#include "model/recording.h"

/*
 * Several traces are the ranks of one run. No trace may come twice (copies: import/identity.h), and their
 * windows must overlap. Clocks of two machines may differ by KWHY_ONE_RUN_SLACK_NS; recordings of one machine
 * share a clock and get no slack.
 */
#define KWHY_ONE_RUN_SLACK_NS INT64_C(10000000000)

/* Sizes of a recording's tables before a trace is read into it. */
struct kwhy_one_run {
	size_t sources, processes, activities, calls, coverage;
};

struct kwhy_one_run kwhy_one_run_begin(const struct kwhy_recording *recording);

/* Before a trace is read: refuses a file that was read already. */
KWHY_MUST_USE enum kwhy_status kwhy_one_run_check_file(
	const struct kwhy_recording *recording, const char *path, struct kwhy_error *error);

/* After a trace is read: refuses it when its window does not overlap those of the traces before it. */
KWHY_MUST_USE enum kwhy_status kwhy_one_run_check_window(const struct kwhy_recording *recording,
	const struct kwhy_one_run *before, const char *path, struct kwhy_error *error);

#endif
