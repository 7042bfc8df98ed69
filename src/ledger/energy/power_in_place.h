/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_POWER_IN_PLACE_H
#define KWHY_LEDGER_ENERGY_POWER_IN_PLACE_H

#include "base/status.h"
#include "model/ledger.h"

/*
 * Finds, for each account, how uncertain its power above idle is in place (between the program's other work)
 * if its power in bursts is known. Writes [account_count] standard deviations of the logarithm of the ratio
 * of both powers, including the scatter of the clock (last paragraph). 0: nothing makes the ratio uncertain,
 * as for an account without bursts.
 *
 * A burst is a kernel launched 20 times or more for 10 ms or more with hardly any other work between the
 * launches, so that the meter shows the power of that kernel. Between other work the same kernel with the
 * same grid takes a different time, because the caches hold other data and the clocks differ. The uncertainty
 * follows from the relative difference of the mean durations in place and in bursts, which the recording
 * shows.
 *
 * A difference of up to 3 % is taken to be due to the clock; bursts that slow down by more are left out. If a
 * lower clock slows work down, the power of the work falls by two to three times the relative difference of
 * the durations, because the voltage follows the clock. On an H200 (set A of docs/attribution.md) powers in
 * bursts differed from those measured in place by 0.3 to 3 times the difference; over nine operations the
 * root mean square is 1.8 times.
 *
 * The part of a difference beyond 3 % is taken to be due to the caches. Work that waits longer for memory may
 * draw the same power, or a power that is lower or higher by up to the relative difference of the durations;
 * if all values between these bounds are equally likely, the standard deviation is 0.58 of the difference.
 *
 * If kwhy probe restored the kernel's memory by copies between the repeats, readings show the sum of kernel
 * and copies. The power of these copies may differ from that of other copies of their size. This makes the
 * power of the kernel uncertain, too, unless bursts of these copies alone show their power.
 *
 * If the clock changes while the program's work runs, the standard deviation of its logarithm is added for
 * kernels. On an H200, a mixture of kernels at the power limit ran at 1560 to 1980 MHz; the ledger gave a
 * matrix product in fp16 910 W, but it drew 740 W in place, at 1690 MHz.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_places_find(const struct kwhy_device_ledger *device_ledger,
	const struct kwhy_recording *recording, uint32_t device, double *out_ratio, struct kwhy_error *error);

#endif
