/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "lab/train/inside.h"

#include <stdlib.h>
#include <string.h>

enum { SPREAD_BLOCKS = 1024 }; /* of kernels that go over memory */

/* Which slot of hidden has what goes into a layer; KWHY_TRAIN_INPUTS: the samples. */
static uint32_t slot_of(const struct kwhy_train *train, uint32_t layer)
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
	const struct kwhy_train_rank *rank, enum kwhy_train_kernel kernel, struct kwhy_gpu_launch *launch)
{
	uint32_t width = rank->args.width, rows = rank->args.batch / rank->args.parts,
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

enum kwhy_status kwhy_train_launch(struct kwhy_train_rank *rank, enum kwhy_train_kernel kernel,
	const struct kwhy_train_call *call, struct kwhy_error *error)
{
	struct kwhy_train_call own = *call;
	void *arguments[] = {&rank->args, &own};
	struct kwhy_gpu_launch launch = {
		.kernel = rank->kernels[kernel], .arguments = arguments, .stream = rank->stream};

	set_grid(rank, kernel, &launch);
	rank->train->tally.launches++;
	return rank->gpu->ops->launch(rank->gpu, &launch, error);
}

/* --- A step --- */

static enum kwhy_train_kernel kernel_of(const struct kwhy_train *train, enum kwhy_train_product what)
{
	static const enum kwhy_train_kernel single[] = {KWHY_TRAIN_FORWARD_SINGLE, KWHY_TRAIN_BACKWARD_SINGLE,
		KWHY_TRAIN_UPDATE_SINGLE},
					    small[] = {KWHY_TRAIN_FORWARD_SMALL, KWHY_TRAIN_BACKWARD_SMALL,
						    KWHY_TRAIN_UPDATE_LARGE},
					    large[] = {KWHY_TRAIN_FORWARD_LARGE, KWHY_TRAIN_BACKWARD_LARGE,
						    KWHY_TRAIN_UPDATE_LARGE};

	if (!train->variant->half)
		return single[what];
	return train->has_large_tiles ? large[what] : small[what];
}

/* A product of the library leaves bias, rectifier and its derivative to a kernel of their own. */
enum kwhy_status kwhy_train_multiply(struct kwhy_train_rank *rank, enum kwhy_train_product what,
	const struct kwhy_train_call *call, struct kwhy_error *error)
{
	struct kwhy_train_call after = *call;
	enum kwhy_status status;

	if (!rank->train->blas)
		return kwhy_train_launch(rank, kernel_of(rank->train, what), call, error);
	status = kwhy_train_blas_multiply(rank->train, what, call, error);
	after.mode = what;
	if (status || what == KWHY_TRAIN_UPDATE)
		return status;
	return kwhy_train_launch(rank, KWHY_TRAIN_FINISH, &after, error);
}

static enum kwhy_status forward(
	struct kwhy_train_rank *rank, uint32_t layer, uint32_t part, struct kwhy_error *error)
{
	const struct kwhy_train *train = rank->train;
	const struct kwhy_train_call call = {.layer = layer,
		.part = part,
		.in = slot_of(train, layer),
		.out = layer + 1 < train->shape.layers ? slot_of(train, layer + 1) : 0};

	return kwhy_train_multiply(rank, KWHY_TRAIN_FORWARD, &call, error);
}

/* Activations of the layer's segment again, where they were not kept; at the segment's last layer. */
static enum kwhy_status recompute(
	struct kwhy_train_rank *rank, uint32_t layer, uint32_t part, struct kwhy_error *error)
{
	const struct kwhy_train *train = rank->train;
	uint32_t first = layer / train->segment * train->segment;
	bool is_last = layer + 1 == train->shape.layers || (layer + 1) % train->segment == 0;
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = first; !status && train->variant->recompute && is_last && i < layer; i++)
		status = forward(rank, i, part, error);
	return status;
}

/* Of a rank's own parts: onto the gradients of those before; AdamW in the last one's product. */
static uint32_t mode_of(const struct kwhy_train *train, uint32_t part)
{
	uint32_t own = part % train->shape.parts;
	bool is_last = own + 1 == train->shape.parts;

	return (own ? KWHY_TRAIN_ADD : 0u) | (is_last && train->variant->fused ? KWHY_TRAIN_APPLY : 0u);
}

/* The errors of a layer's inputs first: they need its weights as they were. */
static enum kwhy_status backward(
	struct kwhy_train_rank *rank, uint32_t layer, uint32_t part, struct kwhy_error *error)
{
	const struct kwhy_train *train = rank->train;
	uint32_t errors = (train->shape.layers - 1 - layer) % 2;
	const struct kwhy_train_call call = {.layer = layer,
		.part = part,
		.in = errors,
		.out = 1 - errors,
		.kept = slot_of(train, layer),
		.mode = mode_of(train, part)};
	enum kwhy_status status = recompute(rank, layer, part, error);

