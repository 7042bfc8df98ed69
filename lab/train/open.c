/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/kernels.h"
#include "lab/train/inside.h"

#include <stdlib.h>
#include <string.h>

enum { TENSOR_ARCHITECTURE = 80 };

const struct kwhy_train_variant kwhy_train_variants[] = {
	{.id = "fp32",
		.title = "fp32, a wait a step",
		.change = "as a plain loop does it: products in fp32, AdamW by itself, the loss read in "
			  "every step",
		.waits = true},
	{.id = "bf16",
		.title = "mixed precision",
		.after = "fp32",
		.change = "products of bf16 by tensor instructions; weights, sums and moments stay fp32",
		.half = true,
		.waits = true},
	{.id = "queued",
		.title = "no waits",
		.after = "bf16",
		.change = "losses stay on the GPU until the run's end",
		.half = true},
	{.id = "cublas",
		.title = "products by cuBLAS",
		.after = "queued",
		.change =
			"products by NVIDIA's library; bias, rectifier and its derivative by a kernel after "
			"each",
		.half = true,
		.library = true},
	{.id = "fused",
		.title = "AdamW in the product",
		.after = "queued",
		.change = "AdamW where the gradient is made: it is never written to memory",
		.half = true,
		.fused = true},
	{.id = "graph",
		.title = "a graph a step",
		.after = "fused",
		.change = "one launch of a graph a step",
		.half = true,
		.fused = true,
		.graph = true},
	{.id = "checkpoint",
		.title = "checkpointing",
		.after = "graph",
		.change = "activations are kept at every so manieth layer; the others are made twice",
		.half = true,
		.fused = true,
		.graph = true,
		.recompute = true},
	{.id = "accumulate",
		.title = "micro-batches",
		.after = "graph",
		.change = "a batch in parts, whose gradients are added up",
		.half = true,
		.fused = true,
		.graph = true,
		.parts = true},
	{.id = "pipeline",
		.title = "pipeline",
		.after = "accumulate",
		.change = "layers apart on GPUs; the parts of a batch go through them one behind the other, "
			  "without a graph",
		.half = true,
		.fused = true,
		.parts = true,
		.pipeline = true},
	{.id = "parallel",
		.title = "data parallel",
		.after = "queued",
		.change = "a share of the batch for each GPU; each adds up all gradients of its share of the "
			  "weights, applies AdamW and hands them out",
		.half = true,
		.parallel = true},
};

const size_t kwhy_train_variant_count = sizeof(kwhy_train_variants) / sizeof(kwhy_train_variants[0]);

const struct kwhy_train_variant *kwhy_train_variant_find(const char *id, size_t length)
{
	for (size_t i = 0; i < kwhy_train_variant_count; i++)
		if (strlen(kwhy_train_variants[i].id) == length &&
			memcmp(kwhy_train_variants[i].id, id, length) == 0)
			return &kwhy_train_variants[i];
	return NULL;
}

/* --- Kernels --- */

struct kernel_row {
	const char *name;
	bool tensor;
};

static const struct kernel_row kernel_rows[KWHY_TRAIN_KERNEL_COUNT] = {
	[KWHY_TRAIN_BEGIN] = {"kwhy_train_begin", false},
	[KWHY_TRAIN_DATA] = {"kwhy_train_data", false},
	[KWHY_TRAIN_FORWARD_SINGLE] = {"kwhy_train_forward_single", false},
	[KWHY_TRAIN_BACKWARD_SINGLE] = {"kwhy_train_backward_single", false},
	[KWHY_TRAIN_UPDATE_SINGLE] = {"kwhy_train_update_single", false},
	[KWHY_TRAIN_FORWARD_SMALL] = {"kwhy_train_forward_small", true},
	[KWHY_TRAIN_BACKWARD_SMALL] = {"kwhy_train_backward_small", true},
	[KWHY_TRAIN_FORWARD_LARGE] = {"kwhy_train_forward_large", true},
	[KWHY_TRAIN_BACKWARD_LARGE] = {"kwhy_train_backward_large", true},
	[KWHY_TRAIN_UPDATE_LARGE] = {"kwhy_train_update_large", true},
	[KWHY_TRAIN_FINISH] = {"kwhy_train_finish", false},
	[KWHY_TRAIN_SOFTEN] = {"kwhy_train_soften", false},
	[KWHY_TRAIN_BIAS] = {"kwhy_train_bias", false},
	[KWHY_TRAIN_APPLY_ALL] = {"kwhy_train_apply", false},
	[KWHY_TRAIN_SHARE] = {"kwhy_train_share", false},
	[KWHY_TRAIN_ADVANCE] = {"kwhy_train_advance", false},
};

