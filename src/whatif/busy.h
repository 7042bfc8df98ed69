/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_BUSY_H
#define KWHY_WHATIF_BUSY_H

#include "whatif/whatif.h"

/*
 * Adds two shares to the plan: of the time during which the devices that worked ran anything, as a mean over
 * those devices. One share is as recorded, the other with all changes at the expected costs. `whatif` is the
 * one that made the plan. Cost: one play and, where changes reorder work, a sort.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_add_busy(
	struct kwhy_whatif *whatif, struct kwhy_plan *plan, struct kwhy_error *error);

#endif
