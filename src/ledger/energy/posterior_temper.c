/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/posterior.h"

#include <math.h>
#include <stdlib.h>

/* Largest lag, in readings, of the autocorrelations that are summed. */
#define LAGS_MAX 100
/*
 * Limit on residuals, in standard deviations, so that a single outlier does not dominate the correlation.
 */
#define RESIDUAL_MAX 4.0

static double correlation(const double *residuals, size_t count, size_t lag)
{
	double products = 0, squares = 0;

	for (size_t i = 0; i + lag < count; i++)
		products += residuals[i] * residuals[i + lag];
	for (size_t i = 0; i < count; i++)
		squares += residuals[i] * residuals[i];
	return squares > 0 ? products / squares : 0;
}

enum kwhy_status kwhy_posterior_temper(const struct kwhy_posterior_model *model, const double *parameters,
	double *out_temper, struct kwhy_error *error)
{
	const double *other = parameters + model->prior->class_count;
	struct kwhy_posterior_prediction prediction;
	struct kwhy_posterior_noise noise;
	size_t count = model->readings->count;
	double *residuals = malloc((count + 1) * sizeof(*residuals)), sum = 0;
	enum kwhy_status status = residuals ? kwhy_posterior_prediction_init(&prediction, count, error)
					    : kwhy_fail_memory(error, "power readings");

	if (status) {
		free(residuals);
		return status;
	}
	kwhy_posterior_predict(&prediction, model, parameters);
	noise = kwhy_posterior_noise_of(other[KWHY_PARAMETER_IDLE], other + KWHY_PARAMETER_NOISE);
	for (size_t i = 0; i < count; i++) {
		double variance = kwhy_posterior_variance(model, &prediction, i, &noise);
		double residual = (model->readings->items[i].power_w - prediction.power_w[i]) /
			sqrt(variance);

		residuals[i] = fmin(fmax(residual, -RESIDUAL_MAX), RESIDUAL_MAX);
	}
	for (size_t lag = 1; lag <= LAGS_MAX && lag < count / 4; lag++) {
		double rho = correlation(residuals, count, lag);

		if (rho < 2 / sqrt((double)count))
			break;
		sum += rho;
	}
	*out_temper = 1 / (1 + 2 * sum);
	kwhy_posterior_prediction_done(&prediction);
	free(residuals);
	return KWHY_OK;
}
