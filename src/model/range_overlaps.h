/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_RANGE_OVERLAPS_H
#define KWHY_MODEL_RANGE_OVERLAPS_H

#include "model/ledger.h"

/*
 * Which of the first sums of ranges hold, some time or other, the same time on the same devices as another
 * one: what both hold would be in their sum twice. A bit of a sum's own place says that two of its own ranges
 * do, nested or on several threads. A range holds the devices of its process, one of no known thread all;
 * processes share them also through others. Apart from those: which run at the same time, as the ranks of a
 * run do; their joules add up, their times do not.
 */
enum { KWHY_RANGE_OVERLAPS_MAX = 256, KWHY_RANGE_OVERLAPS_WORDS = KWHY_RANGE_OVERLAPS_MAX / 64 };

struct kwhy_range_overlaps {
	size_t count; /* sums told of */
	uint64_t bits[KWHY_RANGE_OVERLAPS_MAX][KWHY_RANGE_OVERLAPS_WORDS];
	uint64_t beside[KWHY_RANGE_OVERLAPS_MAX][KWHY_RANGE_OVERLAPS_WORDS]; /* at the same time at all */
	int64_t union_ns[KWHY_RANGE_OVERLAPS_MAX]; /* in which at least one of the sum's ranges runs */
};

static inline bool kwhy_range_overlaps_has(const struct kwhy_range_overlaps *overlaps, size_t a, size_t b)
{
	return overlaps->bits[a][b / 64] >> b % 64 & 1;
}

/* At the same time, but never on the same devices. */
static inline bool kwhy_range_overlaps_beside(const struct kwhy_range_overlaps *overlaps, size_t a, size_t b)
{
	return (overlaps->beside[a][b / 64] >> b % 64 & 1) && !kwhy_range_overlaps_has(overlaps, a, b);
}

/* Of the sums of a ledger of this recording. False: there is no memory, and *out tells of none. */
KWHY_MUST_USE bool kwhy_range_overlaps_of(const struct kwhy_recording *recording,
	const struct kwhy_range_sum *sums, size_t sum_count, struct kwhy_range_overlaps *out);

#endif
