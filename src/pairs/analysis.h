/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_PAIRS_ANALYSIS_H
#define KWHY_PAIRS_ANALYSIS_H

#include "model/pairs.h"

enum { KWHY_PAIR_SAMPLES_MIN = 10 };

/* The configuration's sample array, allocated from the arena if need be; NULL: out of memory. */
struct kwhy_pair_sample *kwhy_pair_samples(struct kwhy_pairs *pairs, struct kwhy_pair_config *config);

/* Computes median, interval and mean from the configuration's samples. */
void kwhy_pair_sum_up(struct kwhy_pair_config *config);
/* Full width of the median's interval over the median, as kwhy_median_width(). */
double kwhy_pair_width(const struct kwhy_pair_config *config);

/* Evaluates the samples and stores the results in `pairs`: curves, LogGP, flags and criteria. Pure. */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_conclude(struct kwhy_pairs *pairs, struct kwhy_error *error);

/* Steps of kwhy_pairs_conclude(): */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_fit_curves(struct kwhy_pairs *pairs, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pairs_fit_loggp(struct kwhy_pairs *pairs, struct kwhy_error *error);
/* These steps need the curves and LogGP. */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_hold_out(struct kwhy_pairs *pairs, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pairs_relate(struct kwhy_pairs *pairs, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pairs_find_flags(struct kwhy_pairs *pairs, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pairs_judge(struct kwhy_pairs *pairs, struct kwhy_error *error);

/*
 * From this size on time is expected to be linear in size; the alpha-beta model of simulators is fitted
 * there.
 */
#define KWHY_PAIR_LINE_FROM_BYTES (UINT64_C(64) << 10)

/*
 * Fits a line, seconds = alpha + beta * bytes, to the medians of a curve's sizes from `from_bytes` on, with
 * weights 1 / seconds^2. Intervals come from leaving one size out at a time (jackknife). NAN: fewer than
 * three sizes.
 */
struct kwhy_pair_line {
	struct kwhy_pair_figure alpha, beta;
	size_t count;
};
void kwhy_pair_line_fit(const struct kwhy_pairs *pairs, const struct kwhy_pair_config *key,
	uint64_t from_bytes, struct kwhy_pair_line *out);

#endif
