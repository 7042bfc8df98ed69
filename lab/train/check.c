/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/train/rules.h"
#include "lab/train/run.h"

/*
 * What rounding explains after a few steps, with room. In bf16 a rectifier's input near 0 may fall on the
 * other side: that, not the products, is most of what the moments are off by, and it adds up over layers (as
 * the root of their number). The weights' is wide: at first AdamW moves each by nearly its whole rate in
 * the gradient's direction, however small that is, so that where a tiny gradient's sign is lost the weight
 * goes the other way.
 */
static const struct kwhy_train_errors single_limits = {1e-4, 1e-3, 1e-3, 0.1},
				      half_limits = {2e-3, 0.05, 0.05, 0.6};

/* Over all: root of the squares of differences over that of the expected. */
static double distance(const float *found, const float *expected, size_t count)
{
	double differences = 0, squares = 0;

	for (size_t i = 0; i < count; i++) {
		double difference = (double)found[i] - (double)expected[i];

		differences += difference * difference;
		squares += (double)expected[i] * (double)expected[i];
	}
	return sqrt(differences / squares);
}

static double weight_distance(const float *found, const float *expected, const struct kwhy_train_shape *shape)
{
	double differences = 0, squares = 0;

	for (size_t i = 0; i < kwhy_train_weight_count(shape); i++) {
		double start = (double)kwhy_train_first_weight(i, kwhy_train_bound(shape->width)),
		       moved = (double)expected[i] - start,
		       difference = (double)found[i] - (double)expected[i];

		differences += difference * difference;
		squares += moved * moved;
	}
	return sqrt(differences / squares);
}

static void compare(const struct kwhy_train_shape *shape, const struct kwhy_train_state *found,
	const struct kwhy_train_state *expected, struct kwhy_train_errors *out)
{
	size_t count = kwhy_train_weight_count(shape);

	out->loss = 0;
	for (uint32_t i = 0; i < shape->steps; i++) {
		double error = fabs(found->losses[i] / expected->losses[i] - 1);

		out->loss = error > out->loss || isnan(error) ? error : out->loss;
	}
	out->first = distance(found->first, expected->first, count);
	out->second = distance(found->second, expected->second, count);
	out->weights = weight_distance(found->weights, expected->weights, shape);
}

static enum kwhy_status judge(const struct kwhy_train_variant *variant, uint32_t layers,
	const struct kwhy_train_errors *errors, struct kwhy_error *error)
{
	const struct kwhy_train_errors *limits = variant->half ? &half_limits : &single_limits;
	double share = sqrt(layers);

	if (errors->loss <= limits->loss && errors->first <= share * limits->first &&
		errors->second <= share * limits->second && errors->weights <= limits->weights)
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s is not the training of the reference: losses are off by %.2g of it, the moments by %.2g "
		"and %.2g, the weights' way by %.2g",
		variant->id, errors->loss, errors->first, errors->second, errors->weights);
}

static enum kwhy_status run_and_read(
	const struct kwhy_train_request *request, struct kwhy_train_state *found, struct kwhy_error *error)
{
	float losses[KWHY_TRAIN_STEPS_MOST];
	struct kwhy_train_result result = {.losses = losses};
	struct kwhy_train *train = NULL;
	enum kwhy_status status = kwhy_train_open(request, &train, error);

	if (!status)
		status = kwhy_train_run(train, &result, error);
	if (!status)
		status = kwhy_train_read(train, found, error);
	kwhy_train_close(train);
	return status;
}

enum kwhy_status kwhy_train_check(const struct kwhy_train_request *request,
	const struct kwhy_train_state *expected, struct kwhy_train_errors *out, struct kwhy_error *error)
{
	struct kwhy_train_state found;
	enum kwhy_status status = kwhy_train_shape_check(&request->shape, error);

	if (!status)
		status = kwhy_train_state_new(&request->shape, &found, error);
	if (status)
		return status;
	status = run_and_read(request, &found, error);
	if (!status) {
		compare(&request->shape, &found, expected, out);
		status = judge(request->variant, request->shape.layers, out, error);
	}
	kwhy_train_state_done(&found);
	return status;
}
