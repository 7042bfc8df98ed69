/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/power.h"

#include "base/statistics.h"
#include "fit/least_squares.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SHARE_BELOW 0.975
#define ROUNDING 1e-6 /* error that counts as rounding, as a share of the mean power */
/*
 * Shares of the mean power: an alternative fit gives a term another power if that is farther than BEYOND
 * outside of the term's interval, or farther than APART from the term's power.
 */
#define BEYOND 0.02
#define APART 0.1
/* A window is outside of the fit if a gauge exceeds its highest fitted value by this factor. */
#define OUTSIDE 1.1

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

/* Index of the block that a row (window) is in; blocks are series of consecutive windows. */
static size_t block_of(const struct kwhy_power_data *data, size_t row)
{
	return row * KWHY_POWER_BLOCKS / data->row_count;
}

/* Columns of a fit. Column 0 is the constant, column j + 1 is gauge j. */
struct columns {
	size_t items[KWHY_POWER_GAUGES_MAX + 1], count;
};

static double in_column(const struct kwhy_power_data *data, size_t row, size_t column)
{
	return column ? data->gauges[row * data->gauge_count + column - 1] : 1;
}

static double *factor_of(struct kwhy_power_factors *factors, size_t column)
{
	return column ? &factors->watts_per_unit[column - 1] : &factors->constant_w;
}

static struct columns all_columns(const struct kwhy_power_data *data)
{
	struct columns columns = {.count = data->gauge_count + 1};

	for (size_t j = 0; j < columns.count; j++)
		columns.items[j] = j;
	return columns;
}

/* Selects the columns of the constant and of the memory's gauges. */
static struct columns memory_columns(const struct kwhy_power_data *data)
{
	struct columns columns = {.count = 1};

	for (size_t j = 0; j < data->gauge_count; j++)
		if (data->terms[j] == KWHY_POWER_MEMORY)
			columns.items[columns.count++] = j + 1;
	return columns;
}

/* Fits the columns to targets_w[row] in all rows but those of `block` (NO_BLOCK: all rows). */
static enum kwhy_status fit_columns(const struct kwhy_power_data *data, const double *targets_w,
	const struct columns *columns, size_t block, double *rows, struct kwhy_power_factors *out,
	struct kwhy_error *error)
{
	double *targets = rows + data->row_count * (data->gauge_count + 1);
	struct kwhy_least_squares fit;
	size_t used = 0;

	for (size_t i = 0; i < data->row_count; i++) {
		if (block_of(data, i) == block)
			continue;
		for (size_t j = 0; j < columns->count; j++)
			rows[used * columns->count + j] = in_column(data, i, columns->items[j]);
		targets[used++] = targets_w[i];
	}
	if (kwhy_least_squares_fit(
		    &(struct kwhy_least_squares_data){rows, targets, used, columns->count}, &fit, error))
		return error->status;
	*out = (struct kwhy_power_factors){0};
	for (size_t j = 0; j < columns->count; j++)
		*factor_of(out, columns->items[j]) = fit.values[j];
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
 * Fits `columns` to all rows but those of `block`. If the memory has a meter of its own, the memory's power
 * per unit of its gauges is first fitted to that meter. The power that this first fit gives the memory's
 * gauges is then subtracted from the device's power, and all gauges are fitted to the rest. A memory gauge
 * gets the sum of its factors in both fits. The constant of the memory's meter stays in the base.
 */
static enum kwhy_status fit_without(const struct kwhy_power_data *data, const struct columns *columns,
	size_t block, double *rows, struct kwhy_power_factors *out, struct kwhy_power_factors *out_memory,
	struct kwhy_error *error)
{
	const struct columns memory = memory_columns(data);
	double *rest_w = rows + data->row_count * (data->gauge_count + 2);
	enum kwhy_status status = KWHY_OK;

