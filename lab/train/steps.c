/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "lab/train/inside.h"

#include <stdlib.h>
#include <string.h>

enum { SPREAD_BLOCKS = 1024 }; /* of kernels that go over memory */

uint32_t lab_train_slot(const struct lab_train *train, uint32_t layer)
{
	uint32_t kept = (train->shape.layers - 1) / train->segment, inner = layer % train->segment;

	if (layer == 0)
		return LAB_TRAIN_INPUTS;
	return inner ? kept + inner - 1 : layer / train->segment - 1;
}

/* --- Addresses --- */

static uint64_t planes_at(const struct lab_train_rank *rank, uint64_t start, uint32_t planes)
{
	const struct lab_train_args *a = &rank->args;

	return start +
		(uint64_t)planes * (a->batch / a->parts) * a->width *
		lab_number_bytes((enum lab_number)a->type);
}

uint64_t lab_train_inputs_at(const struct lab_train_rank *rank, uint32_t slot, uint32_t part)
{
	return slot == LAB_TRAIN_INPUTS ? planes_at(rank, rank->args.inputs, part)
					: planes_at(rank, rank->args.hidden, slot);
}

uint64_t lab_train_errors_at(const struct lab_train_rank *rank, uint32_t slot)
{
	return planes_at(rank, rank->args.errors, slot);
}

uint64_t lab_train_matrix_at(const struct lab_train_rank *rank, uint32_t layer)
{
	const struct lab_train_args *a = &rank->args;

	return a->factors +
		(uint64_t)layer * a->width * a->width * lab_number_bytes((enum lab_number)a->type);
}

uint64_t lab_train_gradient_at(const struct lab_train_rank *rank, uint32_t layer)
{
	const struct lab_train_args *a = &rank->args;

	return a->gradients + (uint64_t)layer * a->width * a->width * sizeof(float);
}

/* --- Launches --- */

static uint32_t blocks_of(const struct lab_train_args *args, enum lab_train_kernel kernel)
{
	switch (kernel) {
	case LAB_TRAIN_LOSS:
		return args->batch / args->parts;
	case LAB_TRAIN_BIAS_GRADIENT:
		return args->width / LAB_TRAIN_COLUMNS;
	case LAB_TRAIN_TALLY:
	case LAB_TRAIN_ADVANCE:
		return 1;
	default:
		return SPREAD_BLOCKS;
	}
}

static enum kwhy_status launch(struct lab_train_rank *rank, enum lab_train_kernel kernel,
	struct lab_train_call call, struct kwhy_error *error)
{
	void *arguments[] = {&rank->args, &call};
	const struct kwhy_gpu_launch launched = {.kernel = rank->kernels[kernel],
		.blocks = blocks_of(&rank->args, kernel),
		.threads_per_block = LAB_TRAIN_THREADS,
		.arguments = arguments,
		.stream = rank->stream};

	rank->train->tally.launches++;
	return rank->gpu->ops->launch(rank->gpu, &launched, error);
}

static enum kwhy_status multiply(struct lab_train_rank *rank, enum lab_train_product product,
	const struct lab_operands *at, struct kwhy_error *error)
{
	rank->train->tally.products++;
	return lab_blaslt_multiply(rank->blaslt, rank->plans[product], at, error);
}

/* --- A step --- */

static enum kwhy_status forward(
	struct lab_train_rank *rank, uint32_t layer, uint32_t part, struct kwhy_error *error)
{
	const struct lab_train *train = rank->train;
	bool is_last = layer + 1 == train->shape.layers;
	uint32_t out = is_last ? 0 : lab_train_slot(train, layer + 1);
	const struct lab_operands at = {lab_train_inputs_at(rank, lab_train_slot(train, layer), part),
		lab_train_matrix_at(rank, layer),
		is_last ? rank->args.logits : lab_train_inputs_at(rank, out, part), 0};
	enum kwhy_status status = multiply(
		rank, is_last ? LAB_TRAIN_FORWARD_LAST : LAB_TRAIN_FORWARD, &at, error);

	return status
		? status
		: launch(rank, LAB_TRAIN_BIAS, (struct lab_train_call){.layer = layer, .slot = out}, error);
}

/* Activations of the layer's segment again, where they were not kept; at the segment's last layer. */
static enum kwhy_status recompute(
	struct lab_train_rank *rank, uint32_t layer, uint32_t part, struct kwhy_error *error)
{
	const struct lab_train *train = rank->train;
	uint32_t first = layer / train->segment * train->segment;
	bool is_last = layer + 1 == train->shape.layers || (layer + 1) % train->segment == 0;
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = first; !status && train->variant->recompute && is_last && i < layer; i++)
		status = forward(rank, i, part, error);
	return status;
}