static enum kwhy_status check_precision(
	const struct kwhy_gpu *gpu, const struct kwhy_train_variant *variant, struct kwhy_error *error)
{
	if (!variant->half || strcmp(gpu->ops->name, "host") == 0)
		return KWHY_OK;
	if (strcmp(gpu->ops->name, "cuda") != 0)
		return kwhy_fail(
			error, KWHY_E_UNSUPPORTED, "bf16 kernels are for CUDA; leave %s out", variant->id);
	if (gpu->facts.architecture < TENSOR_ARCHITECTURE)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"compute capability %d.%d has no bf16; 8.0 has; leave %s out",
			gpu->facts.architecture / 10, gpu->facts.architecture % 10, variant->id);
	return KWHY_OK;
}

static enum kwhy_status find_kernels(struct kwhy_train_rank *rank, struct kwhy_error *error)
{
	static const struct kwhy_gpu_source source = {
		.title = "train.cu", .text = kwhy_kernels_train, .on_host = kwhy_train_host_kernels};
	struct kwhy_gpu *gpu = rank->gpu;
	enum kwhy_status status = gpu->ops->module_new(gpu, &source, &rank->module, error);

	for (size_t k = 0; !status && k < KWHY_TRAIN_KERNEL_COUNT; k++)
		if (rank->train->variant->half || !kernel_rows[k].tensor)
			status = gpu->ops->kernel_find(
				gpu, rank->module, kernel_rows[k].name, &rank->kernels[k], error);
	return status;
}

/* --- Memory --- */

static uint64_t plane_bytes(const struct kwhy_train_rank *rank)
{
	const struct kwhy_train_args *a = &rank->args;

	return (uint64_t)a->batch / a->parts * a->width * (a->half ? 2 : 4);
}

/* The parts of the memory, each at a multiple of 256 bytes; gives the bytes in all. */
static size_t lay_out(struct kwhy_train_rank *rank, uint64_t start)
{
	struct kwhy_train_args *a = &rank->args;
	const struct kwhy_train_shape *shape = &rank->train->shape;
	const uint64_t weights = kwhy_train_weight_count(shape) * sizeof(float),
		       matrices = (uint64_t)shape->layers * shape->width * shape->width,
		       plane = plane_bytes(rank), rows = a->batch / a->parts;
	const bool keeps_gradients = !rank->train->variant->fused || shape->parts > 1;
	const struct {
		uint64_t *place, bytes;
	} parts[] = {
		{&a->weights, weights},
		{&a->first, weights},
		{&a->second, weights},
		{&a->gradients, keeps_gradients ? weights : 0},
		{&a->copies, a->half ? 2 * matrices : 0},
		{&a->inputs, (uint64_t)shape->samples * shape->width * (a->half ? 2 : 4)},
		{&a->labels, shape->samples * sizeof(uint32_t)},
		{&a->hidden, rank->train->slots * plane},
		{&a->errors, rank->train->error_slots * plane},
		{&a->logits, rows * shape->width * sizeof(float)},
		{&a->row_losses, shape->batch * sizeof(float)},
		{&a->losses, shape->steps * sizeof(float)},
		{&a->pace, sizeof(struct kwhy_train_clock)},
	};
	uint64_t next = start;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		*parts[i].place = next;
		next += (parts[i].bytes + 255) / 256 * 256;
	}
	if (!a->half)
		a->copies = a->weights;
	return next - start;
}

