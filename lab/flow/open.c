/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/inside.h"
#include "lab/kernels.h"
#include "lab/next.h"
#include "lab/parts.h"

#include <stdlib.h>

enum {
	CHUNK = 16384,		  /* slots of the dense lattice at once */
	EACH_FLOW_STEPS = 200000, /* ten launches each: some seconds */
	HOST_SLOTS = 20000,	  /* half a million products each */
	TENSOR_ARCHITECTURE = 80  /* whose tensor cores take bfloat16 */
};

#define NAME(upper, lower) "lab_flows_" #lower,
static const char *const kernel_names[] = {LAB_FLOW_KERNELS(NAME)};

/* At the end, what a run begins with as zeros: from `fresh` on. */
static size_t place_memory(struct lab_flow *flow, uint64_t start)
{
	struct lab_flow_args *a = &flow->args;
	const size_t rows = flow->shape.flows + 1, cells = cells_of(&flow->shape), steps = flow->shape.steps,
		     whole = flow->variant->way == LAB_FLOW_WHOLE,
		     dense = flow->variant->way == LAB_FLOW_DENSE;
	const struct lab_part parts[] = {
		{&a->weights, WEIGHTS * sizeof(float)},
		{&a->halves, HALVES * sizeof(uint16_t)},
		{&a->cells, cells * LAB_FLOW_PLACE * sizeof(float)},
		{&a->at, rows * sizeof(uint64_t)},
		{&a->moved, 2 * rows * sizeof(uint64_t)},
		{&a->next, 2 * rows * sizeof(uint32_t)},
		{&a->owners, cells * sizeof(uint64_t)},
		{&a->map, dense * lab_flow_slots(flow) * sizeof(uint32_t)},
		{&a->e, rows * LAB_FLOW_ENERGIES * sizeof(float)},
		{&a->h_rows, rows * LAB_FLOW_STATE * sizeof(float)},
		{&a->outputs_rows, rows * LAB_FLOW_OUTPUTS * sizeof(float)},
		{&a->h_halves, whole * 2 * rows * LAB_FLOW_STATE * sizeof(uint16_t)},
		{&a->parts, whole * 2 * LAB_FLOW_TEAM * rows * LAB_FLOW_OUTPUTS * sizeof(float)},
		{&a->times, (steps + 1) * sizeof(uint64_t)},
		{&a->numbers, 2 * sizeof(uint32_t)},
		{&a->fresh, 2 * rows * sizeof(uint64_t)},
		{&a->heads, 2 * cells * sizeof(uint64_t)},
		{&a->records, steps * sizeof(struct lab_flow_step)},
		{&a->out, sizeof(int64_t)},
	};

	a->h = a->outputs = 0;
	return lab_parts_place(parts, sizeof(parts) / sizeof(parts[0]), start);
}

size_t lab_flow_place_work(struct lab_flow *flow, uint64_t start)
{
	struct lab_flow_args *a = &flow->args;
	bool dense = flow->variant->way == LAB_FLOW_DENSE;
	size_t rows = dense ? flow->chunk : flow->shape.flows + 1;
	const struct lab_part parts[] = {
		{&a->in, rows * LAB_FLOW_INPUTS * sizeof(float)},
		{&a->u, rows * LAB_FLOW_LAYER * sizeof(float)},
		{&a->a, rows * LAB_FLOW_INPUTS * sizeof(float)},
		{&a->gi, rows * LAB_FLOW_GATES * sizeof(float)},
		{&a->gh, rows * LAB_FLOW_GATES * sizeof(float)},
		{&a->h, rows * LAB_FLOW_STATE * sizeof(float)},
		{&a->outputs, rows * LAB_FLOW_OUTPUTS * sizeof(float)},
	};
	size_t bytes = lab_parts_place(parts, sizeof(parts) / sizeof(parts[0]) - (dense ? 0 : 2), start);

	if (!dense) {
		a->h = a->h_rows;
		a->outputs = a->outputs_rows;
	}
	return bytes;
}

static enum kwhy_status open_memory(struct lab_flow *flow, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = flow->gpu;
	enum kwhy_status status;

	flow->args = lattice_of(&flow->shape);
	flow->args.by_row = !lab_flow_on_device(flow->variant);
	flow->memory_bytes = place_memory(flow, 0);
	status = gpu->ops->memory_new(gpu, flow->memory_bytes, &flow->memory, error);
	if (status)
		return status;
	place_memory(flow, flow->memory);
	flow->chunk = lab_flow_slots(flow) < CHUNK ? lab_flow_slots(flow) : CHUNK;
	flow->work_bytes = lab_flow_place_work(flow, 0);
	if (flow->variant->workspace != LAB_FLOW_KEPT)
		return KWHY_OK;
	status = gpu->ops->memory_new(gpu, flow->work_bytes, &flow->work, error);
	if (!status)
		lab_flow_place_work(flow, flow->work);
	return status;
}

