/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_RUNNING_POWER_H
#define KWHY_LEDGER_ENERGY_RUNNING_POWER_H

#include "ledger/sweep.h"
#include "model/ledger.h"

/*
 * Energy of a device stretch by stretch: idle, plus what each running activity draws above it. Kernels
 * whose grids together are more than the multiprocessors share these; copies and memsets run beside.
 * Powers are integers, so that what ends takes away exactly what it brought.
 */
struct kwhy_running_power {
	const struct kwhy_ledger *ledger;
	const struct kwhy_recording *recording;
	uint32_t device;
	size_t kernel_count, copy_count, unknown_count;
	uint64_t grid_sum; /* of the kernels that run, all multiprocessors = KWHY_RESIDENT_FULL */
	int64_t kernel_power_nw, copy_power_nw;
};

/* Shown every stretch of one sweep; NAN: unknown. */
double kwhy_running_power_nj(struct kwhy_running_power *running, const struct kwhy_sweep_interval *stretch);

#endif
