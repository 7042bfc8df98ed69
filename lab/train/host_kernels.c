/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/train/device.h"
#include "lab/train/rules.h"

/* The host forms of kernels/train/: each runs its whole grid. */

/* One launch. */
struct work {
	const struct kwhy_train_args *a;
	const struct kwhy_train_call *c;
	struct kwhy_train_clock *clock;
	size_t width, rows;
};

static struct work work_of(void **arguments)
{
	const struct kwhy_train_args *a = arguments[0];

	return (struct work){a, arguments[1], kwhy_gpu_at(a->pace), a->width, a->batch / a->parts};
}

static float get(uint64_t memory, bool is_half, size_t place)
{
	return is_half ? kwhy_train_of_half(((const uint16_t *)kwhy_gpu_at(memory))[place])
		       : ((const float *)kwhy_gpu_at(memory))[place];
}

static void put(uint64_t memory, bool is_half, size_t place, float value)
{
	if (is_half)
		((uint16_t *)kwhy_gpu_at(memory))[place] = kwhy_train_to_half(value);
	else
		((float *)kwhy_gpu_at(memory))[place] = value;
}

static size_t matrix_at(const struct work *work, uint32_t layer)
{
	return (size_t)layer * work->width * work->width;
}

static size_t bias_at(const struct work *work, uint32_t layer)
{
	return matrix_at(work, work->a->layers) + layer * work->width;
}

static size_t slot_at(const struct work *work, uint32_t slot)
{
	return slot * work->rows * work->width;
}

static size_t first_sample(const struct work *work)
{
	const struct kwhy_train_args *a = work->a;

	return work->clock->step % (a->samples / a->batch) * (size_t)a->batch + work->c->part * work->rows;
}

/* --- The beginning --- */

static void set_clock(struct kwhy_train_clock *clock, const struct kwhy_train_pace *pace, uint32_t step)
{
	*clock = (struct kwhy_train_clock){pace->power1, pace->power2, pace->rate, pace->root, step, 0};
}

static void run_begin(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct work work = work_of(arguments);
	struct kwhy_train_pace pace = {.power1 = 1, .power2 = 1};
	float bound = kwhy_train_bound(work.a->width);
	size_t matrices = matrix_at(&work, work.a->layers), count = bias_at(&work, work.a->layers);

	(void)grid;
	for (size_t i = 0; i < count; i++) {
		float value = kwhy_train_first_weight(i, bound);

		put(work.a->weights, false, i, value);
		put(work.a->first, false, i, 0);
		put(work.a->second, false, i, 0);
		if (work.a->half && i < matrices)
			put(work.a->copies, true, i, value);
	}
	kwhy_train_pace_next(&pace);
	set_clock(work.clock, &pace, 0);
}

static void run_data(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct work work = work_of(arguments);
	uint32_t *labels = kwhy_gpu_at(work.a->labels);

	(void)grid;
	for (size_t i = 0; i < work.a->samples * work.width; i++)
		put(work.a->inputs, work.a->half, i, kwhy_train_input(i));
	for (uint32_t i = 0; i < work.a->samples; i++)
		labels[i] = kwhy_train_label(i, work.a->width);
}

/* --- Products --- */

static float input_of(const struct work *work, uint32_t slot, size_t place)
{
	return slot == KWHY_TRAIN_INPUTS
		? get(work->a->inputs, work->a->half, first_sample(work) * work->width + place)
		: get(work->a->hidden, work->a->half, slot_at(work, slot) + place);
}

static void finish_forward(const struct work *work, size_t m, size_t n, float sum)
{
	const struct kwhy_train_call *c = work->c;
	size_t place = m * work->width + n;

	sum += get(work->a->weights, false, bias_at(work, c->layer) + n);
	if (c->layer + 1 == work->a->layers)
		put(work->a->logits, false, place, sum);
	else
		put(work->a->hidden, work->a->half, slot_at(work, c->out) + place, fmaxf(sum, 0));
}

