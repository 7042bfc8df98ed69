/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/scale.h"

#include "base/statistics.h"
#include "fit/least_squares.h"

#include <math.h>
#include <stdlib.h>

enum { POINTS_MIN = 3, HELD_OUT_MIN = 4 };

/*
 * GAIN_WANTED: USL, which has one more parameter than Amdahl, is chosen if its error at held-out points is
 * below this share of Amdahl's.
 */
#define GAIN_WANTED 0.9
#define SHARE_BELOW 0.975

const char *kwhy_scale_form_name(enum kwhy_scale_form form)
{
	return form == KWHY_SCALE_AMDAHL ? "Amdahl" : "USL";
}

/* Number of distinct numbers of workers among the points. */
static size_t different_of(const struct kwhy_scale_point *points, size_t count)
{
	size_t different = 0;

	for (size_t i = 0; i < count; i++) {
		size_t j = 0;

		while (points[j].workers != points[i].workers)
			j++;
		different += j == i;
	}
	return different;
}

/*
 * Writes a row of the equation n / x = a + b (n - 1) + c n (n - 1), divided by the row's n / x so that errors
 * are relative. n is the number of workers and x the throughput. agrees: the row includes the term with c
 * (USL). all_serial: b is fixed at a, so the row has one column for both.
 */
static void set_row(const struct kwhy_scale_point *point, bool agrees, bool all_serial, double *row)
{
	double n = point->workers, weight = point->throughput / n;
	size_t next = 0;

	row[next++] = all_serial ? weight * n : weight;
	if (!all_serial)
		row[next++] = weight * (n - 1);
	if (agrees)
		row[next] = weight * n * (n - 1);
}

/* Fits a, b and c to the points, without those whose number of workers is `skip` (0: to all). */
static enum kwhy_status fit_columns(const struct kwhy_scale_point *points, size_t count, double skip,
	bool agrees, bool all_serial, struct kwhy_least_squares *out, struct kwhy_error *error)
{
	size_t columns = 2 - all_serial + agrees;
	double *rows = calloc(count * (columns + 1), sizeof(*rows));
	double *targets = rows ? rows + count * columns : NULL;
	size_t used = 0;
	enum kwhy_status status;

	if (!rows)
		return kwhy_fail_memory(error, "a fit");
	for (size_t i = 0; i < count; i++) {
		if (points[i].workers == skip)
			continue;
		set_row(&points[i], agrees, all_serial, rows + used * columns);
		targets[used++] = 1;
	}
	status = kwhy_least_squares_fit(
		&(struct kwhy_least_squares_data){rows, targets, used, columns}, out, error);
	free(rows);
	return status;
}

/*
 * Fits as fit_columns(), but with the contention s = b / a at most 1: if the fit gives more, it is repeated
 * with b fixed at a, and *out_bound is true.
 */
static enum kwhy_status fit_rows(const struct kwhy_scale_point *points, size_t count, double skip,
	bool agrees, struct kwhy_least_squares *out, bool *out_bound, struct kwhy_error *error)
{
	enum kwhy_status status = fit_columns(points, count, skip, agrees, false, out, error);
	struct kwhy_least_squares bound;

	*out_bound = !status && out->values[1] > out->values[0];
	if (!*out_bound)
		return status;
	status = fit_columns(points, count, skip, agrees, true, &bound, error);
	if (status)
		return status;
	*out = (struct kwhy_least_squares){.rms = bound.rms, .freedom = bound.freedom};
	out->values[0] = out->values[1] = bound.values[0];
	out->covariance[0][0] = bound.covariance[0][0];
	if (agrees) {
		out->values[2] = bound.values[1];
		out->is_free[2] = bound.is_free[1];
		out->covariance[2][2] = bound.covariance[1][1];
		out->covariance[0][2] = out->covariance[2][0] = bound.covariance[0][1];
	}
	return KWHY_OK;
}

static double throughput_of(const double *values, double n)
{
	return n / (values[0] + values[1] * (n - 1) + values[2] * n * (n - 1));
}

/*
 * Coefficient `top` divided by coefficient 0 (a), with a 95 % interval by the delta method for correlated
 * figures and Student's t. The interval is unknown if the coefficient is constrained to 0 or there are no
 * more points than coefficients.
 */
static struct kwhy_interval quotient(const struct kwhy_least_squares *fit, size_t top)
{
	double a = fit->values[0], c = fit->values[top];
	double variance = fit->covariance[top][top] / a / a + c * c * fit->covariance[0][0] / pow(a, 4) -
		2 * c * fit->covariance[0][top] / pow(a, 3);
	double half = fit->freedom > 0 && fit->is_free[top]
		? kwhy_student_quantile(SHARE_BELOW, fit->freedom) * sqrt(fmax(variance, 0))
		: NAN;

	return (struct kwhy_interval){c / a, isnan(half) ? NAN : fmax(c / a - half, 0), c / a + half};
}

static struct kwhy_interval rate_of(const struct kwhy_least_squares *fit)
{
	double half = fit->freedom > 0
		? kwhy_student_quantile(SHARE_BELOW, fit->freedom) * sqrt(fit->covariance[0][0])
		: NAN;

