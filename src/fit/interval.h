/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_INTERVAL_H
#define KWHY_FIT_INTERVAL_H

/* A figure with its 95 % interval; low and high are NAN where they are unknown, all three for no figure. */
struct kwhy_interval {
	double value, low, high;
};

/* A figure without an interval; one that is not known. */
struct kwhy_interval kwhy_interval_exact(double value);
struct kwhy_interval kwhy_interval_unknown(void);

/* `factor` may be negative: low stays below high. */
struct kwhy_interval kwhy_interval_scaled(struct kwhy_interval a, double factor);

/* An unknown interval makes an unknown one. A sum is of what one meter saw and may err alike: ends add. */
struct kwhy_interval kwhy_interval_sum(struct kwhy_interval a, struct kwhy_interval b);
/* Of two runs, taken as independent: half-widths add in squares. An error that both share would cancel. */
struct kwhy_interval kwhy_interval_difference(struct kwhy_interval a, struct kwhy_interval b);

/* 1 / a for a positive figure; its interval's ends change places. */
struct kwhy_interval kwhy_interval_inverse(struct kwhy_interval a);

#endif
