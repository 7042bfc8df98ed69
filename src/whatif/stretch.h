/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_STRETCH_H
#define KWHY_WHATIF_STRETCH_H

#include "whatif/whatif.h"

/* Largest number of activities and calls in an excerpt. A picture with more of them is unreadable. */
enum { KWHY_WHATIF_STRETCH_ITEMS = 800 };

/*
 * Adds an excerpt of the run to the plan, for a picture: up to four steps, among them one of about median
 * length or, if steps are unknown, the middle of the work of the device with most activities. It has the
 * recorded times, and the simulated times with all changes of the plan at the expected costs. `whatif` must
 * be the one that made the plan.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_add_stretch(
	struct kwhy_whatif *whatif, struct kwhy_plan *plan, struct kwhy_error *error);

#endif
