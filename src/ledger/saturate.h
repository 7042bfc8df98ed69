/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_SATURATE_H
#define KWHY_LEDGER_SATURATE_H

#include <stdint.h>

/*
 * Adds two times and saturates at INT64_MAX and INT64_MIN. Sums of durations may exceed any length of a
 * recording: a hostile file may contain ten thousand concurrent kernels of a century each.
 */
static inline int64_t kwhy_saturate_add(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b > 0 ? INT64_MAX : INT64_MIN;
	return sum;
}

static inline uint64_t kwhy_saturate_add_unsigned(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

#endif
