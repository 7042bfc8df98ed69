/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_BUSY_H
#define KWHY_WHATIF_BUSY_H

#include "whatif/whatif.h"

/*
 * Sets the two busy shares of a plan: as recorded, and with all changes of the plan at their expected costs.
 * A busy share is the part of the run in which a device ran anything, as the mean over the devices with
 * activities. `whatif` must be the one that made the plan. Simulates the graph once, unless the plan has no
 * changes.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_add_busy(
	struct kwhy_whatif *whatif, struct kwhy_plan *plan, struct kwhy_error *error);

#endif
