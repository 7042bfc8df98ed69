/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/train/rules.h"

#include <stdlib.h>

enum { LANES = 16 };

/* State of the computation of one batch. */
struct pass {
	const struct lab_train_shape *shape;
	size_t width, batch;
	const float *weights;
	float *activations; /* [layers + 1][batch][width] activations; the last ones are the logits */
	/*
	 * [batch][width] gradients of the loss. errors: with respect to a layer's outputs; before: with
	 * respect to its inputs
	 */
	float *errors, *before;
};

enum kwhy_status lab_train_shape_check(const struct lab_train_shape *shape, struct kwhy_error *error)
{
	if (!shape->width || shape->width % 32)
		return kwhy_fail(
			error, KWHY_E_INPUT, "train: a width of %u; take a multiple of 32", shape->width);
	if (!shape->parts || !shape->batch || shape->batch % (8 * shape->parts))
		return kwhy_fail(error, KWHY_E_INPUT,
			"train: a batch of %u in %u parts; each part takes a multiple of 8", shape->batch,
			shape->parts);
	if (!shape->samples || shape->samples % shape->batch)
		return kwhy_fail(error, KWHY_E_INPUT,
			"train: %u samples; take a multiple of the batch, which is %u", shape->samples,
			shape->batch);
	return KWHY_OK;
}

static size_t matrix_at(const struct pass *pass, uint32_t layer)
{
	return layer * pass->width * pass->width;
}

static size_t bias_at(const struct pass *pass, uint32_t layer)
{
	return matrix_at(pass, pass->shape->layers) + layer * pass->width;
}

/*
 * Dot product. LANES partial sums, of the elements whose index is the same modulo LANES, allow a compiler to
 * vectorise the loop, since the order of additions then needs no change.
 */
static float dot(const float *a, const float *b, size_t count)
{
	float lanes[LANES] = {0}, sum = 0;

	for (size_t i = 0; i < count; i += LANES)
		for (size_t k = 0; k < LANES; k++)
			lanes[k] += a[i + k] * b[i + k];
	for (size_t k = 0; k < LANES; k++)
		sum += lanes[k];
	return sum;
}

static void add_scaled(float *to, const float *from, float scale, size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] += scale * from[i];
}

static void forward(const struct pass *pass, uint32_t layer)
{
	size_t width = pass->width;
	const float *from = pass->activations + layer * pass->batch * width,
		    *matrix = pass->weights + matrix_at(pass, layer),
		    *bias = pass->weights + bias_at(pass, layer);
	float *to = pass->activations + (layer + 1) * pass->batch * width;
	bool is_last = layer + 1 == pass->shape->layers;

	for (size_t n = 0; n < width; n++)
		for (size_t b = 0; b < pass->batch; b++) {
			float value = dot(from + b * width, matrix + n * width, width) + bias[n];

			to[b * width + n] = is_last || value > 0 ? value : 0;
		}
}

/*
 * Cross entropy of one sample with softmax. Writes the gradients of its logits, divided by the batch size, to
 * errors[width].
 */
static double soften(const struct pass *pass, const float *logits, uint32_t label, float *errors)
{
	float most = logits[0], share = 1.0f / (float)pass->batch;
	double sum = 0;

	for (size_t n = 1; n < pass->width; n++)
		most = fmaxf(most, logits[n]);
	for (size_t n = 0; n < pass->width; n++)
		sum += exp((double)(logits[n] - most));
	for (size_t n = 0; n < pass->width; n++)
		errors[n] = share * (float)(exp((double)(logits[n] - most)) / sum - (n == label));
	return log(sum) + (double)(most - logits[label]);
}

