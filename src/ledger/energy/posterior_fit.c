/* SPDX-License-Identifier: Apache-2.0 */
#include "base/linear.h"
#include "ledger/energy/posterior.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Climbs to the mode in rounds: powers, idle level and response take damped Gauss-Newton steps with the
 * weights of Student-t noise; then the noise parameters take a Newton step. The climb ends after STEPS_MAX
 * rounds, or earlier if the log density gains less than GAIN_MIN in each of two successive rounds.
 */
#define STEPS_MAX 80
#define GAIN_MIN 1e-4
#define DAMPING_MAX 1e8
#define FREEDOM 4.0
/* Step for difference quotients in the noise parameters, which are logarithms. */
#define NOISE_DIFFERENCE 0.05

struct climb {
	const struct kwhy_posterior_model *model;
	struct kwhy_posterior_prediction prediction;
	size_t count, linear; /* count: number of readings; linear: number of parameters except those of the
				 noise */
	double *columns;      /* [linear * count] derivatives of the predicted readings with respect to these
				 `linear` parameters */
	double *weights;      /* [count] weights of the readings */
	double *precision, *gradient, *factor, *step, *tried;
	double density, damping;
};

enum kwhy_status kwhy_posterior_fit_init(
	struct kwhy_posterior_fit *fit, const struct kwhy_posterior_model *model, struct kwhy_error *error)
{
	size_t size = kwhy_posterior_size(model->prior);

	*fit = (struct kwhy_posterior_fit){
		.size = size,
		.mode = calloc(size, sizeof(*fit->mode)),
		.factor = calloc(size * size, sizeof(*fit->factor)),
		.gradient = calloc(size, sizeof(*fit->gradient)),
		.curvature = calloc(size * size, sizeof(*fit->curvature)),
	};
	if (fit->mode && fit->factor && fit->gradient && fit->curvature)
		return KWHY_OK;
	kwhy_posterior_fit_done(fit);
	return kwhy_fail_memory(error, "the fit of powers");
}

void kwhy_posterior_fit_done(struct kwhy_posterior_fit *fit)
{
	free(fit->mode);
	free(fit->factor);
	free(fit->gradient);
	free(fit->curvature);
	*fit = (struct kwhy_posterior_fit){0};
}

static enum kwhy_status climb_init(
	struct climb *climb, const struct kwhy_posterior_model *model, struct kwhy_error *error)
{
	size_t size = kwhy_posterior_size(model->prior), linear = size - KWHY_NOISE_PARAMETERS;
	size_t count = model->readings->count;
	double *block = calloc(size * size * 2 + size * 3 + (linear + 1) * count + 1, sizeof(*block));

	if (!block)
		return kwhy_fail_memory(error, "the fit of powers");
	*climb = (struct climb){.model = model, .count = count, .linear = linear, .damping = 1e-3};
	climb->precision = block;
	climb->factor = climb->precision + size * size;
	climb->gradient = climb->factor + size * size;
	climb->step = climb->gradient + size;
	climb->tried = climb->step + size;
	climb->weights = climb->tried + size;
	climb->columns = climb->weights + count;
	return kwhy_posterior_prediction_init(&climb->prediction, count, error);
}

static void climb_done(struct climb *climb)
{
	kwhy_posterior_prediction_done(&climb->prediction);
	free(climb->precision);
}

static double clamp(double value, double most)
{
	return fmin(fmax(value, -most), most);
}

/*
 * Computes climb->columns: the derivatives of the predicted readings with respect to the logarithms of class
 * powers, idle level, time constant, and delay. The latter is a multiple of the prediction's slope.
 */
