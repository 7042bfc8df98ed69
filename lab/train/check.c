/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/next.h"
#include "lab/train/rules.h"

/*
 * Largest differences from the reference after a few steps that rounding explains, with a margin.
 * The limits of moments are multiplied by the root of the number of layers (judge()). Differences
 * of moments arise because an input of a ReLU near 0 may have the other sign after rounding to 16
 * bits. The limit of weights is wide, because in the first steps AdamW moves each weight by nearly
 * the whole learning rate, however small its gradient is: where a tiny gradient has the wrong sign,
 * the weight moves in the opposite direction.
 */
static const struct lab_train_errors limits[] = {[LAB_FP32] = {1e-4, 1e-3, 1e-3, 0.1},
	[LAB_TF32] = {1e-3, 0.03, 0.03, 0.5},
	[LAB_BF16] = {2e-3, 0.05, 0.05, 0.6}};

/*
 * Root of the sum of squared differences, divided by the root of the sum of squared expected values. With
 * `bound` above 0 (weights), the divisor has the changes of the expected values since the start of the
 * training instead.
 */
static double distance(const float *found, const float *expected, float bound, size_t count)
{
	double differences = 0, squares = 0;

	for (size_t i = 0; i < count; i++) {
		double start = bound > 0 ? (double)lab_train_first_weight(i, bound) : 0,
		       difference = (double)found[i] - (double)expected[i];

		differences += difference * difference;
		squares += ((double)expected[i] - start) * ((double)expected[i] - start);
	}
	return sqrt(differences / squares);
}

static void compare(const struct lab_train_shape *shape, const struct lab_train_state *found,
	const struct lab_train_state *expected, struct lab_train_errors *out)
{
	size_t count = lab_train_weight_count(shape);
	float bound = lab_train_bound(shape->width);

	*out = (struct lab_train_errors){.first = distance(found->first, expected->first, 0, count),
		.second = distance(found->second, expected->second, 0, count),
		.weights = distance(found->weights, expected->weights, bound, count)};
	for (uint32_t i = 0; i < shape->steps && !isnan(out->loss); i++)
		if (!(fabs(found->losses[i] / expected->losses[i] - 1) <= out->loss))
			out->loss = fabs(found->losses[i] / expected->losses[i] - 1);
}

static enum kwhy_status judge(const struct lab_train_request *request, const struct lab_train_errors *errors,
	struct kwhy_error *error)
{
	const struct lab_train_errors *most = &limits[request->variant->type];
	double share = sqrt(request->shape.layers);

	if (errors->loss <= most->loss && errors->first <= share * most->first &&
		errors->second <= share * most->second && errors->weights <= most->weights)
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s is not the training of the reference: losses are off by %.2g of it, the moments by %.2g "
		"and %.2g, the change of the weights by %.2g",
		request->variant->id, errors->loss, errors->first, errors->second, errors->weights);
}

enum kwhy_status lab_train_check(const struct lab_train_request *request,
	const struct lab_train_state *expected, struct lab_train_errors *out, struct kwhy_error *error)
{
	uint32_t steps = request->shape.steps, last = request->variant->parallel ? request->gpu_count - 1 : 0;
	struct lab_train_state found = {0};
	float losses[LAB_TRAIN_STEPS_MAX];
	struct lab_train *train = NULL;
	double run_s;
	enum kwhy_status status = lab_train_open(request, &train, error);

	NEXT(status, lab_train_state_new(&request->shape, &found, error));
	NEXT(status, lab_train_run(train, losses, &run_s, error));
	NEXT(status, lab_train_read(train, last, &found, error));
	for (uint32_t i = 0; !status && i < steps; i++)
		found.losses[i] = (double)losses[i];
	if (!status)
		compare(&request->shape, &found, expected, out);
	lab_train_close(train);
	lab_train_state_done(&found);
	return status ? status : judge(request, out, error);
}
