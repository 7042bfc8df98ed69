/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_PAIRS_ANALYSIS_H
#define KWHY_PAIRS_ANALYSIS_H

#include "model/pairs.h"

enum { KWHY_PAIR_SAMPLES_MIN = 10 };

/*
 * Gives the configuration's array of samples, which the first call allocates from the arena. NULL: out of
 * memory.
 */
struct kwhy_pair_sample *kwhy_pair_samples(struct kwhy_pairs *pairs, struct kwhy_pair_config *config);

/*
 * Sets the median of the configuration's samples, its confidence interval, and the mean and standard
 * deviation of the samples.
 */
void kwhy_pair_sum_up(struct kwhy_pair_config *config);
/* Full width of the confidence interval of the configuration's median, divided by the median. */
double kwhy_pair_width(const struct kwhy_pair_config *config);

/* Evaluates the samples and stores the results in `pairs`: curves, LogGP, flags and criteria. Pure. */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_conclude(struct kwhy_pairs *pairs, struct kwhy_error *error);

/* Steps of kwhy_pairs_conclude(), which evaluate the samples. */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_fit_curves(struct kwhy_pairs *pairs, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pairs_fit_loggp(struct kwhy_pairs *pairs, struct kwhy_error *error);
/* The steps below read the curves and LogGP parameters that the steps above have stored. */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_hold_out(struct kwhy_pairs *pairs, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pairs_relate(struct kwhy_pairs *pairs, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pairs_find_flags(struct kwhy_pairs *pairs, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pairs_judge(struct kwhy_pairs *pairs, struct kwhy_error *error);

/*
 * Smallest size of the fits of time = alpha + beta * bytes, the model of most simulators. From this size
 * on, time is expected to be linear in size.
 */
#define KWHY_PAIR_LINE_FROM_BYTES (UINT64_C(64) << 10)

/*
 * Fits the line seconds = alpha + beta * bytes to the medians of a curve's sizes from `from_bytes` on, with
 * weights 1 / seconds^2. The intervals of alpha and beta come from leaving out one size at a time
 * (jackknife). Both are NAN if the curve has fewer than three such sizes.
 */
struct kwhy_pair_line {
	struct kwhy_pair_figure alpha, beta;
	size_t count;
};
void kwhy_pair_line_fit(const struct kwhy_pairs *pairs, const struct kwhy_pair_config *key,
	uint64_t from_bytes, struct kwhy_pair_line *out);

/*
 * The clock whose measurements of an engine's transfers, each alone on the links, are compared with
 * predictions. It is the first that was measured of: back to back, isolated, by the host, queued. False:
 * none was measured.
 */
bool kwhy_pairs_clock_of(
	const struct kwhy_pairs *pairs, enum kwhy_pair_engine engine, enum kwhy_pair_clock *out);

/*
 * Fits the links of an engine to its measurements by one clock. Collectives have no links. The result
 * borrows `pairs`.
 */
void kwhy_pairs_series_fit(const struct kwhy_pairs *pairs, enum kwhy_pair_engine engine,
	enum kwhy_pair_clock clock, struct kwhy_pair_series *out);

#endif
