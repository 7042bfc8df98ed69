/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/posterior.h"

#include <math.h>
#include <stdlib.h>

/*
 * Standard error of the model for one mixture of power classes, relative to the mixture's power above idle.
 * Its causes are the shapes of kernels' power over time and errors of time stamps.
 */
#define SHARED_RATIO 0.005

/*
 * Scale of similarity: two readings have about the same mixture of power classes if their class powers
 * differ by less than this share of the mean power.
 */
#define ALIKE_RATIO 0.05

/* Largest number of readings, evenly spread, with which each reading is compared. */
#define COMPARED_MAX 400

/* Power above idle of each class in each reading, at the middle of the response grid: [count * classes]. */
static double *class_powers(const struct kwhy_posterior_model *model, const double *parameters)
{
	const struct kwhy_response_features *features = model->features;
	size_t count = features->reading_count, classes = features->class_count;
	double *powers_w = calloc(count * classes + 1, sizeof(*powers_w));

	for (size_t c = 0; powers_w && c < classes; c++) {
		const float *net = features->net + (KWHY_GRID_MIDDLE * classes + c) * count;

		for (size_t i = 0; i < count; i++)
			powers_w[i * classes + c] = exp(parameters[c]) * (double)net[i];
	}
	return powers_w;
}

static double sum_of(const double *powers_w, size_t classes)
{
	double sum_w = 0;

	for (size_t c = 0; c < classes; c++)
		sum_w += powers_w[c];
	return sum_w;
}

static double distance2(const double *a, const double *b, size_t classes)
{
	double sum = 0;

	for (size_t c = 0; c < classes; c++)
		sum += (a[c] - b[c]) * (a[c] - b[c]);
	return sum;
}

enum kwhy_status kwhy_posterior_share(const struct kwhy_posterior_model *model, const double *parameters,
	double *out_shared_w2, struct kwhy_error *error)
{
	size_t count = model->features->reading_count, classes = model->features->class_count;
	size_t stride = (count + COMPARED_MAX - 1) / COMPARED_MAX;
	double *powers_w = class_powers(model, parameters), mean_w = 0, alike_w2;

	if (!powers_w)
		return kwhy_fail_memory(error, "power readings");
	for (size_t i = 0; i < count; i++)
		mean_w += fabs(sum_of(powers_w + i * classes, classes)) / (double)count;
	alike_w2 = pow(ALIKE_RATIO * mean_w, 2);
	for (size_t i = 0; i < count && alike_w2 > 0; i++) {
		double net_w = sum_of(powers_w + i * classes, classes), alike = 0;

		for (size_t j = 0; j < count; j += stride)
			alike += exp(-0.5 *
				distance2(powers_w + i * classes, powers_w + j * classes, classes) /
				alike_w2);
		out_shared_w2[i] = alike * (double)stride * pow(SHARED_RATIO * net_w, 2);
	}
	free(powers_w);
	return KWHY_OK;
}
