/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_POWERS_H
#define KWHY_REPLAY_POWERS_H

#include "measure/device_energy.h"
#include "replay/proxy.h"

/* Grids to measure, of a pattern whose queued kernels follow each other by queued_ns. */
struct kwhy_replay_burns {
	const uint32_t *grids;
	size_t count;
	double queued_ns;
};

/*
 * Measures the power of the proxy kernels of each class in those grids, with the mean kernel length of each
 * grid. Other grids take the powers of the nearest one. Takes 0.4 s per class and grid.
 */
KWHY_MUST_USE enum kwhy_status kwhy_proxies_measure_powers(struct kwhy_proxies *proxies,
	struct kwhy_device_energy *energy, const struct kwhy_replay_burns *burns, struct kwhy_error *error);

#endif
