/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_PAIRS_ANALYSIS_H
#define KWHY_PAIRS_ANALYSIS_H

#include "model/pairs.h"

enum { KWHY_PAIR_SAMPLES_MIN = 10 };

/* Space for its samples, from the arena; NULL: no memory. */
struct kwhy_pair_sample *kwhy_pair_samples(struct kwhy_pairs *pairs, struct kwhy_pair_config *config);

/* What follows from its samples. */
void kwhy_pair_sum_up(struct kwhy_pair_config *config);
/* As kwhy_median_width(). */
double kwhy_pair_width(const struct kwhy_pair_config *config);

/* What follows from samples: curves, LogGP, flags and criteria, in place. Pure. */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_conclude(struct kwhy_pairs *pairs, struct kwhy_error *error);

/* Parts of it. */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_fit_curves(struct kwhy_pairs *pairs, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pairs_fit_loggp(struct kwhy_pairs *pairs, struct kwhy_error *error);
/* After curves and LogGP. */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_hold_out(struct kwhy_pairs *pairs, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pairs_relate(struct kwhy_pairs *pairs, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pairs_find_flags(struct kwhy_pairs *pairs, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pairs_judge(struct kwhy_pairs *pairs, struct kwhy_error *error);

/* From this size on a straight line is expected: alpha-beta of simulators is fitted there. */
#define KWHY_PAIR_LINE_FROM_BYTES (UINT64_C(64) << 10)

/*
 * One line seconds = alpha + beta * bytes over the medians of a curve's sizes from `from_bytes` on, by
 * weights 1 / seconds^2; intervals by leaving one size out (jackknife). NAN where there are fewer than three
 * sizes.
 */
struct kwhy_pair_line {
	struct kwhy_pair_figure alpha, beta;
	size_t count;
};
void kwhy_pair_line_fit(const struct kwhy_pairs *pairs, const struct kwhy_pair_config *key,
	uint64_t from_bytes, struct kwhy_pair_line *out);

#endif