static enum kwhy_status send_weights(struct lab_flow *flow, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = flow->gpu;
	float *weights = malloc(WEIGHTS * sizeof(*weights));
	uint16_t *halves = malloc(HALVES * sizeof(*halves));
	enum kwhy_status status = weights && halves ? KWHY_OK : kwhy_fail_memory(error, "weights");

	if (!status) {
		const struct kwhy_gpu_copy whole = {flow->args.weights, kwhy_gpu_address(weights),
						   WEIGHTS * sizeof(*weights)},
					   half = {flow->args.halves, kwhy_gpu_address(halves),
						   HALVES * sizeof(*halves)};

		lab_flow_weights(weights, halves);
		status = gpu->ops->copy_now(gpu, &whole, error);
		NEXT(status, gpu->ops->copy_now(gpu, &half, error));
	}
	free(weights);
	free(halves);
	NEXT(status, lab_flow_launch(flow, LAB_FLOW_CELLS, 0, 0, cells_of(&flow->shape), error));
	return status;
}

static enum kwhy_status open_kernels(struct lab_flow *flow, struct kwhy_error *error)
{
	static const struct kwhy_gpu_source source = {
		.title = "flow.cu", .text = kwhy_kernels_flow, .on_host = lab_flow_host_kernels};
	struct kwhy_gpu *gpu = flow->gpu;
	/* The last is for tensor cores alone. */
	size_t count = flow->variant->way == LAB_FLOW_WHOLE ? LAB_FLOW_KERNEL_COUNT : LAB_FLOW_RUN;
	enum kwhy_status status = gpu->ops->module_new(gpu, &source, &flow->module, error);

	for (size_t k = 0; !status && k < count; k++)
		status = gpu->ops->kernel_find(gpu, flow->module, kernel_names[k], &flow->kernels[k], error);
	NEXT(status, gpu->ops->stream_new(gpu, &flow->stream, error));
	return status ? status : lab_gate_open(gpu, flow->stream, &flow->gate, error);
}

/* What the host and the device send each other where the host decides who merges. */
static enum kwhy_status open_mail(struct lab_flow *flow, struct kwhy_error *error)
{
	size_t rows = flow->shape.flows + 1;
	enum kwhy_status status = flow->gpu->ops->host_new(flow->gpu, KWHY_GPU_HOST_PINNED,
		rows * (sizeof(*flow->moved) + sizeof(*flow->fresh) + sizeof(*flow->next)) +
			lab_flow_slots(flow) * sizeof(*flow->map),
		flow->gpu->facts.numa_node, &flow->mail_memory, error);

	if (status)
		return status;
	flow->moved = flow->mail_memory.memory;
	flow->fresh = flow->moved + rows;
	flow->next = (uint32_t *)(flow->fresh + rows);
	flow->map = flow->next + rows;
	return KWHY_OK;
}

static enum kwhy_status open_host(struct lab_flow *flow, struct kwhy_error *error)
{
	enum kwhy_status status;

	flow->records = calloc(flow->shape.steps, sizeof(*flow->records));
	flow->device_records = calloc(flow->shape.steps, sizeof(*flow->device_records));
	flow->times = calloc(flow->shape.steps + 1, sizeof(*flow->times));
	if (!flow->records || !flow->device_records || !flow->times)
		return kwhy_fail_memory(error, "a run of flow");
	if (lab_flow_on_device(flow->variant))
		return KWHY_OK;
	status = lab_flow_roster_open(&flow->shape, &flow->roster, error);
	return status ? status : open_mail(flow, error);
}

static enum kwhy_status issue_steps(void *context, struct kwhy_error *error)
{
	struct lab_flow *flow = context;
	enum kwhy_status status = KWHY_OK;

	for (uint32_t step = 0; !status && step < flow->shape.steps; step++)
		status = lab_flow_step_issue(flow, step, error);
	return status;
}

/* The whole run, to be launched again and again. What has never run is run before: code is loaded then. */
static enum kwhy_status capture(struct lab_flow *flow, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = flow->gpu;
	enum kwhy_status status;

	if (!gpu->ops->capture_begin)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "%s records no graphs; leave %s out",
			gpu->facts.name, flow->variant->id);
	status = lab_flow_reset(flow, error);
	NEXT(status, lab_flow_step_issue(flow, 0, error));
	NEXT(status, lab_flow_wait(flow, error));
	flow->tally = (struct lab_flow_tally){0};
	NEXT(status, kwhy_gpu_capture(gpu, flow->stream, issue_steps, flow, &flow->graph, error));
	flow->graph_tally = flow->tally;
	return status;
}

