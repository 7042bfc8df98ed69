/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_STATISTICS_H
#define KWHY_BASE_STATISTICS_H

#include <stddef.h>

/*
 * Of few repeated measurements, normally distributed. Intervals are 95 %, by Student's t: their true spread
 * is not known. NAN is what was not measured; it takes no part.
 */

/*
 * The t below which a share of Student's distribution lies; share in (0, 1), freedom above 0 and need not
 * be whole. Within 1e-9, by bisection of the incomplete beta function's continued fraction.
 */
double kwhy_student_quantile(double share, double freedom);

struct kwhy_estimate {
	size_t count; /* values that were measured */
	double mean, low, high;
	double deviation; /* of single values: sample standard deviation */
	double least, most;
};

/* NAN: mean, least and most of no values; deviation, low and high of fewer than two. */
void kwhy_estimate_of(const double *values, size_t count, struct kwhy_estimate *out);

/* Of sorted values, linear between the two next to it, as most programs do; NAN of none. */
double kwhy_quantile(const double *sorted, size_t count, double share);

/*
 * All of `above` over all of `below`, of the pairs that have both: the joules a unit of runs that did more
 * and less. The mean is that ratio of sums, so it is one over that of the two exchanged, and so are the ends
 * of its interval: of its logarithm, by the delta method, and above 0. Deviation: of pairs from what the
 * ratio predicts, over the mean below; least and most: of single pairs. No figure at all where `below` is
 * nothing in sum, no interval where `above` is.
 */
void kwhy_ratio_of(const double *above, const double *below, size_t count, struct kwhy_estimate *out);

/* Of values that come one by one and are not kept. Zero-initialise. */
struct kwhy_moments {
	double count, mean, squares; /* squares: of the distances from the mean */
};
void kwhy_moments_add(struct kwhy_moments *moments, double value);

/* Of a single value: 0 of fewer than two. */
double kwhy_moments_variance(const struct kwhy_moments *moments);

/*
 * How much mean `b` lies above mean `a`, without assuming that both scatter alike (Welch). A single value
 * scatters as the several beside it do, and was read as well as its low and high say (NAN: not known to be
 * off). Of two single ones these are all that is known: NAN gives NAN.
 */
struct kwhy_difference {
	double change, low, high;
	double ratio;		      /* the change over the size of a's mean */
	double ratio_low, ratio_high; /* lopsided, as a's own error is in it; NAN: a's mean may be 0, too */
};
void kwhy_difference_of(
	const struct kwhy_estimate *a, const struct kwhy_estimate *b, struct kwhy_difference *out);

#endif
