/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/least_squares.h"

#include "base/linear.h"

#include <math.h>
#include <string.h>

enum { MAX = KWHY_LEAST_SQUARES_COLUMNS_MAX, ROUNDS_MAX = 10 * MAX };

/*
 * A column, scaled to length 1, counts as a linear combination of the other free ones if its pivot in the
 * Cholesky factorisation is below this.
 */
#define DEPENDENT 1e-10
/*
 * A coefficient is released from 0 only if its gradient is above this share of the largest gradient with
 * all coefficients at 0.
 */
#define FLAT 1e-12

/*
 * The normal equations for columns scaled to length 1 (gram * values = target), and for each coefficient
 * whether it is free or constrained to 0 (is_free).
 */
struct normal {
	size_t count;
	double gram[MAX][MAX], target[MAX], scale[MAX];
	bool is_free[MAX], is_dependent[MAX];
};

static enum kwhy_status check(const struct kwhy_least_squares_data *data, struct kwhy_error *error)
{
	size_t values = data->row_count * data->column_count;
	bool finite = true;

	for (size_t i = 0; i < values; i++)
		finite &= isfinite(data->rows[i]);
	for (size_t i = 0; i < data->row_count; i++)
		finite &= isfinite(data->targets[i]);
	if (!data->row_count || !data->column_count || data->column_count > MAX || !finite)
		return kwhy_fail(
			error, KWHY_E_INPUT, "least squares need rows of 1 to %d finite values", (int)MAX);
	return KWHY_OK;
}

static void build(struct normal *normal, const struct kwhy_least_squares_data *data)
{
	size_t n = data->column_count;

	*normal = (struct normal){.count = n};
	for (size_t j = 0; j < n; j++) {
		for (size_t i = 0; i < data->row_count; i++)
			normal->scale[j] = hypot(normal->scale[j], data->rows[i * n + j]);
		normal->is_dependent[j] = normal->scale[j] == 0;
		normal->scale[j] += normal->is_dependent[j];
	}
	for (size_t i = 0; i < data->row_count; i++)
		for (size_t j = 0; j < n; j++) {
			double value = data->rows[i * n + j] / normal->scale[j];

			normal->target[j] += value * data->targets[i];
			for (size_t k = 0; k < n; k++)
				normal->gram[j][k] += value * data->rows[i * n + k] / normal->scale[k];
		}
}

/*
 * Cholesky factor of the normal equations for the free coefficients; the rows and columns of all other
 * coefficients are those of the identity matrix.
 */
static bool factor(const struct normal *normal, double *lower)
{
	const size_t n = normal->count;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			lower[i * n + j] = normal->is_free[i] && normal->is_free[j] ? normal->gram[i][j]
										    : i == j;
	return kwhy_matrix_factor(lower, n, DEPENDENT);
}

/*
 * Solves for the free coefficients, which may become negative; all others are 0. False: the columns of free
 * coefficients depend on each other.
 */
static bool solve(const struct normal *normal, double *out)
{
	double lower[MAX * MAX];

	if (!factor(normal, lower))
		return false;
	for (size_t j = 0; j < normal->count; j++)
		out[j] = normal->is_free[j] ? normal->target[j] : 0;
	kwhy_matrix_solve(lower, normal->count, out);
	return true;
}

/*
 * Of the coefficients that are constrained to 0, the one for which the sum of squares falls most steeply if
 * the coefficient rises; `count`: it falls for none.
 */
static size_t steepest(const struct normal *normal, const double *values)
{
	size_t found = normal->count;
	double best = 0, largest = 0;

	for (size_t j = 0; j < normal->count; j++)
		largest = fmax(largest, fabs(normal->target[j]));
	best = FLAT * largest;
	for (size_t j = 0; j < normal->count; j++) {
		double slope = normal->target[j];

		for (size_t k = 0; k < normal->count; k++)
			slope -= normal->gram[j][k] * values[k];
		if (!normal->is_free[j] && !normal->is_dependent[j] && slope > best) {
			best = slope;
			found = j;
		}
	}
	return found;
}

/*
 * Moves `values` towards `wanted` until the first coefficients reach 0, and constrains these to 0. False:
 * `wanted` was reached.
 */
static bool step_to_bound(struct normal *normal, double *values, const double *wanted)
{
	double share = 1;
	bool stopped = false;

	for (size_t j = 0; j < normal->count; j++)
		if (normal->is_free[j] && wanted[j] <= 0)
			share = fmin(share, values[j] / (values[j] - wanted[j]));
	for (size_t j = 0; j < normal->count; j++) {
		bool at_bound = normal->is_free[j] && wanted[j] <= 0 &&
			values[j] / (values[j] - wanted[j]) <= share;

		values[j] += normal->is_free[j] ? share * (wanted[j] - values[j]) : 0;
		if (at_bound) {
			values[j] = 0;
			normal->is_free[j] = false;
			stopped = true;
		}
	}
	return stopped;
}

static void solve_bounded(struct normal *normal, double *values)
{
	double wanted[MAX];

	for (int round = 0; round < ROUNDS_MAX; round++) {
		size_t released = steepest(normal, values);

		if (released == normal->count)
			return;
		normal->is_free[released] = true;
		if (!solve(normal, wanted) || wanted[released] <= 0) {
			normal->is_free[released] = false;
			normal->is_dependent[released] = true;
			continue;
		}
		while (step_to_bound(normal, values, wanted) && solve(normal, wanted))
			continue;
	}
}

/*
 * Writes the covariance of the coefficients, from the sum of the squared residuals (`squares`); 0 for
 * coefficients that are not free.
 */
static void spread(const struct normal *normal, double squares, struct kwhy_least_squares *out)
{
	double lower[MAX * MAX], column[MAX] = {0};
	double variance = out->freedom > 0 && factor(normal, lower) ? squares / out->freedom : NAN;

	for (size_t j = 0; j < normal->count; j++) {
		memset(column, 0, sizeof(column));
		column[j] = 1;
		if (!isnan(variance))
			kwhy_matrix_solve(lower, normal->count, column);
		for (size_t i = 0; i < normal->count; i++)
			out->covariance[i][j] = normal->is_free[i] && normal->is_free[j]
				? variance * column[i] / normal->scale[i] / normal->scale[j]
				: 0;
	}
}

static double squares_left(const struct kwhy_least_squares_data *data, const double *values)
{
	double squares = 0;

	for (size_t i = 0; i < data->row_count; i++) {
		double left = data->targets[i];

		for (size_t j = 0; j < data->column_count; j++)
			left -= data->rows[i * data->column_count + j] * values[j];
		squares += left * left;
	}
	return squares;
}

enum kwhy_status kwhy_least_squares_fit(
	const struct kwhy_least_squares_data *data, struct kwhy_least_squares *out, struct kwhy_error *error)
{
	enum kwhy_status status = check(data, error);
	double values[MAX] = {0}, squares;
	struct normal normal;

	if (status)
		return status;
	build(&normal, data);
	solve_bounded(&normal, values);
	*out = (struct kwhy_least_squares){.freedom = (double)data->row_count};
	for (size_t j = 0; j < normal.count; j++) {
		out->values[j] = values[j] / normal.scale[j];
		out->is_free[j] = normal.is_free[j];
		out->freedom -= normal.is_free[j];
	}
	squares = squares_left(data, out->values);
	out->rms = sqrt(squares / (double)data->row_count);
	spread(&normal, squares, out);
	return KWHY_OK;
}
