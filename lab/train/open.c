/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/kernels.h"
#include "lab/parts.h"
#include "lab/train/inside.h"

#include <stdlib.h>

/* --- Memory --- */

static uint64_t plane_bytes(const struct lab_train_args *args)
{
	return (uint64_t)args->batch / args->parts * args->width *
		lab_number_bytes((enum lab_number)args->type);
}

/* Lays out the memory of a GPU from the address `start` on. Returns its size, bytes. */
static size_t lay_out(struct lab_train_rank *rank, uint64_t start)
{
	struct lab_train_args *a = &rank->args;
	const struct lab_train_shape *shape = &rank->train->shape;
	const uint64_t weights = lab_train_weight_count(shape) * sizeof(float),
		       matrices = (uint64_t)shape->layers * shape->width * shape->width,
		       plane = plane_bytes(a);
	const struct lab_part parts[] = {{&a->weights, weights}, {&a->first, weights}, {&a->second, weights},
		{&a->gradients, weights}, {&a->factors, a->type == LAB_BF16 ? 2 * matrices : 0},
		{&a->staged, 2 * rank->staged_bytes}, {&a->inputs, a->parts * plane},
		{&a->labels, a->batch * sizeof(uint32_t)}, {&a->hidden, rank->train->slots * plane},
		{&a->errors, 2 * plane},
		{&a->logits, (uint64_t)a->batch / a->parts * a->width * sizeof(float)},
		{&a->row_losses, a->batch * sizeof(float)}, {&a->losses, shape->steps * sizeof(float)},
		{&a->clock, sizeof(struct lab_train_clock)}};
	size_t bytes = lab_parts_place(parts, sizeof(parts) / sizeof(parts[0]), start);

	if (a->type != LAB_BF16)
		a->factors = a->weights;
	return bytes;
}

/*
 * Allocates a GPU's arrays, filled with a byte pattern. As floats it is about -3e-16, which makes results
 * visibly wrong if a kernel reads what was never written.
 */
static void make_memory(struct lab_train_rank *rank)
{
	struct lab_train *train = rank->train;
	const struct lab_train_shape *shape = &train->shape;

	rank->args = (struct lab_train_args){.width = shape->width,
		.layers = shape->layers,
		.batch = shape->batch / train->rank_count,
		.parts = shape->parts,
		.whole_batch = shape->batch,
		.type = train->variant->type};
	rank->staged_bytes = (size_t)rank->args.batch * (shape->width + 1u) * sizeof(float);
	rank->bytes = lay_out(rank, 0);
	lab_rank_fill(&rank->base, rank->bytes, 0xA5, &rank->base.memory);
	lay_out(rank, rank->base.memory);
}

static void make_block(const struct lab_train_args *args, uint32_t first_sample, float *block)
{
	size_t count = (size_t)args->batch * args->width;

	for (size_t i = 0; i < count; i++)
		block[i] = lab_train_input((uint64_t)first_sample * args->width + i);
	for (uint32_t i = 0; i < args->batch; i++)
		((uint32_t *)(block + count))[i] = lab_train_label(first_sample + i, args->width);
}

/*
 * Computes a GPU's share of all batches in host memory, page-locked unless the variant sends batches from
 * pageable memory.
 */
static void make_samples(struct lab_train_rank *rank, uint32_t r)
{
	struct lab_train *train = rank->train;
	struct kwhy_gpu *gpu = rank->base.gpu;
	uint32_t batches = train->shape.samples / train->shape.batch;
	enum kwhy_gpu_host_kind kind = train->variant->batches == LAB_TRAIN_PAGEABLE ? KWHY_GPU_HOST_PAGEABLE
										     : KWHY_GPU_HOST_PINNED;

	TRY(&train->tries, gpu->ops->host_new, gpu, kind, batches * rank->staged_bytes, gpu->facts.numa_node,
		&rank->samples);
	for (uint32_t b = 0; !train->tries.status && b < batches; b++)
		make_block(&rank->args, b * train->shape.batch + r * rank->args.batch,
			(float *)((char *)rank->samples.memory + b * rank->staged_bytes));
}

/*
 * Plans the products. cuBLASLt's algorithms are timed on the arrays of the training, whose contents do not
 * matter yet.
 */
static void plan_products(struct lab_train_rank *rank)
{
	const struct lab_train_args *a = &rank->args;
	struct lab_train *train = rank->train;
	enum lab_number type = train->variant->type;
	uint32_t rows = a->batch / a->parts, width = a->width;
	const struct lab_product products[PRODUCT_COUNT] = {
		{rows, width, width, false, true, false, type, type},
		{rows, width, width, false, true, false, type, LAB_FP32},
		{rows, width, width, false, false, false, type, type},
		{width, width, rows, true, false, false, type, LAB_FP32},
		{width, width, rows, true, false, true, type, LAB_FP32}};
	const struct lab_operands trials[PRODUCT_COUNT] = {{a->inputs, a->factors, a->hidden},
		{a->inputs, a->factors, a->logits}, {a->errors, a->factors, a->errors + plane_bytes(a)},
		{a->errors, a->inputs, a->gradients}, {a->errors, a->inputs, a->gradients}};
	const bool made[PRODUCT_COUNT] = {a->layers > 1, true, a->layers > 1, true, a->parts > 1};

	for (size_t p = 0; p < PRODUCT_COUNT; p++)
		if (made[p])
			TRY(&train->tries, lab_blaslt_plan, rank->base.blaslt, &products[p], &trials[p],
				&rank->plans[p]);
}