static void differentiate(struct climb *climb, const double *parameters)
{
	const struct kwhy_response_features *features = climb->model->features;
	size_t classes = features->class_count, count = climb->count;
	const double *other = parameters + classes;
	double *idle = climb->columns + (classes + KWHY_PARAMETER_IDLE) * count;
	double *tau = climb->columns + (classes + KWHY_PARAMETER_TAU) * count;
	double *delay = climb->columns + (classes + KWHY_PARAMETER_DELAY) * count;
	struct kwhy_grid_weights weights = kwhy_grid_weigh(other);

	memset(climb->columns, 0, climb->linear * count * sizeof(double));
	for (size_t point = 0; point < KWHY_GRID_POINTS; point++) {
		double by_tau = weights.tau[point / KWHY_GRID_DELAYS];
		double by_delay = weights.delay[point % KWHY_GRID_DELAYS];
		double weight = by_tau * by_delay;
		double slope = weights.tau_slope[point / KWHY_GRID_DELAYS] * by_delay;

		if (by_delay == 0)
			continue;
		for (size_t c = 0; c < classes; c++) {
			const float *net = features->net + (point * classes + c) * count;
			double power_w = exp(parameters[c]), *column = climb->columns + c * count;

			for (size_t i = 0; i < count; i++) {
				column[i] += weight * power_w * (double)net[i];
				tau[i] += slope * power_w * (double)net[i];
			}
		}
	}
	for (size_t i = 0; i < count; i++) {
		idle[i] = 1;
		delay[i] = -climb->prediction.slope_w_per_s[i] * features->grid.delay_step_s;
	}
}

static void weigh(struct climb *climb, const double *parameters)
{
	const double *other = parameters + climb->model->prior->class_count;
	struct kwhy_posterior_noise noise = kwhy_posterior_noise_of(
		other[KWHY_PARAMETER_IDLE], other + KWHY_PARAMETER_NOISE);

	for (size_t i = 0; i < climb->count; i++) {
		double variance = kwhy_posterior_variance(climb->model, &climb->prediction, i, &noise);
		double residual = climb->model->readings->items[i].power_w - climb->prediction.power_w[i];

		climb->weights[i] = climb->model->temper * (FREEDOM + 1) /
			(FREEDOM * variance + residual * residual);
	}
}

/*
 * Adds J' W J (lower triangle) to the precision and J' W r to the gradient. J are the derivatives, W the
 * weights, r the residuals.
 */
static void add_readings(struct climb *climb, size_t size)
{
	size_t count = climb->count;

	for (size_t a = 0; a < climb->linear; a++) {
		const double *left = climb->columns + a * count;

		for (size_t b = 0; b <= a; b++) {
			const double *right = climb->columns + b * count;
			double sum = 0;

			for (size_t i = 0; i < count; i++)
				sum += climb->weights[i] * left[i] * right[i];
			climb->precision[a * size + b] += sum;
		}
		for (size_t i = 0; i < count; i++)
			climb->gradient[a] += climb->weights[i] * left[i] *
				(climb->model->readings->items[i].power_w - climb->prediction.power_w[i]);
	}
}

static void add_term(struct climb *climb, size_t size, size_t at, double distance, double sd)
{
	climb->precision[at * size + at] += 1 / (sd * sd);
	climb->gradient[at] -= distance / (sd * sd);
}

static void add_prior_of_classes(struct climb *climb, size_t size, const double *parameters)
{
	const struct kwhy_posterior_prior *prior = climb->model->prior;
	size_t unit = prior->class_count + KWHY_PARAMETER_UNIT;

	for (size_t c = 0; c < prior->class_count; c++) {
		struct kwhy_normal normal = prior->class_log[c];
		double weight = 1 / (normal.sd * normal.sd);
		double distance = parameters[c] - normal.mean - (prior->tied[c] ? parameters[unit] : 0);

		add_term(climb, size, c, distance, normal.sd);
		if (!prior->tied[c])
			continue;
		climb->precision[unit * size + unit] += weight;
		climb->precision[unit * size + c] -= weight;
		climb->gradient[unit] += weight * distance;
	}
}

/*
 * Adds the term of the prior that concerns the power limit, for classes whose power, idle level included,
 * exceeds 1.2 times the limit.
 */
static void add_limit(struct climb *climb, size_t size, const double *parameters)
{
	const struct kwhy_posterior_prior *prior = climb->model->prior;
	size_t idle = prior->class_count + KWHY_PARAMETER_IDLE;

	for (size_t c = 0; c < prior->class_count; c++) {
		double net_w = exp(parameters[c]), sd_w = kwhy_posterior_limit_sd_w(prior);
		double beyond = kwhy_posterior_beyond_limit(prior, c, parameters[idle] + net_w);

		if (beyond <= 0)
			continue;
		add_term(climb, size, c, beyond * sd_w / net_w, sd_w / net_w);
		add_term(climb, size, idle, beyond * sd_w, sd_w);
		climb->precision[idle * size + c] += net_w / (sd_w * sd_w);
	}
}

