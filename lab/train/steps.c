/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "lab/train/inside.h"

enum { BLOCKS = 1024 }; /* number of blocks of each launch; kernels work with any number */

/* used in place of a slot number of `hidden`: the first layer's inputs, which are the batch in `inputs` */
#define INPUTS UINT32_MAX

/*
 * Slot of `hidden` with the inputs of a layer; INPUTS for layer 0. Inputs of segments' first layers have
 * slots of their own; behind them, the other layers of every segment use the same slots.
 */
static uint32_t slot_of(const struct lab_train *train, uint32_t layer)
{
	uint32_t kept = (train->shape.layers - 1) / train->segment, inner = layer % train->segment;

	if (layer == 0)
		return INPUTS;
	return inner ? kept + inner - 1 : layer / train->segment - 1;
}

static uint32_t factor_bytes(const struct lab_train_args *a)
{
	return lab_number_bytes((enum lab_number)a->type);
}

static uint64_t planes_at(const struct lab_train_args *a, uint64_t start, uint32_t planes)
{
	return start + (uint64_t)planes * (a->batch / a->parts) * a->width * factor_bytes(a);
}

static uint64_t inputs_at(const struct lab_train_args *a, uint32_t slot, uint32_t part)
{
	return slot == INPUTS ? planes_at(a, a->inputs, part) : planes_at(a, a->hidden, slot);
}

static uint64_t matrix_at(const struct lab_train_args *a, uint64_t start, uint32_t layer, uint32_t bytes)
{
	return start + (uint64_t)layer * a->width * a->width * bytes;
}

/* --- Launches --- */

static void launch(struct lab_train_rank *rank, enum lab_train_kernel kernel, struct lab_train_call call)
{
	const struct lab_rank_launch launch = {kernel, BLOCKS, LAB_TRAIN_THREADS, &rank->args, &call};

	lab_rank_launch(&rank->base, &launch);
}

#define LAUNCH(rank, kernel, ...) launch(rank, kernel, (struct lab_train_call){__VA_ARGS__})

static void multiply(
	struct lab_train_rank *rank, enum product product, uint64_t left, uint64_t right, uint64_t out)
{
	const struct lab_operands at = {left, right, out};

	TRY(rank->base.tries, lab_blaslt_multiply, rank->base.blaslt, rank->plans[product], &at);
}

/* Calls a function for each GPU in turn, while that GPU is current. */
static void on_each(struct lab_train *train, void (*work)(struct lab_train_rank *rank))
{
	for (uint32_t r = 0; r < train->rank_count; r++) {
		lab_rank_enter(&train->ranks[r].base);
		work(&train->ranks[r]);
	}
}

/* --- A step --- */

static void forward(struct lab_train_rank *rank, uint32_t layer, uint32_t part)
{
	const struct lab_train *train = rank->train;
	const struct lab_train_args *a = &rank->args;
	bool is_last = layer + 1 == a->layers;
	uint32_t out = is_last ? 0 : slot_of(train, layer + 1);

	multiply(rank, is_last ? FORWARD_LAST : FORWARD, inputs_at(a, slot_of(train, layer), part),
		matrix_at(a, a->factors, layer, factor_bytes(a)),
		is_last ? a->logits : inputs_at(a, out, part));
	LAUNCH(rank, LAB_TRAIN_BIAS, .layer = layer, .slot = out);
}

/*
 * At the last layer of a segment, which the backward pass comes to first: computes the inputs of the
 * segment's layers again, from the kept inputs of its first layer. At other layers it does nothing.
 */
static void recompute(struct lab_train_rank *rank, uint32_t layer, uint32_t part)
{
	const struct lab_train *train = rank->train;
	bool is_last = layer + 1 == train->shape.layers || (layer + 1) % train->segment == 0;

	for (uint32_t i = layer / train->segment * train->segment; is_last && i < layer; i++)
		forward(rank, i, part);
}

/*
 * Queues the backward pass of a layer: gradients of its weights and biases. Unless it is the first
 * layer, also gradients of its inputs and the backward pass of the ReLU that computed these inputs.
 */
static void backward(struct lab_train_rank *rank, uint32_t layer, uint32_t part)
{
	const struct lab_train_args *a = &rank->args;
	uint32_t errors = (a->layers - 1 - layer) % 2, slot = slot_of(rank->train, layer);
	uint64_t errors_at = planes_at(a, a->errors, errors);

	if (rank->train->variant->recompute)
		recompute(rank, layer, part);
	multiply(rank, part ? UPDATE_MORE : UPDATE, errors_at, inputs_at(a, slot, part),
		matrix_at(a, a->gradients, layer, sizeof(float)));
	LAUNCH(rank, LAB_TRAIN_BIAS_GRADIENT, .layer = layer, .errors = errors, .mode = part > 0);
	if (!layer)
		return;
	multiply(rank, BACKWARD, errors_at, matrix_at(a, a->factors, layer, factor_bytes(a)),
		planes_at(a, a->errors, 1 - errors));
	LAUNCH(rank, LAB_TRAIN_MASK, .slot = slot, .errors = 1 - errors);
}