/* --- Opening --- */

static void open_rank(struct lab_train *train, struct kwhy_gpu *gpu)
{
	static const char *const options[] = {"-fmad=false", NULL};
	static const struct kwhy_gpu_source source = {
		"train.cu", kwhy_kernels_train, options, lab_train_host_kernels};
	uint32_t r = train->opened++;
	struct lab_train_rank *rank = &train->ranks[r];
	struct lab_tries *tries = &train->tries;

	rank->train = train;
	lab_rank_open(&rank->base, tries, gpu, &source);
	TRY(tries, lab_blaslt_open, gpu, rank->base.stream, &rank->base.blaslt);
	TRY(tries, gpu->ops->stream_new, gpu, &rank->copies);
	TRY(tries, gpu->ops->event_new, gpu, false, &rank->before);
	TRY(tries, gpu->ops->event_new, gpu, false, &rank->arrived[0]);
	TRY(tries, gpu->ops->event_new, gpu, false, &rank->arrived[1]);
	make_memory(rank);
	make_samples(rank, r);
	plan_products(rank);
	lab_rank_wait(&rank->base);
}

static void open_group(struct lab_train *train)
{
	struct kwhy_collectives_member members[LAB_TRAIN_RANKS_MAX];

	for (uint32_t r = 0; r < train->rank_count; r++)
		members[r] = (struct kwhy_collectives_member){
			train->ranks[r].base.gpu, train->ranks[r].base.stream};
	TRY(&train->tries, lab_group_open, members, train->rank_count, &train->group);
}

static enum kwhy_status queue_step(void *context, struct kwhy_error *error)
{
	struct lab_train *train = context;

	train->tries.error = error;
	lab_train_queue_step(train);
	return train->tries.status;
}

static void plan(struct lab_train *train, const struct lab_train_request *request)
{
	uint32_t layers = request->shape.layers;

	train->variant = request->variant;
	train->shape = request->shape;
	train->rank_count = request->variant->parallel ? request->gpu_count : 1;
	if (!train->variant->parts)
		train->shape.parts = 1;
	train->segment = train->variant->recompute ? 1 : layers;
	/*
	 * With `recompute`: a segment length of about the root of the number of layers needs the fewest
	 * arrays of activations.
	 */
	while (train->segment * train->segment < layers)
		train->segment++;
	train->slots = (layers - 1) / train->segment + train->segment - 1;
}

static enum kwhy_status check_request(const struct lab_train_request *request, struct kwhy_error *error)
{
	if (request->variant->parallel && request->shape.batch % (8 * request->gpu_count))
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"%s: a batch of %u is no multiple of 8 samples for each of %u GPUs",
			request->variant->id, request->shape.batch, request->gpu_count);
	return lab_train_shape_check(&request->shape, error);
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
	train->tries.error = error;
	plan(train, request);
	for (uint32_t r = 0; !train->tries.status && r < train->rank_count; r++)
		open_rank(train, request->gpus[r]);
	open_group(train);
	if (train->variant->graph)
		TRY(&train->tries, kwhy_gpu_capture, train->ranks[0].base.gpu, train->ranks[0].base.stream,
			queue_step, train, &train->graph);
	status = train->tries.status;
	if (status)
		lab_train_close(train);
	else
		*out = train;
	return status;
}

static void settle_rank(const struct lab_train_rank *rank)
{
	struct kwhy_error ignored;

	lab_rank_settle(&rank->base);
	if (rank->copies)
		(void)rank->base.gpu->ops->synchronize(rank->base.gpu, rank->copies, &ignored);
}

static void close_rank(struct lab_train_rank *rank)
{
	struct kwhy_gpu *gpu = rank->base.gpu;
	struct kwhy_error ignored;

	(void)gpu->ops->enter(gpu, &ignored);
	gpu->ops->event_free(gpu, rank->before);
	gpu->ops->event_free(gpu, rank->arrived[0]);
	gpu->ops->event_free(gpu, rank->arrived[1]);
	if (rank->samples.memory)
		gpu->ops->host_free(gpu, &rank->samples);
	gpu->ops->stream_free(gpu, rank->copies);
	lab_rank_close(&rank->base);
}

void lab_train_close(struct lab_train *train)
{
	if (!train)
		return;
	for (uint32_t r = 0; r < train->opened; r++)
		settle_rank(&train->ranks[r]);
	if (train->group)
		train->group->ops->free(train->group);
	if (train->graph)
		train->ranks[0].base.gpu->ops->graph_free(train->ranks[0].base.gpu, train->graph);
	for (uint32_t r = 0; r < train->opened; r++)
		close_rank(&train->ranks[r]);
	free(train);
}

void lab_train_facts(const struct lab_train *train, struct lab_train_facts *out)
{
	const struct lab_train_rank *rank = &train->ranks[0];

	*out = (struct lab_train_facts){lab_blaslt_name(rank->base.blaslt),
		train->group ? train->group->ops->name : NULL, rank->bytes,
		train->slots * plane_bytes(&rank->args)};
}
