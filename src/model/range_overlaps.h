/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_RANGE_OVERLAPS_H
#define KWHY_MODEL_RANGE_OVERLAPS_H

#include "model/ledger.h"

/*
 * Which of the first sums of ranges hold, some time or other, the same time as another one: what both hold
 * would be in their sum twice. A bit of a sum's own place says that two of its own ranges do, nested or on
 * several threads.
 */
enum { KWHY_RANGE_OVERLAPS_MOST = 256 };

struct kwhy_range_overlaps {
	size_t count; /* sums told of */
	uint64_t bits[KWHY_RANGE_OVERLAPS_MOST][KWHY_RANGE_OVERLAPS_MOST / 64];
};

static inline bool kwhy_range_overlaps_has(const struct kwhy_range_overlaps *overlaps, size_t a, size_t b)
{
	return overlaps->bits[a][b / 64] >> b % 64 & 1;
}

/* Of the sums of a ledger of this recording. False: there is no memory, and *out tells of none. */
KWHY_MUST_USE bool kwhy_range_overlaps_of(const struct kwhy_recording *recording,
	const struct kwhy_range_sum *sums, size_t sum_count, struct kwhy_range_overlaps *out);

#endif
