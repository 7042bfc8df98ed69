/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/kernels.h"
#include "lab/train/inside.h"
#include "lab/train/rules.h"

#include <stdlib.h>

/* Of errors in fp16, whose smallest are lost otherwise; a power of two, so that nothing is rounded by it. */
#define FP16_SCALE 1024.0f

/* --- Kernels and streams --- */

static const char *const kernel_names[LAB_TRAIN_KERNEL_COUNT] = {
	[LAB_TRAIN_BEGIN] = "lab_train_begin",
	[LAB_TRAIN_TAKE] = "lab_train_take",
	[LAB_TRAIN_BIAS] = "lab_train_bias",
	[LAB_TRAIN_LOSS] = "lab_train_loss",
	[LAB_TRAIN_MASK] = "lab_train_mask",
	[LAB_TRAIN_BIAS_GRADIENT] = "lab_train_bias_gradient",
	[LAB_TRAIN_TALLY] = "lab_train_tally",
	[LAB_TRAIN_ADAMW] = "lab_train_adamw",
	[LAB_TRAIN_ADVANCE] = "lab_train_advance",
};

static enum kwhy_status find_kernels(struct lab_train_rank *rank, struct kwhy_error *error)
{
	static const char *const options[] = {"-fmad=false", NULL};
	static const struct kwhy_gpu_source source = {.title = "train.cu",
		.text = kwhy_kernels_train,
		.options = options,
		.on_host = lab_train_host_kernels};
	struct kwhy_gpu *gpu = rank->gpu;
	enum kwhy_status status = gpu->ops->module_new(gpu, &source, &rank->module, error);

	for (size_t k = 0; !status && k < LAB_TRAIN_KERNEL_COUNT; k++)
		status = gpu->ops->kernel_find(gpu, rank->module, kernel_names[k], &rank->kernels[k], error);
	return status;
}

static enum kwhy_status make_streams(struct lab_train_rank *rank, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = rank->gpu;
	enum kwhy_status status = gpu->ops->stream_new(gpu, &rank->stream, error);

	if (!status)
		status = gpu->ops->stream_new(gpu, &rank->copies, error);
	for (size_t i = 0; !status && i < 2; i++) {
		status = gpu->ops->event_new(gpu, false, &rank->arrived[i], error);
		if (!status)
			status = gpu->ops->event_new(gpu, false, &rank->done[i], error);
	}
	return status;
}

/* --- Memory --- */

static uint64_t plane_bytes(const struct lab_train_args *args)
{
	return (uint64_t)args->batch / args->parts * args->width *
		lab_number_bytes((enum lab_number)args->type);
}

size_t lab_train_staged_bytes(const struct lab_train_args *args)
{
	return (size_t)args->batch * (args->width + 1u) * sizeof(float);
}

/* The parts of the memory, each at a multiple of 256 bytes; gives the bytes in all. */
static size_t lay_out(struct lab_train_rank *rank, uint64_t start)
{
	struct lab_train_args *a = &rank->args;
	const struct lab_train_shape *shape = &rank->train->shape;
	const uint64_t weights = lab_train_weight_count(shape) * sizeof(float),
		       matrices = (uint64_t)shape->layers * shape->width * shape->width,
		       plane = plane_bytes(a);
	const bool is_short = lab_number_bytes((enum lab_number)a->type) < sizeof(float);
	const struct {
		uint64_t *place, bytes;
	} parts[] = {
		{&a->weights, weights},
		{&a->first, weights},
		{&a->second, weights},
		{&a->gradients, weights + sizeof(float)},
		{&a->factors, is_short ? 2 * matrices : 0},
		{&a->staged, 2 * lab_train_staged_bytes(a)},
		{&a->inputs, a->parts * plane},
		{&a->labels, a->batch * sizeof(uint32_t)},
		{&a->hidden, rank->train->slots * plane},
		{&a->errors, 2 * plane},
		{&a->logits, (uint64_t)a->batch / a->parts * a->width * sizeof(float)},
		{&a->row_losses, a->batch * sizeof(float)},
		{&a->losses, shape->steps * sizeof(float)},
		{&a->clock, sizeof(struct lab_train_clock)},
	};
	uint64_t next = start;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		*parts[i].place = next;
		next += (parts[i].bytes + 255) / 256 * 256;
	}
	if (!is_short)
		a->factors = a->weights;
	return next - start;
}