/* The errors of a layer's inputs; 0 where the rectifier let nothing through. */
static enum kwhy_status pass_errors(
	struct lab_train_rank *rank, uint32_t layer, uint32_t errors, struct kwhy_error *error)
{
	const struct lab_operands at = {lab_train_errors_at(rank, errors), lab_train_matrix_at(rank, layer),
		lab_train_errors_at(rank, 1 - errors), 0};
	enum kwhy_status status = multiply(rank, LAB_TRAIN_BACKWARD, &at, error);

	return status ? status
		      : launch(rank, LAB_TRAIN_MASK,
				(struct lab_train_call){
					.slot = lab_train_slot(rank->train, layer), .mode = 1 - errors},
				error);
}

static enum kwhy_status backward(
	struct lab_train_rank *rank, uint32_t layer, uint32_t part, struct kwhy_error *error)
{
	const struct lab_train *train = rank->train;
	uint32_t errors = (train->shape.layers - 1 - layer) % 2;
	const struct lab_operands at = {lab_train_errors_at(rank, errors),
		lab_train_inputs_at(rank, lab_train_slot(train, layer), part),
		lab_train_gradient_at(rank, layer), 0};
	enum kwhy_status status = recompute(rank, layer, part, error);

	if (!status)
		status = multiply(rank, part ? LAB_TRAIN_UPDATE_MORE : LAB_TRAIN_UPDATE, &at, error);
	if (!status)
		status = launch(rank, LAB_TRAIN_BIAS_GRADIENT,
			(struct lab_train_call){
				.layer = layer, .slot = errors, .mode = part ? LAB_TRAIN_ADD : 0},
			error);
	return status || !layer ? status : pass_errors(rank, layer, errors, error);
}

static enum kwhy_status queue_part(struct lab_train_rank *rank, uint32_t part, struct kwhy_error *error)
{
	uint32_t layers = rank->train->shape.layers;
	enum kwhy_status status = KWHY_OK;

	for (uint32_t layer = 0; !status && layer < layers; layer++)
		status = forward(rank, layer, part, error);
	if (!status)
		status = launch(rank, LAB_TRAIN_LOSS, (struct lab_train_call){.part = part}, error);
	for (uint32_t layer = layers; !status && layer-- > 0;)
		status = backward(rank, layer, part, error);
	return status;
}

/* Up to the gradients and the loss of this GPU's share of the batch. */
static enum kwhy_status queue_gradients(struct lab_train_rank *rank, struct kwhy_error *error)
{
	const struct lab_train_call none = {0};
	enum kwhy_status status = rank->gpu->ops->enter(rank->gpu, error);

	if (!status)
		status = launch(rank, LAB_TRAIN_TAKE, none, error);
	for (uint32_t part = 0; !status && part < rank->args.parts; part++)
		status = queue_part(rank, part, error);
	return status ? status : launch(rank, LAB_TRAIN_TALLY, none, error);
}

static enum kwhy_status sum_gradients(struct lab_train *train, struct kwhy_error *error)
{
	uint64_t places[LAB_TRAIN_RANKS_MOST];

	if (!train->group)
		return KWHY_OK;
	for (uint32_t r = 0; r < train->rank_count; r++)
		places[r] = train->ranks[r].args.gradients;
	train->tally.sums++;
	return train->group->ops->sum_floats(
		train->group, places, (uint32_t)lab_train_weight_count(&train->shape) + 1, error);
}

static enum kwhy_status queue_adamw(struct lab_train_rank *rank, struct kwhy_error *error)
{
	bool rounds = rank->args.factors != rank->args.weights;
	uint32_t all = (LAB_TRAIN_ROUND - 1) | (rounds ? LAB_TRAIN_ROUND : 0);
	enum kwhy_status status = rank->gpu->ops->enter(rank->gpu, error);

	if (!status && rank->train->variant->fused)
		status = launch(rank, LAB_TRAIN_ADAMW, (struct lab_train_call){.mode = all}, error);
	for (uint32_t mode = LAB_TRAIN_DECAY; !status && !rank->train->variant->fused && (mode & all);
		mode *= 2)
		status = launch(rank, LAB_TRAIN_ADAMW, (struct lab_train_call){.mode = mode}, error);
	return status ? status : launch(rank, LAB_TRAIN_ADVANCE, (struct lab_train_call){0}, error);
}

