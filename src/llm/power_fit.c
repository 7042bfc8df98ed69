/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/power_fit.h"

#include "base/linear.h"
#include "base/statistics.h"
#include "fit/least_squares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	IDLE, /* column of the time; the column of each kind of work is 1 + kind */
	COLUMNS = 1 + KWHY_LLM_WORK_COUNT,
	LAGS = 3 /* largest distance, in intervals, over which residuals may be correlated */
};

/*
 * The standard deviation of a row's power is taken to be proportional to that power plus this share of the
 * mean power of all rows.
 */
#define FLOOR_RATIO 0.05
#define KNOWN_OF_VALUE 0.25
#define KNOWN_OF_ENERGY 0.05
#define DEPENDENT 1e-10

struct fitter {
	double *rows, *targets, *residuals;
	size_t count;
	struct kwhy_least_squares fit;
	/*
	 * Columns that have covariances: the free ones, and those whose coefficients are 0 only because
	 * coefficients must not be negative, as these are uncertain as well.
	 */
	bool is_used[COLUMNS];
	double freedom; /* number of rows minus number of used columns */
	/* covariances of the coefficients, by the two estimates of struct kwhy_llm_power_fit */
	double alike[COLUMNS][COLUMNS], robust[COLUMNS][COLUMNS];
	/* covariances that follow from the differences of loads from the model (KWHY_LLM_LOAD_RATIO) */
	double by_load[COLUMNS][COLUMNS];
	double inflation; /* see inflation_of() */
};

const char *kwhy_llm_work_name(enum kwhy_llm_work kind)
{
	static const char *const names[] = {"prompt token", "cached prompt token", "batch of prompts",
		"output token", "step", "token of context"};

	return names[kind];
}

void kwhy_llm_power_rows_done(struct kwhy_llm_power_rows *rows)
{
	free(rows->items);
	*rows = (struct kwhy_llm_power_rows){0};
}

static bool is_steady(const struct kwhy_llm_metered *metered, size_t interval)
{
	return metered->steady_end_ns <= 0 ||
		(metered->readings[interval].at_ns >= metered->steady_start_ns &&
			metered->readings[interval + 1].at_ns <= metered->steady_end_ns);
}

enum kwhy_status kwhy_llm_power_rows_add(struct kwhy_llm_power_rows *rows,
	const struct kwhy_llm_metered *metered, const struct kwhy_llm_shares *shares,
	struct kwhy_error *error)
{
	const struct kwhy_llm_reading *readings = metered->readings;
	size_t capacity = rows->count + metered->reading_count - 1, at = 0;
	struct kwhy_llm_power_row *grown = realloc(rows->items, capacity * sizeof(*grown));

	if (!grown)
		return kwhy_fail_memory(error, "the power of the server");
	rows->items = grown;
	rows->capacity = capacity;
	for (size_t i = 0; i + 1 < metered->reading_count; i++) {
		struct kwhy_llm_power_row row = {.load = rows->loads,
			.seconds = (double)(readings[i + 1].at_ns - readings[i].at_ns) * 1e-9,
			.joules = (double)(readings[i + 1].total_nj - readings[i].total_nj) * 1e-9};

		for (; at < shares->count && shares->items[at].interval == i; at++)
			for (size_t kind = 0; kind < KWHY_LLM_WORK_COUNT; kind++)
				row.work[kind] += shares->items[at].work[kind];
		if (is_steady(metered, i))
			grown[rows->count++] = row;
	}
	rows->loads++;
	return KWHY_OK;
}

/*
 * Standard deviation of a row's power, up to a constant factor: it is taken to be proportional to the power
 * that the coefficients `values` of an earlier fit give for the row, plus FLOOR_RATIO of mean_w. values NULL:
 * there was no earlier fit, and all rows get the same deviation.
 */
static double deviation_of(const struct kwhy_llm_power_row *row, const double *values, double mean_w)
{
	double joules;

	if (!values)
		return 1;
	joules = values[IDLE] * row->seconds;
	for (size_t kind = 0; kind < KWHY_LLM_WORK_COUNT; kind++)
		joules += values[1 + kind] * row->work[kind];
	return joules / row->seconds + FLOOR_RATIO * mean_w;
}

/*
 * Fits the coefficients to the rows by least squares. Each row is divided by its standard deviation, that of
 * its power (deviation_of()) times the square root of its length. `values`: coefficients of an earlier fit,
 * for these deviations; NULL: none.
 */
