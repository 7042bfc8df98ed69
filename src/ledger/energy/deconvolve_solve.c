/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/deconvolve_solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Two factors, common to all cells, scale the predicted power: NET all power above idle, IDLE the idle level.
 * These are the prior standard deviations of the two factors, whose prior mean is 1.
 */
#define NET_SPREAD 0.5
#define IDLE_SPREAD 0.3

enum { NET, IDLE, FACTORS };

/*
 * The linear equations of the posterior means. Their precision matrix is a band for the cells, with a border
 * of two columns for the factors NET and IDLE, which are common to all cells. The unknown of a cell is the
 * deviation of its energy from the prediction, in prior standard deviations.
 */
struct system {
	const struct kwhy_deconvolve_model *model;
	size_t count, width; /* number of cells; number of diagonals of the band below the main one */
	double *band;	/* [count * (width + 1)] lower part of the band, column by column; later its Cholesky
			   factor */
	double *unit_j; /* [count] prior standard deviation of each cell's energy */
	double *right;	/* [count] right-hand side of the cells */
	double *border[FACTORS]; /* [count] the matrix's column for each common factor */
	double *solved[FACTORS]; /* [count] these columns after solve_band() */
	double corner[FACTORS][FACTORS], corner_right[FACTORS];
	double prior_log, data_log; /* prior_log: log determinant of the prior precision. data_log: twice the
				       log density of the readings if all unknowns are at their prior means,
				       without additive constants */
};

static double overlap_s(
	const struct kwhy_deconvolve_cell *cell, const struct kwhy_deconvolve_reading *reading)
{
	return fmax(0, fmin(cell->end_s, reading->end_s) - fmax(cell->start_s, reading->start_s));
}

