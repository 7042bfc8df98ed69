/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/power.h"

#include "base/statistics.h"
#include "fit/least_squares.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SHARE_BELOW 0.975
#define OUTSIDE 1.1 /* of the most that was fitted */

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

/* Rows of the least squares without one block, of some gauges; `targets_w` has one for each row. */
static enum kwhy_status fit_gauges(const struct kwhy_power_data *data, const double *targets_w, bool all,
	size_t block, double *rows, struct kwhy_power_factors *out, struct kwhy_error *error)
{
	size_t gauges[KWHY_POWER_GAUGES_MAX], columns = 1, used = 0;
	double *targets = rows + data->row_count * (data->gauge_count + 1);
	struct kwhy_least_squares fit;

	for (size_t j = 0; j < data->gauge_count; j++)
		if (all || data->terms[j] == KWHY_POWER_MEMORY)
			gauges[columns++ - 1] = j;
	for (size_t i = 0; i < data->row_count; i++) {
		if (block_of(data, i) == block)
			continue;
		rows[used * columns] = 1;
		for (size_t j = 1; j < columns; j++)
			rows[used * columns + j] = data->gauges[i * data->gauge_count + gauges[j - 1]];
		targets[used++] = targets_w[i];
	}
	if (kwhy_least_squares_fit(
		    &(struct kwhy_least_squares_data){rows, targets, used, columns}, &fit, error))
		return error->status;
	*out = (struct kwhy_power_factors){.constant_w = fit.values[0]};
	for (size_t j = 1; j < columns; j++)
		out->watts_per_unit[gauges[j - 1]] = fit.values[j];
	return KWHY_OK;
}

static double memory_of(
	const struct kwhy_power_factors *factors, const struct kwhy_power_data *data, size_t row)
{
	double sum = 0;

	for (size_t j = 0; j < data->gauge_count; j++)
		if (data->terms[j] == KWHY_POWER_MEMORY)
			sum += factors->watts_per_unit[j] * data->gauges[row * data->gauge_count + j];
	return sum;
}

/*
 * Where the memory has a meter, what it draws of each byte is fitted to that; then all gauges, the memory's
 * among them, to the rest: what the device draws to move bytes besides. The memory's own constant stays in
 * the base.
 */
static enum kwhy_status fit_without(const struct kwhy_power_data *data, size_t block, double *rows,
	struct kwhy_power_factors *out, struct kwhy_power_factors *out_memory, struct kwhy_error *error)
{
	double *rest_w = rows + data->row_count * (data->gauge_count + 2);
	enum kwhy_status status = KWHY_OK;

	*out_memory = (struct kwhy_power_factors){0};
	if (data->memory_w)
		status = fit_gauges(data, data->memory_w, false, block, rows, out_memory, error);
	for (size_t i = 0; i < data->row_count; i++)
		rest_w[i] = data->power_w[i] - memory_of(out_memory, data, i);
	if (!status)
		status = fit_gauges(data, rest_w, true, block, rows, out, error);
	for (size_t j = 0; !status && j < data->gauge_count; j++)
		out->watts_per_unit[j] += out_memory->watts_per_unit[j];
	return status;
}

/* Watts of each term in a window; gives their sum. */
static double terms_of(const struct kwhy_power_factors *factors, const struct kwhy_power_data *data,
	size_t row, double watts[KWHY_POWER_TERM_COUNT])
{
	double sum = factors->constant_w;

	memset(watts, 0, KWHY_POWER_TERM_COUNT * sizeof(*watts));
	watts[KWHY_POWER_BASE] = sum;
	for (size_t j = 0; j < data->gauge_count; j++) {
		double part = factors->watts_per_unit[j] * data->gauges[row * data->gauge_count + j];

		watts[data->terms[j]] += part;
		sum += part;
	}
	return sum;
}

/* Of windows in one block, or with NO_BLOCK of all: the sum of squares of what the factors leave. */
static double left_of(
	const struct kwhy_power_factors *factors, const struct kwhy_power_data *data, size_t block)
{
	double watts[KWHY_POWER_TERM_COUNT], left = 0;

	for (size_t i = 0; i < data->row_count; i++)
		if (block == NO_BLOCK || block_of(data, i) == block)
			left += pow(terms_of(factors, data, i, watts) - data->power_w[i], 2);
	return left;
}