static enum kwhy_status fit_weighted(struct fitter *fitter, const struct kwhy_llm_power_rows *rows,
	const double *values, struct kwhy_error *error)
{
	const struct kwhy_least_squares_data data = {fitter->rows, fitter->targets, rows->count, COLUMNS};
	double joules = 0, seconds = 0;

	for (size_t i = 0; i < rows->count; i++) {
		joules += rows->items[i].joules;
		seconds += rows->items[i].seconds;
	}
	for (size_t i = 0; i < rows->count; i++) {
		const struct kwhy_llm_power_row *row = &rows->items[i];
		double root = sqrt(row->seconds) * deviation_of(row, values, joules / seconds);

		fitter->rows[i * COLUMNS + IDLE] = row->seconds / root;
		for (size_t kind = 0; kind < KWHY_LLM_WORK_COUNT; kind++)
			fitter->rows[i * COLUMNS + 1 + kind] = row->work[kind] / root;
		fitter->targets[i] = row->joules / root;
	}
	return kwhy_least_squares_fit(&data, &fitter->fit, error);
}

/* Writes the values of a row in the used columns to `out`, and returns the number of these columns. */
static size_t used_values(const struct fitter *fitter, const double *row, double out[COLUMNS])
{
	size_t count = 0;

	for (size_t j = 0; j < COLUMNS; j++)
		if (fitter->is_used[j])
			out[count++] = row[j];
	return count;
}

/*
 * Computes the Cholesky factor `lower` [size * size] of the normal equations of the used columns, each of
 * which is divided by its norm, `scale`. False: the columns are linearly dependent.
 */
static bool factor(const struct fitter *fitter, size_t size, double *lower, double scale[COLUMNS])
{
	double values[COLUMNS];

	memset(scale, 0, COLUMNS * sizeof(*scale));
	memset(lower, 0, size * size * sizeof(*lower));
	for (size_t i = 0; i < fitter->count; i++) {
		used_values(fitter, &fitter->rows[i * COLUMNS], values);
		for (size_t j = 0; j < size; j++)
			scale[j] += values[j] * values[j];
	}
	for (size_t j = 0; j < size; j++)
		scale[j] = scale[j] > 0 ? sqrt(scale[j]) : 1;
	for (size_t i = 0; i < fitter->count; i++) {
		used_values(fitter, &fitter->rows[i * COLUMNS], values);
		for (size_t j = 0; j < size; j++)
			for (size_t k = 0; k < size; k++)
				lower[j * size + k] += values[j] / scale[j] * values[k] / scale[k];
	}
	return kwhy_matrix_factor(lower, size, DEPENDENT);
}

/*
 * Chooses the used columns: the free ones and, one after another, each other column that is no linear
 * combination of the columns chosen so far.
 */
static void choose_used(struct fitter *fitter)
{
	double lower[COLUMNS * COLUMNS], scale[COLUMNS], unused[COLUMNS];

	memcpy(fitter->is_used, fitter->fit.is_free, sizeof(fitter->is_used));
	for (size_t j = 0; j < COLUMNS; j++) {
		if (fitter->is_used[j])
			continue;
		fitter->is_used[j] = true;
		fitter->is_used[j] = factor(fitter, used_values(fitter, fitter->rows, unused), lower, scale);
	}
}

/*
 * Sets residuals[], each divided by 1 - the leverage of its row (at least 0.1). Writes influence[row * size +
 * j]: the change of the j-th used coefficient for a unit of the row's residual.
 */
static void find_influence(
	struct fitter *fitter, size_t size, const double *lower, const double *scale, double *influence)
{
	for (size_t i = 0; i < fitter->count; i++) {
		const double *row = &fitter->rows[i * COLUMNS];
		double values[COLUMNS], leverage = 0, residual = fitter->targets[i];
		double *solved = &influence[i * size];

		used_values(fitter, row, values);
		for (size_t j = 0; j < COLUMNS; j++)
			residual -= row[j] * fitter->fit.values[j];
		for (size_t j = 0; j < size; j++)
			solved[j] = values[j] / scale[j];
		kwhy_matrix_solve(lower, size, solved);
		for (size_t j = 0; j < size; j++) {
			leverage += solved[j] * values[j] / scale[j];
			solved[j] /= scale[j];
		}
		fitter->residuals[i] = residual / fmax(1 - leverage, 0.1);
	}
}

/* Variance of the plain residuals, without the division by 1 - leverage. */
static double variance_of_residuals(const struct fitter *fitter)
{
	double squares = 0;

	for (size_t i = 0; i < fitter->count; i++) {
		double residual = fitter->targets[i];

		for (size_t j = 0; j < COLUMNS; j++)
			residual -= fitter->rows[i * COLUMNS + j] * fitter->fit.values[j];
		squares += residual * residual;
	}
	return squares / fitter->freedom;
}

