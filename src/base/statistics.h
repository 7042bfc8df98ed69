/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_STATISTICS_H
#define KWHY_BASE_STATISTICS_H

#include <stddef.h>

/*
 * Statistics of few repeated measurements that are normally distributed. Intervals are 95 %, by Student's t,
 * as the true standard deviation is unknown. Values that are NAN were not measured and are ignored.
 */

/*
 * Quantile of Student's distribution: the value t below which the share `share` of the distribution lies.
 * share is in (0, 1); freedom is above 0 and may be fractional. Relative error below 1e-9. NAN: an argument
 * is out of range.
 */
double kwhy_student_quantile(double share, double freedom);

struct kwhy_estimate {
	size_t count; /* number of known values or, for a ratio, known pairs */
	double mean, low, high;
	double deviation; /* sample standard deviation of the values, not of their mean */
	double least, most;
};

/*
 * Estimates the mean of values and its 95 % interval. mean, least and most are NAN without values; deviation,
 * low and high are NAN with fewer than two.
 */
void kwhy_estimate_of(const double *values, size_t count, struct kwhy_estimate *out);

/*
 * Ratio of two sums: the sum of `above` divided by the sum of `below`, over the pairs in which both values
 * are known. An example is joules per unit of work, for runs that did different amounts of it. `mean` is
 * the ratio of sums. Its interval is computed for the logarithm of the ratio by the delta method, so its
 * ends are above 0, and exchanging `above` and `below` gives the reciprocals. `deviation` is the standard
 * deviation of `above` from the values that the ratio predicts, divided by the mean of `below`; least and
 * most are ratios of single pairs. All figures are NAN if the sum of `below` is not above 0, and only the
 * interval is NAN if the sum of `above` is not.
 */
void kwhy_ratio_of(const double *above, const double *below, size_t count, struct kwhy_estimate *out);

/* Running moments of values that are not stored. Zero-initialise. */
struct kwhy_moments {
	double count, mean, squares; /* squares: sum of squared distances from the mean */
};
void kwhy_moments_add(struct kwhy_moments *moments, double value);

/* Sample variance of the values; 0 with fewer than two. */
double kwhy_moments_variance(const struct kwhy_moments *moments);

/*
 * Difference of the means of `b` and `a`, without assuming equal variances (Welch). If one side has a single
 * value, its interval has the standard deviation of the other side's values, combined with a reading error of
 * half the distance from its own low to its own high (NAN: none). If both sides have single values, the
 * interval comes from the low and high of the two only, and is NAN if these are NAN.
 */
struct kwhy_difference {
	double change, low, high;
	double ratio;		      /* b's mean minus a's mean, divided by the absolute value of a's mean */
	double ratio_low, ratio_high; /* interval of `ratio`, which includes the error of a's mean; NAN: a's
					 mean may be 0 */
};
void kwhy_difference_of(
	const struct kwhy_estimate *a, const struct kwhy_estimate *b, struct kwhy_difference *out);

#endif