/* All of it is a pattern at first, so that what nothing wrote is seen: as floats about -3e-16. */
static enum kwhy_status make_memory(struct lab_train_rank *rank, struct kwhy_error *error)
{
	const struct lab_train *train = rank->train;
	const struct lab_train_shape *shape = &train->shape;
	struct kwhy_gpu *gpu = rank->gpu;
	enum kwhy_status status;

	rank->args.width = shape->width;
	rank->args.layers = shape->layers;
	rank->args.batch = shape->batch / train->rank_count;
	rank->args.parts = shape->parts;
	rank->args.whole_batch = shape->batch;
	rank->args.type = train->variant->type;
	rank->args.scale = train->variant->type == LAB_FP16 ? FP16_SCALE : 1;
	rank->bytes = lay_out(rank, 0);
	status = gpu->ops->memory_new(gpu, rank->bytes, &rank->memory, error);
	if (status)
		return status;
	lay_out(rank, rank->memory);
	return gpu->ops->fill(gpu, rank->stream, rank->memory, 0xA5, rank->bytes, error);
}

static void make_block(const struct lab_train_rank *rank, uint32_t first_sample, float *block)
{
	uint32_t width = rank->args.width, batch = rank->args.batch,
		 *labels = (uint32_t *)(block + (size_t)batch * width);

	for (size_t i = 0; i < (size_t)batch * width; i++)
		block[i] = lab_train_input((uint64_t)first_sample * width + i);
	for (uint32_t i = 0; i < batch; i++)
		labels[i] = lab_train_label(first_sample + i, width);
}

/* The rank's share of all batches. */
static enum kwhy_status make_samples(struct lab_train_rank *rank, uint32_t r, struct kwhy_error *error)
{
	const struct lab_train *train = rank->train;
	struct kwhy_gpu *gpu = rank->gpu;
	uint32_t batches = train->shape.samples / train->shape.batch;
	size_t bytes = lab_train_staged_bytes(&rank->args);
	enum kwhy_gpu_host_kind kind = train->variant->batches == LAB_TRAIN_PAGEABLE ? KWHY_GPU_HOST_PAGEABLE
										     : KWHY_GPU_HOST_PINNED;
	enum kwhy_status status = gpu->ops->host_new(
		gpu, kind, batches * bytes, gpu->facts.numa_node, &rank->samples, error);

	for (uint32_t b = 0; !status && b < batches; b++)
		make_block(rank, b * train->shape.batch + r * rank->args.batch,
			(float *)((char *)rank->samples.memory + b * bytes));
	return status;
}

/* --- Products --- */

static void describe_products(
	const struct lab_train_rank *rank, struct lab_product out[LAB_TRAIN_PRODUCT_COUNT])
{
	const struct lab_train_args *a = &rank->args;
	enum lab_number type = (enum lab_number)a->type;
	uint32_t rows = a->batch / a->parts, width = a->width;
	const struct lab_product forward = {.m = rows,
					 .n = width,
					 .k = width,
					 .right_turned = true,
					 .factors = type,
					 .out = type},
				 update = {.m = width,
					 .n = width,
					 .k = rows,
					 .left_turned = true,
					 .factors = type,
					 .out = LAB_FP32};

	for (size_t p = 0; p < LAB_TRAIN_PRODUCT_COUNT; p++)
		out[p] = p < LAB_TRAIN_UPDATE ? forward : update;
	out[LAB_TRAIN_FORWARD_LAST].out = LAB_FP32;
	out[LAB_TRAIN_BACKWARD].right_turned = false;
	out[LAB_TRAIN_UPDATE_MORE].adds = true;
}

