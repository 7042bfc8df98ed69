/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_MEDIAN_H
#define KWHY_FIT_MEDIAN_H

#include <stddef.h>

/*
 * The median of independent samples of any distribution, with an interval that contains the true median in
 * at least 95 % of cases. The ends are the order statistics whose binomial tails are at most 2.5 % each
 * (David and Nagaraja, Order Statistics, 7.1). Pure.
 */
struct kwhy_median {
	size_t count;
	double median, least, p5, p95; /* lowest value, 5 % and 95 % quantiles; NAN: no samples */
	double low, high;	       /* NAN: fewer than six samples, which allow no 95 % interval */
};

/* Computes the median; sorts `values` in place. */
void kwhy_median_of(double *values, size_t count, struct kwhy_median *out);

/*
 * Width of the interval divided by the median; INFINITY if the interval is unknown or the median is not above
 * 0.
 */
double kwhy_median_width(const struct kwhy_median *median);

#endif
