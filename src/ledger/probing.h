/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_PROBING_H
#define KWHY_LEDGER_PROBING_H

#include "ledger/energy/coverage.h"
#include "model/ledger.h"

/*
 * Activities of kwhy probe between the program's own work (ADR 0029). They have origin KWHY_ORIGIN_REPEAT or
 * KWHY_ORIGIN_PROBER and accounts of category probing, and their time does not count as time of the program.
 */

/* Whether a device has activities of kwhy probe. */
bool kwhy_probing_is_there(const struct kwhy_recording *recording, uint32_t device);

/*
 * Removes the intervals in which kwhy probe was at work from the known windows; they become unrecorded time
 * and are listed in covered->probing. An interval begins with a burst, or with the end of the work that the
 * program had launched before. It ends with the burst or with the burst's last activity, whichever is
 * later. Time in which activities of the program itself run is no part of it.
 */
KWHY_MUST_USE enum kwhy_status kwhy_probing_cut(struct kwhy_covered *covered,
	const struct kwhy_recording *recording, uint32_t device, struct kwhy_error *error);

/*
 * Intervals of kwhy probe in which the device's clock was not that of the program, so that the device's power
 * differs from the power of the kernel between the program's other work. throttled_count: in the last quarter
 * of the interval, repeats took more than 3 % longer than in the first quarter, because the clock fell, as it
 * does at the power limit. A step of an H200's clock is 0.8 %. clock_count: other intervals whose clock was
 * read and is none of the program's (work_clock.h).
 */
struct kwhy_probing_unlike {
	struct kwhy_window *windows; /* [throttled_count + clock_count]; the caller frees them */
	size_t throttled_count, clock_count, all_count; /* all_count: all intervals with repeats */
};

KWHY_MUST_USE enum kwhy_status kwhy_probing_unlike_find(const struct kwhy_recording *recording,
	uint32_t device, struct kwhy_probing_unlike *out, struct kwhy_error *error);

/*
 * Writes, for each account of repeats, the program's account of the same kernel, which gets the same power,
 * to out_twins[account_count]. KWHY_NONE: the account is one of the program, or the program itself did not
 * run the kernel.
 */
void kwhy_probing_twins(const struct kwhy_device_ledger *device_ledger, uint32_t *out_twins);

/*
 * Removes the activities of kwhy probe from a recording whose ledger is complete, so that findings, plans
 * and steps show the program alone. Updates the ledger's account_of.
 */
void kwhy_probing_drop(struct kwhy_ledger *ledger, struct kwhy_recording *recording);

#endif
