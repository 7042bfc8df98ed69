/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_ROW_COUNTS_H
#define KWHY_IMPORT_ROW_COUNTS_H

#include "model/recording.h"

/*
 * Numbers of rows in a recording's tables, taken before a file is read. Rows beyond them come from that file.
 */
struct kwhy_row_counts {
	size_t sources, processes, devices, streams, activities, calls, ranges, host_ranges, memory, coverage,
		power;
};

struct kwhy_row_counts kwhy_row_counts_of(const struct kwhy_recording *recording);

/*
 * The earliest start of the activities, calls and ranges, and time of memory points, that were added after
 * `since`; INT64_MAX: there are none. Host ranges (operators, functions) do not count.
 */
int64_t kwhy_row_counts_first_time(
	const struct kwhy_recording *recording, const struct kwhy_row_counts *since);

/* Adds a number of nanoseconds to all times of the rows that were added after `since`. */
void kwhy_row_counts_shift(
	struct kwhy_recording *recording, const struct kwhy_row_counts *since, int64_t by_ns);

#endif
