/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/posterior.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Degrees of freedom of the Student-t noise. Its heavy tails cover effects that the model does not have
 * (temperature, data, clocks).
 */
#define FREEDOM 4.0

/*
 * The prior density falls for powers above LIMIT_HELD times the power limit, as a normal density with a
 * standard deviation of LIMIT_SPREAD times the limit. A device keeps its mean power over some milliseconds
 * below the limit; kernels shorter than that may exceed it.
 */
#define LIMIT_HELD 1.2
#define LIMIT_SPREAD 0.1

/*
 * Lower bound of the parameter NOISE, 1 mW. Meters resolve milliwatts at best, and constant readings would
 * otherwise lead to a noise of 0.
 */
#define NOISE_LOG_MIN (-6.907755279) /* log(0.001) */

enum kwhy_status kwhy_posterior_prediction_init(
	struct kwhy_posterior_prediction *prediction, size_t count, struct kwhy_error *error)
{
	double *block = calloc(5 * count + 1, sizeof(*block));

	if (!block)
		return kwhy_fail_memory(error, "power readings");
	*prediction = (struct kwhy_posterior_prediction){
		.count = count,
		.power_w = block,
		.slope_w_per_s = block + count,
		.inside_w2 = block + 2 * count,
		.scratch = block + 3 * count,
	};
	return KWHY_OK;
}

void kwhy_posterior_prediction_done(struct kwhy_posterior_prediction *prediction)
{
	free(prediction->power_w);
	*prediction = (struct kwhy_posterior_prediction){0};
}

static void add_scaled(double *restrict sum, const float *restrict column, double scale, size_t count)
{
	for (size_t i = 0; i < count; i++)
		sum[i] += scale * (double)column[i];
}

/*
 * Predicts the variance of the power within each reading's window, as if the classes ran one after the other:
 * the mean of the squared powers minus the square of their mean. Concurrent classes may make this difference
 * negative; the variance is then 0.
 */
static void predict_inside(struct kwhy_posterior_prediction *prediction,
	const struct kwhy_response_features *features, const double *parameters)
{
	size_t count = prediction->count, classes = features->class_count;
	double *mean = prediction->scratch, *square = mean + count;

	memset(mean, 0, 2 * count * sizeof(double));
	for (size_t c = 0; c < classes; c++) {
		const float *column = features->net + (KWHY_GRID_MIDDLE * classes + c) * count;
		double power_w = exp(parameters[c]);

		add_scaled(mean, column, power_w, count);
		add_scaled(square, column, power_w * power_w, count);
	}
	for (size_t i = 0; i < count; i++)
		prediction->inside_w2[i] = fmax(0, square[i] - mean[i] * mean[i]);
}

/*
 * Adds the powers predicted at one point of the response grid, times `weight`, to power_w, and times `slope`
 * to slope_w_per_s.
 */
static void add_point(struct kwhy_posterior_prediction *prediction,
	const struct kwhy_response_features *features, size_t point, const double *parameters, double weight,
	double slope)
{
	size_t count = prediction->count, classes = features->class_count;

	for (size_t c = 0; c < classes; c++) {
		const float *column = features->net + (point * classes + c) * count;
		double power_w = exp(parameters[c]);

		add_scaled(prediction->power_w, column, weight * power_w, count);
		add_scaled(prediction->slope_w_per_s, column, slope * power_w, count);
	}
}

void kwhy_posterior_predict(struct kwhy_posterior_prediction *prediction,
	const struct kwhy_posterior_model *model, const double *parameters)
{
	const struct kwhy_response_features *features = model->features;
	const double *other = parameters + features->class_count;
	struct kwhy_grid_weights weights = kwhy_grid_weigh(other);

	for (size_t i = 0; i < prediction->count; i++) {
		prediction->power_w[i] = other[KWHY_PARAMETER_IDLE];
		prediction->slope_w_per_s[i] = 0;
	}
	for (size_t point = 0; point < KWHY_GRID_POINTS; point++) {
		double tau = weights.tau[point / KWHY_GRID_DELAYS];
		double weight = weights.delay[point % KWHY_GRID_DELAYS];
		double slope = weights.delay_slope[point % KWHY_GRID_DELAYS] / -features->grid.delay_step_s;

		if (weight != 0 || slope != 0)
			add_point(prediction, features, point, parameters, tau * weight, tau * slope);
	}
	predict_inside(prediction, features, parameters);
}

struct kwhy_posterior_noise kwhy_posterior_noise_of(double idle_w, const double *noise_logs)
{
	const double *logs = noise_logs - KWHY_PARAMETER_NOISE;

