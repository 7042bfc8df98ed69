/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_POWERS_H
#define KWHY_REPLAY_POWERS_H

#include "measure/device_energy.h"
#include "replay/proxy.h"

/*
 * Grids whose powers are to be measured: indices in the pattern's grids. `queued_ns`: recorded gap in ns
 * between a kernel and the next one queued behind it.
 */
struct kwhy_replay_burns {
	const uint32_t *grids;
	size_t count;
	double queued_ns;
};

/*
 * Measures the power of the proxy kernels of each class in the given grids, with the mean kernel length of
 * each grid, at most 1 ms. Other grids of the pattern get the powers of the nearest measured grid. Each grid
 * takes 0.4 s for each of the four classes. A grid that is similar to one measured for the previous pattern
 * is not measured; it gets the powers of that similar grid.
 */
KWHY_MUST_USE enum kwhy_status kwhy_proxies_measure_powers(struct kwhy_proxies *proxies,
	struct kwhy_device_energy *energy, const struct kwhy_replay_burns *burns, struct kwhy_error *error);

#endif
