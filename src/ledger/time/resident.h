/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_TIME_RESIDENT_H
#define KWHY_LEDGER_TIME_RESIDENT_H

#include "ledger/sweep.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The share 1, the whole device. Shares are integers in units of 2^-32, so that sums are exact in any order.
 */
#define KWHY_RESIDENT_FULL ((uint64_t)1 << 32)

/*
 * Writes the share of the device that a kernel's grid fills: its blocks divided by the blocks that the device
 * can hold at the same time, at most KWHY_RESIDENT_FULL. A multiprocessor holds at most 32 blocks (16 or
 * 24 at some compute capabilities), and as many as its threads, registers and shared memory allow, as far as
 * device and activity state these amounts; if they state none, or allow no block, it is taken to hold one.
 * False: the grid or the number of multiprocessors is unknown.
 */
bool kwhy_resident_share(const struct kwhy_device *device, const struct kwhy_activities *rows, size_t row,
	uint64_t *out_share);

/* The kernels that run in one interval of a sweep. share_sum: sum of their shares of the device. */
struct kwhy_resident {
	uint64_t share_sum;
	size_t unknown_count; /* number of running kernels of unknown grid, which are not in share_sum */
};

/*
 * Updates `resident` to an interval and returns the share of the device that the running kernels fill
 * together, at most KWHY_RESIDENT_FULL. Call it for every interval of one sweep, in order.
 */
uint64_t kwhy_resident_follow(struct kwhy_resident *resident, const struct kwhy_recording *recording,
	uint32_t device, const struct kwhy_sweep_interval *stretch);

#endif
