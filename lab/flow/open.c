/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/inside.h"
#include "lab/flow/rules.h"
#include "lab/kernels.h"

#include <stdlib.h>

enum {
	CHUNK = 16384,		  /* slots of the dense lattice at once */
	EACH_FLOW_STEPS = 200000, /* ten launches each: some seconds */
	TILE_WAIT_ROWS = 64,
	HOST_SLOTS = 20000,	  /* half a million products each */
	TENSOR_ARCHITECTURE = 80, /* whose tensor cores take bfloat16 */
	WIDE_ARCHITECTURE = 90	  /* whose tensor instructions are of four warps, and of no other */
};

static const char *const kernel_names[KWHY_FLOW_KERNEL_COUNT] = {
	[KWHY_FLOW_CELLS] = "kwhy_flows_cells",
	[KWHY_FLOW_INPUT] = "kwhy_flows_input",
	[KWHY_FLOW_PRODUCT] = "kwhy_flows_product",
	[KWHY_FLOW_RELU] = "kwhy_flows_relu",
	[KWHY_FLOW_BIAS] = "kwhy_flows_bias",
	[KWHY_FLOW_GATES_KERNEL] = "kwhy_flows_gates",
	[KWHY_FLOW_MOVE] = "kwhy_flows_move",
	[KWHY_FLOW_SETTLE] = "kwhy_flows_settle",
	[KWHY_FLOW_FRONT] = "kwhy_flows_front",
	[KWHY_FLOW_SPREAD] = "kwhy_flows_spread",
	[KWHY_FLOW_COLLECT] = "kwhy_flows_collect",
	[KWHY_FLOW_RUN] = "kwhy_flows_run",
	[KWHY_FLOW_PACK] = "kwhy_flows_pack",
	[KWHY_FLOW_BOOKS] = "kwhy_flows_books",
	[KWHY_FLOW_BEGIN] = "kwhy_flows_begin",
	[KWHY_FLOW_WIDE_GATES] = "kwhy_flows_wide",
	[KWHY_FLOW_CHOOSE] = "kwhy_flows_choose",
};

struct part {
	uint64_t *place;
	size_t bytes;
};

/* Each at a multiple of 256 bytes, from `start` on; gives the bytes in all. */
static size_t lay_out(const struct part *parts, size_t count, uint64_t start)
{
	uint64_t next = start;

	for (size_t i = 0; i < count; i++) {
		*parts[i].place = next;
		next += (parts[i].bytes + 255) / 256 * 256;
	}
	return next - start;
}

/* At the end, what a run begins with as zeros: from `fresh` on. */
static size_t place_memory(struct kwhy_flow *flow, uint64_t start)
{
	struct kwhy_flow_args *a = &flow->args;
	const size_t rows = flow->shape.flows + 1, cells = kwhy_flow_cells(&flow->shape),
		     steps = flow->shape.steps, whole = flow->variant->way == KWHY_FLOW_WHOLE,
		     dense = flow->variant->way == KWHY_FLOW_DENSE,
		     wide = flow->variant->way == KWHY_FLOW_WIDE, own = whole || wide,
		     tile_rows = (rows + KWHY_FLOW_WIDE_ROWS - 1) / KWHY_FLOW_WIDE_ROWS * KWHY_FLOW_WIDE_ROWS;
	const struct part parts[] = {
		{&a->weights, KWHY_FLOW_WEIGHTS * sizeof(float)},
		{&a->halves, KWHY_FLOW_HALVES * sizeof(uint16_t)},
		{&a->cells, cells * KWHY_FLOW_PLACE * sizeof(float)},
		{&a->at, rows * sizeof(uint64_t)},
		{&a->moved, 2 * rows * sizeof(uint64_t)},
		{&a->next, 2 * rows * sizeof(uint32_t)},
		{&a->owners, cells * sizeof(uint64_t)},
		{&a->map, dense * kwhy_flow_slots(flow) * sizeof(uint32_t)},
		{&a->e, rows * KWHY_FLOW_ENERGIES * sizeof(float)},
		{&a->h_rows, rows * KWHY_FLOW_STATE * sizeof(float)},
		{&a->outputs_rows, rows * KWHY_FLOW_OUTPUTS * sizeof(float)},
		{&a->h_halves, own * 2 * tile_rows * KWHY_FLOW_STATE * sizeof(uint16_t)},
		{&a->parts, own * 2 * KWHY_FLOW_TEAM * tile_rows * KWHY_FLOW_OUTPUTS * sizeof(float)},
		{&a->shares, wide * KWHY_FLOW_TEAM * KWHY_FLOW_WIDE_SHARE * sizeof(uint16_t)},
		{&a->in_images, wide * tile_rows * KWHY_FLOW_INPUTS * sizeof(uint16_t)},
		{&a->places, wide * tile_rows * (KWHY_FLOW_INPUTS - KWHY_FLOW_ENERGIES) * sizeof(uint16_t)},
		{&a->facts, wide * 2 * tile_rows * 16},
		{&a->members, wide * 2 * cells * KWHY_FLOW_WIDE_MEMBERS * sizeof(uint32_t)},
		{&a->times, (steps + 1) * sizeof(uint64_t)},
		{&a->numbers, 2 * sizeof(uint32_t)},
		{&a->fresh, 2 * rows * sizeof(uint64_t)},
		{&a->heads, 2 * cells * sizeof(uint64_t)},
		{&a->counts, wide * 2 * cells * sizeof(uint64_t)},
		{&a->records, steps * sizeof(struct kwhy_flow_step)},
		{&a->out, sizeof(int64_t)},
	};

	a->h = a->outputs = 0;
	return lay_out(parts, sizeof(parts) / sizeof(parts[0]), start);
}

