/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "workload/train_inside.h"

enum { SPREAD_BLOCKS = 1024 }; /* of kernels that go over memory */

uint32_t kwhy_train_slot(const struct kwhy_train *train, uint32_t layer)
{
	uint32_t kept = (train->shape.layers - 1) / train->segment, inner = layer % train->segment;

	if (layer == 0)
		return KWHY_TRAIN_INPUTS;
	return inner ? kept + inner - 1 : layer / train->segment - 1;
}

/* --- Launches --- */

static uint32_t tiles(uint32_t length, uint32_t tile)
{
	return (length + tile - 1) / tile;
}

static void set_grid(
	const struct kwhy_train *train, enum kwhy_train_kernel kernel, struct kwhy_gpu_launch *launch)
{
	uint32_t width = train->shape.width, rows = train->shape.batch / train->shape.parts,
		 outer = kernel == KWHY_TRAIN_UPDATE_SINGLE || kernel == KWHY_TRAIN_UPDATE_LARGE ? width
												 : rows;

	launch->threads_per_block = KWHY_TRAIN_THREADS;
	if (kernel >= KWHY_TRAIN_FORWARD_SINGLE && kernel <= KWHY_TRAIN_UPDATE_SINGLE) {
		launch->blocks = tiles(outer, KWHY_TRAIN_SINGLE_M) * tiles(width, KWHY_TRAIN_SINGLE_N);
		launch->threads_per_block = KWHY_TRAIN_SINGLE_THREADS;
	} else if (kernel == KWHY_TRAIN_FORWARD_SMALL || kernel == KWHY_TRAIN_BACKWARD_SMALL) {
		launch->blocks = tiles(outer, KWHY_TRAIN_SMALL_M) * tiles(width, KWHY_TRAIN_SMALL_N);
		launch->shared_bytes = KWHY_TRAIN_SMALL_SHARED_BYTES;
	} else if (kernel >= KWHY_TRAIN_FORWARD_LARGE && kernel <= KWHY_TRAIN_UPDATE_LARGE) {
		launch->blocks = tiles(outer, KWHY_TRAIN_LARGE) * tiles(width, KWHY_TRAIN_LARGE);
		launch->shared_bytes = KWHY_TRAIN_LARGE_SHARED_BYTES;
	} else if (kernel == KWHY_TRAIN_SOFTEN)
		launch->blocks = rows;
	else if (kernel == KWHY_TRAIN_BIAS)
		launch->blocks = tiles(width, KWHY_TRAIN_BIAS_COLUMNS);
	else
		launch->blocks = kernel == KWHY_TRAIN_ADVANCE ? 1 : SPREAD_BLOCKS;
}

enum kwhy_status kwhy_train_launch(struct kwhy_train *train, enum kwhy_train_kernel kernel,
	const struct kwhy_train_call *call, struct kwhy_error *error)
{
	struct kwhy_train_call own = *call;
	void *arguments[] = {&train->args, &own};
	struct kwhy_gpu_launch launch = {
		.kernel = train->kernels[kernel], .arguments = arguments, .stream = train->stream};

	set_grid(train, kernel, &launch);
	train->tally.launches++;
	return train->gpu->ops->launch(train->gpu, &launch, error);
}

/* --- A step --- */

static enum kwhy_train_kernel forward_kernel(const struct kwhy_train *train)
{
	if (!train->variant->half)
		return KWHY_TRAIN_FORWARD_SINGLE;
	return train->has_large_tiles ? KWHY_TRAIN_FORWARD_LARGE : KWHY_TRAIN_FORWARD_SMALL;
}

static enum kwhy_train_kernel backward_kernel(const struct kwhy_train *train)
{
	if (!train->variant->half)
		return KWHY_TRAIN_BACKWARD_SINGLE;
	return train->has_large_tiles ? KWHY_TRAIN_BACKWARD_LARGE : KWHY_TRAIN_BACKWARD_SMALL;
}

static enum kwhy_status forward(
	struct kwhy_train *train, uint32_t layer, uint32_t part, struct kwhy_error *error)
{
	const struct kwhy_train_call call = {.layer = layer,
		.part = part,
		.in = kwhy_train_slot(train, layer),
		.out = layer + 1 < train->shape.layers ? kwhy_train_slot(train, layer + 1) : 0};

	return kwhy_train_launch(train, forward_kernel(train), &call, error);
}

/* Activations of the layer's segment again, where they were not kept; at the segment's last layer. */
static enum kwhy_status recompute(
	struct kwhy_train *train, uint32_t layer, uint32_t part, struct kwhy_error *error)
{
	uint32_t first = layer / train->segment * train->segment;
	bool is_last = layer + 1 == train->shape.layers || (layer + 1) % train->segment == 0;
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = first; !status && train->variant->recompute && is_last && i < layer; i++)
		status = forward(train, i, part, error);
	return status;
}

static uint32_t mode_of(const struct kwhy_train *train, uint32_t part)
{
	bool is_last = part + 1 == train->shape.parts;

	return (part ? KWHY_TRAIN_ADD : 0u) | (is_last && train->variant->fused ? KWHY_TRAIN_APPLY : 0u);
}