static void finish_backward(const struct work *work, size_t m, size_t n, float sum)
{
	size_t place = m * work->width + n;

	put(work->a->errors, work->a->half, slot_at(work, work->c->out) + place,
		input_of(work, work->c->kept, place) > 0 ? sum : 0);
}

static void run_finish(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct work work = work_of(arguments);

	(void)grid;
	for (size_t m = 0; m < work.rows; m++)
		for (size_t n = 0; n < work.width; n++) {
			float sum = get(work.a->logits, false, m * work.width + n);

			if (work.c->mode == KWHY_TRAIN_FORWARD)
				finish_forward(&work, m, n, sum);
			else
				finish_backward(&work, m, n, sum);
		}
}

static void run_forward(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct work work = work_of(arguments);
	const struct kwhy_train_call *c = work.c;

	(void)grid;
	for (size_t m = 0; m < work.rows; m++)
		for (size_t n = 0; n < work.width; n++) {
			size_t row = matrix_at(&work, c->layer) + n * work.width;
			float sum = 0;

			for (size_t k = 0; k < work.width; k++)
				sum += input_of(&work, c->in, m * work.width + k) *
					get(work.a->copies, work.a->half, row + k);
			finish_forward(&work, m, n, sum);
		}
}

static void run_backward(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct work work = work_of(arguments);
	const struct kwhy_train_call *c = work.c;
	bool is_half = work.a->half;

	(void)grid;
	for (size_t m = 0; m < work.rows; m++)
		for (size_t n = 0; n < work.width; n++) {
			float sum = 0;

			for (size_t k = 0; k < work.width; k++)
				sum += get(work.a->errors, is_half,
					       slot_at(&work, c->in) + m * work.width + k) *
					get(work.a->copies, is_half,
						matrix_at(&work, c->layer) + k * work.width + n);
			finish_backward(&work, m, n, sum);
		}
}

static void apply(const struct work *work, size_t place, float gradient)
{
	const struct kwhy_train_pace pace = {
		work->clock->power1, work->clock->power2, work->clock->rate, work->clock->root};
	float *weights = kwhy_gpu_at(work->a->weights), *first = kwhy_gpu_at(work->a->first),
	      *second = kwhy_gpu_at(work->a->second);

	kwhy_train_adamw(&pace, gradient, &weights[place], &first[place], &second[place]);
	if (work->a->half && place < matrix_at(work, work->a->layers))
		put(work->a->copies, true, place, weights[place]);
}

static void take_gradient(const struct work *work, size_t place, float gradient)
{
	float *gradients = kwhy_gpu_at(work->a->gradients);

	if (work->c->mode & KWHY_TRAIN_ADD)
		gradient += gradients[place];
	if (work->c->mode & KWHY_TRAIN_APPLY)
		apply(work, place, gradient);
	else
		gradients[place] = gradient;
}

static void run_update(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct work work = work_of(arguments);
	const struct kwhy_train_call *c = work.c;

	(void)grid;
	for (size_t m = 0; m < work.width; m++)
		for (size_t n = 0; n < work.width; n++) {
			float sum = 0;

			for (size_t k = 0; k < work.rows; k++)
				sum += get(work.a->errors, work.a->half,
					       slot_at(&work, c->in) + k * work.width + m) *
					input_of(&work, c->kept, k * work.width + n);
			take_gradient(&work, matrix_at(&work, c->layer) + m * work.width + n, sum);
		}
}

/* --- The rest of a step --- */

static void run_soften(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct work work = work_of(arguments);
	const uint32_t *labels = kwhy_gpu_at(work.a->labels);
	float *row_losses = kwhy_gpu_at(work.a->row_losses), share = 1.0f / (float)work.a->batch;

	(void)grid;
	for (size_t m = 0; m < work.rows; m++) {
		const float *logits = (const float *)kwhy_gpu_at(work.a->logits) + m * work.width;
		uint32_t label = labels[first_sample(&work) + m];
		size_t place = slot_at(&work, work.c->out) + m * work.width;
		float most = logits[0], sum = 0;

		for (size_t n = 1; n < work.width; n++)
			most = fmaxf(most, logits[n]);
		for (size_t n = 0; n < work.width; n++)
			sum += expf(logits[n] - most);
		for (size_t n = 0; n < work.width; n++)
			put(work.a->errors, work.a->half, place + n,
				share * (expf(logits[n] - most) / sum - (float)(n == label)));
		row_losses[work.c->part * work.rows + m] = logf(sum) + most - logits[label];
	}
}