size_t kwhy_flow_place_work(struct kwhy_flow *flow, uint64_t start)
{
	struct kwhy_flow_args *a = &flow->args;
	bool dense = flow->variant->way == KWHY_FLOW_DENSE;
	size_t rows = dense ? flow->chunk : flow->shape.flows + 1;
	const struct part parts[] = {
		{&a->in, rows * KWHY_FLOW_INPUTS * sizeof(float)},
		{&a->u, rows * KWHY_FLOW_LAYER * sizeof(float)},
		{&a->a, rows * KWHY_FLOW_INPUTS * sizeof(float)},
		{&a->gi, rows * KWHY_FLOW_GATES * sizeof(float)},
		{&a->gh, rows * KWHY_FLOW_GATES * sizeof(float)},
		{&a->h, rows * KWHY_FLOW_STATE * sizeof(float)},
		{&a->outputs, rows * KWHY_FLOW_OUTPUTS * sizeof(float)},
	};
	size_t bytes = lay_out(parts, sizeof(parts) / sizeof(parts[0]) - (dense ? 0 : 2), start);

	if (!dense) {
		a->h = a->h_rows;
		a->outputs = a->outputs_rows;
	}
	return bytes;
}

/*
 * Larger tiles wait less often for memory, smaller ones leave no team idle: the fewest rows in turn, each
 * tile with as many more as its waits take. What that is was not measured: a guess of the right order.
 */
static uint32_t find_tile_rows(const struct kwhy_flow *flow)
{
	const struct kwhy_gpu_facts *facts = &flow->gpu->facts;
	uint32_t teams = facts->sm_count / KWHY_FLOW_TEAM, best = KWHY_FLOW_TILE, best_cost = UINT32_MAX;

	for (uint32_t rows = KWHY_FLOW_TILE; rows <= KWHY_FLOW_TILE_MOST; rows += KWHY_FLOW_TILE) {
		uint32_t tiles = (flow->shape.flows + rows - 1) / rows,
			 turns = teams ? (tiles + teams - 1) / teams : tiles,
			 cost = turns * (rows + TILE_WAIT_ROWS);

		/* Some shared memory of each block is the driver's. */
		if (rows > KWHY_FLOW_TILE && rows * KWHY_FLOW_ROW_BYTES + 2048 > facts->shared_bytes_per_sm)
			break;
		if (cost < best_cost) {
			best = rows;
			best_cost = cost;
		}
	}
	return best;
}

static void set_args(struct kwhy_flow *flow)
{
	const struct kwhy_flow_shape *shape = &flow->shape;
	struct kwhy_flow_args *a = &flow->args;

	a->flows = shape->flows;
	a->steps = shape->steps;
	a->by_argmax = shape->by_argmax;
	a->by_row = kwhy_flow_has_books(flow);
	a->width = shape->width;
	a->height = shape->height;
	a->depth = shape->depth;
	a->tile_rows = find_tile_rows(flow);
}

