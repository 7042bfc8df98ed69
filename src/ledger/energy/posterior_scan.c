/* SPDX-License-Identifier: Apache-2.0 */
#include "base/linear.h"
#include "ledger/energy/posterior.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Assumed standard deviation of a reading's noise in watts, before the fit. */
#define NOISE_W 5.0
/*
 * LOOSE has two uses: the least-squares fit multiplies the prior standard deviations of class powers by it;
 * and a fitted power may differ from its prior median by at most LOOSE prior standard deviations of its
 * logarithm.
 */
#define LOOSE 2.0

struct scan {
	const struct kwhy_posterior_model *model;
	size_t count, linear;  /* count: number of readings; linear: number of unknown powers: of the classes,
				  and the idle level */
	double *prior_w, *tie; /* [linear] prior_w: prior median of each unknown power in W; tie: its prior
				  precision in 1/W^2 */
	double *precision, *power_w, *best_w, *residuals;
	double best_cost;
	size_t best_point;
};

static enum kwhy_status scan_init(
	struct scan *scan, const struct kwhy_posterior_model *model, struct kwhy_error *error)
{
	const struct kwhy_posterior_prior *prior = model->prior;
	size_t linear = prior->class_count + 1, count = model->readings->count;
	double *block = calloc(linear * linear + 4 * linear + count, sizeof(*block));

	if (!block)
		return kwhy_fail_memory(error, "the fit of powers");
	*scan = (struct scan){.model = model, .count = count, .linear = linear, .best_cost = INFINITY};
	scan->precision = block;
	scan->prior_w = block + linear * linear;
	scan->tie = scan->prior_w + linear;
	scan->power_w = scan->tie + linear;
	scan->best_w = scan->power_w + linear;
	scan->residuals = scan->best_w + linear;
	for (size_t c = 0; c < prior->class_count; c++) {
		double unit = prior->tied[c] ? prior->other[KWHY_PARAMETER_UNIT].mean : 0;

		scan->prior_w[c] = exp(prior->class_log[c].mean + unit);
		scan->tie[c] = pow(LOOSE * prior->class_log[c].sd * scan->prior_w[c], -2);
	}
	scan->prior_w[prior->class_count] = prior->other[KWHY_PARAMETER_IDLE].mean;
	scan->tie[prior->class_count] = pow(prior->other[KWHY_PARAMETER_IDLE].sd, -2);
	return KWHY_OK;
}

/*
 * Factor of unknown power c in reading i at a point of the response grid: the level of power class c as the
 * meter shows it; 1 for the idle level, c == class_count.
 */
static double seen(const struct scan *scan, size_t point, size_t c, size_t i)
{
	const struct kwhy_response_features *features = scan->model->features;

	if (c == features->class_count)
		return 1;
	return (double)features->net[(point * features->class_count + c) * scan->count + i];
}

static void add_readings(struct scan *scan, size_t point)
{
	size_t linear = scan->linear;

	for (size_t i = 0; i < scan->count; i++) {
		double power_w = scan->model->readings->items[i].power_w / (NOISE_W * NOISE_W);

		for (size_t a = 0; a < linear; a++) {
			double left = seen(scan, point, a, i);

			if (left == 0)
				continue;
			scan->power_w[a] += left * power_w;
			for (size_t b = 0; b <= a; b++)
				scan->precision[a * linear + b] += left * seen(scan, point, b, i) /
					(NOISE_W * NOISE_W);
		}
	}
}

/*
 * A fitted class power, limited to LOOSE standard deviations of its logarithm on each side of the prior
 * median, because least squares may give negative powers. The idle level is limited to at least 0.
 */
static double held(const struct scan *scan, size_t c)
{
	double reach;

	if (c == scan->model->prior->class_count)
		return fmax(scan->power_w[c], 0);
	reach = exp(LOOSE * scan->model->prior->class_log[c].sd);
	return fmin(fmax(scan->power_w[c], scan->prior_w[c] / reach), scan->prior_w[c] * reach);
}

