/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_ROW_COUNTS_H
#define KWHY_IMPORT_ROW_COUNTS_H

#include "model/recording.h"

/*
 * Sizes of a recording's tables at one moment. Rows that come after them belong to the file that is read
 * next.
 */
struct kwhy_row_counts {
	size_t sources, processes, devices, streams, activities, calls, ranges, host_ranges, memory, coverage,
		power;
};

struct kwhy_row_counts kwhy_row_counts_of(const struct kwhy_recording *recording);

/* The earliest time among the rows added since then; INT64_MAX: none of them has a time. */
int64_t kwhy_row_counts_first_time(
	const struct kwhy_recording *recording, const struct kwhy_row_counts *since);

/* Adds a number of nanoseconds to all times of the rows added since then. */
void kwhy_row_counts_shift(
	struct kwhy_recording *recording, const struct kwhy_row_counts *since, int64_t by_ns);

#endif
