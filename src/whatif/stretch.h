/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_STRETCH_H
#define KWHY_WHATIF_STRETCH_H

#include "whatif/whatif.h"

/* Activities and calls of a stretch at most: more is no picture. */
enum { KWHY_WHATIF_STRETCH_ITEMS = 800 };

/*
 * Gives the plan the stretch of the run that stands for it: up to four steps from one of median length, or
 * the middle of the busiest device where no steps are known; as recorded, and played with all changes of the
 * plan at the costs that are to be expected. `whatif` is the one that made the plan.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_add_stretch(
	struct kwhy_whatif *whatif, struct kwhy_plan *plan, struct kwhy_error *error);

#endif