	return (struct kwhy_posterior_noise){
		.idle_w = idle_w,
		.noise_w2 = exp(2 * fmax(logs[KWHY_PARAMETER_NOISE], NOISE_LOG_MIN)),
		.alias = exp(logs[KWHY_PARAMETER_ALIAS]),
		.stamp_s2 = exp(2 * logs[KWHY_PARAMETER_STAMP]),
		.vary2 = exp(2 * logs[KWHY_PARAMETER_VARY]),
	};
}

static double log_normal(struct kwhy_normal normal, double value)
{
	double distance = (value - normal.mean) / normal.sd;

	return -0.5 * distance * distance;
}

double kwhy_posterior_log_class(
	const struct kwhy_posterior_prior *prior, size_t class, double log_power, double unit)
{
	return log_normal(prior->class_log[class], log_power - (prior->tied[class] ? unit : 0));
}

double kwhy_posterior_log_other(const struct kwhy_posterior_model *model, size_t parameter, double value)
{
	const struct kwhy_response_grid *grid = &model->features->grid;

	if (parameter == KWHY_PARAMETER_TAU)
		value = grid->tau_s + value * grid->tau_step_s;
	else if (parameter == KWHY_PARAMETER_DELAY)
		value = grid->delay_s + value * grid->delay_step_s;
	return log_normal(model->prior->other[parameter], value);
}

double kwhy_posterior_limit_sd_w(const struct kwhy_posterior_prior *prior)
{
	return LIMIT_SPREAD * prior->limit_w;
}

double kwhy_posterior_beyond_limit(const struct kwhy_posterior_prior *prior, size_t class, double power_w)
{
	if (!(prior->limit_w > 0) || prior->seen[class])
		return 0;
	return fmax(0, (power_w - LIMIT_HELD * prior->limit_w) / kwhy_posterior_limit_sd_w(prior));
}

double kwhy_posterior_log_limit(const struct kwhy_posterior_prior *prior, size_t class, double power_w)
{
	double beyond = kwhy_posterior_beyond_limit(prior, class, power_w);

	return -0.5 * beyond * beyond;
}

double kwhy_posterior_log_prior(const struct kwhy_posterior_model *model, const double *parameters)
{
	const struct kwhy_posterior_prior *prior = model->prior;
	const double *other = parameters + prior->class_count;
	double sum = 0;

	for (size_t c = 0; c < prior->class_count; c++)
		sum += kwhy_posterior_log_class(prior, c, parameters[c], other[KWHY_PARAMETER_UNIT]) +
			kwhy_posterior_log_limit(prior, c, other[KWHY_PARAMETER_IDLE] + exp(parameters[c]));
	for (size_t i = 0; i < KWHY_PARAMETER_COUNT; i++)
		sum += kwhy_posterior_log_other(model, i, other[i]);
	return sum;
}

double kwhy_posterior_log_likelihood(const struct kwhy_posterior_model *model,
	const struct kwhy_posterior_prediction *prediction, const struct kwhy_posterior_noise *noise)
{
	double sum = 0;

	for (size_t i = 0; i < prediction->count; i++) {
		double variance = kwhy_posterior_variance(model, prediction, i, noise);
		double residual = model->readings->items[i].power_w - prediction->power_w[i];
		double tail = 1 + residual * residual / (FREEDOM * variance);

		/*
		 * Log density of Student's t without constants: -log(variance) / 2 - (FREEDOM + 1) / 2 *
		 * log(tail), written for FREEDOM 4 with one logarithm.
		 */
		sum -= 0.5 * log(variance * tail * tail * tail * tail * tail);
	}
	return sum;
}

double kwhy_posterior_log_density(const struct kwhy_posterior_model *model,
	struct kwhy_posterior_prediction *prediction, const double *parameters)
{
	const double *other = parameters + model->features->class_count;
	struct kwhy_posterior_noise noise = kwhy_posterior_noise_of(
		other[KWHY_PARAMETER_IDLE], other + KWHY_PARAMETER_NOISE);

	if (fabs(other[KWHY_PARAMETER_TAU]) > KWHY_TAU_REACH ||
		fabs(other[KWHY_PARAMETER_DELAY]) > KWHY_DELAY_REACH)
		return -INFINITY;
	kwhy_posterior_predict(prediction, model, parameters);
	return kwhy_posterior_log_prior(model, parameters) +
		model->temper * kwhy_posterior_log_likelihood(model, prediction, &noise);
}
