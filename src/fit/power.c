/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/power.h"

#include "base/statistics.h"
#include "fit/least_squares.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SHARE_BELOW 0.975

enum { NO_BLOCK = KWHY_POWER_BLOCKS };

const char *kwhy_power_term_name(enum kwhy_power_term term)
{
	static const char *const names[KWHY_POWER_TERM_COUNT] = {"base", "compute", "memory", "I/O"};

	return names[term];
}

static enum kwhy_status check(const struct kwhy_power_data *data, size_t least, struct kwhy_error *error)
{
	if (data->row_count < least)
		return kwhy_fail(error, KWHY_E_INPUT, "a power model needs %zu windows, not %zu", least,
			data->row_count);
	if (!data->gauge_count || data->gauge_count > KWHY_POWER_GAUGES_MAX)
		return kwhy_fail(error, KWHY_E_INPUT, "a power model has 1 to %d gauges, not %zu",
			(int)KWHY_POWER_GAUGES_MAX, data->gauge_count);
	for (size_t i = 0; i < data->row_count; i++) {
		bool good = data->power_w[i] > 0 && data->seconds[i] > 0 && isfinite(data->power_w[i]);

		for (size_t j = 0; j < data->gauge_count; j++)
			good &= data->gauges[i * data->gauge_count + j] >= 0;
		if (!good)
			return kwhy_fail(error, KWHY_E_INPUT,
				"window %zu: power and length are above 0, gauges known and not negative",
				i + 1);
	}
	return KWHY_OK;
}

/* Which block a row lies in: stretches of neighbours. */
static size_t block_of(const struct kwhy_power_data *data, size_t row)
{
	return row * KWHY_POWER_BLOCKS / data->row_count;
}

/* Rows of the least squares without one block, and the fit's coefficients. */
static enum kwhy_status fit_without(const struct kwhy_power_data *data, size_t block, double *rows,
	struct kwhy_least_squares *out, struct kwhy_error *error)
{
	size_t columns = data->gauge_count + 1, used = 0;
	double *targets = rows + data->row_count * columns;

	for (size_t i = 0; i < data->row_count; i++) {
		if (block_of(data, i) == block)
			continue;
		rows[used * columns] = 1;
		memcpy(rows + used * columns + 1, data->gauges + i * data->gauge_count,
			data->gauge_count * sizeof(*rows));
		targets[used++] = data->power_w[i];
	}
	return kwhy_least_squares_fit(
		&(struct kwhy_least_squares_data){rows, targets, used, columns}, out, error);
}

static double predict(const double *values, const struct kwhy_power_data *data, size_t row)
{
	double power_w = values[0];

	for (size_t j = 0; j < data->gauge_count; j++)
		power_w += values[j + 1] * data->gauges[row * data->gauge_count + j];
	return power_w;
}

/* What stays at the bound of 0 whichever block is left out may be more: by how much, nothing says. */
static struct kwhy_interval interval_of(double value, double sum, double squares)
{
	double blocks = KWHY_POWER_BLOCKS;
	double spread = sqrt((blocks - 1) / blocks * fmax(squares - sum * sum / blocks, 0));
	double half = kwhy_student_quantile(SHARE_BELOW, blocks - 1) * spread;

	if (!(squares > 0))
		return kwhy_interval_exact(value);
	return (struct kwhy_interval){value, fmax(value - half, 0), value + half};
}

/* Fits without each block: what they predict of it, and how the coefficients spread (jackknife). */
static enum kwhy_status hold_out(const struct kwhy_power_data *data, const struct kwhy_least_squares *all,
	double *rows, struct kwhy_power_model *out, struct kwhy_error *error)
{
	double sums[KWHY_LEAST_SQUARES_COLUMNS_MAX] = {0}, squares[KWHY_LEAST_SQUARES_COLUMNS_MAX] = {0};
	struct kwhy_least_squares fit;
	double left = 0;

	for (size_t block = 0; block < KWHY_POWER_BLOCKS; block++) {
		if (fit_without(data, block, rows, &fit, error))
			return error->status;
		for (size_t i = 0; i < data->row_count; i++)
			if (block_of(data, i) == block)
				left += pow(predict(fit.values, data, i) - data->power_w[i], 2);
		for (size_t j = 0; j <= data->gauge_count; j++) {
			sums[j] += fit.values[j];
			squares[j] += fit.values[j] * fit.values[j];
		}
	}
	out->held_out_ratio = sqrt(left / (double)data->row_count) / out->mean_w;
	out->base_w = interval_of(all->values[0], sums[0], squares[0]);
	for (size_t j = 0; j < data->gauge_count; j++)
		out->watts_per_unit[j] = interval_of(all->values[j + 1], sums[j + 1], squares[j + 1]);
	return KWHY_OK;
}

enum kwhy_status kwhy_power_fit(
	const struct kwhy_power_data *data, struct kwhy_power_model *out, struct kwhy_error *error)
{
	enum kwhy_status status = check(data, KWHY_POWER_ROWS_LEAST, error);
	struct kwhy_least_squares all;
	double *rows, sum = 0;

	if (status)
		return status;
	rows = calloc(data->row_count * (data->gauge_count + 2), sizeof(*rows));
	if (!rows)
		return kwhy_fail_memory(error, "a power model");
	for (size_t i = 0; i < data->row_count; i++)
		sum += data->power_w[i];
	out->mean_w = sum / (double)data->row_count;
	status = fit_without(data, NO_BLOCK, rows, &all, error);
	if (!status) {
		out->rms_ratio = all.rms / out->mean_w;
		status = hold_out(data, &all, rows, out, error);
	}
	free(rows);
	return status;
}

/* Watts of each term in a window; gives their sum. */
static double terms_of(const struct kwhy_power_model *model, const struct kwhy_power_data *data, size_t row,
	double watts[KWHY_POWER_TERM_COUNT])
{
	double sum = model->base_w.value;

	memset(watts, 0, KWHY_POWER_TERM_COUNT * sizeof(*watts));
	watts[KWHY_POWER_BASE] = sum;
	for (size_t j = 0; j < data->gauge_count; j++) {
		double part = model->watts_per_unit[j].value * data->gauges[row * data->gauge_count + j];

		watts[data->terms[j]] += part;
		sum += part;
	}
	return sum;
}

enum kwhy_status kwhy_power_split_of(const struct kwhy_power_model *model, const struct kwhy_power_data *data,
	struct kwhy_power_split *out, struct kwhy_error *error)
{
	enum kwhy_status status = check(data, 1, error);
	double watts[KWHY_POWER_TERM_COUNT], left = 0, power_sum = 0;

	if (status)
		return status;
	*out = (struct kwhy_power_split){0};
	for (size_t i = 0; i < data->row_count; i++) {
		double model_w = terms_of(model, data, i, watts),
		       joules = data->power_w[i] * data->seconds[i];

		if (!(model_w > 0))
			return kwhy_fail(error, KWHY_E_INPUT,
				"window %zu: the model says no power where %.4g W were measured", i + 1,
				data->power_w[i]);
		for (int term = 0; term < KWHY_POWER_TERM_COUNT; term++)
			out->joules[term] += joules * watts[term] / model_w;
		out->total_j += joules;
		out->seconds += data->seconds[i];
		left += pow(model_w - data->power_w[i], 2);
		power_sum += data->power_w[i];
	}
	out->error_ratio = sqrt(left * (double)data->row_count) / power_sum;
	return KWHY_OK;
}
