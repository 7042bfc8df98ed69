/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_MARK_H
#define KWHY_IMPORT_MARK_H

#include "model/recording.h"

/*
 * Sizes of a recording's tables at one moment. The rows from there on are those of the file that is read
 * then.
 */
struct kwhy_mark {
	size_t sources, processes, devices, streams, activities, calls, ranges, host_ranges, memory, coverage,
		power;
};

struct kwhy_mark kwhy_mark_of(const struct kwhy_recording *recording);

/* The earliest time of the rows since the mark; INT64_MAX: there are none with a time. */
int64_t kwhy_mark_first_time(const struct kwhy_recording *recording, const struct kwhy_mark *mark);

/* Adds a number of nanoseconds to all times of the rows since the mark. */
void kwhy_mark_shift(struct kwhy_recording *recording, const struct kwhy_mark *mark, int64_t by_ns);

#endif