static double log_normal(struct kwhy_normal normal, double value)
{
	double far = (value - normal.mean) / normal.sd;

	return 0.5 * far * far;
}

/*
 * Negative log density of a point of the response grid with the powers fitted there, without constants:
 * Student-t noise of scale NOISE_W, and the priors of time constant and delay.
 */
static double cost_of(struct scan *scan, size_t point)
{
	const struct kwhy_response_grid *grid = &scan->model->features->grid;
	const struct kwhy_posterior_prior *prior = scan->model->prior;
	double tau = (double)(point / KWHY_GRID_DELAYS) - KWHY_GRID_TAUS / 2;
	double delay = (double)(point % KWHY_GRID_DELAYS) - KWHY_GRID_DELAYS / 2;
	double cost = log_normal(prior->other[KWHY_PARAMETER_TAU], grid->tau_s + tau * grid->tau_step_s) +
		log_normal(prior->other[KWHY_PARAMETER_DELAY], grid->delay_s + delay * grid->delay_step_s);

	for (size_t i = 0; i < scan->count; i++) {
		double residual = scan->model->readings->items[i].power_w;

		for (size_t c = 0; c < scan->linear; c++)
			residual -= scan->power_w[c] * seen(scan, point, c, i);
		scan->residuals[i] = residual;
		cost += 2.5 * log1p(residual * residual / (4 * NOISE_W * NOISE_W));
	}
	return cost;
}

static void try_point(struct scan *scan, size_t point)
{
	size_t linear = scan->linear;
	double cost;

	memset(scan->precision, 0, linear * linear * sizeof(double));
	for (size_t c = 0; c < linear; c++) {
		scan->precision[c * linear + c] = scan->tie[c];
		scan->power_w[c] = scan->tie[c] * scan->prior_w[c];
	}
	add_readings(scan, point);
	if (!kwhy_matrix_factor(scan->precision, linear, 0))
		return;
	kwhy_matrix_solve(scan->precision, linear, scan->power_w);
	for (size_t c = 0; c < linear; c++)
		scan->power_w[c] = held(scan, c);
	cost = cost_of(scan, point);
	if (!(cost < scan->best_cost))
		return;
	scan->best_cost = cost;
	scan->best_point = point;
	memcpy(scan->best_w, scan->power_w, linear * sizeof(double));
}

static void write_start(const struct scan *scan, double *out_parameters)
{
	size_t classes = scan->model->prior->class_count;
	double *other = out_parameters + classes;

	for (size_t c = 0; c < classes; c++)
		out_parameters[c] = log(scan->best_w[c]);
	for (size_t i = 0; i < KWHY_PARAMETER_COUNT; i++)
		other[i] = scan->model->prior->other[i].mean;
	other[KWHY_PARAMETER_IDLE] = scan->best_w[classes];
	other[KWHY_PARAMETER_TAU] = (double)(scan->best_point / KWHY_GRID_DELAYS) - KWHY_GRID_TAUS / 2;
	other[KWHY_PARAMETER_DELAY] = (double)(scan->best_point % KWHY_GRID_DELAYS) - KWHY_GRID_DELAYS / 2;
	other[KWHY_PARAMETER_ALIAS] -= 2 * scan->model->prior->other[KWHY_PARAMETER_ALIAS].sd;
	other[KWHY_PARAMETER_STAMP] -= scan->model->prior->other[KWHY_PARAMETER_STAMP].sd;
}

enum kwhy_status kwhy_posterior_scan(
	const struct kwhy_posterior_model *model, double *out_parameters, struct kwhy_error *error)
{
	struct scan scan;
	enum kwhy_status status = scan_init(&scan, model, error);

	if (status)
		return status;
	memcpy(scan.best_w, scan.prior_w, scan.linear * sizeof(double));
	scan.best_point = KWHY_GRID_MIDDLE;
	for (size_t point = 0; point < KWHY_GRID_POINTS; point++)
		try_point(&scan, point);
	write_start(&scan, out_parameters);
	free(scan.precision);
	return KWHY_OK;
}
