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

/*
 * One step of a continued fraction by Lentz's method, with the coefficient `factor`; returns the factor by
 * which the fraction's value changes.
 */
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

/*
 * Logarithm of the gamma function. lgamma() would write the global variable signgam, and so could not be
 * called by several threads.
 */
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

/* Probability that a value of Student's distribution is above t, which must not be negative. */
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

/*
 * Adds up `above` in sums[0] and `below` in sums[1] over the pairs of which both values are finite; sets
 * count, least and most of `estimate`.
 */
static void add_pairs(const double *above, const double *below, size_t count, struct kwhy_estimate *estimate,
	double sums[2])
{
	for (size_t i = 0; i < count; i++) {
		if (!isfinite(above[i]) || !isfinite(below[i]))
			continue;
		estimate->count++;
		sums[0] += above[i];
		sums[1] += below[i];
		if (below[i] == 0)
			continue;
		estimate->least = fmin(estimate->least, above[i] / below[i]);
		estimate->most = fmax(estimate->most, above[i] / below[i]);
	}
}

/* Sample standard deviation of above[i] - ratio * below[i] over the known pairs; NAN: fewer than two. */
static double residual_of(const double *above, const double *below, size_t count, double ratio)
{
	struct kwhy_moments moments = {0};

	for (size_t i = 0; i < count; i++)
		if (isfinite(above[i]) && isfinite(below[i]))
			kwhy_moments_add(&moments, above[i] - ratio * below[i]);
	return moments.count > 1 ? sqrt(kwhy_moments_variance(&moments)) : NAN;
}

void kwhy_ratio_of(const double *above, const double *below, size_t count, struct kwhy_estimate *out)
{
	const struct kwhy_estimate unknown = {
		.mean = NAN, .low = NAN, .high = NAN, .deviation = NAN, .least = NAN, .most = NAN};
	struct kwhy_estimate estimate = unknown;
	double sums[2] = {0, 0}, residual, half;

	*out = unknown;
	add_pairs(above, below, count, &estimate, sums);
	if (!(sums[1] > 0))
		return;
	estimate.mean = sums[0] / sums[1];
	residual = residual_of(above, below, count, estimate.mean);
	estimate.deviation = residual / (sums[1] / (double)estimate.count);
	if (sums[0] > 0) {
		half = kwhy_student_quantile(BOTH_SIDES_95, (double)estimate.count - 1) * residual *
			sqrt((double)estimate.count) / sums[0];
		estimate.low = estimate.mean * exp(-half);
		estimate.high = estimate.mean * exp(half);
	}
	*out = estimate;
}

/*
 * Half-widths of the 95 % intervals of the means of a and b, each from its own variance, with Welch's degrees
 * of freedom for both, so that their root of squares is Welch's half-width for the difference.
 */
static void halves_of_several(const struct kwhy_estimate *a, const struct kwhy_estimate *b, double out[2])
{
	double error_a = a->deviation * a->deviation / (double)a->count;
	double error_b = b->deviation * b->deviation / (double)b->count;
	double both = error_a + error_b;
	double freedom = both * both /
		(error_a * error_a / (double)(a->count - 1) + error_b * error_b / (double)(b->count - 1));
	double t = both > 0 ? kwhy_student_quantile(BOTH_SIDES_95, freedom) : 0;

	out[0] = t * sqrt(error_a);
	out[1] = t * sqrt(error_b);
}

/*
 * For a difference of which one side (`one`) has a single value. *out_several: half-width of the interval of
 * the mean of the other side's values. *out_one: half-width of an interval for the single value, from the
 * standard deviation of the other side's values, combined with the reading error of the single value.
 */
static void halves_beside_several(const struct kwhy_estimate *several, const struct kwhy_estimate *one,
	double *out_several, double *out_one)
{
	double t = kwhy_student_quantile(BOTH_SIDES_95, (double)several->count - 1);
	double half = t * several->deviation, read_half = (one->high - one->low) / 2;

	*out_several = half / sqrt((double)several->count);
	*out_one = isnan(read_half) ? half : hypot(half, read_half);
}

/* Half-widths of the intervals of the means of a and b; the method depends on how many values each has. */
static void halves_of(const struct kwhy_estimate *a, const struct kwhy_estimate *b, double out[2])
{
	if (a->count > 1 && b->count > 1) {
		halves_of_several(a, b, out);
	} else if (a->count > 1) {
		halves_beside_several(a, b, &out[0], &out[1]);
	} else if (b->count > 1) {
		halves_beside_several(b, a, &out[1], &out[0]);
	} else {
		out[0] = (a->high - a->low) / 2;
		out[1] = (b->high - b->low) / 2;
	}
}

/*
 * Fieller's interval: all ratios r for which b - r a may be 0. The result is written as a change, r - 1. It
 * contains 0 exactly where the interval of the difference does.
 */
static void set_ratio(double a, double b, const double halves[2], struct kwhy_difference *out)
{
	double surely = a * a - halves[0] * halves[0], size = fabs(a), unchanged = a < 0 ? -1 : 1;
	double reach = surely > 0 ? sqrt(b * b * halves[0] * halves[0] + surely * halves[1] * halves[1])
				  : NAN;

	out->ratio = b / size - unchanged;
	out->ratio_low = (size * b - reach) / surely - unchanged;
	out->ratio_high = (size * b + reach) / surely - unchanged;
}

void kwhy_difference_of(
	const struct kwhy_estimate *a, const struct kwhy_estimate *b, struct kwhy_difference *out)
{
	double halves[2], half;

	halves_of(a, b, halves);
	half = hypot(halves[0], halves[1]);
	*out = (struct kwhy_difference){.change = b->mean - a->mean};
	out->low = out->change - half;
	out->high = out->change + half;
	set_ratio(a->mean, b->mean, halves, out);
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
