/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/posterior.h"

#include <math.h>
#include <stdlib.h>

/*
 * Standard error of the model for one mixture of power classes, as a share of the mixture's power above idle.
 * It covers what the model leaves out: kernels' powers vary during a kernel, and time stamps have errors.
 */
#define SHARED_RATIO 0.005

/*
 * Scale of the similarity of readings, as a share of the mean power above idle: the similarity of two
 * readings is exp(-d^2 / 2), where d is the distance of their vectors of class powers in this unit.
 */
#define ALIKE_RATIO 0.05

/* Largest number of readings, evenly spread over all, with which each reading is compared. */
#define COMPARED_MAX 400

/*
 * Power above idle of each class in each reading, in W, at the middle of the response grid: [reading_count *
 * class_count], to be freed by the caller. NULL: out of memory.
 */
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