	*out_memory = (struct kwhy_power_factors){0};
	if (data->memory_w)
		status = fit_columns(data, data->memory_w, &memory, block, rows, out_memory, error);
	for (size_t i = 0; i < data->row_count; i++)
		rest_w[i] = data->power_w[i] - memory_of(out_memory, data, i);
	if (!status)
		status = fit_columns(data, rest_w, columns, block, rows, out, error);
	for (size_t j = 0; !status && j < data->gauge_count; j++)
		out->watts_per_unit[j] += out_memory->watts_per_unit[j];
	return status;
}

/* Modelled watts of each term in one window; returns their sum. */
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

/* Sum of the squared residuals, in W^2, in the windows of one block; NO_BLOCK: in all windows. */
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
 * Jackknife interval of a value, from the values of the fits that leave out one block each. If all of these
 * are 0, or one is NAN, the interval is unknown.
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

/* Fits without each block in turn: computes held_out_ratio, and intervals from the variation of the fits. */
static enum kwhy_status hold_out(const struct kwhy_power_data *data, double *rows,
	struct kwhy_power_model *out, struct kwhy_error *error)
{
	const struct columns columns = all_columns(data);
	double without[KWHY_POWER_BLOCKS], memory[KWHY_POWER_BLOCKS][KWHY_POWER_GAUGES_MAX], left = 0;