static bool is_made(const struct lab_train *train, enum lab_train_product product)
{
	if (product == LAB_TRAIN_UPDATE_MORE)
		return train->shape.parts > 1;
	return train->shape.layers > 1 || product == LAB_TRAIN_FORWARD_LAST || product == LAB_TRAIN_UPDATE;
}

/* The library tries its ways on what the first step will multiply, and to where. */
static enum kwhy_status plan_products(struct lab_train_rank *rank, struct kwhy_error *error)
{
	const struct lab_train_args *a = &rank->args;
	const struct lab_operands trials[LAB_TRAIN_PRODUCT_COUNT] = {{a->inputs, a->factors, a->hidden, 0},
		{a->inputs, a->factors, a->logits, 0},
		{a->errors, a->factors, lab_train_errors_at(rank, 1), 0},
		{a->errors, a->inputs, a->gradients, 0}, {a->errors, a->inputs, a->gradients, 0}};
	struct lab_product products[LAB_TRAIN_PRODUCT_COUNT];
	enum kwhy_status status = KWHY_OK;

	describe_products(rank, products);
	for (size_t p = 0; !status && p < LAB_TRAIN_PRODUCT_COUNT; p++)
		if (is_made(rank->train, (enum lab_train_product)p))
			status = lab_blaslt_plan(
				rank->blaslt, &products[p], &trials[p], &rank->plans[p], error);
	return status;
}

/* --- Opening --- */

static enum kwhy_status open_rank(struct lab_train *train, struct kwhy_gpu *gpu, struct kwhy_error *error)
{
	uint32_t r = train->opened++;
	struct lab_train_rank *rank = &train->ranks[r];
	enum kwhy_status status = gpu->ops->enter(gpu, error);

	rank->train = train;
	rank->gpu = gpu;
	if (!status)
		status = make_streams(rank, error);
	if (!status)
		status = lab_blaslt_open(gpu, rank->stream, &rank->blaslt, error);
	if (!status)
		status = find_kernels(rank, error);
	if (!status)
		status = make_memory(rank, error);
	if (!status)
		status = make_samples(rank, r, error);
	if (!status)
		status = plan_products(rank, error);
	return status ? status : gpu->ops->synchronize(gpu, rank->stream, error);
}

static enum kwhy_status open_group(
	struct lab_train *train, const struct lab_train_request *request, struct kwhy_error *error)
{
	struct kwhy_collectives_member members[LAB_TRAIN_RANKS_MOST];

	if (train->rank_count == 1)
		return KWHY_OK;
	for (uint32_t r = 0; r < train->rank_count; r++)
		members[r] = (struct kwhy_collectives_member){train->ranks[r].gpu, train->ranks[r].stream};
	if (request->by_nccl)
		return kwhy_collectives_nccl_new(members, train->rank_count, &train->group, error);
	return kwhy_collectives_own_new(members, train->rank_count, &train->group, error);
}

static enum kwhy_status queue_step(void *train, struct kwhy_error *error)
{
	return lab_train_queue_step(train, error);
}

static enum kwhy_status capture(struct lab_train *train, struct kwhy_error *error)
{
	struct lab_train_rank *rank = &train->ranks[0];
	struct kwhy_gpu *gpu = rank->gpu;

	if (!train->variant->graph)
		return KWHY_OK;
	if (!gpu->ops->capture_begin)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "%s records no graphs; leave %s out",
			gpu->facts.name, train->variant->id);
	return kwhy_gpu_capture(gpu, rank->stream, queue_step, train, &train->graph, error);
}

/* The smallest number whose square is enough: then least is kept. */
static uint32_t root_of(uint32_t count)
{
	uint32_t root = 1;

	while (root * root < count)
		root++;
	return root;
}

