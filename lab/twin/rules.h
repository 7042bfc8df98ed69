/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_TWIN_RULES_H
#define LAB_TWIN_RULES_H

#include "lab/one_thread.h"

#define AT(type) uint64_t
#include "lab/twin/kernels/args.cu"

#include "lab/twin/twin.h"

/* The rules of `twin` as the kernels have them, what kernels are given, and what the host alone needs. Pure.
 */

/* Every eighth observation is a district's sum, the others look at a cell of rank 0. */
static inline bool is_wide(uint32_t observation)
{
	return observation % 8 == 0;
}

static inline bool keeps_v(uint32_t step)
{
	return step % 36 == 0;
}

/* Y, carried on over a step's sums. */
static inline uint64_t fold(uint64_t seen_before, const int64_t seen[AGENTS])
{
	for (uint32_t a = 0; a < AGENTS; a++)
		seen_before = mix(seen_before ^ (uint64_t)seen[a]);
	return seen_before;
}

#endif
