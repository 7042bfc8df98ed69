/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/median.h"

#include "base/quantile.h"

#include <math.h>

#define TAIL 0.025

/*
 * Which value is the lower end of the interval, counted from the lowest value (1); the upper end is the value
 * with the same number counted from the highest. It is the largest k with P(Binomial(count, 1/2) < k) <=
 * TAIL; 0: there is no interval.
 */
static size_t left_out(size_t count)
{
	double log_term = -(double)count * log(2), sum = 0;
	size_t k = 0;

	while (k < count) {
		sum += exp(log_term);
		if (sum > TAIL)
			break;
		log_term += log((double)(count - k)) - log((double)(k + 1));
		k++;
	}
	return k;
}

void kwhy_median_of(double *values, size_t count, struct kwhy_median *out)
{
	size_t out_low;

	*out = (struct kwhy_median){count, NAN, NAN, NAN, NAN, NAN, NAN};
	if (count == 0)
		return;
	kwhy_sort_reals(values, count);
	out->median = kwhy_quantile(values, count, 0.5);
	out->least = values[0];
	out->p5 = kwhy_quantile(values, count, 0.05);
	out->p95 = kwhy_quantile(values, count, 0.95);
	out_low = left_out(count);
	if (out_low == 0)
		return;
	out->low = values[out_low - 1];
	out->high = values[count - out_low];
}

double kwhy_median_width(const struct kwhy_median *median)
{
	if (!isfinite(median->low) || !(median->median > 0))
		return INFINITY;
	return (median->high - median->low) / median->median;
}
