/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_KNOWN_SUM_H
#define KWHY_MODEL_KNOWN_SUM_H

#include "model/ledger.h"

#include <math.h>

/* Adds nanojoules; the sum becomes KWHY_UNKNOWN_NJ when a part is unknown or the sum overflows. */
static inline void kwhy_known_add(int64_t *sum_nj, int64_t more_nj)
{
	if (*sum_nj == KWHY_UNKNOWN_NJ || more_nj == KWHY_UNKNOWN_NJ ||
		__builtin_add_overflow(*sum_nj, more_nj, sum_nj))
		*sum_nj = KWHY_UNKNOWN_NJ;
}

/* Rounds an energy in nanojoules; KWHY_UNKNOWN_NJ if it is no number or too large for an integer. */
static inline int64_t kwhy_whole_nj(double nj)
{
	return fabs(nj) < 9e18 ? llround(nj) : KWHY_UNKNOWN_NJ;
}

/* Adds nanoseconds and saturates at INT64_MAX, since a file may contain times of any size. */
static inline void kwhy_time_add(int64_t *sum_ns, int64_t more_ns)
{
	if (__builtin_add_overflow(*sum_ns, more_ns, sum_ns))
		*sum_ns = INT64_MAX;
}

#endif