static void add_prior(struct climb *climb, size_t size, const double *parameters)
{
	const struct kwhy_posterior_prior *prior = climb->model->prior;
	const struct kwhy_response_grid *grid = &climb->model->features->grid;
	const double *other = parameters + prior->class_count;

	add_prior_of_classes(climb, size, parameters);
	add_limit(climb, size, parameters);
	for (size_t i = 0; i < KWHY_PARAMETER_NOISE; i++) {
		struct kwhy_normal normal = prior->other[i];

		if (i == KWHY_PARAMETER_TAU) {
			normal.mean = (normal.mean - grid->tau_s) / grid->tau_step_s;
			normal.sd /= grid->tau_step_s;
		} else if (i == KWHY_PARAMETER_DELAY) {
			normal.mean = (normal.mean - grid->delay_s) / grid->delay_step_s;
			normal.sd /= grid->delay_step_s;
		}
		add_term(climb, size, prior->class_count + i, other[i] - normal.mean, normal.sd);
	}
}

/* Negative log density as a function of the noise parameters (`logs`) alone, for the current prediction. */
static double noise_cost(const struct climb *climb, double idle_w, const double *logs)
{
	const struct kwhy_normal *prior = climb->model->prior->other + KWHY_PARAMETER_NOISE;
	struct kwhy_posterior_noise noise = kwhy_posterior_noise_of(idle_w, logs);
	double cost = -climb->model->temper *
		kwhy_posterior_log_likelihood(climb->model, &climb->prediction, &noise);

	for (int i = 0; i < KWHY_NOISE_PARAMETERS; i++) {
		double far = (logs[i] - prior[i].mean) / prior[i].sd;

		cost += 0.5 * far * far;
	}
	return cost;
}

/*
 * Gradient and second derivatives (lower triangle) of noise_cost() with respect to the noise parameters, from
 * difference quotients.
 */
struct curvature {
	double gradient[KWHY_NOISE_PARAMETERS];
	double matrix[KWHY_NOISE_PARAMETERS * KWHY_NOISE_PARAMETERS];
};

static double moved_cost(const struct climb *climb, double idle_w, const double *logs,
	const double step[KWHY_NOISE_PARAMETERS])
{
	double moved[KWHY_NOISE_PARAMETERS];

	for (int i = 0; i < KWHY_NOISE_PARAMETERS; i++)
		moved[i] = logs[i] + NOISE_DIFFERENCE * step[i];
	return noise_cost(climb, idle_w, moved);
}

static void noise_curvature(
	const struct climb *climb, double idle_w, const double *logs, struct curvature *curvature)
{
	const int n = KWHY_NOISE_PARAMETERS;
	double here = noise_cost(climb, idle_w, logs), up[KWHY_NOISE_PARAMETERS];

	for (int i = 0; i < n; i++) {
		double step[KWHY_NOISE_PARAMETERS] = {0}, down;

		step[i] = -1;
		down = moved_cost(climb, idle_w, logs, step);
		step[i] = 1;
		up[i] = moved_cost(climb, idle_w, logs, step);
		curvature->gradient[i] = (up[i] - down) / (2 * NOISE_DIFFERENCE);
		/*
		 * At least 0.5, about the second derivative of the prior's term, because far from the mode
		 * the cost may be concave.
		 */
		curvature->matrix[i * n + i] = fmax(
			(up[i] - 2 * here + down) / (NOISE_DIFFERENCE * NOISE_DIFFERENCE), 0.5);
		for (int j = 0; j < i; j++) {
			double both,
				most = 0.3 *
				sqrt(curvature->matrix[i * n + i] * curvature->matrix[j * n + j]);

			step[j] = 1;
			both = moved_cost(climb, idle_w, logs, step) - up[i] - up[j] + here;
			step[j] = 0;
			both /= NOISE_DIFFERENCE * NOISE_DIFFERENCE;
			curvature->matrix[i * n + j] = fmin(fmax(both, -most), most);
		}
	}
}