	if (!status && layer)
		status = kwhy_train_multiply(rank, KWHY_TRAIN_BACKWARD, &call, error);
	if (!status)
		status = kwhy_train_multiply(rank, KWHY_TRAIN_UPDATE, &call, error);
	return status ? status : kwhy_train_launch(rank, KWHY_TRAIN_BIAS, &call, error);
}

static enum kwhy_status queue_part(struct kwhy_train_rank *rank, uint32_t part, struct kwhy_error *error)
{
	const struct kwhy_train_call call = {.part = part};
	uint32_t layers = rank->train->shape.layers;
	enum kwhy_status status = KWHY_OK;

	for (uint32_t layer = 0; !status && layer < layers; layer++)
		status = forward(rank, layer, part, error);
	if (!status)
		status = kwhy_train_launch(rank, KWHY_TRAIN_SOFTEN, &call, error);
	for (uint32_t layer = layers; !status && layer-- > 0;)
		status = backward(rank, layer, part, error);
	return status;
}

/* A rank's parts lie behind those of the ranks before it. */
static enum kwhy_status queue_parts(struct kwhy_train *train, uint32_t r, struct kwhy_error *error)
{
	struct kwhy_train_rank *rank = &train->ranks[r];
	uint32_t parts = train->shape.parts;
	enum kwhy_status status = train->rank_count > 1 ? rank->gpu->ops->enter(rank->gpu, error) : KWHY_OK;

	for (uint32_t part = r * parts; !status && part < (r + 1) * parts; part++)
		status = queue_part(rank, part, error);
	return status;
}

static enum kwhy_status queue_end(struct kwhy_train *train, struct kwhy_error *error)
{
	const struct kwhy_train_call none = {0};
	enum kwhy_status status = KWHY_OK;

	if (train->variant->parallel)
		return kwhy_train_share(train, error);
	if (!train->variant->fused)
		status = kwhy_train_launch(&train->ranks[0], KWHY_TRAIN_APPLY_ALL, &none, error);
	return status ? status : kwhy_train_launch(&train->ranks[0], KWHY_TRAIN_ADVANCE, &none, error);
}

enum kwhy_status kwhy_train_queue_step(struct kwhy_train *train, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	if (train->variant->pipeline)
		return kwhy_train_queue_pipeline(train, error);
	for (uint32_t r = 0; !status && r < train->rank_count; r++)
		status = queue_parts(train, r, error);
	return status ? status : queue_end(train, error);
}

/* --- A run --- */

static enum kwhy_status begin(struct kwhy_train *train, struct kwhy_error *error)
{
	const struct kwhy_train_call none = {0};
	enum kwhy_status status = KWHY_OK;

	for (uint32_t r = 0; !status && r < train->rank_count; r++) {
		struct kwhy_train_rank *rank = &train->ranks[r];

		status = rank->gpu->ops->enter(rank->gpu, error);
		if (!status)
			status = kwhy_train_launch(rank, KWHY_TRAIN_BEGIN, &none, error);
	}
	return status;
}

static enum kwhy_status wait(struct kwhy_train_rank *rank, struct kwhy_error *error)
{
	enum kwhy_status status = rank->gpu->ops->enter(rank->gpu, error);

	rank->train->tally.waits++;
	return status ? status : rank->gpu->ops->synchronize(rank->gpu, rank->stream, error);
}

static enum kwhy_status read_part(
	struct kwhy_train_rank *rank, float *losses, uint32_t first, uint32_t count, struct kwhy_error *error)
{
	const struct kwhy_gpu_copy copy = {
		kwhy_gpu_address(losses), rank->args.losses + first * sizeof(float), count * sizeof(float)};
	enum kwhy_status status = rank->gpu->ops->enter(rank->gpu, error);

	rank->train->tally.copies++;
	if (!status)
		status = rank->gpu->ops->copy(rank->gpu, rank->stream, &copy, error);
	return status ? status : wait(rank, error);
}

/* Each rank knows the losses of its own samples, over the whole batch. */
static enum kwhy_status read_losses(
	struct kwhy_train *train, float *losses, uint32_t first, uint32_t count, struct kwhy_error *error)
{
	float part[KWHY_TRAIN_STEPS_MOST];
	enum kwhy_status status = read_part(&train->ranks[0], losses + first, first, count, error);

