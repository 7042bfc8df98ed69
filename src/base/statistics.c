/* SPDX-License-Identifier: Apache-2.0 */
#include "base/statistics.h"

#include <float.h>
#include <math.h>

#define BOTH_SIDES_95 0.975

enum { FRACTION_STEPS = 20000, BISECTIONS = 200 };

static double away_from_zero(double value)
{
	return fabs(value) < DBL_MIN / DBL_EPSILON ? DBL_MIN / DBL_EPSILON : value;
}

/* One even or odd step of the continued fraction, after Lentz. */
static double step(double factor, double *c, double *d)
{
	*d = 1 / away_from_zero(1 + factor * *d);
	*c = away_from_zero(1 + factor / *c);
	return *c * *d;
}

/* The continued fraction of the incomplete beta function (NIST DLMF 8.17.22). */
static double fraction(double a, double b, double x)
{
	double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), value = d;

	for (int m = 1; m <= FRACTION_STEPS; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), change;

		value *= step(even, &c, &d);
		change = step(odd, &c, &d);
		value *= change;
		if (fabs(change - 1) < DBL_EPSILON)
			break;
	}
	return value;
}

/* lgamma() writes a global; this one is for any thread. */
static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

static double incomplete_beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * fraction(a, b, x) / a;
	return 1 - front * fraction(b, a, 1 - x) / b;
}

/* The share above t, which is not negative. */
static double tail(double t, double freedom)
{
	return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2;
}

double kwhy_student_quantile(double share, double freedom)
{
	double beyond = share < 0.5 ? share : 1 - share, low = 0, high = 1;

	if (!(share > 0 && share < 1 && freedom > 0))
		return NAN;
	while (tail(high, freedom) > beyond && high < DBL_MAX / 4)
		high *= 2;
	for (int i = 0; i < BISECTIONS && high - low > 1e-12 * high; i++) {
		double middle = low + (high - low) / 2;

		if (tail(middle, freedom) > beyond)
			low = middle;
		else
			high = middle;
	}
	return share < 0.5 ? -high : high;
}

static double deviation_of(const double *values, size_t count, const struct kwhy_estimate *estimate)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		if (isfinite(values[i]))
			sum += (values[i] - estimate->mean) * (values[i] - estimate->mean);
	return estimate->count > 1 ? sqrt(sum / (double)(estimate->count - 1)) : NAN;
}

void kwhy_estimate_of(const double *values, size_t count, struct kwhy_estimate *out)
{
	struct kwhy_estimate estimate = {
		.mean = NAN, .low = NAN, .high = NAN, .deviation = NAN, .least = NAN, .most = NAN};
	double sum = 0, half;

	for (size_t i = 0; i < count; i++) {
		if (!isfinite(values[i]))
			continue;
		estimate.count++;
		sum += values[i];
		estimate.least = fmin(estimate.least, values[i]);
		estimate.most = fmax(estimate.most, values[i]);
	}
	if (estimate.count) {
		double freedom = (double)estimate.count - 1;

		estimate.mean = sum / (double)estimate.count;
		estimate.deviation = deviation_of(values, count, &estimate);
		half = kwhy_student_quantile(BOTH_SIDES_95, freedom) * estimate.deviation /
			sqrt((double)estimate.count);
		estimate.low = estimate.mean - half;
		estimate.high = estimate.mean + half;
	}
	*out = estimate;
}

void kwhy_difference_of(
	const struct kwhy_estimate *a, const struct kwhy_estimate *b, struct kwhy_difference *out)
{
	double error_a = a->deviation * a->deviation / (double)a->count;
	double error_b = b->deviation * b->deviation / (double)b->count;
	double both = error_a + error_b, freedom, half;

	*out = (struct kwhy_difference){.change = b->mean - a->mean, .low = NAN, .high = NAN};
	if (a->count < 2 || b->count < 2)
		return;
	if (both > 0) {
		freedom = both * both /
			(error_a * error_a / (double)(a->count - 1) +
				error_b * error_b / (double)(b->count - 1));
		half = kwhy_student_quantile(BOTH_SIDES_95, freedom) * sqrt(both);
	} else {
		half = 0;
	}
	out->low = out->change - half;
	out->high = out->change + half;
}

void kwhy_moments_add(struct kwhy_moments *moments, double value)
{
	double distance = value - moments->mean;

	moments->count++;
	moments->mean += distance / moments->count;
	moments->squares += distance * (value - moments->mean);
}

double kwhy_moments_variance(const struct kwhy_moments *moments)
{
	return moments->count < 2 ? 0 : moments->squares / (moments->count - 1);
}