static void run_bias(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct work work = work_of(arguments);

	(void)grid;
	for (size_t n = 0; n < work.width; n++) {
		float sum = 0;

		for (size_t m = 0; m < work.rows; m++)
			sum += get(work.a->errors, work.a->half,
				slot_at(&work, work.c->in) + m * work.width + n);
		take_gradient(&work, bias_at(&work, work.c->layer) + n, sum);
	}
}

static void run_apply(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct work work = work_of(arguments);
	const float *gradients = kwhy_gpu_at(work.a->gradients);
	size_t count = bias_at(&work, work.a->layers);

	(void)grid;
	for (size_t i = 0; i < count; i++)
		apply(&work, i, gradients[i]);
}

static void run_share(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct work work = work_of(arguments);
	const struct kwhy_train_peers *peers = arguments[2];
	size_t matrices = matrix_at(&work, work.a->layers);
	const float *weights = kwhy_gpu_at(work.a->weights);

	(void)grid;
	for (size_t i = peers->first; i < peers->end; i++) {
		float gradient = 0;

		for (uint32_t k = 0; k < peers->count; k++)
			gradient += get(peers->gradients[k], false, i);
		apply(&work, i, gradient);
		for (uint32_t k = 0; k < peers->count; k++)
			if (i < matrices)
				put(peers->copies[k], true, i, weights[i]);
			else
				put(peers->weights[k], false, i, weights[i]);
	}
}

static void run_advance(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct work work = work_of(arguments);
	const float *row_losses = kwhy_gpu_at(work.a->row_losses);
	float *losses = kwhy_gpu_at(work.a->losses), sum = 0;
	struct kwhy_train_pace pace = {.power1 = work.clock->power1, .power2 = work.clock->power2};

	(void)grid;
	for (uint32_t i = 0; i < work.a->batch; i++)
		sum += row_losses[i];
	losses[work.clock->step] = sum / (float)work.a->batch;
	kwhy_train_pace_next(&pace);
	set_clock(work.clock, &pace, work.clock->step + 1);
}

/* All take struct kwhy_train_args and struct kwhy_train_call. */
#define ROW(name, run)                                                                 \
	{                                                                              \
		name, run,                                                             \
		{                                                                      \
			sizeof(struct kwhy_train_args), sizeof(struct kwhy_train_call) \
		}                                                                      \
	}

const struct kwhy_gpu_host_kernel kwhy_train_host_kernels[] = {
	ROW("kwhy_train_begin", run_begin),
	ROW("kwhy_train_data", run_data),
	ROW("kwhy_train_forward_single", run_forward),
	ROW("kwhy_train_backward_single", run_backward),
	ROW("kwhy_train_update_single", run_update),
	ROW("kwhy_train_forward_small", run_forward),
	ROW("kwhy_train_forward_large", run_forward),
	ROW("kwhy_train_backward_small", run_backward),
	ROW("kwhy_train_backward_large", run_backward),
	ROW("kwhy_train_update_large", run_update),
	ROW("kwhy_train_finish", run_finish),
	ROW("kwhy_train_soften", run_soften),
	ROW("kwhy_train_bias", run_bias),
	ROW("kwhy_train_apply", run_apply),
	ROW("kwhy_train_advance", run_advance),
	{"kwhy_train_share", run_share,
		{sizeof(struct kwhy_train_args), sizeof(struct kwhy_train_call),
			sizeof(struct kwhy_train_peers)}},
	{NULL, NULL, {0}},
};
