/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_SLOPE_H
#define KWHY_FIT_SLOPE_H

/*
 * An interval, of a figure or of a slope. A slope is the derivative of a result with respect to a figure from
 * which the result is computed. Its interval contains the slopes for all values in the figures' intervals. An
 * end that cannot be computed is infinite.
 */
struct kwhy_slope_bounds {
	double low, high;
};

struct kwhy_slope_bounds kwhy_range_sum(struct kwhy_slope_bounds a, struct kwhy_slope_bounds b, int sign);
struct kwhy_slope_bounds kwhy_range_product(struct kwhy_slope_bounds a, struct kwhy_slope_bounds b);
/* The quotient of two intervals, of which `b` must not include 0. */
struct kwhy_slope_bounds kwhy_range_quotient(struct kwhy_slope_bounds a, struct kwhy_slope_bounds b);

/*
 * Slopes of the product a * b and of the quotient a / b, from the slopes of a and b with respect to the same
 * figure. `quotient` is the interval of a / b itself, from kwhy_range_quotient().
 */
struct kwhy_slope_bounds kwhy_slope_product(struct kwhy_slope_bounds a, struct kwhy_slope_bounds a_slope,
	struct kwhy_slope_bounds b, struct kwhy_slope_bounds b_slope);
struct kwhy_slope_bounds kwhy_slope_quotient(struct kwhy_slope_bounds quotient,
	struct kwhy_slope_bounds a_slope, struct kwhy_slope_bounds b, struct kwhy_slope_bounds b_slope);

#endif
