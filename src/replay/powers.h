/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_POWERS_H
#define KWHY_REPLAY_POWERS_H

#include "measure/device_energy.h"
#include "replay/proxy.h"

/*
 * Grids of a pattern whose powers are to be measured. `queued_ns` is the pattern's gap between queued
 * kernels.
 */
struct kwhy_replay_burns {
	const uint32_t *grids;
	size_t count;
	double queued_ns;
};

/*
 * Measures the power of the proxy kernels of each class in the given grids, with the mean kernel length of
 * each grid. Other grids of the pattern get the powers of the nearest measured grid. Each class and grid
 * takes 0.4 s.
 */
KWHY_MUST_USE enum kwhy_status kwhy_proxies_measure_powers(struct kwhy_proxies *proxies,
	struct kwhy_device_energy *energy, const struct kwhy_replay_burns *burns, struct kwhy_error *error);

#endif
