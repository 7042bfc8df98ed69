/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_STEPS_H
#define KWHY_WHATIF_STEPS_H

#include "whatif/change.h"

/* Half-width of the central 90 % of a normal distribution, in standard deviations. */
#define KWHY_SCATTER_QUANTILE 1.645

/*
 * How much host-limited time (whatif/critical.h) differs between two runs of one program: root mean square
 * of the logarithm of their ratio. Measured with 19 pairs of repeated runs of PyTorch programs on one H200,
 * 2026-11-29 (docs/results/projections.md).
 */
#define KWHY_HOST_LOG_RATIO_SD 0.137

/*
 * Numbers the steps of a run. Steps are those that ranges name. Without such ranges they are the longest
 * repeating sequence of work: it begins with a kernel name that comes back after the same number of
 * activities, at least three times and during most of the run. Sets step, step_count, steps_named and
 * step_words.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_find_steps(struct kwhy_whatif *whatif, struct kwhy_error *error);

/* Sets scatter_ratio. The steps and the powers must be known. */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_find_scatter(struct kwhy_whatif *whatif, struct kwhy_error *error);

#endif
