/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_RECORDING_RESERVE_H
#define KWHY_MODEL_RECORDING_RESERVE_H

#include "model/recording.h"

/*
 * Reserves memory for that many more rows of each kind, so that adding them neither copies the rows before
 * nor clears memory for the copies. The counts need not be exact. Memory of rows that do not come stays
 * unused by the system.
 */
struct kwhy_recording_rows {
	size_t activities, calls, ranges;
};
KWHY_MUST_USE enum kwhy_status kwhy_recording_reserve(
	struct kwhy_recording *recording, const struct kwhy_recording_rows *rows, struct kwhy_error *error);

#endif
