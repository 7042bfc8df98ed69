/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORD_RANGES_H
#define KWHY_RECORD_RANGES_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { KWHY_RECORD_RANGES_MAX = 32 };

/*
 * Input of kwhy_record_ranges_count(), which counts ranges in the recording at `path`: out_counts[i] is the
 * number of ranges whose name matches patterns[i] (fnmatch(3)) and whose end lies between start_mono_ns and
 * end_mono_ns, which are times on CLOCK_MONOTONIC. The recording must have been made on this machine since
 * its last boot. `count`: number of patterns, at most KWHY_RECORD_RANGES_MAX.
 *
 * Ranges are counted for each file, which is each process, and out_counts[i] is the highest count of any
 * file: the processes of a distributed program run the same steps, so a sum would count each step several
 * times.
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