static void step_noise(struct climb *climb, double *parameters)
{
	double *other = parameters + climb->model->prior->class_count;
	double *logs = other + KWHY_PARAMETER_NOISE, before, tried[KWHY_NOISE_PARAMETERS];
	struct curvature curvature;

	noise_curvature(climb, other[KWHY_PARAMETER_IDLE], logs, &curvature);
	if (!kwhy_matrix_factor(curvature.matrix, KWHY_NOISE_PARAMETERS, 0))
		return;
	kwhy_matrix_solve(curvature.matrix, KWHY_NOISE_PARAMETERS, curvature.gradient);
	before = noise_cost(climb, other[KWHY_PARAMETER_IDLE], logs);
	for (double part = 1; part > 0.02; part /= 2) {
		for (int i = 0; i < KWHY_NOISE_PARAMETERS; i++)
			tried[i] = logs[i] - clamp(part * curvature.gradient[i], 1);
		if (noise_cost(climb, other[KWHY_PARAMETER_IDLE], tried) >= before)
			continue;
		memcpy(logs, tried, sizeof(tried));
		return;
	}
}

/* Computes precision and gradient at `parameters`, for which the prediction was made. */
static void expand(struct climb *climb, size_t size, const double *parameters)
{
	memset(climb->precision, 0, size * size * sizeof(double));
	memset(climb->gradient, 0, size * sizeof(double));
	differentiate(climb, parameters);
	weigh(climb, parameters);
	add_readings(climb, size);
	add_prior(climb, size, parameters);
}

/* Tries one step with the current damping. False: it does not increase the density. */
static bool try_step(struct climb *climb, size_t size, double *parameters)
{
	size_t linear = climb->linear, classes = climb->model->prior->class_count;
	double density;

	for (size_t a = 0; a < linear; a++)
		for (size_t b = 0; b <= a; b++)
			climb->factor[a * linear + b] = climb->precision[a * size + b] *
				(a == b ? 1 + climb->damping : 1);
	memcpy(climb->step, climb->gradient, linear * sizeof(double));
	if (!kwhy_matrix_factor(climb->factor, linear, 0))
		return false;
	kwhy_matrix_solve(climb->factor, linear, climb->step);
	memcpy(climb->tried, parameters, size * sizeof(double));
	for (size_t a = 0; a < linear; a++)
		climb->tried[a] += a < classes ? clamp(climb->step[a], 1) : climb->step[a];
	climb->tried[classes + KWHY_PARAMETER_TAU] = clamp(
		climb->tried[classes + KWHY_PARAMETER_TAU], KWHY_TAU_REACH);
	climb->tried[classes + KWHY_PARAMETER_DELAY] = clamp(
		climb->tried[classes + KWHY_PARAMETER_DELAY], KWHY_DELAY_REACH);
	density = kwhy_posterior_log_density(climb->model, &climb->prediction, climb->tried);
	if (!(density > climb->density))
		return false;
	memcpy(parameters, climb->tried, size * sizeof(double));
	climb->density = density;
	return true;
}

/*
 * Takes one step of the parameters other than the noise, with the damping increased until the density rises.
 * Returns by how much the log density rises; 0: it does not rise with any damping below DAMPING_MAX.
 */
static double step_powers(struct climb *climb, size_t size, double *parameters)
{
	double before = climb->density;

	expand(climb, size, parameters);
	for (; climb->damping < DAMPING_MAX; climb->damping *= 10) {
		if (!try_step(climb, size, parameters))
			continue;
		climb->damping = fmax(climb->damping / 10, 1e-9);
		return climb->density - before;
	}
	climb->damping = 1e-3;
	return 0;
}

/*
 * Sets the weights to the expected (Fisher) information of the readings under the model. These weights do not
 * depend on the residuals; those of the climb (weigh()) do, and are 1.4 times as large on average.
 */
