/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_RANGE_OVERLAPS_H
#define KWHY_MODEL_RANGE_OVERLAPS_H

#include "model/ledger.h"

/*
 * Which of the first KWHY_RANGE_OVERLAPS_MAX sums overlap, where a sum is over all ranges of one name and
 * kind. Two sums overlap if ranges of them cover the same time on the same devices, so that adding the sums
 * would count that time twice. A sum's own bit means that two of its own ranges overlap, nested or on
 * several threads.
 *
 * A range covers the devices of its process, or all devices if its thread is unknown; processes that use a
 * common device form one group. `beside` has the sums with ranges at the same time on any devices, such as
 * those of the ranks of a run: the joules of sums on different devices add up, but their times do not.
 */
enum { KWHY_RANGE_OVERLAPS_MAX = 256, KWHY_RANGE_OVERLAPS_WORDS = KWHY_RANGE_OVERLAPS_MAX / 64 };

struct kwhy_range_overlaps {
	size_t count; /* number of sums compared */
	uint64_t bits[KWHY_RANGE_OVERLAPS_MAX][KWHY_RANGE_OVERLAPS_WORDS];
	/* for each sum, bits of the sums that run at the same time on any devices */
	uint64_t beside[KWHY_RANGE_OVERLAPS_MAX][KWHY_RANGE_OVERLAPS_WORDS];
	int64_t union_ns[KWHY_RANGE_OVERLAPS_MAX]; /* time in which at least one of the sum's ranges runs */
};

static inline bool kwhy_range_overlaps_has(const struct kwhy_range_overlaps *overlaps, size_t a, size_t b)
{
	return overlaps->bits[a][b / 64] >> b % 64 & 1;
}

/* Whether two sums run at the same time, but never on the same devices. */
static inline bool kwhy_range_overlaps_beside(const struct kwhy_range_overlaps *overlaps, size_t a, size_t b)
{
	return (overlaps->beside[a][b / 64] >> b % 64 & 1) && !kwhy_range_overlaps_has(overlaps, a, b);
}

/* Compares the range sums of a ledger of this recording. False: out of memory; out->count is then 0. */
KWHY_MUST_USE bool kwhy_range_overlaps_of(const struct kwhy_recording *recording,
	const struct kwhy_range_sum *sums, size_t sum_count, struct kwhy_range_overlaps *out);

#endif