static enum kwhy_status open_memory(struct kwhy_flow *flow, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = flow->gpu;
	enum kwhy_status status;

	flow->memory_bytes = place_memory(flow, 0);
	status = gpu->ops->memory_new(gpu, flow->memory_bytes, &flow->memory, error);
	if (status)
		return status;
	place_memory(flow, flow->memory);
	flow->chunk = kwhy_flow_slots(flow) < CHUNK ? kwhy_flow_slots(flow) : CHUNK;
	flow->work_bytes = kwhy_flow_place_work(flow, 0);
	if (flow->variant->workspace != KWHY_FLOW_KEPT)
		return KWHY_OK;
	status = gpu->ops->memory_new(gpu, flow->work_bytes, &flow->work, error);
	if (!status)
		kwhy_flow_place_work(flow, flow->work);
	return status;
}

static enum kwhy_status send_weights(struct kwhy_flow *flow, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = flow->gpu;
	float *weights = malloc(KWHY_FLOW_WEIGHTS * sizeof(*weights));
	uint16_t *halves = malloc(KWHY_FLOW_HALVES * sizeof(*halves));
	enum kwhy_status status = weights && halves ? KWHY_OK : kwhy_fail_memory(error, "weights");

	if (!status) {
		const struct kwhy_gpu_copy whole = {flow->args.weights, kwhy_gpu_address(weights),
						   KWHY_FLOW_WEIGHTS * sizeof(*weights)},
					   half = {flow->args.halves, kwhy_gpu_address(halves),
						   KWHY_FLOW_HALVES * sizeof(*halves)};

		kwhy_flow_weights(weights, halves);
		status = gpu->ops->copy_now(gpu, &whole, error);
		if (!status)
			status = gpu->ops->copy_now(gpu, &half, error);
	}
	free(weights);
	free(halves);
	if (!status)
		status = kwhy_flow_launch(flow, KWHY_FLOW_CELLS, 0, 0, kwhy_flow_cells(&flow->shape), error);
	if (!status && flow->variant->way == KWHY_FLOW_WIDE)
		status = kwhy_flow_launch(flow, KWHY_FLOW_PACK, 0, 0, KWHY_FLOW_GATES, error);
	return status;
}

static enum kwhy_status open_kernels(struct kwhy_flow *flow, struct kwhy_error *error)
{
	static const struct kwhy_gpu_source source = {
		.title = "flow.cu", .text = kwhy_kernels_flow, .on_host = kwhy_flow_host_kernels};
	struct kwhy_gpu *gpu = flow->gpu;
	/* The last are for tensor cores alone, and the very last for Hopper's. */
	size_t count = flow->variant->way == KWHY_FLOW_WIDE ? KWHY_FLOW_KERNEL_COUNT
		: flow->variant->way == KWHY_FLOW_WHOLE	    ? KWHY_FLOW_PACK
							    : KWHY_FLOW_RUN;
	enum kwhy_status status = gpu->ops->module_new(gpu, &source, &flow->module, error);

	for (size_t k = 0; !status && k < count; k++)
		status = gpu->ops->kernel_find(gpu, flow->module, kernel_names[k], &flow->kernels[k], error);
	if (!status)
		status = gpu->ops->stream_new(gpu, &flow->stream, error);
	if (!status)
		status = gpu->ops->event_new(gpu, true, &flow->start, error);
	return status ? status : gpu->ops->event_new(gpu, true, &flow->end, error);
}

/* What the host and the device send each other where the host keeps the books. */
static enum kwhy_status open_mail(struct kwhy_flow *flow, struct kwhy_error *error)
{
	size_t rows = flow->shape.flows + 1, slots = kwhy_flow_slots(flow),
	       texts = flow->variant->text ? 2 * rows * KWHY_FLOW_ENERGIES : 0;
	enum kwhy_status status = flow->gpu->ops->host_new(flow->gpu, KWHY_GPU_HOST_PINNED,
		rows * (sizeof(*flow->moved) + sizeof(*flow->fresh) + sizeof(*flow->next)) +
			slots * sizeof(*flow->map) + texts * sizeof(*flow->bridge.left),
		flow->gpu->facts.numa_node, &flow->mail_memory, error);