static void set_args(struct kwhy_train_rank *rank)
{
	const struct kwhy_train *train = rank->train;
	const struct kwhy_train_shape *shape = &train->shape;

	rank->args.width = shape->width;
	rank->args.layers = shape->layers;
	rank->args.batch = shape->batch;
	rank->args.parts = shape->parts * (train->variant->parallel ? train->rank_count : 1);
	rank->args.samples = shape->samples;
	rank->args.half = train->variant->half;
}

/*
 * All of it is a pattern at first, so that what nothing wrote is seen: as floats about -3e-16. But the
 * losses of samples that another GPU has are 0.
 */
static enum kwhy_status make_memory(struct kwhy_train_rank *rank, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = rank->gpu;
	enum kwhy_status status;

	set_args(rank);
	rank->bytes = lay_out(rank, 0);
	status = gpu->ops->memory_new(gpu, rank->bytes, &rank->memory, error);
	if (status)
		return status;
	lay_out(rank, rank->memory);
	status = gpu->ops->fill(gpu, rank->stream, rank->memory, 0xA5, rank->bytes, error);
	return status ? status
		      : gpu->ops->fill(gpu, rank->stream, rank->args.row_losses, 0,
				rank->args.batch * sizeof(float), error);
}

static enum kwhy_status make_data(struct kwhy_train_rank *rank, struct kwhy_error *error)
{
	const struct kwhy_train_call none = {0};
	enum kwhy_status status = kwhy_train_launch(rank, KWHY_TRAIN_DATA, &none, error);

	return status ? status : rank->gpu->ops->synchronize(rank->gpu, rank->stream, error);
}

static enum kwhy_status open_rank(struct kwhy_train *train, struct kwhy_gpu *gpu, struct kwhy_error *error)
{
	struct kwhy_train_rank *rank = &train->ranks[train->opened++];
	enum kwhy_status status = check_precision(gpu, train->variant, error);

	rank->train = train;
	rank->gpu = gpu;
	if (!status)
		status = gpu->ops->enter(gpu, error);
	if (!status)
		status = gpu->ops->stream_new(gpu, &rank->stream, error);
	if (!status)
		status = find_kernels(rank, error);
	if (!status)
		status = make_memory(rank, error);
	return status ? status : make_data(rank, error);
}

/* --- A step, to be launched again and again --- */

static enum kwhy_status queue_step(void *train, struct kwhy_error *error)
{
	return kwhy_train_queue_step(train, error);
}

static enum kwhy_status capture(struct kwhy_train *train, struct kwhy_error *error)
{
	struct kwhy_train_rank *rank = &train->ranks[0];
	struct kwhy_gpu *gpu = rank->gpu;

	if (!train->variant->graph)
		return KWHY_OK;
	if (!gpu->ops->capture_begin)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "%s records no graphs; leave %s out",
			gpu->facts.name, train->variant->id);
	return kwhy_gpu_capture(gpu, rank->stream, queue_step, train, &train->graph, error);
}

/* --- Opening --- */

/* The smallest number whose square is enough: then least is kept. */
static uint32_t root_of(uint32_t count)
{
	uint32_t root = 1;

	while (root * root < count)
		root++;
	return root;
}

/* Tiles of 128 x 128 where there are enough for all multiprocessors. */
static bool fills_large_tiles(const struct kwhy_train *train, const struct kwhy_train_request *request)
{
	const struct kwhy_train_shape *like = request->like ? request->like : &request->shape;
	uint32_t parts = (train->variant->parts ? like->parts : 1) *
		(train->variant->parallel ? train->rank_count : 1),
		 sms = request->gpus[0]->facts.sm_count, side = KWHY_TRAIN_LARGE;

	return sms && (like->batch / parts + side - 1) / side * ((like->width + side - 1) / side) >= sms;
}

static bool takes_several(const struct kwhy_train_variant *variant)
{
	return variant->parallel || variant->pipeline;
}