	for (size_t block = 0; block < KWHY_POWER_BLOCKS; block++) {
		struct kwhy_power_factors by_meter;

		if (fit_without(data, &columns, block, rows, &out->without[block], &by_meter, error))
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
	enum kwhy_status status = check(data, KWHY_POWER_ROWS_MIN, error);
	struct kwhy_power_factors by_meter;
	struct columns columns;
	double *rows;

	if (status)
		return status;
	columns = all_columns(data);
	rows = calloc(data->row_count * (data->gauge_count + 3), sizeof(*rows));
	if (!rows)
		return kwhy_fail_memory(error, "a power model");
	*out = (struct kwhy_power_model){0};
	note_range(data, out);
	status = fit_without(data, &columns, NO_BLOCK, rows, &out->all, &by_meter, error);
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

/* *out: whether these columns alone predict held-out blocks as well as the model, within the noise. */
static enum kwhy_status check_alternative(const struct kwhy_power_data *data,
	const struct kwhy_power_model *model, const struct columns *columns, double *rows, bool *out,
	struct kwhy_error *error)
{
	double count = (double)data->row_count, freedom = count - (double)columns->count;
	double noise = pow(model->held_out_ratio, 2) / freedom, left = 0;

	for (size_t block = 0; block < KWHY_POWER_BLOCKS; block++) {
		struct kwhy_power_factors factors, by_meter;
		enum kwhy_status status = fit_without(data, columns, block, rows, &factors, &by_meter, error);

		if (status)
			return status;
		left += left_of(&factors, data, block) / count / (model->mean_w * model->mean_w);
	}
	*out = left <= pow(model->held_out_ratio, 2) + ROUNDING * ROUNDING +
			noise * pow(kwhy_student_quantile(SHARE_BELOW, freedom), 2);
	return KWHY_OK;
}

/* Index in `columns` of the column whose power rises most from `before` to `now`; `count`: none rises. */
static size_t most_risen(const struct kwhy_power_data *data, const struct columns *columns,
	struct kwhy_power_factors *before, struct kwhy_power_factors *now)
{
	size_t found = columns->count;
	double most = 0;

	for (size_t j = 0; j < columns->count; j++) {
		double rise = *factor_of(now, columns->items[j]) - *factor_of(before, columns->items[j]);
		double sum = 0;

		for (size_t i = 0; rise > 0 && i < data->row_count; i++)
			sum += rise * in_column(data, i, columns->items[j]);
		if (sum > most) {
			most = sum;
			found = j;
		}
	}
	return found;
}

/*
 * Removes a column, then the column that took over most of its power, and so on. Each of these fits becomes
 * an alternative, until one does not predict as well as the model.
 */
static enum kwhy_status find_alternatives_without(const struct kwhy_power_data *data, size_t column,
	struct kwhy_power_model *model, double *rows, struct kwhy_error *error)
{
	struct columns columns = all_columns(data);
	struct kwhy_power_factors before = model->all, now, by_meter;
	enum kwhy_status status = KWHY_OK;
	bool is_alternative = true;

	while (!status && column < columns.count && columns.count > 1 &&
		model->alternative_count < KWHY_POWER_ALTERNATIVES_MAX) {
		columns.count--;
		memmove(columns.items + column, columns.items + column + 1,
			(columns.count - column) * sizeof(*columns.items));
		status = check_alternative(data, model, &columns, rows, &is_alternative, error);
		if (!status && is_alternative)
			status = fit_without(data, &columns, NO_BLOCK, rows, &now, &by_meter, error);
		if (status || !is_alternative)
			break;
		model->alternatives[model->alternative_count++] = now;
		column = most_risen(data, &columns, &before, &now);
		before = now;
	}
	return status;
}

/*
 * Whether a figure of an alternative fit is outside of an interval by more than BEYOND times `whole`, the
 * value with which the figure alone would explain the mean power.
 */
static bool is_beyond(struct kwhy_interval figure, double alternative, double whole)
{
	double low = isfinite(figure.low) ? figure.low : figure.value;
	double high = isfinite(figure.high) ? figure.high : figure.value;

	return alternative < low - BEYOND * whole || alternative > high + BEYOND * whole;
}

/* Mean watts of each term over the windows. */
static void mean_terms(const struct kwhy_power_factors *factors, const struct kwhy_power_data *data,
	double out[KWHY_POWER_TERM_COUNT])
{
	double watts[KWHY_POWER_TERM_COUNT];

	memset(out, 0, KWHY_POWER_TERM_COUNT * sizeof(*out));
	for (size_t i = 0; i < data->row_count; i++) {
		terms_of(factors, data, i, watts);
		for (int term = 0; term < KWHY_POWER_TERM_COUNT; term++)
			out[term] += watts[term] / (double)data->row_count;
	}
}

/*
 * Marks as joint the terms to which an alternative fit gives another power (APART, BEYOND) and, if there are
 * any, the term whose power rises most and the term whose power falls most.
 */
static void mark_moved(const struct kwhy_interval terms_w[KWHY_POWER_TERM_COUNT],
	const double alternative_w[KWHY_POWER_TERM_COUNT], struct kwhy_power_model *model)
{
	double moved[KWHY_POWER_TERM_COUNT];
	int risen = 0, fallen = 0;
	bool is_any = false;

	for (int term = 0; term < KWHY_POWER_TERM_COUNT; term++) {
		bool is_other;

		moved[term] = alternative_w[term] - terms_w[term].value;
		is_other = fabs(moved[term]) > APART * model->mean_w ||
			is_beyond(terms_w[term], alternative_w[term], model->mean_w);
		model->is_grouped[term] |= is_other;
		is_any |= is_other;
		risen = moved[term] > moved[risen] ? term : risen;
		fallen = moved[term] < moved[fallen] ? term : fallen;
	}
	model->is_grouped[risen] |= is_any;
	model->is_grouped[fallen] |= is_any;
}

static enum kwhy_status mark_joint(
	const struct kwhy_power_data *data, struct kwhy_power_model *model, struct kwhy_error *error)
{
	double all[KWHY_POWER_TERM_COUNT], watts[KWHY_POWER_TERM_COUNT],
		without[KWHY_POWER_TERM_COUNT][KWHY_POWER_BLOCKS], reported_w = 0;
	struct kwhy_interval terms_w[KWHY_POWER_TERM_COUNT];

	for (size_t block = 0; block < KWHY_POWER_BLOCKS; block++) {
		mean_terms(&model->without[block], data, watts);
		for (int term = 0; term < KWHY_POWER_TERM_COUNT; term++)
			without[term][block] = watts[term];
	}
	mean_terms(&model->all, data, all);
	for (int term = 0; term < KWHY_POWER_TERM_COUNT; term++)
		terms_w[term] = interval_of(all[term], without[term]);
	for (size_t r = 0; r < model->alternative_count; r++) {
		mean_terms(&model->alternatives[r], data, watts);
		mark_moved(terms_w, watts, model);
	}
	for (int term = 0; term < KWHY_POWER_TERM_COUNT; term++)
		reported_w += model->is_grouped[term] ? 0 : all[term];
	if (reported_w > 0)
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_INPUT,
		"the windows are too much alike to distinguish the parts: only their sum is known; "
		"fit the model to more kinds of work");
}

/*
 * Sets a factor to NAN if its value in an alternative fit is beyond its interval, or if its term is joint and
 * that value differs by more than APART.
 */
static void forget_unreported(const struct kwhy_power_data *data, struct kwhy_power_model *model)
{
	for (size_t column = 0; column <= data->gauge_count; column++) {
		bool is_grouped = model->is_grouped[column ? data->terms[column - 1] : KWHY_POWER_BASE];
		struct kwhy_interval *factor = column ? &model->watts_per_unit[column - 1]
						      : &model->constant_w;
		double value = factor->value, mean = 0;

		for (size_t i = 0; i < data->row_count; i++)
			mean += in_column(data, i, column) / (double)data->row_count;
		for (size_t r = 0; r < model->alternative_count; r++) {
			double alternative = *factor_of(&model->alternatives[r], column);

			if (is_beyond(*factor, alternative, model->mean_w / mean) ||
				(is_grouped && fabs(alternative - value) > APART * model->mean_w / mean))
				*factor = kwhy_interval_unknown();
		}
	}
}

enum kwhy_status kwhy_power_find_alternatives(
	const struct kwhy_power_data *data, struct kwhy_power_model *model, struct kwhy_error *error)
{
	double *rows = calloc(data->row_count * (data->gauge_count + 3), sizeof(*rows));
	enum kwhy_status status = KWHY_OK;

	if (!rows)
		return kwhy_fail_memory(error, "a power model");
	for (size_t column = 0; !status && column <= data->gauge_count; column++)
		if (*factor_of(&model->all, column) > 0)
			status = find_alternatives_without(data, column, model, rows, error);
	free(rows);
	if (status)
		return status;
	status = mark_joint(data, model, error);
	forget_unreported(data, model);
	return status;
}

/* Divides each window's joules in proportion to the modelled watts of its terms; sums over the windows. */
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

/*
 * Whether the model has anything to compute a term from: a gauge or, for the base, its constant. A term
 * without either is unknown, not 0.
 */
static bool has_term(const struct kwhy_power_data *data, enum kwhy_power_term term)
{
	for (size_t j = 0; j < data->gauge_count; j++)
		if (data->terms[j] == term)
			return true;
	return term == KWHY_POWER_BASE;
}

static enum kwhy_status divide_all(const struct kwhy_power_model *model, const struct kwhy_power_data *data,
	double without[KWHY_POWER_TERM_COUNT][KWHY_POWER_BLOCKS], struct kwhy_power_split *out,
	struct kwhy_error *error)
{
	double all[KWHY_POWER_TERM_COUNT], parts[KWHY_POWER_TERM_COUNT];
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

/* Sums the joules of joint terms in joint_j; the interval of each becomes its range over all alternatives. */
static void join_terms(const struct kwhy_power_model *model, const struct kwhy_power_data *data,
	const double without[KWHY_POWER_TERM_COUNT][KWHY_POWER_BLOCKS], struct kwhy_power_split *split)
{
	double sums[KWHY_POWER_BLOCKS] = {0}, sum = 0, parts[KWHY_POWER_TERM_COUNT];
	struct kwhy_error ignored;
	bool is_any = false;

	for (int term = 0; term < KWHY_POWER_TERM_COUNT; term++) {
		struct kwhy_interval *joules = &split->joules[term];

		if (!model->is_grouped[term] || isnan(joules->value))
			continue;
		is_any = true;
		sum += joules->value;
		for (size_t block = 0; block < KWHY_POWER_BLOCKS; block++)
			sums[block] += without[term][block];
		*joules = (struct kwhy_interval){
			NAN, fmin(joules->low, joules->value), fmax(joules->high, joules->value)};
	}
	for (size_t r = 0; is_any && r < model->alternative_count; r++) {
		if (divide(&model->alternatives[r], data, parts, &ignored))
			continue;
		for (int term = 0; term < KWHY_POWER_TERM_COUNT; term++)
			if (model->is_grouped[term]) {
				split->joules[term].low = fmin(split->joules[term].low, parts[term]);
				split->joules[term].high = fmax(split->joules[term].high, parts[term]);
			}
	}
	split->joint_j = is_any ? interval_of(sum, sums) : kwhy_interval_unknown();
	for (int term = 0; term < KWHY_POWER_TERM_COUNT; term++)
		if (model->is_grouped[term])
			split->joules[term].high = fmin(split->joules[term].high, split->joint_j.high);
}

/* Counts the windows outside of the fit (OUTSIDE), and finds the gauge that puts most of them outside. */
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
	double without[KWHY_POWER_TERM_COUNT][KWHY_POWER_BLOCKS], power_sum = 0;

	if (!status)
		status = divide_all(model, data, without, &split, error);
	if (status)
		return status;
	for (size_t i = 0; i < data->row_count; i++) {
		split.total_j += data->power_w[i] * data->seconds[i];
		split.seconds += data->seconds[i];
		power_sum += data->power_w[i];
	}
	split.error_ratio = sqrt(left_of(&model->all, data, NO_BLOCK) * (double)data->row_count) / power_sum;
	count_outside(model, data, &split);
	join_terms(model, data, without, &split);
	*out = split;
	return KWHY_OK;
}
