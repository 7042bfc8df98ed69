/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/posterior.h"

#include <math.h>
#include <stdlib.h>

/*
 * Variance that the relative drift of the power gains per second: a standard deviation of 0.3 % in a second,
 * 1 % in ten, as during warm-up.
 */
#define DRIFT_PER_S (0.003 * 0.003)
#define FREEDOM 4.0

/*
 * State of the drift, a random walk observed with noise, at one reading: of the Kalman filter forwards, then
 * of the smoother backwards (Rauch, Tung, Striebel).
 */
struct walk_state {
	double mean, variance; /* mean: of the relative drift, by the filter, later by the smoother; variance:
				  of the drift, by the filter */
	double ahead_variance; /* variance of the drift at this reading, predicted from the readings before it
				*/
};

static double step_variance(const struct kwhy_power_readings *readings, size_t i)
{
	return DRIFT_PER_S * fabs((double)(readings->items[i].to_ns - readings->items[i - 1].to_ns)) * 1e-9;
}

/*
 * Residual of reading i (power as read minus predicted power), divided by the predicted power. Also writes
 * the variance of this ratio. For outliers the variance is increased as Student-t noise requires, so that
 * they get little weight.
 */
static double residual_of(const struct kwhy_posterior_model *model,
	const struct kwhy_posterior_prediction *prediction, const struct kwhy_posterior_noise *noise,
	size_t i, double read_w, double *out_variance)
{
	double variance = kwhy_posterior_variance(model, prediction, i, noise);
	double power_w = prediction->power_w[i], residual_w = read_w - power_w;

	variance *= (FREEDOM + residual_w * residual_w / variance) / (FREEDOM + 1);
	*out_variance = variance / (power_w * power_w);
	return residual_w / power_w;
}

static void filter(struct walk_state *states, const struct kwhy_posterior_model *model,
	const struct kwhy_posterior_prediction *prediction, const struct kwhy_posterior_noise *noise,
	const double *read_w)
{
	/*
	 * The first drift is near 0 (variance DRIFT_PER_S), because the powers of the classes already fit the
	 * mean of all readings.
	 */
	const struct kwhy_power_readings *readings = model->readings;
	double mean = 0, variance = DRIFT_PER_S;

	for (size_t i = 0; i < readings->count; i++) {
		double noise_variance, residual, trust;

		residual = residual_of(model, prediction, noise, i, read_w[i], &noise_variance);
		variance += i > 0 ? step_variance(readings, i) : 0;
		states[i].ahead_variance = variance;
		trust = variance / (variance + noise_variance);
		mean += trust * (residual - mean);
		variance *= 1 - trust;
		states[i].mean = mean;
		states[i].variance = variance;
	}
}

static void smooth(struct walk_state *states, size_t count)
{
	for (size_t i = count - 1; i-- > 0;) {
		double back = states[i].variance / states[i + 1].ahead_variance;

		states[i].mean += back * (states[i + 1].mean - states[i].mean);
	}
}

/*
 * Divides each reading by 1 + its drift - the mean drift of all readings. The mean is weighted by predicted
 * power, so that the mean power of the readings stays about the same.
 */
static void divide_out(const struct walk_state *states, const struct kwhy_posterior_prediction *prediction,
	const double *read_w, struct kwhy_power_readings *readings)
{
	double drifted_w = 0, total_w = 0;

	for (size_t i = 0; i < readings->count; i++) {
		drifted_w += states[i].mean * prediction->power_w[i];
		total_w += prediction->power_w[i];
	}
	for (size_t i = 0; i < readings->count; i++) {
		double gain = 1 + states[i].mean - drifted_w / total_w;

		readings->items[i].power_w = read_w[i] / fmax(gain, 0.5);
	}
}

enum kwhy_status kwhy_posterior_detrend(const struct kwhy_posterior_model *model, const double *parameters,
	const double *read_w, struct kwhy_power_readings *readings, struct kwhy_error *error)
{
	const double *other = parameters + model->prior->class_count;
	struct kwhy_posterior_noise noise = kwhy_posterior_noise_of(
		other[KWHY_PARAMETER_IDLE], other + KWHY_PARAMETER_NOISE);
	struct kwhy_posterior_prediction prediction;
	struct walk_state *states;
	enum kwhy_status status;
	bool positive = true;

	if (readings->count < 2)
		return KWHY_OK;
	states = calloc(readings->count, sizeof(*states));
	status = states ? kwhy_posterior_prediction_init(&prediction, readings->count, error)
			: kwhy_fail_memory(error, "power readings");
	if (status) {
		free(states);
		return status;
	}
	kwhy_posterior_predict(&prediction, model, parameters);
	for (size_t i = 0; i < readings->count; i++)
		positive &= prediction.power_w[i] > 0;
	if (positive) {
		filter(states, model, &prediction, &noise, read_w);
		smooth(states, readings->count);
		divide_out(states, &prediction, read_w, readings);
	}
	kwhy_posterior_prediction_done(&prediction);
	free(states);
	return KWHY_OK;
}
