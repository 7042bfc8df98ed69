/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_BUSY_H
#define KWHY_WHATIF_BUSY_H

#include "whatif/whatif.h"

/*
 * Gives the plan the share of its time during which the devices that worked were busy with anything, a mean
 * over them: as recorded, and with all changes at the costs that are to be expected. `whatif` is the one that
 * made the plan. One play and, where changes put work into another order, a sort.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_add_busy(
	struct kwhy_whatif *whatif, struct kwhy_plan *plan, struct kwhy_error *error);

#endif