static void plan(struct kwhy_train *train, const struct kwhy_train_request *request)
{
	uint32_t layers = request->shape.layers;

	train->variant = request->variant;
	train->shape = request->shape;
	train->rank_count = takes_several(request->variant) ? request->gpu_count : 1;
	if (!train->variant->parts)
		train->shape.parts = 1;
	train->has_large_tiles = fills_large_tiles(train, request);
	train->segment = train->variant->recompute ? root_of(layers) : layers;
	train->slots = (layers - 1) / train->segment + train->segment - 1;
	train->error_slots = 2;
	if (train->variant->pipeline) {
		uint32_t most = (layers + train->rank_count - 1) / train->rank_count;

		train->slots = most * train->shape.parts + 1;
		train->error_slots = 2 + train->shape.parts;
	}
}

static enum kwhy_status check_request(const struct kwhy_train_request *request, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_train_shape_check(&request->shape, error);

	if (status || !takes_several(request->variant))
		return status;
	if (request->gpu_count < 2 || request->gpu_count > KWHY_TRAIN_RANKS_MOST)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"%s takes 2 to %d GPUs; --dp and --pp say how many", request->variant->id,
			KWHY_TRAIN_RANKS_MOST);
	if (request->variant->pipeline && request->shape.layers < request->gpu_count)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "%s: %u layers are too few for %u GPUs",
			request->variant->id, request->shape.layers, request->gpu_count);
	if (request->variant->parallel && request->shape.batch % (8 * request->gpu_count))
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"%s: a batch of %u is no multiple of 8 samples for each of %u GPUs",
			request->variant->id, request->shape.batch, request->gpu_count);
	return KWHY_OK;
}

static enum kwhy_status prepare(
	struct kwhy_train *train, const struct kwhy_train_request *request, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t r = 0; !status && r < train->rank_count; r++)
		status = open_rank(train, request->gpus[r], error);
	if (!status)
		status = kwhy_train_blas_open(train, error);
	if (!status)
		status = kwhy_train_join(train, error);
	return status ? status : capture(train, error);
}

enum kwhy_status kwhy_train_open(
	const struct kwhy_train_request *request, struct kwhy_train **out, struct kwhy_error *error)
{
	struct kwhy_train *train;
	enum kwhy_status status = check_request(request, error);

	if (status)
		return status;
	train = calloc(1, sizeof(*train));
	if (!train)
		return kwhy_fail_memory(error, "a training");
	plan(train, request);
	status = prepare(train, request, error);
	if (status)
		kwhy_train_close(train);
	else
		*out = train;
	return status;
}

/* What is still queued, after a failure, must not find its memory gone. */
static void await_ranks(const struct kwhy_train *train)
{
	struct kwhy_error ignored;

	for (uint32_t r = 0; r < train->opened; r++) {
		const struct kwhy_train_rank *rank = &train->ranks[r];

		if (rank->stream && !rank->gpu->ops->enter(rank->gpu, &ignored))
			(void)rank->gpu->ops->synchronize(rank->gpu, rank->stream, &ignored);
	}
}

void kwhy_train_close(struct kwhy_train *train)
{
	struct kwhy_error ignored;

	if (!train)
		return;
	await_ranks(train);
	if (train->opened)
		kwhy_train_blas_close(train);
	if (train->graph)
		train->ranks[0].gpu->ops->graph_free(train->ranks[0].gpu, train->graph);
	for (uint32_t r = 0; r < train->opened; r++) {
		struct kwhy_train_rank *rank = &train->ranks[r];

		(void)rank->gpu->ops->enter(rank->gpu, &ignored);
		rank->gpu->ops->event_free(rank->gpu, rank->ready);
		rank->gpu->ops->event_free(rank->gpu, rank->done);
		rank->gpu->ops->memory_free(rank->gpu, rank->memory);
		if (rank->stream)
			rank->gpu->ops->stream_free(rank->gpu, rank->stream);
		rank->gpu->ops->module_free(rank->gpu, rank->module);
	}
	free(train);
}

const char *kwhy_train_products(const struct kwhy_train *train)
{
	return train->products;
}

uint32_t kwhy_train_ranks(const struct kwhy_train *train)
{
	return train->rank_count;
}

uint64_t kwhy_train_bytes(const struct kwhy_train *train)
{
	return train->ranks[0].bytes;
}

uint64_t kwhy_train_activation_bytes(const struct kwhy_train *train)
{
	return train->slots * plane_bytes(&train->ranks[0]);
}