/*
 * A figure and the same without each block. What stays at the bound of 0 whichever block is left out may be
 * more: by how much, nothing says.
 */
static struct kwhy_interval interval_of(double value, const double without[KWHY_POWER_BLOCKS])
{
	double blocks = KWHY_POWER_BLOCKS, mean = 0, squares = 0, half;
	bool is_zero = true;

	for (size_t i = 0; i < KWHY_POWER_BLOCKS; i++) {
		mean += without[i] / blocks;
		is_zero &= without[i] == 0;
	}
	if (is_zero || !isfinite(mean))
		return kwhy_interval_exact(value);
	for (size_t i = 0; i < KWHY_POWER_BLOCKS; i++)
		squares += (without[i] - mean) * (without[i] - mean);
	half = kwhy_student_quantile(SHARE_BELOW, blocks - 1) * sqrt((blocks - 1) / blocks * squares);
	return (struct kwhy_interval){value, fmax(value - half, 0), value + half};
}

/* Fits without each block: what they leave of it, and how the factors spread. */
static enum kwhy_status hold_out(const struct kwhy_power_data *data, double *rows,
	struct kwhy_power_model *out, struct kwhy_error *error)
{
	double without[KWHY_POWER_BLOCKS], memory[KWHY_POWER_BLOCKS][KWHY_POWER_GAUGES_MAX], left = 0;

	for (size_t block = 0; block < KWHY_POWER_BLOCKS; block++) {
		struct kwhy_power_factors by_meter;

		if (fit_without(data, block, rows, &out->without[block], &by_meter, error))
			return error->status;
		memcpy(memory[block], by_meter.watts_per_unit, sizeof(memory[block]));
		left += left_of(&out->without[block], data, block);
		without[block] = out->without[block].constant_w;
	}
	out->held_out_ratio = sqrt(left / (double)data->row_count) / out->mean_w;
	out->constant_w = interval_of(out->all.constant_w, without);
	for (size_t j = 0; j < data->gauge_count; j++) {
		for (size_t block = 0; block < KWHY_POWER_BLOCKS; block++)
			without[block] = out->without[block].watts_per_unit[j];
		out->watts_per_unit[j] = interval_of(out->all.watts_per_unit[j], without);
		for (size_t block = 0; block < KWHY_POWER_BLOCKS; block++)
			without[block] = memory[block][j];
		out->metered_per_unit[j] = data->memory_w && data->terms[j] == KWHY_POWER_MEMORY
			? interval_of(out->metered_per_unit[j].value, without)
			: kwhy_interval_unknown();
	}
	return KWHY_OK;
}

static void note_range(const struct kwhy_power_data *data, struct kwhy_power_model *out)
{
	double sum = 0;

	for (size_t i = 0; i < data->row_count; i++) {
		sum += data->power_w[i];
		for (size_t j = 0; j < data->gauge_count; j++)
			out->most[j] = fmax(out->most[j], data->gauges[i * data->gauge_count + j]);
	}
	out->mean_w = sum / (double)data->row_count;
}

enum kwhy_status kwhy_power_fit(
	const struct kwhy_power_data *data, struct kwhy_power_model *out, struct kwhy_error *error)
{
	enum kwhy_status status = check(data, KWHY_POWER_ROWS_LEAST, error);
	struct kwhy_power_factors by_meter;
	double *rows;

	if (status)
		return status;
	rows = calloc(data->row_count * (data->gauge_count + 3), sizeof(*rows));
	if (!rows)
		return kwhy_fail_memory(error, "a power model");
	*out = (struct kwhy_power_model){0};
	note_range(data, out);
	status = fit_without(data, NO_BLOCK, rows, &out->all, &by_meter, error);
	for (size_t j = 0; j < data->gauge_count; j++)
		out->metered_per_unit[j].value = by_meter.watts_per_unit[j];
	if (!status) {
		out->rms_ratio = sqrt(left_of(&out->all, data, NO_BLOCK) / (double)data->row_count) /
			out->mean_w;
		status = hold_out(data, rows, out, error);
	}
	free(rows);
	return status;
}

