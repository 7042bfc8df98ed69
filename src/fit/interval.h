/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_INTERVAL_H
#define KWHY_FIT_INTERVAL_H

/*
 * A figure with its 95 % interval. low and high are NAN if the interval is unknown; value, low and high are
 * NAN if the figure itself is unknown.
 */
struct kwhy_interval {
	double value, low, high;
};

/* kwhy_interval_exact(): a figure whose interval is unknown. kwhy_interval_unknown(): an unknown figure. */
struct kwhy_interval kwhy_interval_exact(double value);
struct kwhy_interval kwhy_interval_unknown(void);

/*
 * A figure times a factor. If the factor is negative, the ends are swapped, so that low stays below high.
 */
struct kwhy_interval kwhy_interval_scaled(struct kwhy_interval a, double factor);

/*
 * Sum of two figures of one meter, whose errors may have the same sign, so the half-widths add linearly. If
 * one interval is unknown, so is that of the sum.
 */
struct kwhy_interval kwhy_interval_sum(struct kwhy_interval a, struct kwhy_interval b);
/*
 * Difference of two figures of different runs. They are taken as independent, so the half-widths add in
 * quadrature. If both runs have an error in common, it cancels in the difference, and the interval is wider
 * than necessary.
 */
struct kwhy_interval kwhy_interval_difference(struct kwhy_interval a, struct kwhy_interval b);

/*
 * 1 / a, with the ends of the interval swapped. Unknown if a is not above 0; the interval alone is unknown if
 * a.low is not above 0.
 */
struct kwhy_interval kwhy_interval_inverse(struct kwhy_interval a);

#endif