	if (status)
		return status;
	flow->moved = flow->mail_memory.memory;
	flow->fresh = flow->moved + rows;
	flow->next = (uint32_t *)(flow->fresh + rows);
	flow->map = flow->next + rows;
	flow->bridge.left = (float *)(flow->map + slots);
	flow->bridge.come = flow->bridge.left + texts / 2;
	return KWHY_OK;
}

static enum kwhy_status open_host(struct kwhy_flow *flow, struct kwhy_error *error)
{
	enum kwhy_status status;

	flow->records = calloc(flow->shape.steps, sizeof(*flow->records));
	flow->device_records = calloc(flow->shape.steps, sizeof(*flow->device_records));
	flow->times = calloc(flow->shape.steps + 1, sizeof(*flow->times));
	flow->bridge.texts = calloc(flow->shape.steps, sizeof(*flow->bridge.texts));
	if (!flow->records || !flow->device_records || !flow->times || !flow->bridge.texts)
		return kwhy_fail_memory(error, "a run of flow");
	if (!kwhy_flow_has_books(flow))
		return KWHY_OK;
	status = kwhy_flow_books_open(&flow->shape, &flow->books, error);
	return status ? status : open_mail(flow, error);
}

static enum kwhy_status issue_steps(void *context, struct kwhy_error *error)
{
	struct kwhy_flow *flow = context;
	enum kwhy_status status = KWHY_OK;

	for (uint32_t step = 0; !status && step < flow->shape.steps; step++)
		status = kwhy_flow_step_issue(flow, step, error);
	return status;
}

/* The whole run, to be launched again and again. What has never run is run before: code is loaded then. */
static enum kwhy_status capture(struct kwhy_flow *flow, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = flow->gpu;
	enum kwhy_status status;

	if (!gpu->ops->capture_begin)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "%s records no graphs; leave %s out",
			gpu->facts.name, flow->variant->id);
	status = kwhy_flow_reset(flow, error);
	if (!status)
		status = kwhy_flow_step_issue(flow, 0, error);
	if (!status)
		status = kwhy_flow_wait(flow, error);
	flow->tally = (struct kwhy_flow_tally){0};
	if (!status)
		status = kwhy_gpu_capture(gpu, flow->stream, issue_steps, flow, &flow->graph, error);
	flow->graph_tally = flow->tally;
	return status;
}

/* Tensor cores of the kind that it was written for; on the host all run. */
static enum kwhy_status check_cores(
	const struct kwhy_flow_variant *variant, const struct kwhy_gpu *gpu, struct kwhy_error *error)
{
	int architecture = gpu->facts.architecture;
	bool is_cuda = strcmp(gpu->ops->name, "cuda") == 0;

	if (variant->way == KWHY_FLOW_WHOLE && architecture &&
		(architecture < TENSOR_ARCHITECTURE || !is_cuda))
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"%s has no tensor cores that %s is written for: NVIDIA's of compute capability 8.0 "
			"or newer; leave it out",
			gpu->facts.name, variant->id);
	if (variant->way == KWHY_FLOW_WIDE && architecture && (architecture != WIDE_ARCHITECTURE || !is_cuda))
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"%s has no tensor cores that %s is written for: NVIDIA's of compute capability 9.0; "
			"leave it out",
			gpu->facts.name, variant->id);
	return KWHY_OK;
}

static enum kwhy_status check_request(const struct kwhy_flow_request *request, struct kwhy_error *error)
{
	const struct kwhy_flow_variant *variant = request->variant;
	const struct kwhy_gpu *gpu = request->gpu;
	uint64_t flow_steps = (uint64_t)request->shape.flows * request->shape.steps;
	enum kwhy_status status = kwhy_flow_shape_check(&request->shape, error);

