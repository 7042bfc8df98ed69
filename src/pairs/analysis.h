/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_PAIRS_ANALYSIS_H
#define KWHY_PAIRS_ANALYSIS_H

#include "model/pairs.h"

enum { KWHY_PAIR_SAMPLES_MIN = 10 };

/*
 * Returns the configuration's samples, KWHY_PAIR_SAMPLES_MAX items, which the first call allocates in the
 * arena. NULL: memory is exhausted.
 */
struct kwhy_pair_sample *kwhy_pair_samples(struct kwhy_pairs *pairs, struct kwhy_pair_config *config);

/* Sets summary, mean_s and deviation_s from the configuration's samples. */
void kwhy_pair_sum_up(struct kwhy_pair_config *config);
/* Width of the confidence interval of the samples' median, divided by the median. */
double kwhy_pair_width(const struct kwhy_pair_config *config);

/*
 * Evaluates the samples and stores in `pairs` curves, LogGP parameters, flags and criteria. It measures
 * nothing.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_conclude(struct kwhy_pairs *pairs, struct kwhy_error *error);

/* Steps of kwhy_pairs_conclude(), in this order. These evaluate the samples. */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_fit_curves(struct kwhy_pairs *pairs, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pairs_fit_loggp(struct kwhy_pairs *pairs, struct kwhy_error *error);
/* The following steps also use the curves and LogGP parameters. */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_hold_out(struct kwhy_pairs *pairs, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pairs_relate(struct kwhy_pairs *pairs, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pairs_find_flags(struct kwhy_pairs *pairs, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pairs_judge(struct kwhy_pairs *pairs, struct kwhy_error *error);

/*
 * Smallest size that is used to fit time = alpha + beta * bytes, the model of most simulators. Below it, time
 * is not expected to be linear in size.
 */
#define KWHY_PAIR_LINE_FROM_BYTES (UINT64_C(64) << 10)

/*
 * Fits seconds = alpha + beta * bytes to the medians of those configurations that differ from `key` only in
 * size, and have at least `from_bytes`, with weights 1 / seconds^2. The 95 % intervals come from the fits
 * without each of the sizes (jackknife). All values are NAN with fewer than three sizes; count: the number of
 * sizes.
 */
struct kwhy_pair_line {
	struct kwhy_pair_figure alpha, beta;
	size_t count;
};
void kwhy_pair_line_fit(const struct kwhy_pairs *pairs, const struct kwhy_pair_config *key,
	uint64_t from_bytes, struct kwhy_pair_line *out);

/*
 * Chooses the kind of time measurement (enum kwhy_pair_clock) by which an engine is compared with
 * predictions: the first of "back to back", "isolated", "by the host" and "queued" that has a sample of a
 * transfer while no other used the links. False: none has.
 */
bool kwhy_pairs_clock_of(
	const struct kwhy_pairs *pairs, enum kwhy_pair_engine engine, enum kwhy_pair_clock *out);

/*
 * Fits a line, for each two GPUs, to the times of an engine that were measured by one clock. For engines that
 * are collectives no line is fitted. `out` refers to `pairs`, which must outlive it.
 */
void kwhy_pairs_series_fit(const struct kwhy_pairs *pairs, enum kwhy_pair_engine engine,
	enum kwhy_pair_clock clock, struct kwhy_pair_series *out);

#endif
