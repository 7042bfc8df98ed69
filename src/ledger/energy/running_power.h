/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_RUNNING_POWER_H
#define KWHY_LEDGER_ENERGY_RUNNING_POWER_H

#include "ledger/sweep.h"
#include "model/ledger.h"

/*
 * State of a sweep that computes the energy of a device, interval by interval, from its idle power and the
 * power above idle of each running activity by the ledger. Kernels whose grids together exceed the
 * multiprocessors are scaled down to share them; copies and memsets are not. Powers are integers, so that the
 * end of an activity subtracts exactly what its start has added.
 */
struct kwhy_running_power {
	const struct kwhy_ledger *ledger;
	const struct kwhy_recording *recording;
	uint32_t device;
	size_t kernel_count, copy_count, unknown_count;
	uint64_t grid_sum; /* sum of the shares of multiprocessors that the running kernels occupy;
			      KWHY_RESIDENT_FULL: all multiprocessors */
	int64_t kernel_power_nw, copy_power_nw;
};

/*
 * Energy of the device in the next interval of the sweep, in nJ; NAN: it is unrecorded, or an activity of
 * unknown power runs. Must be called for every interval, in order.
 */
double kwhy_running_power_nj(struct kwhy_running_power *running, const struct kwhy_sweep_interval *stretch);

#endif
