/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_STEPS_H
#define KWHY_WHATIF_STEPS_H

#include "whatif/change.h"

/* Half-width of the central 90 % of a normal distribution, in standard deviations. */
#define KWHY_SCATTER_QUANTILE 1.645

/*
 * Standard deviation, between two runs of one program, of the logarithm of the ratio of their host-limited
 * times (whatif/critical.h), as a root mean square. Measured with 19 pairs of repeated runs of PyTorch
 * programs on one H200, 2026-11-29 (docs/results/projections.md).
 */
#define KWHY_HOST_LOG_RATIO_SD 0.137

/*
 * Numbers the steps of a run: sets step, step_count, steps_named and step_words. Steps are those that ranges
 * name, if there are at least two. Otherwise, on each device, they are the longest repeating sequence of
 * work: it begins with a kernel name that comes back after the same number of activities, at least three
 * times and during most of the run.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_find_steps(struct kwhy_whatif *whatif, struct kwhy_error *error);

/* Sets scatter_ratio. Called after kwhy_whatif_find_steps() and kwhy_whatif_read_powers(). */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_find_scatter(struct kwhy_whatif *whatif, struct kwhy_error *error);

#endif