/* The errors of a layer's inputs first: they need its weights as they were. */
static enum kwhy_status backward(
	struct kwhy_train *train, uint32_t layer, uint32_t part, struct kwhy_error *error)
{
	uint32_t errors = (train->shape.layers - 1 - layer) % 2;
	const struct kwhy_train_call call = {.layer = layer,
		.part = part,
		.in = errors,
		.out = 1 - errors,
		.kept = kwhy_train_slot(train, layer),
		.mode = mode_of(train, part)};
	enum kwhy_status status = recompute(train, layer, part, error);

	if (!status && layer)
		status = kwhy_train_launch(train, backward_kernel(train), &call, error);
	if (!status)
		status = kwhy_train_launch(train,
			train->variant->half ? KWHY_TRAIN_UPDATE_LARGE : KWHY_TRAIN_UPDATE_SINGLE, &call,
			error);
	return status ? status : kwhy_train_launch(train, KWHY_TRAIN_BIAS, &call, error);
}

static enum kwhy_status queue_part(struct kwhy_train *train, uint32_t part, struct kwhy_error *error)
{
	const struct kwhy_train_call call = {.part = part};
	enum kwhy_status status = KWHY_OK;

	for (uint32_t layer = 0; !status && layer < train->shape.layers; layer++)
		status = forward(train, layer, part, error);
	if (!status)
		status = kwhy_train_launch(train, KWHY_TRAIN_SOFTEN, &call, error);
	for (uint32_t layer = train->shape.layers; !status && layer-- > 0;)
		status = backward(train, layer, part, error);
	return status;
}

enum kwhy_status kwhy_train_queue_step(struct kwhy_train *train, struct kwhy_error *error)
{
	const struct kwhy_train_call none = {0};
	enum kwhy_status status = KWHY_OK;

	for (uint32_t part = 0; !status && part < train->shape.parts; part++)
		status = queue_part(train, part, error);
	if (!status && !train->variant->fused)
		status = kwhy_train_launch(train, KWHY_TRAIN_APPLY_ALL, &none, error);
	return status ? status : kwhy_train_launch(train, KWHY_TRAIN_ADVANCE, &none, error);
}

/* --- A run --- */

static enum kwhy_status wait(struct kwhy_train *train, struct kwhy_error *error)
{
	train->tally.waits++;
	return train->gpu->ops->synchronize(train->gpu, train->stream, error);
}

static enum kwhy_status read_losses(
	struct kwhy_train *train, float *losses, uint32_t first, uint32_t count, struct kwhy_error *error)
{
	const struct kwhy_gpu_copy copy = {kwhy_gpu_address(losses + first),
		train->args.losses + first * sizeof(float), count * sizeof(float)};
	enum kwhy_status status = train->gpu->ops->copy(train->gpu, train->stream, &copy, error);

	train->tally.copies++;
	return status ? status : wait(train, error);
}

static enum kwhy_status run_step(struct kwhy_train *train, struct kwhy_error *error)
{
	if (!train->graph)
		return kwhy_train_queue_step(train, error);
	train->tally.graphs++;
	return train->gpu->ops->graph_launch(train->gpu, train->stream, train->graph, error);
}

enum kwhy_status kwhy_train_run(
	struct kwhy_train *train, struct kwhy_train_result *out, struct kwhy_error *error)
{
	const struct kwhy_train_call none = {0};
	uint32_t steps = train->shape.steps;
	enum kwhy_status status = train->gpu->ops->enter(train->gpu, error);
	int64_t start_ns = kwhy_clock_mono_ns();

	train->tally = (struct kwhy_train_tally){0};
	if (!status)
		status = kwhy_train_launch(train, KWHY_TRAIN_BEGIN, &none, error);
	for (uint32_t step = 0; !status && step < steps; step++) {
		status = run_step(train, error);
		if (!status && train->variant->waits)
			status = read_losses(train, out->losses, step, 1, error);
	}
	if (!status && !train->variant->waits)
		status = read_losses(train, out->losses, 0, steps, error);
	out->run_s = (double)(kwhy_clock_mono_ns() - start_ns) * 1e-9;
	out->tally = train->tally;
	return status;
}

static enum kwhy_status read_floats(
	struct kwhy_train *train, float *to, uint64_t from, size_t count, struct kwhy_error *error)
{
	const struct kwhy_gpu_copy copy = {kwhy_gpu_address(to), from, count * sizeof(*to)};

	return train->gpu->ops->copy_now(train->gpu, &copy, error);
}

enum kwhy_status kwhy_train_read(
	struct kwhy_train *train, struct kwhy_train_state *state, struct kwhy_error *error)
{
	size_t count = kwhy_train_weight_count(&train->shape);
	float losses[KWHY_TRAIN_STEPS_MOST];
	enum kwhy_status status = wait(train, error);

	if (!status)
		status = read_floats(train, state->weights, train->args.weights, count, error);
	if (!status)
		status = read_floats(train, state->first, train->args.first, count, error);
	if (!status)
		status = read_floats(train, state->second, train->args.second, count, error);
	if (!status)
		status = read_floats(train, losses, train->args.losses, train->shape.steps, error);
	for (uint32_t i = 0; !status && i < train->shape.steps; i++)
		state->losses[i] = (double)losses[i];
	return status;
}
