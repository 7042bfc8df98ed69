/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_POWERS_H
#define KWHY_REPLAY_POWERS_H

#include "bench/device_energy.h"
#include "replay/standin.h"

/* Measures what the stand-ins of each class draw in `count` of the grids; the others take the power of the
 * nearest. 0.4 s a class and grid. */
KWHY_MUST_USE enum kwhy_status kwhy_standins_measure_powers(struct kwhy_standins *standins,
	struct kwhy_device_energy *energy, const uint32_t *grids, size_t count, struct kwhy_error *error);

#endif
