/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_PROBING_H
#define KWHY_LEDGER_PROBING_H

#include "ledger/energy/coverage.h"
#include "model/ledger.h"

/*
 * What kwhy probe did between the program's own work: ADR 0029. Its activities (origin repeat and prober)
 * have accounts of category probing, and its stretches of time are no time of the program's.
 */

/* Whether a device has activities of a probe. */
bool kwhy_probing_is_there(const struct kwhy_recording *recording, uint32_t device);

/*
 * Takes the intervals in which a probe was at work out of the known windows: they are hidden, and listed in
 * covered->probing. A stretch goes from the first activity of a burst to the end of the burst or of its last
 * activity, whichever is later; without what the program itself runs meanwhile.
 */
KWHY_MUST_USE enum kwhy_status kwhy_probing_cut(struct kwhy_covered *covered,
	const struct kwhy_recording *recording, uint32_t device, struct kwhy_error *error);

/*
 * Stretches whose repeats took more than 3 % longer in the last quarter than in the first: the device lowered
 * its clock, as at its power limit, and what it drew then is not what the kernel draws in place. A step of an
 * H200's clock is 0.8 %. *out is to be freed; of *out_all stretches.
 */
KWHY_MUST_USE enum kwhy_status kwhy_probing_throttled(const struct kwhy_recording *recording, uint32_t device,
	struct kwhy_window **out, size_t *out_count, size_t *out_all, struct kwhy_error *error);

/*
 * The program's account of the kernel that each account of repeats is of, [account_count]; KWHY_NONE: the
 * program's own accounts, and repeats of what the program never ran. Both have one power.
 */
void kwhy_probing_twins(const struct kwhy_device_ledger *device_ledger, uint32_t *out_twins);

/*
 * Takes the activities of the probe out of a recording whose books are made: whoever looks for waste, plans
 * or shows steps then sees the program alone. account_of of the ledger follows.
 */
void kwhy_probing_drop(struct kwhy_ledger *ledger, struct kwhy_recording *recording);

#endif
