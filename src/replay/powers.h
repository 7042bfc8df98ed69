/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_POWERS_H
#define KWHY_REPLAY_POWERS_H

#include "measure/device_energy.h"
#include "replay/proxy.h"

/* Grids of a pattern, whose kernels follow each other by queued_ns when they are queued in time. */
struct kwhy_replay_burns {
	const uint32_t *grids;
	size_t count;
	double queued_ns;
};

/*
 * Measures what the proxy kernels of each class draw in those grids, of the grids' lengths; the others take
 * the powers of the nearest. 0.4 s a class and grid.
 */
KWHY_MUST_USE enum kwhy_status kwhy_proxies_measure_powers(struct kwhy_proxies *proxies,
	struct kwhy_device_energy *energy, const struct kwhy_replay_burns *burns, struct kwhy_error *error);

#endif
