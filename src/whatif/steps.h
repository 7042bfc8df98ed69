/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_STEPS_H
#define KWHY_WHATIF_STEPS_H

#include "whatif/change.h"

/*
 * Numbers the steps of a run. They are the steps that ranges name, else those of the longest repeating
 * sequence of work: a name that comes back after the same number of activities, at least three times, during
 * most of the run. Fills step, step_count and step_words.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_find_steps(struct kwhy_whatif *whatif, struct kwhy_error *error);

/* Fills scatter_ratio; needs the steps and the powers. */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_find_scatter(struct kwhy_whatif *whatif, struct kwhy_error *error);

#endif
