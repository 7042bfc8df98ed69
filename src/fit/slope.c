/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/slope.h"

#include <math.h>

static struct kwhy_slope_bounds over(const double ends[4])
{
	struct kwhy_slope_bounds range = {INFINITY, -INFINITY};

	for (int i = 0; i < 4; i++) {
		if (!isfinite(ends[i]))
			return (struct kwhy_slope_bounds){-INFINITY, INFINITY};
		range.low = fmin(range.low, ends[i]);
		range.high = fmax(range.high, ends[i]);
	}
	return range;
}

struct kwhy_slope_bounds kwhy_range_sum(struct kwhy_slope_bounds a, struct kwhy_slope_bounds b, int sign)
{
	const double ends[4] = {
		a.low + sign * b.low, a.low + sign * b.high, a.high + sign * b.low, a.high + sign * b.high};

	return over(ends);
}

struct kwhy_slope_bounds kwhy_range_product(struct kwhy_slope_bounds a, struct kwhy_slope_bounds b)
{
	const double ends[4] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};

	return over(ends);
}

struct kwhy_slope_bounds kwhy_range_quotient(struct kwhy_slope_bounds a, struct kwhy_slope_bounds b)
{
	const double ends[4] = {a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high};

	return over(ends);
}

struct kwhy_slope_bounds kwhy_slope_product(struct kwhy_slope_bounds a, struct kwhy_slope_bounds a_slope,
	struct kwhy_slope_bounds b, struct kwhy_slope_bounds b_slope)
{
	return kwhy_range_sum(kwhy_range_product(a_slope, b), kwhy_range_product(a, b_slope), 1);
}

struct kwhy_slope_bounds kwhy_slope_quotient(struct kwhy_slope_bounds quotient,
	struct kwhy_slope_bounds a_slope, struct kwhy_slope_bounds b, struct kwhy_slope_bounds b_slope)
{
	return kwhy_range_quotient(kwhy_range_sum(a_slope, kwhy_range_product(quotient, b_slope), -1), b);
}
