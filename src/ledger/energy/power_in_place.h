/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_POWER_IN_PLACE_H
#define KWHY_LEDGER_ENERGY_POWER_IN_PLACE_H

#include "base/status.h"
#include "model/ledger.h"

/*
 * How far what each account draws above idle in place may be from what it does in bursts, [account_count], as
 * a standard deviation of its logarithm; 0 where it has no bursts, or nothing else. A burst is a kernel
 * launched 20 times or more for 10 ms or more with hardly anything between: it shows the meter what the
 * kernel draws.
 *
 * Between other work the same kernel with the same grid takes another time: other data are in the caches, and
 * the clocks are others. The recording has the difference of the mean durations, and the power differs by
 * about 1.8 times as much: work that waits for memory draws less by about the share by which it takes longer,
 * work that a lower clock slows down by two to three times that, as the voltage follows the clock. On an H200
 * (set A of docs/attribution.md) powers in bursts differed from those measured in place by 0.3 to 3 times the
 * difference of the durations, by 1.8 times in the root mean square of nine operations.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_places_find(const struct kwhy_device_ledger *device_ledger,
	const struct kwhy_recording *recording, uint32_t device, double *out_ratio, struct kwhy_error *error);

#endif