/*
 * Element (a, b) of the inverse of the matrix of the normal equations, which is the sum over the rows of the
 * product of the row's influences on coefficients a and b (find_influence()).
 */
static double inverse_of(
	const struct fitter *fitter, size_t size, const double *influence, size_t a, size_t b)
{
	double sum = 0;

	for (size_t i = 0; i < fitter->count; i++)
		sum += influence[i * size + a] * influence[i * size + b];
	return sum;
}

/*
 * Covariance of two coefficients by the estimate of Newey and West, which allows for unequal variances and
 * for correlation over LAGS rows, from the rows' influences and residuals. `a` and `b` are indices among the
 * used coefficients.
 */
static double covariance_of(
	const struct fitter *fitter, size_t size, const double *influence, size_t a, size_t b)
{
	double sum = 0;

	for (size_t i = 0; i < fitter->count; i++)
		for (size_t lag = 0; lag <= LAGS && lag <= i; lag++) {
			double weight = 1 - (double)lag / (LAGS + 1);
			double product = fitter->residuals[i] * fitter->residuals[i - lag];
			const double *here = &influence[i * size], *there = &influence[(i - lag) * size];

			if (lag == 0)
				sum += product * here[a] * here[b];
			else
				sum += weight * product * (here[a] * there[b] + there[a] * here[b]);
		}
	return sum;
}

/*
 * Factor by which correlation between successive residuals increases the variance of sums: (1 + r) / (1 - r),
 * where r, at most 0.9, is the correlation between the residuals of successive rows. 1 if r is negative.
 */
static double inflation_of(const struct fitter *fitter)
{
	double squares = 0, products = 0, ratio;

	for (size_t i = 0; i < fitter->count; i++) {
		squares += fitter->residuals[i] * fitter->residuals[i];
		products += i ? fitter->residuals[i] * fitter->residuals[i - 1] : 0;
	}
	ratio = fmin(squares > 0 ? products / squares : 0, 0.9);
	return ratio > 0 ? (1 + ratio) / (1 - ratio) : 1;
}

/*
 * Adds the covariances that follow from the difference of one load from the model. effect: [size] the change
 * of each used coefficient if the load's energy above idle were twice what the model gives for it. at: [size]
 * the columns of these coefficients.
 */
static void add_effect(struct fitter *fitter, const size_t at[COLUMNS], size_t size, const double *effect)
{
	for (size_t a = 0; a < size; a++)
		for (size_t b = 0; b < size; b++)
			fitter->by_load[at[a]][at[b]] += KWHY_LLM_LOAD_RATIO * KWHY_LLM_LOAD_RATIO *
				effect[a] * effect[b];
}

/*
 * Sets by_load: each load's energy above idle is taken to differ from the model by its own factor, whose
 * effect on a coefficient is the sum over the load's rows of energy times influence. The rows of a load are
 * next to each other.
 */
static void find_by_load(struct fitter *fitter, const struct kwhy_llm_power_rows *rows,
	const size_t at[COLUMNS], size_t size, const double *influence)
{
	double effect[COLUMNS] = {0};

	for (size_t i = 0; i < fitter->count; i++) {
		const double *row = &fitter->rows[i * COLUMNS];
		double above_idle = 0;

		for (size_t j = IDLE + 1; j < COLUMNS; j++)
			above_idle += row[j] * fitter->fit.values[j];
		for (size_t j = 0; j < size; j++)
			effect[j] += above_idle * influence[i * size + j];
		if (i + 1 == fitter->count || rows->items[i + 1].load != rows->items[i].load) {
			add_effect(fitter, at, size, effect);
			memset(effect, 0, sizeof(effect));
		}
	}
}

static enum kwhy_status find_covariance(
	struct fitter *fitter, const struct kwhy_llm_power_rows *rows, struct kwhy_error *error)
{
	double lower[COLUMNS * COLUMNS], scale[COLUMNS], unused[COLUMNS], variance;
	double *influence = calloc(fitter->count * COLUMNS, sizeof(*influence));
	size_t size, at[COLUMNS], next = 0;

