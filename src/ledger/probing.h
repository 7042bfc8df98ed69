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
 * Removes the intervals in which kwhy probe was at work from covered->windows; they become unrecorded time
 * and are listed in covered->probing. An interval begins with a burst (repeats of one kernel in a row), or
 * with the end of the work that the program had launched before, if that is later. It ends with the burst or
 * with the burst's last activity, whichever is later. Activities of the program itself are cut out of it.
 */
KWHY_MUST_USE enum kwhy_status kwhy_probing_cut(struct kwhy_covered *covered,
	const struct kwhy_recording *recording, uint32_t device, struct kwhy_error *error);

/*
 * Intervals of kwhy probe in which the device's clock was not that of the program's work, so that the power
 * of a repeated kernel was not its power in place (between the program's other work). throttled_count: the
 * last quarter of the repeats took more than 3 % longer than the first, because the clock fell, as it does at
 * the power limit; a step of an H200's clock is 0.8 %. clock_count: other intervals whose mean clock is none
 * of the program's (work_clock.h).
 */
struct kwhy_probing_unlike {
	struct kwhy_window *windows; /* [throttled_count + clock_count]; the caller frees them */
	size_t throttled_count, clock_count, all_count; /* all_count: all intervals with repeats */
};

KWHY_MUST_USE enum kwhy_status kwhy_probing_unlike_find(const struct kwhy_recording *recording,
	uint32_t device, struct kwhy_probing_unlike *out, struct kwhy_error *error);

/*
 * Writes to out_twins[account_count], for each account of activities of kwhy probe, the program's account of
 * the same name, which gets the same power. KWHY_NONE: the account is not one of kwhy probe, or the program
 * has no account of that name.
 */
void kwhy_probing_twins(const struct kwhy_device_ledger *device_ledger, uint32_t *out_twins);

/*
 * Removes the activities of kwhy probe from a recording, so that findings, plans and steps show the program
 * alone. Called when times and energies of the recording's devices are complete. Updates the ledger's
 * account_of.
 */
void kwhy_probing_drop(struct kwhy_ledger *ledger, struct kwhy_recording *recording);

#endif
