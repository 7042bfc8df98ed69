/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/slope.h"

#include <math.h>

static struct kwhy_range over(const double ends[4])
{
	struct kwhy_range range = {INFINITY, -INFINITY};

	for (int i = 0; i < 4; i++) {
		if (!isfinite(ends[i]))
			return (struct kwhy_range){-INFINITY, INFINITY};
		range.low = fmin(range.low, ends[i]);
		range.high = fmax(range.high, ends[i]);
	}
	return range;
}

struct kwhy_range kwhy_range_sum(struct kwhy_range a, struct kwhy_range b, int sign)
{
	const double ends[4] = {
		a.low + sign * b.low, a.low + sign * b.high, a.high + sign * b.low, a.high + sign * b.high};

	return over(ends);
}

struct kwhy_range kwhy_range_product(struct kwhy_range a, struct kwhy_range b)
{
	const double ends[4] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};

	return over(ends);
}

struct kwhy_range kwhy_range_quotient(struct kwhy_range a, struct kwhy_range b)
{
	const double ends[4] = {a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high};

	return over(ends);
}

struct kwhy_range kwhy_slope_product(
	struct kwhy_range a, struct kwhy_range a_slope, struct kwhy_range b, struct kwhy_range b_slope)
{
	return kwhy_range_sum(kwhy_range_product(a_slope, b), kwhy_range_product(a, b_slope), 1);
}

struct kwhy_range kwhy_slope_quotient(
	struct kwhy_range quotient, struct kwhy_range a_slope, struct kwhy_range b, struct kwhy_range b_slope)
{
	return kwhy_range_quotient(kwhy_range_sum(a_slope, kwhy_range_product(quotient, b_slope), -1), b);
}
