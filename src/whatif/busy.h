/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_BUSY_H
#define KWHY_WHATIF_BUSY_H

#include "whatif/whatif.h"

/*
 * Adds two busy shares to a plan: that of the recording, and that of the run with all changes at the
 * expected costs. A busy share is the part of the run in which a device ran anything, as the mean over the
 * devices that worked. `whatif` is the one that made the plan. The call simulates the graph once and sorts
 * the activities where changes reorder work.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_add_busy(
	struct kwhy_whatif *whatif, struct kwhy_plan *plan, struct kwhy_error *error);

#endif
