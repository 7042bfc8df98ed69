/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_BUSY_H
#define KWHY_WHATIF_BUSY_H

#include "whatif/whatif.h"

/*
 * Adds two busy shares to a plan: shares of the run during which a device ran anything, as means over the
 * devices that worked. One share is that of the recording, the other that of the run with all changes at the
 * expected costs. `whatif` is the one that made the plan. The call plays the graph once and, where changes
 * reorder work, sorts the activities.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_add_busy(
	struct kwhy_whatif *whatif, struct kwhy_plan *plan, struct kwhy_error *error);

#endif