	if (!influence)
		return kwhy_fail_memory(error, "the power of the server");
	choose_used(fitter);
	size = used_values(fitter, fitter->rows, unused);
	fitter->freedom = fmax((double)fitter->count - (double)size, 1);
	for (size_t j = 0; j < COLUMNS; j++)
		if (fitter->is_used[j])
			at[next++] = j;
	if (size && factor(fitter, size, lower, scale)) {
		find_influence(fitter, size, lower, scale, influence);
		find_by_load(fitter, rows, at, size, influence);
		fitter->inflation = inflation_of(fitter);
		variance = variance_of_residuals(fitter);
		for (size_t a = 0; a < size; a++)
			for (size_t b = 0; b < size; b++) {
				fitter->alike[at[a]][at[b]] = variance *
					inverse_of(fitter, size, influence, a, b);
				fitter->robust[at[a]][at[b]] = covariance_of(fitter, size, influence, a, b);
			}
	}
	free(influence);
	return KWHY_OK;
}

/*
 * Combines estimates of a variance. `alike` assumes equal variances of all residuals; `robust` does not, but
 * rests on few rows. Positively correlated residuals (inflation above 1) come either from noise or from the
 * loads' differences from the model (by_load). The result is the largest of `robust`, `alike` times
 * `inflation`, and by_load plus the mean of `robust` and `alike`.
 */
static double variance_from(double robust, double alike, double by_load, double inflation)
{
	double noise = inflation > 1 ? inflation * alike : 0;

	return fmax(robust, fmax(noise, (robust + alike) / 2 + by_load));
}

/* Variance of the sum over all coefficients of coefficient times amount[]. */
static double variance_of(const struct fitter *fitter, const double amount[COLUMNS])
{
	double robust = 0, alike = 0, by_load = 0;

	for (size_t a = 0; a < COLUMNS; a++)
		for (size_t b = 0; b < COLUMNS; b++) {
			robust += amount[a] * amount[b] * fitter->robust[a][b];
			alike += amount[a] * amount[b] * fitter->alike[a][b];
			by_load += amount[a] * amount[b] * fitter->by_load[a][b];
		}
	return variance_from(robust, alike, by_load, fitter->inflation);
}

/*
 * The sum over all coefficients of coefficient times amount[], divided by `by`, with its 90 % interval. All
 * members of the result are NAN if a coefficient whose amount is not 0 is constrained to 0, except with
 * `absorbed`, which says that the energy of such a coefficient is included in the other coefficients. net_j:
 * energy of the run above idle, for is_known.
 */
static struct kwhy_llm_coefficient combine(
	const struct fitter *fitter, const double amount[COLUMNS], double by, double net_j, bool absorbed)
{
	struct kwhy_llm_coefficient sum = {NAN, NAN, NAN, false};
	double variance, half;

	for (size_t a = 0; a < COLUMNS && !absorbed; a++)
		if (amount[a] != 0 && !fitter->fit.is_free[a])
			return sum;
	variance = variance_of(fitter, amount);
	if (!(by > 0) || !(variance > 0))
		return sum;
	sum.value = 0;
	for (size_t a = 0; a < COLUMNS; a++)
		sum.value += amount[a] * fitter->fit.values[a] / by;
	half = kwhy_student_quantile(0.95, fitter->freedom) * sqrt(variance) / by;
	sum.low = fmax(sum.value - half, 0);
	sum.high = sum.value + half;
	sum.is_known = half <= KNOWN_OF_VALUE * sum.value || half * by <= KNOWN_OF_ENERGY * net_j;
	return sum;
}

/*
 * Joules per unit of the first of the `count` kinds of work, plus the joules of the amounts of the other
 * kinds that came with each such unit in the run.
 */
static struct kwhy_llm_coefficient combine_kinds(const struct fitter *fitter,
	const struct kwhy_llm_power_fit *run, const enum kwhy_llm_work *kinds, size_t count, double net_j)
{
	double amount[COLUMNS] = {0};
	bool is_free = false;

	for (size_t i = 0; i < count; i++) {
		amount[1 + kinds[i]] = run->amount[kinds[i]];
		is_free |= fitter->fit.is_free[1 + kinds[i]];
	}
	return combine(fitter, amount, run->amount[kinds[0]], net_j, is_free);
}

static void keep_covariance(const struct fitter *fitter, struct kwhy_llm_power_fit *out)
{
	out->inflation = fitter->inflation;
	out->student = kwhy_student_quantile(0.95, fitter->freedom);
	for (size_t a = 0; a < KWHY_LLM_WORK_COUNT; a++) {
		out->is_free[a] = fitter->fit.is_free[1 + a];
		for (size_t b = 0; b < KWHY_LLM_WORK_COUNT; b++) {
			out->alike[a][b] = fitter->alike[1 + a][1 + b];
			out->robust[a][b] = fitter->robust[1 + a][1 + b];
			out->by_load[a][b] = fitter->by_load[1 + a][1 + b];
		}
	}
}

