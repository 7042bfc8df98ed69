/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_STRETCH_H
#define KWHY_WHATIF_STRETCH_H

#include "whatif/whatif.h"

/* Largest number of activities and calls of a stretch: a picture of more is unreadable. */
enum { KWHY_WHATIF_STRETCH_ITEMS = 800 };

/*
 * Adds to the plan a stretch that represents the run: up to four steps from one of median length, or the
 * middle of the busiest device's work where steps are unknown. It is given as recorded, and as played with
 * all changes of the plan at the expected costs. `whatif` is the one that made the plan.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_add_stretch(
	struct kwhy_whatif *whatif, struct kwhy_plan *plan, struct kwhy_error *error);

#endif
