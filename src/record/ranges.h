/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORD_RANGES_H
#define KWHY_RECORD_RANGES_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { KWHY_RECORD_RANGES_MAX = 32 };

/*
 * Counts, in the recording at `path`, the ranges that have a matching name and ended in an interval of
 * CLOCK_MONOTONIC. Patterns are those of fnmatch(3), at most KWHY_RECORD_RANGES_MAX. The result is the count
 * of the file with the most ranges, because the processes of a distributed program run the same steps. The
 * recording must be of this machine since its last boot.
 */
struct kwhy_record_ranges {
	const char *path;
	const char *const *patterns;
	size_t count;
	int64_t start_mono_ns, end_mono_ns;
};
KWHY_MUST_USE enum kwhy_status kwhy_record_ranges_count(
	const struct kwhy_record_ranges *ranges, uint64_t *out_counts, struct kwhy_error *error);

#endif
