/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_STEPS_H
#define KWHY_WHATIF_STEPS_H

#include "whatif/change.h"

/*
 * Numbers the steps of a run. Steps are those that ranges name. Without such ranges they are the longest
 * repeating sequence of work: it begins with a kernel name that comes back after the same number of
 * activities, at least three times and during most of the run. Sets step, step_count, steps_named and
 * step_words.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_find_steps(struct kwhy_whatif *whatif, struct kwhy_error *error);

/* Sets scatter_ratio, for which the steps and the powers must be known. */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_find_scatter(struct kwhy_whatif *whatif, struct kwhy_error *error);

#endif
