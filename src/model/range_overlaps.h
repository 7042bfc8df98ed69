/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_RANGE_OVERLAPS_H
#define KWHY_MODEL_RANGE_OVERLAPS_H

#include "model/ledger.h"

/*
 * Which range sums (one for each name and kind of ranges) overlap; only the first KWHY_RANGE_OVERLAPS_MAX are
 * compared. Two sums overlap if a range of one and a range of the other cover the same time on the same
 * device, so that adding the sums would count that time twice. A sum's own bit means that two of its own
 * ranges overlap, nested or on several threads.
 *
 * A range covers the devices of its process, or all devices if its thread is unknown. Processes that use a
 * common device form one group. `beside` compares times only, whatever the devices. Sums that run at the same
 * time on different devices, as those of two ranks may, have joules that add up, but times that do not.
 */
enum { KWHY_RANGE_OVERLAPS_MAX = 256, KWHY_RANGE_OVERLAPS_WORDS = KWHY_RANGE_OVERLAPS_MAX / 64 };

struct kwhy_range_overlaps {
	size_t count; /* number of sums compared */
	uint64_t bits[KWHY_RANGE_OVERLAPS_MAX][KWHY_RANGE_OVERLAPS_WORDS];
	/*
	 * [sum] bit set of the sums that have a range at the same time as a range of this sum, on whatever
	 * devices
	 */
	uint64_t beside[KWHY_RANGE_OVERLAPS_MAX][KWHY_RANGE_OVERLAPS_WORDS];
	int64_t union_ns[KWHY_RANGE_OVERLAPS_MAX]; /* time in which at least one of the sum's ranges runs */
};

static inline bool kwhy_range_overlaps_has(const struct kwhy_range_overlaps *overlaps, size_t a, size_t b)
{
	return overlaps->bits[a][b / 64] >> b % 64 & 1;
}

/* Whether ranges of two sums run at the same time, but never on a common device. */
static inline bool kwhy_range_overlaps_beside(const struct kwhy_range_overlaps *overlaps, size_t a, size_t b)
{
	return (overlaps->beside[a][b / 64] >> b % 64 & 1) && !kwhy_range_overlaps_has(overlaps, a, b);
}

/*
 * Finds which of the range sums of a ledger of this recording overlap. False: out of memory; out->count is
 * then 0.
 */
KWHY_MUST_USE bool kwhy_range_overlaps_of(const struct kwhy_recording *recording,
	const struct kwhy_range_sum *sums, size_t sum_count, struct kwhy_range_overlaps *out);

#endif