enum kwhy_status lab_train_queue_step(struct lab_train *train, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t r = 0; !status && r < train->rank_count; r++)
		status = queue_gradients(&train->ranks[r], error);
	if (!status)
		status = sum_gradients(train, error);
	for (uint32_t r = 0; !status && r < train->rank_count; r++)
		status = queue_adamw(&train->ranks[r], error);
	return status;
}

/* --- Batches --- */

static enum kwhy_status wait(struct lab_train_rank *rank, struct kwhy_error *error)
{
	rank->train->tally.waits++;
	return rank->gpu->ops->synchronize(rank->gpu, rank->stream, error);
}

static enum kwhy_status send(
	struct lab_train_rank *rank, struct kwhy_gpu_stream *stream, uint32_t step, struct kwhy_error *error)
{
	const struct lab_train_shape *shape = &rank->train->shape;
	size_t bytes = lab_train_staged_bytes(&rank->args);
	const struct kwhy_gpu_copy copy = {rank->args.staged + step % 2 * bytes,
		kwhy_gpu_address(rank->samples.memory) + step % (shape->samples / shape->batch) * bytes,
		bytes};

	rank->train->tally.copies++;
	return rank->gpu->ops->copy(rank->gpu, stream, &copy, error);
}

/* A step's batch takes the place of that of two steps before. */
static enum kwhy_status send_early(struct lab_train_rank *rank, uint32_t step, struct kwhy_error *error)
{
	const struct kwhy_gpu_ops *ops = rank->gpu->ops;
	enum kwhy_status status = KWHY_OK;

	if (step == rank->train->shape.steps)
		return KWHY_OK;
	if (step >= 2)
		status = ops->stream_wait(rank->gpu, rank->copies, rank->done[step % 2], error);
	if (!status)
		status = send(rank, rank->copies, step, error);
	return status ? status : ops->event_record(rank->gpu, rank->arrived[step % 2], rank->copies, error);
}

static enum kwhy_status bring_batch(struct lab_train_rank *rank, uint32_t step, struct kwhy_error *error)
{
	const struct kwhy_gpu_ops *ops = rank->gpu->ops;
	enum lab_train_batches batches = rank->train->variant->batches;
	enum kwhy_status status = ops->enter(rank->gpu, error);

	if (!status && batches == LAB_TRAIN_PREFETCHED) {
		status = step ? KWHY_OK : send_early(rank, 0, error);
		if (!status)
			status = ops->stream_wait(rank->gpu, rank->stream, rank->arrived[step % 2], error);
		return status ? status : send_early(rank, step + 1, error);
	}
	if (!status)
		status = send(rank, rank->stream, step, error);
	return status || batches == LAB_TRAIN_PINNED ? status : wait(rank, error);
}

static enum kwhy_status bring_batches(struct lab_train *train, uint32_t step, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t r = 0; !status && r < train->rank_count; r++)
		status = bring_batch(&train->ranks[r], step, error);
	return status;
}

/* --- A run --- */

static enum kwhy_status begin(struct lab_train *train, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t r = 0; !status && r < train->rank_count; r++) {
		status = train->ranks[r].gpu->ops->enter(train->ranks[r].gpu, error);
		if (!status)
			status = launch(&train->ranks[r], LAB_TRAIN_BEGIN, (struct lab_train_call){0}, error);
	}
	return status;
}

static enum kwhy_status end_step(struct lab_train *train, uint32_t step, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t r = 0; !status && r < train->rank_count; r++) {
		struct lab_train_rank *rank = &train->ranks[r];

		status = rank->gpu->ops->enter(rank->gpu, error);
		if (!status)
			status = rank->gpu->ops->event_record(
				rank->gpu, rank->done[step % 2], rank->stream, error);
	}
	return status;
}

static enum kwhy_status run_step(struct lab_train *train, uint32_t step, struct kwhy_error *error)
{
	struct lab_train_rank *rank = &train->ranks[0];
	enum kwhy_status status = bring_batches(train, step, error);

	if (!status && train->graph) {
		train->tally.graphs++;
		status = rank->gpu->ops->graph_launch(rank->gpu, rank->stream, train->graph, error);
	} else if (!status)
		status = lab_train_queue_step(train, error);
	return status || train->variant->batches != LAB_TRAIN_PREFETCHED ? status
									 : end_step(train, step, error);
}

