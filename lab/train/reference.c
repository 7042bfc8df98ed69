/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/train/rules.h"
#include "lab/train/train.h"

#include <stdlib.h>

enum { LANES = 16 };

/* One batch on its way: activations [layers + 1][batch][width], the last are the logits. */
struct pass {
	const struct kwhy_train_shape *shape;
	const float *weights;
	float *activations, *errors, *before; /* errors of a layer's outputs, and of its inputs */
};

enum kwhy_status kwhy_train_shape_check(const struct kwhy_train_shape *shape, struct kwhy_error *error)
{
	if (shape->width < 32 || shape->width > KWHY_TRAIN_WIDTH_MOST || shape->width % 32)
		return kwhy_fail(error, KWHY_E_INPUT, "train: %u wide; take a multiple of 32 up to %d",
			shape->width, KWHY_TRAIN_WIDTH_MOST);
	if (shape->layers < 1 || shape->layers > KWHY_TRAIN_LAYERS_MOST)
		return kwhy_fail(error, KWHY_E_INPUT, "train: %u layers; there may be 1 to %d", shape->layers,
			KWHY_TRAIN_LAYERS_MOST);
	if (shape->parts < 1 || shape->batch < 8 || shape->batch > KWHY_TRAIN_BATCH_MOST ||
		shape->batch % (8 * shape->parts))
		return kwhy_fail(error, KWHY_E_INPUT,
			"train: a batch of %u in %u parts; each part takes a multiple of 8, up to %d in all",
			shape->batch, shape->parts, KWHY_TRAIN_BATCH_MOST);
	if (shape->samples < shape->batch || shape->samples % shape->batch)
		return kwhy_fail(error, KWHY_E_INPUT,
			"train: %u samples; take a multiple of the batch, which is %u", shape->samples,
			shape->batch);
	if (shape->steps < 1 || shape->steps > KWHY_TRAIN_STEPS_MOST)
		return kwhy_fail(error, KWHY_E_INPUT, "train: %u steps; a run has 1 to %d", shape->steps,
			KWHY_TRAIN_STEPS_MOST);
	return KWHY_OK;
}

static const float *matrix_of(const struct kwhy_train_shape *shape, const float *weights, uint32_t layer)
{
	return weights + (size_t)layer * shape->width * shape->width;
}

static size_t bias_at(const struct kwhy_train_shape *shape, uint32_t layer)
{
	return (size_t)shape->layers * shape->width * shape->width + (size_t)layer * shape->width;
}

/* In lanes that a compiler may take at once. */
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
	size_t width = pass->shape->width, batch = pass->shape->batch;
	const float *from = pass->activations + layer * batch * width,
		    *matrix = matrix_of(pass->shape, pass->weights, layer),
		    *bias = pass->weights + bias_at(pass->shape, layer);
	float *to = pass->activations + (layer + 1) * batch * width;
	bool is_last = layer + 1 == pass->shape->layers;

	for (size_t n = 0; n < width; n++)
		for (size_t b = 0; b < batch; b++) {
			float value = dot(from + b * width, matrix + n * width, width) + bias[n];

			to[b * width + n] = is_last || value > 0 ? value : 0;
		}
}

/* Of one sample: its loss, and the errors of its logits. */
static double soften(const float *logits, uint32_t label, uint32_t width, float share, float *errors)
{
	float most = logits[0];
	double sum = 0;

	for (uint32_t n = 1; n < width; n++)
		most = fmaxf(most, logits[n]);
	for (uint32_t n = 0; n < width; n++)
		sum += exp((double)(logits[n] - most));
	for (uint32_t n = 0; n < width; n++)
		errors[n] = share * (float)(exp((double)(logits[n] - most)) / sum - (n == label));
	return log(sum) + (double)(most - logits[label]);
}

static double find_loss(const struct pass *pass, uint32_t first_sample)
{
	const struct kwhy_train_shape *shape = pass->shape;
	size_t width = shape->width;
	const float *logits = pass->activations + (size_t)shape->layers * shape->batch * width;
	double loss = 0;

	for (uint32_t b = 0; b < shape->batch; b++)
		loss += soften(logits + b * width, kwhy_train_label(first_sample + b, shape->width),
			shape->width, 1.0f / (float)shape->batch, pass->errors + b * width);
	return loss / shape->batch;
}