	return kwhy_interval_inverse(
		(struct kwhy_interval){fit->values[0], fit->values[0] - half, fit->values[0] + half});
}

/*
 * Computes the root mean square relative error at held-out points (held_out_ratio); NAN: fewer than
 * HELD_OUT_MIN different numbers of workers. All points with the same number of workers are held out
 * together, since one of them would give away the throughput of the others.
 */
static enum kwhy_status hold_out(const struct kwhy_scale_point *points, size_t count, bool agrees,
	double *out_ratio, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	struct kwhy_least_squares fit;
	double squares = 0;
	bool bound;

	*out_ratio = NAN;
	if (different_of(points, count) < HELD_OUT_MIN)
		return KWHY_OK;
	for (size_t i = 0; !status && i < count; i++) {
		status = fit_rows(points, count, points[i].workers, agrees, &fit, &bound, error);
		if (!status)
			squares += pow(
				throughput_of(fit.values, points[i].workers) / points[i].throughput - 1, 2);
	}
	*out_ratio = sqrt(squares / (double)count);
	return status;
}

static enum kwhy_status fit_form(const struct kwhy_scale_point *points, size_t count,
	enum kwhy_scale_form form, struct kwhy_scale_fit *out, struct kwhy_error *error)
{
	bool agrees = form == KWHY_SCALE_USL, bound;
	struct kwhy_least_squares fit;
	enum kwhy_status status = fit_rows(points, count, 0, agrees, &fit, &bound, error);

	if (status)
		return status;
	if (!(fit.values[0] > 0))
		return kwhy_fail(error, KWHY_E_INPUT,
			"throughput grows faster than the number of workers: neither Amdahl nor the USL "
			"holds");
	out->rate = rate_of(&fit);
	out->serial_ratio = bound ? (struct kwhy_interval){1, NAN, NAN} : quotient(&fit, 1);
	out->agree_ratio = agrees ? quotient(&fit, 2) : kwhy_interval_exact(0);
	out->rms_ratio = fit.rms;
	return hold_out(points, count, agrees, &out->held_out_ratio, error);
}

static enum kwhy_status check(
	const struct kwhy_scale_point *points, size_t count, struct kwhy_scale *out, struct kwhy_error *error)
{
	size_t different;

	out->least_workers = INFINITY;
	out->most_workers = 0;
	for (size_t i = 0; i < count; i++) {
		if (!(points[i].workers >= 1) || !(points[i].throughput > 0) ||
			!isfinite(points[i].workers) || !isfinite(points[i].throughput))
			return kwhy_fail(error, KWHY_E_INPUT,
				"point %zu: workers are 1 or more, and throughput is above 0", i + 1);
		out->least_workers = fmin(out->least_workers, points[i].workers);
		out->most_workers = fmax(out->most_workers, points[i].workers);
	}
	different = different_of(points, count);
	if (different < POINTS_MIN)
		return kwhy_fail(error, KWHY_E_INPUT,
			"scaling needs at least three different numbers of workers, not %zu", different);
	return KWHY_OK;
}

static double peak_of(const struct kwhy_scale *scale)
{
	const struct kwhy_scale_fit *fit = &scale->fits[scale->chosen];
	double peak = fit->agree_ratio.value > 0
		? sqrt(fmax(1 - fit->serial_ratio.value, 0) / fit->agree_ratio.value)
		: INFINITY;

	return peak >= scale->least_workers && peak < scale->most_workers ? peak : NAN;
}

enum kwhy_status kwhy_scale_of(
	const struct kwhy_scale_point *points, size_t count, struct kwhy_scale *out, struct kwhy_error *error)
{
	enum kwhy_status status = check(points, count, out, error);

	for (int form = 0; !status && form < KWHY_SCALE_FORM_COUNT; form++)
		status = fit_form(points, count, (enum kwhy_scale_form)form, &out->fits[form], error);
	if (status)
		return status;
	out->chosen = out->fits[KWHY_SCALE_USL].held_out_ratio <
			GAIN_WANTED * out->fits[KWHY_SCALE_AMDAHL].held_out_ratio
		? KWHY_SCALE_USL
		: KWHY_SCALE_AMDAHL;
	out->peak_workers = peak_of(out);
	return KWHY_OK;
}

enum kwhy_status kwhy_scale_at(
	const struct kwhy_scale *scale, double workers, double *out_throughput, struct kwhy_error *error)
{
	const struct kwhy_scale_fit *fit = &scale->fits[scale->chosen];

	if (!(workers >= scale->least_workers && workers <= scale->most_workers))
		return kwhy_fail(error, KWHY_E_INPUT,
			"%g workers are outside what was measured, %g to %g: measure there", workers,
			scale->least_workers, scale->most_workers);
	*out_throughput = fit->rate.value * workers /
		(1 + fit->serial_ratio.value * (workers - 1) +
			fit->agree_ratio.value * workers * (workers - 1));
	return KWHY_OK;
}