	for (uint32_t r = 1; !status && r < train->rank_count; r++) {
		status = read_part(&train->ranks[r], part, first, count, error);
		for (uint32_t i = 0; !status && i < count; i++)
			losses[first + i] += part[i];
	}
	return status;
}

static enum kwhy_status run_step(struct kwhy_train *train, struct kwhy_error *error)
{
	struct kwhy_train_rank *rank = &train->ranks[0];

	if (!train->graph)
		return kwhy_train_queue_step(train, error);
	train->tally.graphs++;
	return rank->gpu->ops->graph_launch(rank->gpu, rank->stream, train->graph, error);
}

enum kwhy_status kwhy_train_run(
	struct kwhy_train *train, struct kwhy_train_result *out, struct kwhy_error *error)
{
	uint32_t steps = train->shape.steps;
	int64_t start_ns = kwhy_clock_mono_ns();
	enum kwhy_status status;

	train->tally = (struct kwhy_train_tally){0};
	status = begin(train, error);
	for (uint32_t step = 0; !status && step < steps; step++) {
		train->step = step;
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

/* --- Where it is --- */

static enum kwhy_status read_bytes(
	struct kwhy_train_rank *rank, void *to, uint64_t from, size_t bytes, struct kwhy_error *error)
{
	const struct kwhy_gpu_copy copy = {kwhy_gpu_address(to), from, bytes};
	enum kwhy_status status = wait(rank, error);

	return status ? status : rank->gpu->ops->copy_now(rank->gpu, &copy, error);
}

/* Weights and moments from place `first` to before place `end`. */
static enum kwhy_status read_range(struct kwhy_train_rank *rank, uint64_t first, uint64_t end,
	struct kwhy_train_state *state, struct kwhy_error *error)
{
	const struct {
		float *to;
		uint64_t from;
	} parts[] = {{state->weights, rank->args.weights}, {state->first, rank->args.first},
		{state->second, rank->args.second}};
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && end > first && i < sizeof(parts) / sizeof(parts[0]); i++)
		status = read_bytes(rank, parts[i].to + first, parts[i].from + first * sizeof(float),
			(end - first) * sizeof(float), error);
	return status;
}

/* From the rank that has them. */
static enum kwhy_status read_share(
	struct kwhy_train *train, uint32_t r, struct kwhy_train_state *state, struct kwhy_error *error)
{
	uint64_t width = train->shape.width, biases = train->shape.layers * width * width, first, end;
	uint32_t first_layer, end_layer;
	enum kwhy_status status;

	if (!train->variant->pipeline) {
		kwhy_train_share_of(train, r, &first, &end);
		return read_range(&train->ranks[r], first, end, state, error);
	}
	kwhy_train_layers_of(train, r, &first_layer, &end_layer);
	status = read_range(
		&train->ranks[r], first_layer * width * width, end_layer * width * width, state, error);
	return status ? status
		      : read_range(&train->ranks[r], biases + first_layer * width, biases + end_layer * width,
				state, error);
}

/* Of two ranks, what products read. */
static enum kwhy_status compare_copies(struct kwhy_train *train, uint32_t r, struct kwhy_error *error)
{
	size_t bytes = (size_t)train->shape.layers * train->shape.width * train->shape.width * 2;
	char *both = malloc(2 * bytes);
	enum kwhy_status status;

	if (!both)
		return kwhy_fail_memory(error, "the weights of two GPUs");
	status = read_bytes(&train->ranks[0], both, train->ranks[0].args.copies, bytes, error);
	if (!status)
		status = read_bytes(
			&train->ranks[r], both + bytes, train->ranks[r].args.copies, bytes, error);
	if (!status && memcmp(both, both + bytes, bytes) != 0)
		status = kwhy_fail(error, KWHY_E_INPUT,
			"%s: GPU %u does not have the weights that the first has: handing them out went "
			"wrong",
			train->variant->id, r);
	free(both);
	return status;
}

enum kwhy_status kwhy_train_read(
	struct kwhy_train *train, struct kwhy_train_state *state, struct kwhy_error *error)
{
	float losses[KWHY_TRAIN_STEPS_MOST];
	enum kwhy_status status = read_losses(train, losses, 0, train->shape.steps, error);

	for (uint32_t r = 0; !status && r < train->rank_count; r++)
		status = read_share(train, r, state, error);
	for (uint32_t r = 1; !status && train->variant->parallel && r < train->rank_count; r++)
		status = compare_copies(train, r, error);
	for (uint32_t i = 0; !status && i < train->shape.steps; i++)
		state->losses[i] = (double)losses[i];
	return status;
}