/* Index of the first cell that ends after start_s. */
static size_t first_cell(const struct kwhy_deconvolve_model *model, double start_s)
{
	size_t low = 0, high = model->cell_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (model->cells[middle].end_s <= start_s)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static size_t cells_of(const struct kwhy_deconvolve_model *model,
	const struct kwhy_deconvolve_reading *reading, size_t first)
{
	size_t count = 0;

	while (first + count < model->cell_count && model->cells[first + count].start_s < reading->end_s)
		count++;
	return count;
}

static size_t widest(const struct kwhy_deconvolve_model *model)
{
	size_t most = 2;

	for (size_t i = 0; i < model->reading_count; i++) {
		const struct kwhy_deconvolve_reading *reading = &model->readings[i];
		size_t cells = cells_of(model, reading, first_cell(model, reading->start_s));

		most = cells > most ? cells : most;
	}
	return most;
}

static double unit_of(const struct kwhy_deconvolve_model *model, const struct kwhy_deconvolve_cell *cell)
{
	return cell->is_recorded ? model->scales.recorded_sd * (cell->prior.net_j + cell->prior.idle_j)
				 : model->scales.outside_sd * cell->prior.idle_j;
}

static enum kwhy_status system_init(
	struct system *system, const struct kwhy_deconvolve_model *model, struct kwhy_error *error)
{
	size_t count = model->cell_count;
	bool allocated;

	*system = (struct system){.model = model, .count = count, .width = widest(model) - 1};
	system->band = calloc(count * (system->width + 1) + 1, sizeof(double));
	system->unit_j = calloc(count + 1, sizeof(double));
	system->right = calloc(count + 1, sizeof(double));
	allocated = system->band && system->unit_j && system->right;
	for (int f = 0; f < FACTORS; f++) {
		system->border[f] = calloc(count + 1, sizeof(double));
		system->solved[f] = calloc(count + 1, sizeof(double));
		allocated = allocated && system->border[f] && system->solved[f];
	}
	for (size_t i = 0; allocated && i < count; i++)
		system->unit_j[i] = unit_of(model, &model->cells[i]);
	return allocated ? KWHY_OK : kwhy_fail_memory(error, "metered intervals");
}

static void system_done(struct system *system)
{
	free(system->band);
	free(system->unit_j);
	free(system->right);
	for (int f = 0; f < FACTORS; f++) {
		free(system->border[f]);
		free(system->solved[f]);
	}
}

/*
 * Adds the prior precision of the cells' deviations and of the two factors. A cell's deviation is correlated
 * with that of the cell before it, unless only one of the two lies in recorded time.
 */
static void add_prior(struct system *system)
{
	const struct kwhy_deconvolve_cell *cells = system->model->cells;
	const double length_s = system->model->scales.length_s;
	const size_t column = system->width + 1;

	for (size_t i = 0; i < system->count; i++) {
		double alike = 0, left;

		if (i > 0 && cells[i].is_recorded == cells[i - 1].is_recorded)
			alike = exp(-(cells[i].end_s - cells[i - 1].start_s) / 2 / length_s);
		left = 1 - alike * alike;
		system->band[i * column] += 1 / left;
		system->prior_log -= log(left);
		if (i == 0)
			continue;
		system->band[(i - 1) * column] += alike * alike / left;
		system->band[(i - 1) * column + 1] -= alike / left;
	}
	system->corner[NET][NET] = 1 / (NET_SPREAD * NET_SPREAD);
	system->corner[IDLE][IDLE] = 1 / (IDLE_SPREAD * IDLE_SPREAD);
	system->prior_log -= 2 * log(NET_SPREAD * IDLE_SPREAD);
}

static void add_reading(struct system *system, const struct kwhy_deconvolve_reading *reading)
{
	const struct kwhy_deconvolve_model *model = system->model;
	const size_t first = first_cell(model, reading->start_s), cells = cells_of(model, reading, first);
	const double factor[FACTORS] = {reading->prior.net_j, reading->prior.idle_j};
	const double beyond_j = reading->energy_j - factor[NET] - factor[IDLE];
	const double noise_j2 = pow(model->scales.noise_w * (reading->end_s - reading->start_s), 2) +
		pow(model->scales.stamp_s * reading->slope_w, 2);

	for (size_t k = 0; k < cells; k++) {
		const struct kwhy_deconvolve_cell *cell = &model->cells[first + k];
		double seen_j = system->unit_j[first + k] * overlap_s(cell, reading) /
			(cell->end_s - cell->start_s) / noise_j2;

		for (size_t m = k; m < cells; m++) {
			const struct kwhy_deconvolve_cell *other = &model->cells[first + m];

			system->band[(first + k) * (system->width + 1) + m - k] += seen_j *
				system->unit_j[first + m] * overlap_s(other, reading) /
				(other->end_s - other->start_s);
		}
		system->right[first + k] += seen_j * beyond_j;
		for (int f = 0; f < FACTORS; f++)
			system->border[f][first + k] += seen_j * factor[f];
	}
	for (int f = 0; f < FACTORS; f++) {
		system->corner_right[f] += factor[f] * beyond_j / noise_j2;
		for (int g = 0; g < FACTORS; g++)
			system->corner[f][g] += factor[f] * factor[g] / noise_j2;
	}
	system->data_log -= beyond_j * beyond_j / noise_j2 + log(noise_j2);
}

/*
 * Factorises the band in place (Cholesky). Returns the logarithm of its determinant; NAN: it is not
 * positive definite.
 */
static double factorize(struct system *system)
{
	const size_t column = system->width + 1;
	double sum = 0;

	for (size_t j = 0; j < system->count; j++) {
		double *own = system->band + j * column;

		if (!(own[0] > 0))
			return NAN;
		sum += log(own[0]);
		own[0] = sqrt(own[0]);
		for (size_t k = 1; k < column && j + k < system->count; k++)
			own[k] /= own[0];
		for (size_t k = 1; k < column && j + k < system->count; k++)
			for (size_t m = k; m < column && j + m < system->count; m++)
				system->band[(j + k) * column + m - k] -= own[k] * own[m];
	}
	return sum;
}

/*
 * Solves the equations of the cells alone, without those of the common factors, by the Cholesky factor.
 * `values` has the right-hand side and gets the solution.
 */
static void solve_band(const struct system *system, double *values)
{
	const size_t column = system->width + 1;

	for (size_t j = 0; j < system->count; j++) {
		const double *own = system->band + j * column;

		values[j] /= own[0];
		for (size_t k = 1; k < column && j + k < system->count; k++)
			values[j + k] -= own[k] * values[j];
	}
	for (size_t j = system->count; j-- > 0;) {
		const double *own = system->band + j * column;

		for (size_t k = 1; k < column && j + k < system->count; k++)
			values[j] -= own[k] * values[j + k];
		values[j] /= own[0];
	}
}

static double product(const double *a, const double *b, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += a[i] * b[i];
	return sum;
}

static double corner_determinant(const struct system *system)
{
	return system->corner[NET][NET] * system->corner[IDLE][IDLE] -
		system->corner[NET][IDLE] * system->corner[IDLE][NET];
}

/* Solves the 2x2 equations of the common factors that remain when the cells are eliminated. */
static void solve_corner(const struct system *system, const double right[FACTORS], double out[FACTORS])
{
	double determinant = corner_determinant(system);

	out[NET] = (system->corner[IDLE][IDLE] * right[NET] - system->corner[NET][IDLE] * right[IDLE]) /
		determinant;
	out[IDLE] = (system->corner[NET][NET] * right[IDLE] - system->corner[IDLE][NET] * right[NET]) /
		determinant;
}

static void eliminate_cells(struct system *system)
{
	for (int f = 0; f < FACTORS; f++) {
		memcpy(system->solved[f], system->border[f], system->count * sizeof(double));
		solve_band(system, system->solved[f]);
	}
	for (int f = 0; f < FACTORS; f++) {
		system->corner_right[f] -= product(system->solved[f], system->right, system->count);
		for (int g = 0; g < FACTORS; g++)
			system->corner[f][g] -= product(system->border[f], system->solved[g], system->count);
	}
}

/*
 * Solves for the deviations of the cells, written to `values`, and for the deviations of the two common
 * factors from 1. Returns twice the log density of the readings and unknowns at the solution, minus twice
 * that at the prior means.
 */
static double solve(struct system *system, double *values, double factors[FACTORS])
{
	double gained;

	memcpy(values, system->right, system->count * sizeof(double));
	solve_band(system, values);
	gained = product(values, system->right, system->count);
	solve_corner(system, system->corner_right, factors);
	gained += product(factors, system->corner_right, FACTORS);
	for (size_t i = 0; i < system->count; i++)
		values[i] -= system->solved[NET][i] * factors[NET] + system->solved[IDLE][i] * factors[IDLE];
	return gained;
}

static void write_means(struct system *system, const double *values, const double factors[FACTORS],
	struct kwhy_deconvolve_answer *answer)
{
	answer->counted_j = 0;
	for (size_t i = 0; i < system->count; i++) {
		const struct kwhy_deconvolve_cell *cell = &system->model->cells[i];

		answer->energy_j[i] = (1 + factors[NET]) * cell->prior.net_j +
			(1 + factors[IDLE]) * cell->prior.idle_j + system->unit_j[i] * values[i];
		if (cell->is_counted)
			answer->counted_j += answer->energy_j[i];
	}
}

/*
 * Posterior variance, in J^2, of the energy summed over the cells whose is_counted is set. Overwrites
 * `values`.
 */
static double variance_of(const struct system *system, double *values)
{
	double factor[FACTORS] = {0}, solved[FACTORS], variance = 0;

	for (size_t i = 0; i < system->count; i++) {
		const struct kwhy_deconvolve_cell *cell = &system->model->cells[i];

		values[i] = cell->is_counted ? system->unit_j[i] : 0;
		factor[NET] += cell->is_counted ? cell->prior.net_j : 0;
		factor[IDLE] += cell->is_counted ? cell->prior.idle_j : 0;
	}
	for (int f = 0; f < FACTORS; f++)
		factor[f] -= product(system->solved[f], values, system->count);
	solve_corner(system, factor, solved);
	variance = product(factor, solved, FACTORS);
	solve_band(system, values);
	for (size_t i = 0; i < system->count; i++)
		variance += system->model->cells[i].is_counted ? values[i] * system->unit_j[i] : 0;
	return variance;
}

static enum kwhy_status answer_with(
	struct system *system, struct kwhy_deconvolve_answer *answer, struct kwhy_error *error)
{
	double *values = calloc(system->count + 1, sizeof(*values)), factors[FACTORS], band_log, gained;

	if (!values)
		return kwhy_fail_memory(error, "metered intervals");
	band_log = factorize(system);
	eliminate_cells(system);
	gained = solve(system, values, factors);
	answer->log_evidence = 0.5 *
		(system->prior_log + system->data_log + gained - band_log - log(corner_determinant(system)));
	write_means(system, values, factors, answer);
	answer->variance_j2 = variance_of(system, values);
	free(values);
	return KWHY_OK;
}

enum kwhy_status kwhy_deconvolve_solve(const struct kwhy_deconvolve_model *model,
	struct kwhy_deconvolve_answer *answer, struct kwhy_error *error)
{
	struct system system;
	enum kwhy_status status = system_init(&system, model, error);

	if (!status) {
		add_prior(&system);
		for (size_t i = 0; i < model->reading_count; i++)
			add_reading(&system, &model->readings[i]);
		status = answer_with(&system, answer, error);
	}
	system_done(&system);
	return status;
}
