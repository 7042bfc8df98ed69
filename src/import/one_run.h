/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_ONE_RUN_H
#define KWHY_IMPORT_ONE_RUN_H

#include "base/status.h"
#include "import/row_counts.h"

/*
 * This module checks that the traces of a recording are the ranks of one run. No file may be given twice
 * (copies: import/identity.h). The window of a trace, from its first start to its last end, must overlap the
 * window of all earlier traces. If a gap between them is shorter than KWHY_ONE_RUN_SLACK_NS, it is accepted
 * unless both are known to be from one machine, because clocks of machines differ.
 */
#define KWHY_ONE_RUN_SLACK_NS INT64_C(10000000000)

/* Refuses a file that is already a source of the recording. Call it before reading the file. */
KWHY_MUST_USE enum kwhy_status kwhy_one_run_check_file(
	const struct kwhy_recording *recording, const char *path, struct kwhy_error *error);

/*
 * Refuses the trace that was read last if its window does not overlap that of the earlier traces. `before`:
 * the row counts before it was read.
 */
KWHY_MUST_USE enum kwhy_status kwhy_one_run_check_window(const struct kwhy_recording *recording,
	const struct kwhy_row_counts *before, const char *path, struct kwhy_error *error);

#endif