double kwhy_llm_power_fit_half(const struct kwhy_llm_power_fit *fit, const double work[KWHY_LLM_WORK_COUNT])
{
	double robust = 0, alike = 0, by_load = 0;
	bool is_known = false;

	for (size_t a = 0; a < KWHY_LLM_WORK_COUNT; a++) {
		is_known |= work[a] > 0 && fit->is_free[a];
		for (size_t b = 0; b < KWHY_LLM_WORK_COUNT; b++) {
			robust += work[a] * work[b] * fit->robust[a][b];
			alike += work[a] * work[b] * fit->alike[a][b];
			by_load += work[a] * work[b] * fit->by_load[a][b];
		}
	}
	return is_known ? fit->student * sqrt(variance_from(robust, alike, by_load, fit->inflation)) : NAN;
}

static void conclude(
	const struct fitter *fitter, const struct kwhy_llm_power_rows *rows, struct kwhy_llm_power_fit *out)
{
	double net_j = 0;

	*out = (struct kwhy_llm_power_fit){.rows = rows->count};
	for (size_t i = 0; i < rows->count; i++) {
		out->joules += rows->items[i].joules;
		out->seconds += rows->items[i].seconds;
		for (size_t kind = 0; kind < KWHY_LLM_WORK_COUNT; kind++)
			out->amount[kind] += rows->items[i].work[kind];
	}
	out->model_idle_w = fitter->fit.values[IDLE];
	memcpy(out->model_work_j, fitter->fit.values + 1, sizeof(out->model_work_j));
	net_j = out->joules - out->seconds * out->model_idle_w;
	for (size_t j = 0; j < COLUMNS; j++) {
		double one[COLUMNS] = {0}, amount = j == IDLE ? out->seconds : out->amount[j - 1];

		one[j] = amount;
		*(j == IDLE ? &out->idle_w : &out->work_j[j - 1]) = combine(
			fitter, one, amount, net_j, false);
	}
	out->prefill_j = combine_kinds(fitter, out,
		(const enum kwhy_llm_work[]){KWHY_LLM_WORK_PROMPT, KWHY_LLM_WORK_BATCH}, 2, net_j);
	out->decode_j = combine_kinds(fitter, out,
		(const enum kwhy_llm_work[]){KWHY_LLM_WORK_OUTPUT, KWHY_LLM_WORK_STEP, KWHY_LLM_WORK_CONTEXT},
		3, net_j);
	keep_covariance(fitter, out);
	out->residual_ratio = fitter->fit.rms / sqrt(out->seconds / (double)rows->count);
}

enum kwhy_status kwhy_llm_power_fit_of(
	const struct kwhy_llm_power_rows *rows, struct kwhy_llm_power_fit *out, struct kwhy_error *error)
{
	struct fitter fitter = {0};
	enum kwhy_status status;
	double work = 0, joules = 0, first[COLUMNS];

	for (size_t i = 0; i < rows->count; i++)
		for (size_t kind = 0; kind < KWHY_LLM_WORK_COUNT; kind++)
			work += rows->items[i].work[kind];
	if (rows->count < KWHY_LLM_POWER_ROWS_MIN || !(work > 0))
		return kwhy_fail(error, KWHY_E_INPUT,
			"joules of requests need %d intervals of the meters and a request among them; there "
			"are "
			"%zu intervals: take more --seconds",
			KWHY_LLM_POWER_ROWS_MIN, rows->count);
	for (size_t i = 0; i < rows->count; i++)
		joules += rows->items[i].joules;
	if (!(joules > 0))
		return kwhy_fail(error, KWHY_E_INPUT,
			"joules of requests need energy, and the meters show none in all loads: kwhy doctor "
			"says what "
			"they read");
	fitter.count = rows->count;
	fitter.rows = calloc(rows->count * (COLUMNS + 2), sizeof(*fitter.rows));
	if (!fitter.rows)
		return kwhy_fail_memory(error, "the power of the server");
	fitter.targets = fitter.rows + rows->count * COLUMNS;
	fitter.residuals = fitter.targets + rows->count;
	status = fit_weighted(&fitter, rows, NULL, error);
	memcpy(first, fitter.fit.values, sizeof(first));
	if (!status)
		status = fit_weighted(&fitter, rows, first, error);
	if (!status)
		status = find_covariance(&fitter, rows, error);
	if (!status)
		conclude(&fitter, rows, out);
	free(fitter.rows);
	return status;
}
