/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_TIME_RESIDENT_H
#define KWHY_LEDGER_TIME_RESIDENT_H

#include "ledger/sweep.h"

#include <stdbool.h>
#include <stdint.h>

/* The whole device; shares are multiples of 2^-32, so that their sums are exact in any order. */
#define KWHY_RESIDENT_FULL ((uint64_t)1 << 32)

/*
 * Blocks of this kernel's grid over the blocks that the device can hold at a time, at most
 * KWHY_RESIDENT_FULL. A multiprocessor holds as many blocks as its threads, registers and shared memory
 * allow, as far as device and activity state these limits, or one block when they state none. False: the grid
 * or the number of multiprocessors is unknown.
 */
bool kwhy_resident_share(const struct kwhy_device *device, const struct kwhy_activities *rows, size_t row,
	uint64_t *out_share);

/* The kernels that run at one moment. */
struct kwhy_resident {
	uint64_t share_sum;
	size_t unknown_count; /* kernels of unknown grid, which add nothing to the sum */
};

/*
 * Updates `resident` and returns the share of the device that the running kernels fill together, at most
 * KWHY_RESIDENT_FULL. Call it for every interval of one sweep, in order.
 */
uint64_t kwhy_resident_follow(struct kwhy_resident *resident, const struct kwhy_recording *recording,
	uint32_t device, const struct kwhy_sweep_interval *stretch);

#endif