static void plan(struct lab_train *train, const struct lab_train_request *request)
{
	uint32_t layers = request->shape.layers;

	train->variant = request->variant;
	train->shape = request->shape;
	train->rank_count = request->variant->parallel ? request->gpu_count : 1;
	if (!train->variant->parts)
		train->shape.parts = 1;
	train->segment = train->variant->recompute ? root_of(layers) : layers;
	train->slots = (layers - 1) / train->segment + train->segment - 1;
}

static enum kwhy_status check_request(const struct lab_train_request *request, struct kwhy_error *error)
{
	enum kwhy_status status = lab_train_shape_check(&request->shape, error);

	if (status || !request->variant->parallel)
		return status;
	if (request->gpu_count < 2 || request->gpu_count > LAB_TRAIN_RANKS_MOST)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "%s takes 2 to %d GPUs; --dp says how many",
			request->variant->id, LAB_TRAIN_RANKS_MOST);
	if (request->shape.batch % (8 * request->gpu_count))
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"%s: a batch of %u is no multiple of 8 samples for each of %u GPUs",
			request->variant->id, request->shape.batch, request->gpu_count);
	return KWHY_OK;
}

enum kwhy_status lab_train_open(
	const struct lab_train_request *request, struct lab_train **out, struct kwhy_error *error)
{
	struct lab_train *train;
	enum kwhy_status status = check_request(request, error);

	if (status)
		return status;
	train = calloc(1, sizeof(*train));
	if (!train)
		return kwhy_fail_memory(error, "a training");
	plan(train, request);
	for (uint32_t r = 0; !status && r < train->rank_count; r++)
		status = open_rank(train, request->gpus[r], error);
	if (!status)
		status = open_group(train, request, error);
	if (!status)
		status = capture(train, error);
	if (status)
		lab_train_close(train);
	else
		*out = train;
	return status;
}

/* --- Closing --- */

/* What is still queued, after a failure, must not find its memory gone. */
static void await_ranks(const struct lab_train *train)
{
	struct kwhy_error ignored;

	for (uint32_t r = 0; r < train->opened; r++) {
		const struct lab_train_rank *rank = &train->ranks[r];
		const struct kwhy_gpu_ops *ops = rank->gpu->ops;

		if (!rank->stream || ops->enter(rank->gpu, &ignored))
			continue;
		(void)ops->synchronize(rank->gpu, rank->stream, &ignored);
		if (rank->copies)
			(void)ops->synchronize(rank->gpu, rank->copies, &ignored);
	}
}

static void close_rank(struct lab_train_rank *rank)
{
	struct kwhy_gpu *gpu = rank->gpu;
	struct kwhy_error ignored;

	(void)gpu->ops->enter(gpu, &ignored);
	lab_blaslt_close(rank->blaslt);
	for (size_t i = 0; i < 2; i++) {
		gpu->ops->event_free(gpu, rank->arrived[i]);
		gpu->ops->event_free(gpu, rank->done[i]);
	}
	if (rank->samples.memory)
		gpu->ops->host_free(gpu, &rank->samples);
	gpu->ops->memory_free(gpu, rank->memory);
	if (rank->copies)
		gpu->ops->stream_free(gpu, rank->copies);
	if (rank->stream)
		gpu->ops->stream_free(gpu, rank->stream);
	gpu->ops->module_free(gpu, rank->module);
}

void lab_train_close(struct lab_train *train)
{
	if (!train)
		return;
	await_ranks(train);
	if (train->group)
		train->group->ops->free(train->group);
	if (train->graph)
		train->ranks[0].gpu->ops->graph_free(train->ranks[0].gpu, train->graph);
	for (uint32_t r = 0; r < train->opened; r++)
		close_rank(&train->ranks[r]);
	free(train);
}

const char *lab_train_products(const struct lab_train *train)
{
	return lab_blaslt_name(train->ranks[0].blaslt);
}

uint64_t lab_train_bytes(const struct lab_train *train)
{
	return train->ranks[0].bytes;
}

uint64_t lab_train_activation_bytes(const struct lab_train *train)
{
	return train->slots * plane_bytes(&train->ranks[0].args);
}