static void queue_gradients(struct lab_train_rank *rank)
{
	LAUNCH(rank, LAB_TRAIN_TAKE, 0);
	for (uint32_t part = 0; part < rank->args.parts; part++) {
		for (uint32_t layer = 0; layer < rank->args.layers; layer++)
			forward(rank, layer, part);
		LAUNCH(rank, LAB_TRAIN_LOSS, .part = part);
		for (uint32_t layer = rank->args.layers; layer-- > 0;)
			backward(rank, layer, part);
	}
}

static void sum_gradients(struct lab_train *train)
{
	uint64_t places[LAB_TRAIN_RANKS_MAX];

	for (uint32_t r = 0; r < train->rank_count; r++)
		places[r] = train->ranks[r].args.gradients;
	TRY(&train->tries, train->group->ops->sum_floats, train->group, places,
		(uint32_t)lab_train_weight_count(&train->shape));
}

/* Queues AdamW, as one kernel or as one kernel for each of its parts, and then the end of the step. */
static void queue_adamw(struct lab_train_rank *rank)
{
	uint32_t all = (ROUND - 1) | (rank->args.type == LAB_BF16 ? ROUND : 0);

	if (rank->train->variant->fused)
		LAUNCH(rank, LAB_TRAIN_ADAMW, .mode = all);
	for (uint32_t mode = 1; !rank->train->variant->fused && (mode & all); mode *= 2)
		LAUNCH(rank, LAB_TRAIN_ADAMW, .mode = mode);
	LAUNCH(rank, LAB_TRAIN_ADVANCE, 0);
}

void lab_train_queue_step(struct lab_train *train)
{
	on_each(train, queue_gradients);
	if (train->group)
		sum_gradients(train);
	on_each(train, queue_adamw);
}

/* --- Batches --- */

static void send(struct lab_train_rank *rank, struct kwhy_gpu_stream *stream, uint32_t step)
{
	struct lab_train *train = rank->train;
	uint32_t batch = step % (train->shape.samples / train->shape.batch);
	const struct kwhy_gpu_copy copy = {rank->args.staged + step % 2 * rank->staged_bytes,
		kwhy_gpu_address(rank->samples.memory) + batch * rank->staged_bytes, rank->staged_bytes};

	TRY(&train->tries, rank->base.gpu->ops->copy, rank->base.gpu, stream, &copy);
}

/*
 * Queues the copy of a step's batch on the stream `copies`, so that it begins after all work that
 * is queued in the main stream now. The copy overwrites the batch of two steps earlier, which that
 * work reads.
 */
static void send_early(struct lab_train_rank *rank, uint32_t step)
{
	struct lab_tries *tries = rank->base.tries;
	struct kwhy_gpu *gpu = rank->base.gpu;

	if (step == rank->train->shape.steps)
		return;
	TRY(tries, gpu->ops->event_record, gpu, rank->before, rank->base.stream);
	TRY(tries, gpu->ops->stream_wait, gpu, rank->copies, rank->before);
	send(rank, rank->copies, step);
	TRY(tries, gpu->ops->event_record, gpu, rank->arrived[step % 2], rank->copies);
}

static void bring_batch(struct lab_train_rank *rank)
{
	const struct lab_train *train = rank->train;
	struct kwhy_gpu *gpu = rank->base.gpu;
	uint32_t step = train->step;

	if (train->variant->batches != LAB_TRAIN_PREFETCHED) {
		send(rank, rank->base.stream, step);
		if (train->variant->batches == LAB_TRAIN_PAGEABLE)
			lab_rank_wait(&rank->base);
		return;
	}
	if (step == 0)
		send_early(rank, 0);
	TRY(rank->base.tries, gpu->ops->stream_wait, gpu, rank->base.stream, rank->arrived[step % 2]);
	send_early(rank, step + 1);
}

/* --- A run --- */

static void begin(struct lab_train_rank *rank)
{
	LAUNCH(rank, LAB_TRAIN_BEGIN, 0);
}

