/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_ONE_RUN_H
#define KWHY_IMPORT_ONE_RUN_H

#include "base/status.h"
#include "import/row_counts.h"

/*
 * Checks that several traces are the ranks of one run. No trace may be given twice (copies:
 * import/identity.h), and the windows in which the traces have activities must overlap. Between traces of
 * different machines, whose clocks differ, a gap of up to KWHY_ONE_RUN_SLACK_NS is accepted. Recordings of
 * one machine share a clock, so no gap is accepted between them.
 */
#define KWHY_ONE_RUN_SLACK_NS INT64_C(10000000000)

/* Refuses a file that was read already. Call it before a trace is read. */
KWHY_MUST_USE enum kwhy_status kwhy_one_run_check_file(
	const struct kwhy_recording *recording, const char *path, struct kwhy_error *error);

/*
 * Refuses a trace whose window does not overlap those of the traces before it. Call it after the trace was
 * read.
 */
KWHY_MUST_USE enum kwhy_status kwhy_one_run_check_window(const struct kwhy_recording *recording,
	const struct kwhy_row_counts *before, const char *path, struct kwhy_error *error);

#endif