/* Tensor cores of the kind that it was written for; on the host all run. */
static enum kwhy_status check_cores(
	const struct lab_flow_variant *variant, const struct kwhy_gpu *gpu, struct kwhy_error *error)
{
	int architecture = gpu->facts.architecture;
	bool is_cuda = strcmp(gpu->ops->name, "cuda") == 0;

	if (variant->way == LAB_FLOW_WHOLE && architecture &&
		(architecture < TENSOR_ARCHITECTURE || !is_cuda))
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"%s has no tensor cores that %s is written for: NVIDIA's of compute capability 8.0 "
			"or newer; leave it out",
			gpu->facts.name, variant->id);
	return KWHY_OK;
}

static enum kwhy_status check_request(const struct lab_flow_request *request, struct kwhy_error *error)
{
	const struct lab_flow_variant *variant = request->variant;
	const struct kwhy_gpu *gpu = request->gpus[0];
	uint64_t flow_steps = (uint64_t)request->shape.flows * request->shape.steps;
	enum kwhy_status status = lab_flow_shape_check(&request->shape, error);

	if (status)
		return status;
	if (variant->way == LAB_FLOW_EACH && flow_steps > EACH_FLOW_STEPS)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"%llu flow-steps one by one take too long for a run; take fewer --steps or --flows "
			"for %s",
			(unsigned long long)flow_steps, variant->id);
	if (variant->way == LAB_FLOW_DENSE && !gpu->facts.architecture &&
		request->shape.width * request->shape.height * request->shape.depth > HOST_SLOTS)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"the whole lattice takes the host minutes a step; run %s on a GPU", variant->id);
	if (variant->workspace == LAB_FLOW_POOLED && !gpu->ops->pool_new)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"the driver of %s has no pool of memory; leave %s out", gpu->facts.name, variant->id);
	if (variant->way == LAB_FLOW_WHOLE && request->shape.by_argmax)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"%s has the fixed path alone; leave it out, or --path argmax", variant->id);
	return check_cores(variant, gpu, error);
}

static enum kwhy_status prepare(struct lab_flow *flow, struct kwhy_error *error)
{
	enum kwhy_status status = flow->gpu->ops->enter(flow->gpu, error);

	NEXT(status, open_kernels(flow, error));
	NEXT(status, open_memory(flow, error));
	NEXT(status, send_weights(flow, error));
	NEXT(status, lab_flow_blas_open(flow, error));
	NEXT(status, open_host(flow, error));
	if (!status && flow->variant->graph)
		status = capture(flow, error);
	return status ? status : lab_flow_wait(flow, error);
}

enum kwhy_status lab_flow_open(
	const struct lab_flow_request *request, struct lab_flow **out, struct kwhy_error *error)
{
	struct lab_flow *flow;
	enum kwhy_status status = check_request(request, error);

	if (status)
		return status;
	flow = calloc(1, sizeof(*flow));
	if (!flow)
		return kwhy_fail_memory(error, "a run of flow");
	flow->variant = request->variant;
	flow->shape = request->shape;
	flow->precision = request->precision;
	flow->gpu = request->gpus[0];
	flow->ranks[0] = flow;
	flow->rank_count = 1;
	flow->count = request->shape.flows;
	status = prepare(flow, error);
	if (!status && flow->variant->way == LAB_FLOW_SPLIT)
		status = lab_flow_ranks_open(flow, request, error);
	if (status)
		lab_flow_close(flow);
	else
		*out = flow;
	return status;
}

void lab_flow_close(struct lab_flow *flow)
{
	struct kwhy_error ignored;
	struct kwhy_gpu *gpu;

	if (!flow)
		return;
	gpu = flow->gpu;
	lab_flow_ranks_close(flow);
	/* What is still queued, after a failure, must not find its memory gone. */
	if (flow->stream && !gpu->ops->enter(gpu, &ignored))
		(void)gpu->ops->synchronize(gpu, flow->stream, &ignored);
	if (gpu->ops->graph_free)
		gpu->ops->graph_free(gpu, flow->graph);
	lab_flow_blas_close(flow);
	lab_gate_close(&flow->gate);
	if (flow->moved)
		gpu->ops->host_free(gpu, &flow->mail_memory);
	gpu->ops->memory_free(gpu, flow->work);
	gpu->ops->memory_free(gpu, flow->memory);
	gpu->ops->stream_free(gpu, flow->stream);
	gpu->ops->module_free(gpu, flow->module);
	lab_flow_roster_done(&flow->roster);
	free(flow->records);
	free(flow->device_records);
	free(flow->times);
	free(flow);
}

enum lab_flow_precision lab_flow_precision(const struct lab_flow *flow)
{
	return flow->precision;
}

const char *lab_flow_products(const struct lab_flow *flow)
{
	return flow->products;
}

uint64_t lab_flow_memory_bytes(const struct lab_flow *flow)
{
	return flow->memory_bytes + flow->work_bytes + (flow->blas_memory ? LAB_FLOW_BLAS_BYTES : 0);
}
