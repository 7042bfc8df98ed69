/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_PROBING_H
#define KWHY_LEDGER_PROBING_H

#include "ledger/energy/coverage.h"
#include "model/ledger.h"

/*
 * Activities of kwhy probe between the program's own work (ADR 0029). They (origin repeat and prober) have
 * accounts of category probing, and their time is not counted as the program's.
 */

/* Whether a device has activities of a probe. */
bool kwhy_probing_is_there(const struct kwhy_recording *recording, uint32_t device);

/*
 * Removes the intervals in which a probe was running from the known windows: they become unrecorded and are
 * listed in covered->probing. An interval reaches from the first activity of a burst to the end of the burst
 * or of its last activity, whichever is later, without the time in which activities of the program itself
 * run.
 */
KWHY_MUST_USE enum kwhy_status kwhy_probing_cut(struct kwhy_covered *covered,
	const struct kwhy_recording *recording, uint32_t device, struct kwhy_error *error);

/*
 * Finds intervals whose repeats took more than 3 % longer in the last quarter than in the first: the device
 * lowered its clock, as at its power limit, so its power differs from that of the kernel in place. A step of
 * an H200's clock is 0.8 %. The caller frees *out; *out_all is the number of all intervals.
 */
KWHY_MUST_USE enum kwhy_status kwhy_probing_throttled(const struct kwhy_recording *recording, uint32_t device,
	struct kwhy_window **out, size_t *out_count, size_t *out_all, struct kwhy_error *error);

/*
 * For each account of repeats, the program's account of the same kernel: [account_count]. KWHY_NONE: an
 * account of the program, or repeats of a kernel that the program never ran. Both accounts have one power.
 */
void kwhy_probing_twins(const struct kwhy_device_ledger *device_ledger, uint32_t *out_twins);

/*
 * Removes the activities of the probe from a recording whose ledger is complete. Findings, plans and steps
 * then show the program alone. Updates account_of of the ledger.
 */
void kwhy_probing_drop(struct kwhy_ledger *ledger, struct kwhy_recording *recording);

#endif
