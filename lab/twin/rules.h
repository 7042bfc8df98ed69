/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_TWIN_RULES_H
#define KWHY_LAB_TWIN_RULES_H

#include "lab/splitmix.h"
#include "lab/twin/twin.h"

#include <math.h>
#include <string.h>

/*
 * The rules of `twin` that agents follow on the host, and that the host forms of kernels share. The kernels
 * have their own copy of them in CUDA C (kernels/twin/). Pure.
 */

static inline uint64_t kwhy_twin_mix(uint64_t x)
{
	return kwhy_splitmix(x);
}

static inline float kwhy_twin_unit(uint64_t hash)
{
	return kwhy_splitmix_unit(hash);
}

static inline uint32_t kwhy_twin_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline float kwhy_twin_start(uint32_t rank, uint32_t cell)
{
	return kwhy_twin_unit(kwhy_twin_mix(KWHY_TWIN_SEED ^ (uint64_t)rank << 40 ^ cell)) * 16.0f;
}

/* How many floats an agent sends in a step; 0: it is silent. */
static inline uint32_t kwhy_twin_sends(uint32_t step, uint32_t agent)
{
	if (agent == KWHY_TWIN_AGENTS - 1 && 47 * step % KWHY_TWIN_STEPS < 47)
		return 0;
	return agent < 15 ? 10 : 8;
}

/* `seen`: the agent's sum of the step before; 0 in an open loop. */
static inline float kwhy_twin_payload(uint32_t step, uint32_t agent, uint32_t place, int64_t seen)
{
	return kwhy_twin_unit(kwhy_twin_mix(0x5EED ^ (uint64_t)step << 32 ^ (uint64_t)agent << 8 ^ place ^
		(uint64_t)seen * 0x2545F4914F6CDD1Du));
}

static inline uint32_t kwhy_twin_observed(uint32_t step)
{
	return 1877 + (step % 16 == 0);
}

/* Every eighth observation is a district's sum, the others look at a cell of rank 0. */
static inline bool kwhy_twin_is_wide(uint32_t observation)
{
	return observation % 8 == 0;
}

static inline uint32_t kwhy_twin_looks_at(uint32_t step, uint32_t observation)
{
	return (7919 * observation + 104729 * step) % KWHY_TWIN_CELLS;
}

/* Where an observation lies when they are packed: all wide ones, then the others; bytes. */
static inline uint32_t kwhy_twin_packed_at(uint32_t observation)
{
	return kwhy_twin_is_wide(observation) ? observation
					      : KWHY_TWIN_WIDE * 8 + 4 * (observation - observation / 8 - 1);
}

static inline int64_t kwhy_twin_fixed(float value)
{
	return llrintf(value * 65536.0f);
}

static inline float kwhy_twin_limit(float value)
{
	return value < -64.0f ? -64.0f : value > 64.0f ? 64.0f : value;
}

static inline uint32_t kwhy_twin_district(uint32_t cell)
{
	return cell * KWHY_TWIN_AGENTS >> 16;
}

static inline bool kwhy_twin_keeps_v(uint32_t step)
{
	return step % 36 == 0;
}

/* Y, carried on over a step's sums. */
static inline uint64_t kwhy_twin_fold(uint64_t observed, const int64_t seen[KWHY_TWIN_AGENTS])
{
	for (uint32_t a = 0; a < KWHY_TWIN_AGENTS; a++)
		observed = kwhy_twin_mix(observed ^ (uint64_t)seen[a]);
	return observed;
}

#endif
