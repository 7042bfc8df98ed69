/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_POWER_IN_PLACE_H
#define KWHY_LEDGER_ENERGY_POWER_IN_PLACE_H

#include "base/status.h"
#include "model/ledger.h"

/*
 * Uncertainty of the power above idle of each account in place, compared with its power in bursts:
 * [account_count], the standard deviation of its logarithm. 0: the account has no bursts, or bursts only. A
 * burst is a kernel launched 20 times or more for 10 ms or more with hardly any time between the launches;
 * the meter shows the power of that kernel.
 *
 * Between other work the same kernel with the same grid takes a different time, as the caches hold other data
 * and the clocks differ. The recording gives the difference of the mean durations. Work that a lower clock
 * slows down draws less by two to three times that share, as the voltage follows the clock; on an H200 (set A
 * of docs/attribution.md) powers in bursts differed from those measured in place by 0.3 to 3 times the
 * difference, 1.8 times as root mean square over nine operations. A clock differs by 3 % at most, since
 * bursts that slow down by more are left out. Beyond that the caches hold other data: work that waits for
 * memory draws the same power for longer, or less by up to the share by which it takes longer, or as much
 * more; evenly between these bounds that is 0.58 of the share.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_places_find(const struct kwhy_device_ledger *device_ledger,
	const struct kwhy_recording *recording, uint32_t device, double *out_ratio, struct kwhy_error *error);

#endif