/* Each window's joules, in proportion to what the factors say. */
static enum kwhy_status divide(const struct kwhy_power_factors *factors, const struct kwhy_power_data *data,
	double joules[KWHY_POWER_TERM_COUNT], struct kwhy_error *error)
{
	double watts[KWHY_POWER_TERM_COUNT];

	memset(joules, 0, KWHY_POWER_TERM_COUNT * sizeof(*joules));
	for (size_t i = 0; i < data->row_count; i++) {
		double model_w = terms_of(factors, data, i, watts);

		if (!(model_w > 0))
			return kwhy_fail(error, KWHY_E_INPUT,
				"window %zu: the model says no power where %.4g W were measured", i + 1,
				data->power_w[i]);
		for (int term = 0; term < KWHY_POWER_TERM_COUNT; term++)
			joules[term] += data->power_w[i] * data->seconds[i] * watts[term] / model_w;
	}
	return KWHY_OK;
}

/* The base has a constant; what no gauge tells of is not 0. */
static bool has_term(const struct kwhy_power_data *data, enum kwhy_power_term term)
{
	for (size_t j = 0; j < data->gauge_count; j++)
		if (data->terms[j] == term)
			return true;
	return term == KWHY_POWER_BASE;
}

static enum kwhy_status divide_all(const struct kwhy_power_model *model, const struct kwhy_power_data *data,
	struct kwhy_power_split *out, struct kwhy_error *error)
{
	double all[KWHY_POWER_TERM_COUNT], parts[KWHY_POWER_TERM_COUNT],
		without[KWHY_POWER_TERM_COUNT][KWHY_POWER_BLOCKS];
	enum kwhy_status status = divide(&model->all, data, all, error);

	for (size_t block = 0; !status && block < KWHY_POWER_BLOCKS; block++) {
		struct kwhy_error ignored;
		bool is_known = !divide(&model->without[block], data, parts, &ignored);

		for (int term = 0; term < KWHY_POWER_TERM_COUNT; term++)
			without[term][block] = is_known ? parts[term] : NAN;
	}
	for (int term = 0; !status && term < KWHY_POWER_TERM_COUNT; term++)
		out->joules[term] = has_term(data, (enum kwhy_power_term)term)
			? interval_of(all[term], without[term])
			: kwhy_interval_unknown();
	return status;
}

/* Windows of work that was not in what was fitted. */
static void count_outside(const struct kwhy_power_model *model, const struct kwhy_power_data *data,
	struct kwhy_power_split *out)
{
	size_t counts[KWHY_POWER_GAUGES_MAX + 1] = {0};

	out->outside_gauge = data->gauge_count;
	for (size_t i = 0; i < data->row_count; i++) {
		bool is_outside = false;

		for (size_t j = 0; j < data->gauge_count; j++)
			if (data->gauges[i * data->gauge_count + j] > OUTSIDE * model->most[j]) {
				is_outside = true;
				if (++counts[j] > counts[out->outside_gauge])
					out->outside_gauge = j;
			}
		out->outside_count += is_outside;
	}
}

enum kwhy_status kwhy_power_split_of(const struct kwhy_power_model *model, const struct kwhy_power_data *data,
	struct kwhy_power_split *out, struct kwhy_error *error)
{
	enum kwhy_status status = check(data, 1, error);
	struct kwhy_power_split split = {0};
	double power_sum = 0;

	if (!status)
		status = divide_all(model, data, &split, error);
	if (status)
		return status;
	for (size_t i = 0; i < data->row_count; i++) {
		split.total_j += data->power_w[i] * data->seconds[i];
		split.seconds += data->seconds[i];
		power_sum += data->power_w[i];
	}
	split.error_ratio = sqrt(left_of(&model->all, data, NO_BLOCK) * (double)data->row_count) / power_sum;
	count_outside(model, data, &split);
	*out = split;
	return KWHY_OK;
}
