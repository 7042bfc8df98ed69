/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_INTERVAL_H
#define KWHY_FIT_INTERVAL_H

/*
 * A figure with its 95 % interval. low and high are NAN where they are unknown; all three are NAN where the
 * figure is.
 */
struct kwhy_interval {
	double value, low, high;
};

/* A figure without an interval, and an unknown figure. */
struct kwhy_interval kwhy_interval_exact(double value);
struct kwhy_interval kwhy_interval_unknown(void);

/* `factor` may be negative: low stays below high. */
struct kwhy_interval kwhy_interval_scaled(struct kwhy_interval a, double factor);

/*
 * Sum of two figures; an unknown interval makes that of the sum unknown. The figures come from one meter,
 * whose errors may be alike, so the half-widths add linearly.
 */
struct kwhy_interval kwhy_interval_sum(struct kwhy_interval a, struct kwhy_interval b);
/*
 * Difference of two runs, taken as independent: half-widths add in squares. An error that both share would
 * cancel.
 */
struct kwhy_interval kwhy_interval_difference(struct kwhy_interval a, struct kwhy_interval b);

/* 1 / a for a positive figure; the ends of the interval are swapped. */
struct kwhy_interval kwhy_interval_inverse(struct kwhy_interval a);

#endif