/* All GPUs have the losses of the whole batch. */
static enum kwhy_status read_losses(
	struct lab_train *train, float *losses, uint32_t first, uint32_t count, struct kwhy_error *error)
{
	struct lab_train_rank *rank = &train->ranks[0];
	const struct kwhy_gpu_copy copy = {kwhy_gpu_address(losses + first),
		rank->args.losses + first * sizeof(float), count * sizeof(float)};
	enum kwhy_status status = rank->gpu->ops->enter(rank->gpu, error);

	train->tally.copies++;
	if (!status)
		status = rank->gpu->ops->copy(rank->gpu, rank->stream, &copy, error);
	return status ? status : wait(rank, error);
}

/* The first GPU is the last to be waited for, and is where the thread stays. */
static enum kwhy_status wait_for_others(struct lab_train *train, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t r = 1; !status && r < train->rank_count; r++) {
		status = train->ranks[r].gpu->ops->enter(train->ranks[r].gpu, error);
		if (!status)
			status = wait(&train->ranks[r], error);
	}
	return status;
}

enum kwhy_status lab_train_run(struct lab_train *train, float *out_losses, double *out_run_s,
	struct lab_train_tally *out_tally, struct kwhy_error *error)
{
	uint32_t steps = train->shape.steps;
	bool queued = train->variant->queued;
	int64_t start_ns = kwhy_clock_mono_ns();
	enum kwhy_status status;

	train->tally = (struct lab_train_tally){0};
	status = begin(train, error);
	for (uint32_t step = 0; !status && step < steps; step++) {
		status = run_step(train, step, error);
		if (!status && !queued)
			status = read_losses(train, out_losses, step, 1, error);
	}
	if (!status)
		status = wait_for_others(train, error);
	if (!status && queued)
		status = read_losses(train, out_losses, 0, steps, error);
	*out_run_s = (double)(kwhy_clock_mono_ns() - start_ns) * 1e-9;
	*out_tally = train->tally;
	return status;
}

/* --- Where it is --- */

static enum kwhy_status read_floats(
	const struct lab_train_rank *rank, float *to, uint64_t from, size_t count, struct kwhy_error *error)
{
	const struct kwhy_gpu_copy copy = {kwhy_gpu_address(to), from, count * sizeof(float)};
	enum kwhy_status status = rank->gpu->ops->enter(rank->gpu, error);

	return status ? status : rank->gpu->ops->copy_now(rank->gpu, &copy, error);
}

static enum kwhy_status compare_weights(const struct lab_train *train, uint32_t r, const float *expected,
	float *room, struct kwhy_error *error)
{
	size_t count = lab_train_weight_count(&train->shape);
	enum kwhy_status status = read_floats(
		&train->ranks[r], room, train->ranks[r].args.weights, count, error);

	if (status || memcmp(room, expected, count * sizeof(*room)) == 0)
		return status;
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s: GPU %u does not have the weights that the first has: gradients were added up wrongly",
		train->variant->id, r);
}

static enum kwhy_status compare_ranks(
	const struct lab_train *train, const float *expected, struct kwhy_error *error)
{
	float *room;
	enum kwhy_status status = KWHY_OK;

	if (train->rank_count == 1)
		return KWHY_OK;
	room = malloc(lab_train_weight_count(&train->shape) * sizeof(*room));
	if (!room)
		return kwhy_fail_memory(error, "the weights of a GPU");
	for (uint32_t r = 1; !status && r < train->rank_count; r++)
		status = compare_weights(train, r, expected, room, error);
	free(room);
	return status;
}

enum kwhy_status lab_train_read(
	struct lab_train *train, struct lab_train_state *state, struct kwhy_error *error)
{
	const struct lab_train_rank *rank = &train->ranks[0];
	size_t count = lab_train_weight_count(&train->shape);
	float losses[LAB_TRAIN_STEPS_MOST];
	enum kwhy_status status = read_losses(train, losses, 0, train->shape.steps, error);

	if (!status)
		status = read_floats(rank, state->weights, rank->args.weights, count, error);
	if (!status)
		status = read_floats(rank, state->first, rank->args.first, count, error);
	if (!status)
		status = read_floats(rank, state->second, rank->args.second, count, error);
	for (uint32_t i = 0; !status && i < train->shape.steps; i++)
		state->losses[i] = (double)losses[i];
	return status ? status : compare_ranks(train, state->weights, error);
}