static void backward(struct pass *pass, uint32_t layer, float *gradient)
{
	size_t width = pass->width, count = pass->batch * width;
	const float *inputs = pass->activations + layer * count,
		    *matrix = pass->weights + matrix_at(pass, layer);
	float *to_matrix = gradient + matrix_at(pass, layer), *to_bias = gradient + bias_at(pass, layer),
	      *swap = pass->errors;

	memset(pass->before, 0, count * sizeof(*pass->before));
	for (size_t b = 0; b < pass->batch; b++)
		for (size_t n = 0; n < width; n++) {
			float error = pass->errors[b * width + n];

			to_bias[n] += error;
			add_scaled(to_matrix + n * width, inputs + b * width, error, width);
			if (layer)
				add_scaled(pass->before + b * width, matrix + n * width, error, width);
		}
	for (size_t i = 0; i < count; i++)
		if (inputs[i] <= 0)
			pass->before[i] = 0;
	pass->errors = pass->before;
	pass->before = swap;
}

enum kwhy_status lab_train_gradient(const struct lab_train_shape *shape, uint32_t step, const float *weights,
	float *out_gradient, double *out_loss, struct kwhy_error *error)
{
	size_t plane = (size_t)shape->batch * shape->width;
	float *memory = calloc((shape->layers + 3u) * plane, sizeof(*memory)), *logits;
	struct pass pass = {shape, shape->width, shape->batch, weights, memory, NULL, NULL};
	uint32_t first_sample = step % (shape->samples / shape->batch) * shape->batch;

	if (!memory)
		return kwhy_fail_memory(error, "a step of train");
	logits = memory + shape->layers * plane;
	pass.errors = logits + plane;
	pass.before = pass.errors + plane;
	for (size_t i = 0; i < plane; i++)
		memory[i] = lab_train_input((uint64_t)first_sample * shape->width + i);
	for (uint32_t layer = 0; layer < shape->layers; layer++)
		forward(&pass, layer);
	*out_loss = 0;
	for (uint32_t b = 0; b < shape->batch; b++)
		*out_loss += soften(&pass, logits + b * pass.width,
				     lab_train_label(first_sample + b, shape->width),
				     pass.errors + b * pass.width) /
			shape->batch;
	memset(out_gradient, 0, lab_train_weight_count(shape) * sizeof(*out_gradient));
	for (uint32_t layer = shape->layers; layer-- > 0;)
		backward(&pass, layer, out_gradient);
	free(memory);
	return KWHY_OK;
}

enum kwhy_status lab_train_state_new(
	const struct lab_train_shape *shape, struct lab_train_state *out, struct kwhy_error *error)
{
	size_t count = lab_train_weight_count(shape);
	double *memory = calloc(shape->steps + (3 * count + 1) / 2, sizeof(*memory));
	float *floats = (float *)(memory + shape->steps);

	if (!memory)
		return kwhy_fail_memory(error, "the weights of train");
	*out = (struct lab_train_state){floats, floats + count, floats + 2 * count, memory};
	return KWHY_OK;
}

void lab_train_state_done(struct lab_train_state *state)
{
	free(state->losses);
	*state = (struct lab_train_state){0};
}

enum kwhy_status lab_train_reference(
	const struct lab_train_shape *shape, struct lab_train_state *state, struct kwhy_error *error)
{
	size_t count = lab_train_weight_count(shape);
	struct lab_train_pace pace = {.power1 = 1, .power2 = 1};
	float *gradient = calloc(count, sizeof(*gradient));
	enum kwhy_status status = KWHY_OK;

	if (!gradient)
		return kwhy_fail_memory(error, "the gradient of train");
	for (size_t i = 0; i < count; i++) {
		state->weights[i] = lab_train_first_weight(i, lab_train_bound(shape->width));
		state->first[i] = state->second[i] = 0;
	}
	for (uint32_t step = 0; !status && step < shape->steps; step++) {
		status = lab_train_gradient(
			shape, step, state->weights, gradient, &state->losses[step], error);
		lab_train_pace_next(&pace);
		for (size_t i = 0; !status && i < count; i++)
			lab_train_adamw(
				&pace, gradient[i], &state->weights[i], &state->first[i], &state->second[i]);
	}
	free(gradient);
	return status;
}