	if (status)
		return status;
	if (variant->way == KWHY_FLOW_EACH && flow_steps > EACH_FLOW_STEPS)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"%llu flow-steps one by one take too long for a run; take fewer --steps or --flows "
			"for %s",
			(unsigned long long)flow_steps, variant->id);
	if (variant->text && flow_steps > KWHY_FLOW_TEXT_FLOW_STEPS)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"the text of %llu flow-steps takes one core too long; take fewer --steps or --flows "
			"for %s",
			(unsigned long long)flow_steps, variant->id);
	if (variant->way == KWHY_FLOW_DENSE && !gpu->facts.architecture &&
		request->shape.width * request->shape.height * request->shape.depth > HOST_SLOTS)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"the whole lattice takes the host minutes a step; run %s on a GPU", variant->id);
	if (variant->workspace == KWHY_FLOW_POOLED && !gpu->ops->pool_new)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"the driver of %s has no pool of memory; leave %s out", gpu->facts.name, variant->id);
	return check_cores(variant, gpu, error);
}

static enum kwhy_status prepare(struct kwhy_flow *flow, struct kwhy_error *error)
{
	enum kwhy_status status = flow->gpu->ops->enter(flow->gpu, error);

	if (!status)
		status = open_kernels(flow, error);
	if (!status)
		status = open_memory(flow, error);
	set_args(flow);
	if (!status)
		status = send_weights(flow, error);
	if (!status)
		status = kwhy_flow_blas_open(flow, error);
	if (!status)
		status = open_host(flow, error);
	if (!status && flow->variant->graph)
		status = capture(flow, error);
	return status ? status : kwhy_flow_wait(flow, error);
}

enum kwhy_status kwhy_flow_open(
	const struct kwhy_flow_request *request, struct kwhy_flow **out, struct kwhy_error *error)
{
	struct kwhy_flow *flow;
	enum kwhy_status status = check_request(request, error);

	if (status)
		return status;
	flow = calloc(1, sizeof(*flow));
	if (!flow)
		return kwhy_fail_memory(error, "a run of flow");
	flow->variant = request->variant;
	flow->shape = request->shape;
	flow->precision = request->precision;
	flow->gpu = request->gpu;
	flow->ranks[0] = flow;
	flow->rank_count = 1;
	flow->count = request->shape.flows;
	status = prepare(flow, error);
	if (!status && flow->variant->way == KWHY_FLOW_SPLIT)
		status = kwhy_flow_ranks_open(flow, request, error);
	if (status)
		kwhy_flow_close(flow);
	else
		*out = flow;
	return status;
}

void kwhy_flow_close(struct kwhy_flow *flow)
{
	struct kwhy_error ignored;
	struct kwhy_gpu *gpu;

	if (!flow)
		return;
	gpu = flow->gpu;
	kwhy_flow_ranks_close(flow);
	/* What is still queued, after a failure, must not find its memory gone. */
	if (flow->stream && !gpu->ops->enter(gpu, &ignored))
		(void)gpu->ops->synchronize(gpu, flow->stream, &ignored);
	if (gpu->ops->graph_free)
		gpu->ops->graph_free(gpu, flow->graph);
	kwhy_flow_blas_close(flow);
	gpu->ops->event_free(gpu, flow->start);
	gpu->ops->event_free(gpu, flow->end);
	gpu->ops->event_free(gpu, flow->settled);
	if (flow->moved)
		gpu->ops->host_free(gpu, &flow->mail_memory);
	gpu->ops->memory_free(gpu, flow->work);
	gpu->ops->memory_free(gpu, flow->memory);
	gpu->ops->stream_free(gpu, flow->stream);
	gpu->ops->module_free(gpu, flow->module);
	kwhy_flow_books_done(&flow->books);
	free(flow->records);
	free(flow->device_records);
	free(flow->times);
	free(flow->bridge.texts);
	free(flow);
}

enum kwhy_flow_precision kwhy_flow_precision(const struct kwhy_flow *flow)
{
	return flow->precision;
}

const char *kwhy_flow_products(const struct kwhy_flow *flow)
{
	return flow->products;
}

uint64_t kwhy_flow_memory_bytes(const struct kwhy_flow *flow)
{
	return flow->memory_bytes + flow->work_bytes + (flow->blas_memory ? KWHY_FLOW_BLAS_BYTES : 0);
}

uint32_t kwhy_flow_gpu_count(const struct kwhy_flow *flow)
{
	return flow->rank_count;
}

bool kwhy_flow_on_device(const struct kwhy_flow *flow)
{
	return !kwhy_flow_has_books(flow);
}
