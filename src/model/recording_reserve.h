/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_RECORDING_RESERVE_H
#define KWHY_MODEL_RECORDING_RESERVE_H

#include "model/recording.h"

/* Numbers of rows that a reader expects. They need not be exact. */
struct kwhy_recording_rows {
	size_t activities, calls, ranges;
};

/*
 * Reserves memory for that many more rows, so that adding them neither copies the rows before them nor clears
 * memory for the copies. The system gives no memory for rows that do not come. If memory is too short,
 * nothing is reserved, and adding rows makes room as usual.
 */
void kwhy_recording_reserve(struct kwhy_recording *recording, const struct kwhy_recording_rows *rows);

#endif