static void weigh_information(struct climb *climb, const double *parameters)
{
	const double *other = parameters + climb->model->prior->class_count;
	struct kwhy_posterior_noise noise = kwhy_posterior_noise_of(
		other[KWHY_PARAMETER_IDLE], other + KWHY_PARAMETER_NOISE);

	for (size_t i = 0; i < climb->count; i++)
		climb->weights[i] = climb->model->temper * (FREEDOM + 1) / (FREEDOM + 3) /
			kwhy_posterior_variance(climb->model, &climb->prediction, i, &noise);
}

/*
 * Stores the gradient and the negative second derivatives of the log likelihood (without prior) in the fit,
 * with respect to watts. climb->columns has derivatives with respect to logarithms of watts.
 */
static void keep_likelihood(struct climb *climb, struct kwhy_posterior_fit *fit)
{
	size_t size = fit->size, linear = climb->linear, classes = climb->model->prior->class_count;

	memset(climb->gradient, 0, size * sizeof(double));
	weigh(climb, fit->mode);
	add_readings(climb, size);
	memcpy(fit->gradient, climb->gradient, size * sizeof(double));
	memset(climb->precision, 0, size * size * sizeof(double));
	weigh_information(climb, fit->mode);
	add_readings(climb, size);
	for (size_t a = 0; a < linear; a++) {
		double by_a = a < classes ? exp(-fit->mode[a]) : 1;

		fit->gradient[a] *= by_a;
		for (size_t b = 0; b <= a; b++) {
			double by_b = b < classes ? exp(-fit->mode[b]) : 1;

			fit->curvature[a * size + b] = climb->precision[a * size + b] * by_a * by_b;
			fit->curvature[b * size + a] = fit->curvature[a * size + b];
		}
	}
}

/*
 * Computes fit->factor: the Cholesky factor of the precision matrix at the mode, noise parameters included.
 * False: the matrix is not positive definite.
 */
static bool settle(struct climb *climb, struct kwhy_posterior_fit *fit)
{
	size_t size = fit->size, noise = climb->linear;
	struct curvature curvature;

	kwhy_posterior_predict(&climb->prediction, climb->model, fit->mode);
	expand(climb, size, fit->mode);
	noise_curvature(climb, fit->mode[climb->model->prior->class_count + KWHY_PARAMETER_IDLE],
		fit->mode + noise, &curvature);
	for (size_t a = 0; a < KWHY_NOISE_PARAMETERS; a++)
		for (size_t b = 0; b <= a; b++)
			climb->precision[(noise + a) * size + noise + b] =
				curvature.matrix[a * KWHY_NOISE_PARAMETERS + b];
	memcpy(fit->factor, climb->precision, size * size * sizeof(double));
	keep_likelihood(climb, fit);
	return kwhy_matrix_factor(fit->factor, size, 0);
}

enum kwhy_status kwhy_posterior_fit_sd(
	const struct kwhy_posterior_fit *fit, size_t parameter, double *out_spread, struct kwhy_error *error)
{
	double *column = calloc(fit->size, sizeof(*column));

	if (!column)
		return kwhy_fail_memory(error, "the fit of powers");
	column[parameter] = 1;
	kwhy_matrix_solve(fit->factor, fit->size, column);
	*out_spread = sqrt(column[parameter]);
	free(column);
	return KWHY_OK;
}

enum kwhy_status kwhy_posterior_fit_climb(struct kwhy_posterior_fit *fit,
	const struct kwhy_posterior_model *model, double *out_density, struct kwhy_error *error)
{
	struct climb climb = {0};
	enum kwhy_status status = climb_init(&climb, model, error);
	int step = 0, still = 0;

	if (status)
		goto done;
	for (; step < STEPS_MAX && still < 2; step++) {
		double gain;

		climb.density = kwhy_posterior_log_density(model, &climb.prediction, fit->mode);
		gain = climb.density;
		step_noise(&climb, fit->mode);
		climb.density = kwhy_posterior_log_density(model, &climb.prediction, fit->mode);
		gain = climb.density - gain + step_powers(&climb, fit->size, fit->mode);
		still = gain < GAIN_MIN ? still + 1 : 0;
	}
	if (!settle(&climb, fit))
		status = kwhy_fail(error, KWHY_E_INPUT,
			"no powers fit the power readings; check the units of the power file");
	if (out_density)
		*out_density = climb.density;
done:
	climb_done(&climb);
	return status;
}