static void run_step(struct lab_train *train)
{
	const struct lab_rank *rank = &train->ranks[0].base;

	on_each(train, bring_batch);
	if (train->graph)
		TRY(&train->tries, rank->gpu->ops->graph_launch, rank->gpu, rank->stream, train->graph);
	else
		lab_train_queue_step(train);
}

/*
 * Reads the losses of steps `first` to `first` + `count` - 1 from all GPUs and adds them up. A GPU's loss is
 * the sum over its own samples, divided by the size of the whole batch.
 */
static void read_losses(struct lab_train *train, float *losses, uint32_t first, uint32_t count)
{
	float part[LAB_TRAIN_STEPS_MAX];

	for (uint32_t i = 0; i < count; i++)
		losses[first + i] = 0;
	for (uint32_t r = 0; r < train->rank_count; r++) {
		const struct lab_rank *rank = &train->ranks[r].base;
		const struct kwhy_gpu_copy copy = {kwhy_gpu_address(part),
			train->ranks[r].args.losses + first * sizeof(float), count * sizeof(float)};

		lab_rank_enter(rank);
		TRY(&train->tries, rank->gpu->ops->copy, rank->gpu, rank->stream, &copy);
		lab_rank_wait(rank);
		for (uint32_t i = 0; !train->tries.status && i < count; i++)
			losses[first + i] += part[i];
	}
}

enum kwhy_status lab_train_run(
	struct lab_train *train, float *out_losses, double *out_run_s, struct kwhy_error *error)
{
	int64_t start_ns = kwhy_clock_mono_ns();

	train->tries = (struct lab_tries){KWHY_OK, error};
	on_each(train, begin);
	for (train->step = 0; !train->tries.status && train->step < train->shape.steps; train->step++) {
		run_step(train);
		if (!train->variant->queued)
			read_losses(train, out_losses, train->step, 1);
	}
	if (train->variant->queued)
		read_losses(train, out_losses, 0, train->shape.steps);
	*out_run_s = (double)(kwhy_clock_mono_ns() - start_ns) * 1e-9;
	return train->tries.status;
}

enum kwhy_status lab_train_read(
	struct lab_train *train, uint32_t r, struct lab_train_state *state, struct kwhy_error *error)
{
	const struct lab_train_rank *rank = &train->ranks[r];
	size_t bytes = lab_train_weight_count(&train->shape) * sizeof(float);

	train->tries = (struct lab_tries){KWHY_OK, error};
	lab_rank_copy(&rank->base, kwhy_gpu_address(state->weights), rank->args.weights, bytes);
	lab_rank_copy(&rank->base, kwhy_gpu_address(state->first), rank->args.first, bytes);
	lab_rank_copy(&rank->base, kwhy_gpu_address(state->second), rank->args.second, bytes);
	return train->tries.status;
}

/* --- The variants --- */

#define BF16 .type = LAB_BF16
#define QUEUED BF16, .batches = LAB_TRAIN_PREFETCHED, .queued = true

const struct lab_train_variant lab_train_variants[] = {
	{"plain", "a plain loop in fp32", NULL,
		"batches from pageable memory, AdamW in four passes, the loss read in every step",
		.type = LAB_FP32},
	{"tf32", "products in tf32", "plain", "factors are rounded to tf32 in the products",
		.type = LAB_TF32},
	{"bf16", "mixed precision", "plain", "products of bf16; weights, sums and moments stay fp32", BF16},
	{"pinned", "page-locked batches", "bf16",
		"batches lie in page-locked memory, and their copies are not waited for", BF16,
		.batches = LAB_TRAIN_PINNED},
	{"prefetch", "the next batch early", "pinned",
		"the next batch is copied during the step, by a stream of its own", BF16,
		.batches = LAB_TRAIN_PREFETCHED},
	{"queued", "losses read at the end", "prefetch", "losses stay on the GPU until the run's end",
		QUEUED},
	{"fused", "AdamW in one pass", "queued", "one kernel for all of AdamW instead of five", QUEUED,
		.fused = true},
	{"graph", "a graph a step", "fused", "one launch of a graph a step", QUEUED, .fused = true,
		.graph = true},
	{"checkpoint", "checkpointing", "graph",
		"activations are kept at every n-th layer; the others are computed twice", QUEUED,
		.fused = true, .graph = true, .recompute = true},
	{"accumulate", "micro-batches", "graph", "a batch in parts, whose gradients are added up", QUEUED,
		.fused = true, .graph = true, .parts = true},
	{"parallel", "data parallel", "fused",
		"a share of the batch for each GPU; gradients are added up over GPUs", QUEUED, .fused = true,
		.parallel = true},
};

const size_t lab_train_variant_count = sizeof(lab_train_variants) / sizeof(lab_train_variants[0]);
