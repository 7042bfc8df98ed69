/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_RECORDING_RESERVE_H
#define KWHY_MODEL_RECORDING_RESERVE_H

#include "model/recording.h"

/* Numbers of rows that a reader expects. They need not be exact. */
struct kwhy_recording_rows {
	size_t activities, calls, ranges;
};

/*
 * Reserves memory for these numbers of further rows, so that no table is moved while they are added. Rows
 * that are never added take no physical memory. If memory is too short for a table, that table grows as usual
 * when rows are added.
 */
void kwhy_recording_reserve(struct kwhy_recording *recording, const struct kwhy_recording_rows *rows);

#endif