static void backward(struct pass *pass, uint32_t layer, float *gradient)
{
	const struct kwhy_train_shape *shape = pass->shape;
	size_t width = shape->width, batch = shape->batch;
	const float *inputs = pass->activations + layer * batch * width,
		    *matrix = matrix_of(shape, pass->weights, layer);
	float *to_matrix = gradient + layer * width * width, *to_bias = gradient + bias_at(shape, layer),
	      *swap;

	memset(pass->before, 0, batch * width * sizeof(*pass->before));
	for (size_t b = 0; b < batch; b++)
		for (size_t n = 0; n < width; n++) {
			float error = pass->errors[b * width + n];

			to_bias[n] += error;
			add_scaled(to_matrix + n * width, inputs + b * width, error, width);
			if (layer)
				add_scaled(pass->before + b * width, matrix + n * width, error, width);
		}
	for (size_t i = 0; i < batch * width; i++)
		if (inputs[i] <= 0)
			pass->before[i] = 0;
	swap = pass->errors;
	pass->errors = pass->before;
	pass->before = swap;
}

enum kwhy_status kwhy_train_gradient(const struct kwhy_train_shape *shape, uint32_t step,
	const float *weights, float *out_gradient, double *out_loss, struct kwhy_error *error)
{
	size_t plane = (size_t)shape->batch * shape->width;
	float *memory = calloc((shape->layers + 3u) * plane, sizeof(*memory));
	struct pass pass = {.shape = shape, .weights = weights, .activations = memory};
	uint32_t first_sample = step % (shape->samples / shape->batch) * shape->batch;

	if (!memory)
		return kwhy_fail_memory(error, "a step of train");
	pass.errors = memory + (shape->layers + 1u) * plane;
	pass.before = pass.errors + plane;
	for (size_t i = 0; i < plane; i++)
		memory[i] = kwhy_train_input((uint64_t)first_sample * shape->width + i);
	for (uint32_t layer = 0; layer < shape->layers; layer++)
		forward(&pass, layer);
	*out_loss = find_loss(&pass, first_sample);
	memset(out_gradient, 0, kwhy_train_weight_count(shape) * sizeof(*out_gradient));
	for (uint32_t layer = shape->layers; layer-- > 0;)
		backward(&pass, layer, out_gradient);
	free(memory);
	return KWHY_OK;
}

enum kwhy_status kwhy_train_state_new(
	const struct kwhy_train_shape *shape, struct kwhy_train_state *out, struct kwhy_error *error)
{
	size_t count = kwhy_train_weight_count(shape);
	struct kwhy_train_state state = {.weights = calloc(count, sizeof(float)),
		.first = calloc(count, sizeof(float)),
		.second = calloc(count, sizeof(float)),
		.losses = calloc(shape->steps, sizeof(double))};

	if (!state.weights || !state.first || !state.second || !state.losses) {
		kwhy_train_state_done(&state);
		return kwhy_fail_memory(error, "the weights of train");
	}
	*out = state;
	return KWHY_OK;
}

void kwhy_train_state_done(struct kwhy_train_state *state)
{
	free(state->weights);
	free(state->first);
	free(state->second);
	free(state->losses);
	*state = (struct kwhy_train_state){0};
}

enum kwhy_status kwhy_train_reference(
	const struct kwhy_train_shape *shape, struct kwhy_train_state *state, struct kwhy_error *error)
{
	size_t count = kwhy_train_weight_count(shape);
	struct kwhy_train_pace pace = {.power1 = 1, .power2 = 1};
	enum kwhy_status status = kwhy_train_shape_check(shape, error);
	float *gradient;

	if (status)
		return status;
	gradient = malloc(count * sizeof(*gradient));
	if (!gradient)
		return kwhy_fail_memory(error, "the gradient of train");
	for (size_t i = 0; i < count; i++)
		state->weights[i] = kwhy_train_first_weight(i, kwhy_train_bound(shape->width));
	memset(state->first, 0, count * sizeof(*state->first));
	memset(state->second, 0, count * sizeof(*state->second));
	for (uint32_t step = 0; !status && step < shape->steps; step++) {
		status = kwhy_train_gradient(
			shape, step, state->weights, gradient, &state->losses[step], error);
		kwhy_train_pace_next(&pace);
		for (size_t i = 0; !status && i < count; i++)
			kwhy_train_adamw(
				&pace, gradient[i], &state->weights[i], &state->first[i], &state->second[i]);
	}
	free(gradient);
	return status;
}
