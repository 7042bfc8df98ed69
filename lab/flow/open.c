/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/inside.h"
#include "lab/kernels.h"
#include "lab/next.h"
#include "lab/parts.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	CHUNK = 16384, /* number of slots of the dense lattice that are processed together */
	/*
	 * largest number of flow-steps of a run of LAB_FLOW_EACH; with ten launches for each, such a run
	 * takes some seconds
	 */
	EACH_FLOW_STEPS = 200000,
	/*
	 * largest number of slots (cells and flows) of LAB_FLOW_DENSE on the host back end, since a step
	 * takes half a million multiplications and additions for each
	 */
	HOST_SLOTS = 20000,
	/* least architecture whose tensor cores support bfloat16, 10 * major + minor */
	TENSOR_ARCHITECTURE = 80
};

#define NAME(upper, lower, threads) "lab_flows_" #lower,
static const char *const kernel_names[] = {LAB_FLOW_KERNELS(NAME)};

/*
 * Sets the addresses of all arrays except the workspace. They lie one after the other from address
 * `start` on. Returns their size in bytes. The arrays from `fresh` on are set to 0 at the start of
 * a run, so they are last.
 */
static size_t place_memory(struct lab_flow *flow, uint64_t start)
{
	struct lab_flow_args *a = &flow->args;
	const size_t rows = flow->shape.flows + 1, cells = cells_of(&flow->shape), steps = flow->shape.steps,
		     whole = flow->variant->way == LAB_FLOW_WHOLE,
		     dense = flow->variant->way == LAB_FLOW_DENSE;
	const struct lab_part parts[] = {
		{&a->weights, WEIGHTS * sizeof(float)},
		{&a->cells, cells * PLACE * sizeof(float)},
		{&a->at, rows * sizeof(uint64_t)},
		{&a->moved, 2 * rows * sizeof(uint64_t)},
		{&a->next, 2 * rows * sizeof(uint32_t)},
		{&a->owners, cells * sizeof(uint64_t)},
		{&a->map, dense * lab_flow_slots(flow) * sizeof(uint32_t)},
		{&a->e, rows * E * sizeof(float)},
		{&a->h_rows, rows * H * sizeof(float)},
		{&a->outputs_rows, rows * OUT * sizeof(float)},
		{&a->h_halves, whole * 2 * rows * H * sizeof(uint16_t)},
		{&a->parts, whole * 2 * TEAM * rows * OUT * sizeof(float)},
		{&a->times, (steps + 1) * sizeof(uint64_t)},
		{&a->fresh, 2 * rows * sizeof(uint64_t)},
		{&a->heads, 2 * cells * sizeof(uint64_t)},
		{&a->records, steps * sizeof(struct lab_flow_step)},
		{&a->numbers, 2 * sizeof(uint32_t)},
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
		{&a->in, rows * IN * sizeof(float)},
		{&a->u, rows * IN * sizeof(float)},
		{&a->a, rows * IN * sizeof(float)},
		{&a->gi, rows * GATES * sizeof(float)},
		{&a->gh, rows * GATES * sizeof(float)},
		{&a->h, rows * H * sizeof(float)},
		{&a->outputs, rows * OUT * sizeof(float)},
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
	flow->facts.memory_bytes = place_memory(flow, 0);
	status = gpu->ops->memory_new(gpu, flow->facts.memory_bytes, &flow->memory, error);
	if (status)
		return status;
	place_memory(flow, flow->memory);
	flow->chunk = lab_flow_slots(flow) < CHUNK ? lab_flow_slots(flow) : CHUNK;
	flow->work_bytes = lab_flow_place_work(flow, 0);
	flow->facts.memory_bytes += flow->work_bytes;
	if (flow->variant->workspace != LAB_FLOW_KEPT)
		return KWHY_OK;
	status = gpu->ops->memory_new(gpu, flow->work_bytes, &flow->work, error);
	if (!status)
		lab_flow_place_work(flow, flow->work);
	return status;
}

static enum kwhy_status send_weights(struct lab_flow *flow, struct kwhy_error *error)
{
	size_t bytes = WEIGHTS * sizeof(float);
	float *weights = malloc(bytes);
	const struct kwhy_gpu_copy copy = {flow->args.weights, kwhy_gpu_address(weights), bytes};
	enum kwhy_status status = weights ? KWHY_OK : kwhy_fail_memory(error, "weights");

	if (!status) {
		lab_flow_weights(weights);
		status = flow->gpu->ops->copy_now(flow->gpu, &copy, error);
	}
	free(weights);
	return status ? status : lab_flow_launch(flow, LAB_FLOW_CELLS, 0, 0, cells_of(&flow->shape), error);
}

static enum kwhy_status open_kernels(struct lab_flow *flow, struct kwhy_error *error)
{
	static const struct kwhy_gpu_source source = {
		.title = "flow.cu", .text = kwhy_kernels_flow, .on_host = lab_flow_host_kernels};
	struct kwhy_gpu *gpu = flow->gpu;
	/* the last kernel, which is the whole run, needs tensor cores */
	size_t count = flow->variant->way == LAB_FLOW_WHOLE ? LAB_FLOW_KERNEL_COUNT : LAB_FLOW_RUN;
	enum kwhy_status status = gpu->ops->module_new(gpu, &source, &flow->module, error);

	for (size_t k = 0; !status && k < count; k++)
		status = gpu->ops->kernel_find(gpu, flow->module, kernel_names[k], &flow->kernels[k], error);
	NEXT(status, gpu->ops->stream_new(gpu, &flow->stream, error));
	return status ? status : lab_gate_open(gpu, flow->stream, &flow->gate, error);
}

/*
 * Opens cuBLASLt if the variant uses it and it is found. Otherwise kernels of the workload make the products.
 * The facts name which, and why.
 */
static enum kwhy_status open_products(struct lab_flow *flow, struct kwhy_error *error)
{
	const char *own = "own kernels: a flow alone is no matrix", *missing = "";
	enum kwhy_status status = KWHY_OK;

	if (flow->variant->way == LAB_FLOW_WHOLE) {
		own = "tensor instructions of the kernel";
		flow->facts.precision = LAB_FLOW_BF16;
	} else if (flow->variant->way != LAB_FLOW_EACH) {
		status = lab_blaslt_open(flow->gpu, flow->stream, &flow->blaslt, error);
		own = flow->blaslt ? lab_blaslt_name(flow->blaslt) : "own kernels: ";
		missing = status ? error->text : "";
	}
	if (flow->variant->way != LAB_FLOW_WHOLE && !flow->blaslt)
		flow->facts.precision = LAB_FLOW_FP32;
	snprintf(flow->facts.products, sizeof(flow->facts.products), "%s%s", own, missing);
	return status == KWHY_E_UNSUPPORTED ? KWHY_OK : status;
}

/* Allocates the host memory that all GPUs access. */
static enum kwhy_status open_host(struct lab_flow *flow, struct kwhy_error *error)
{
	size_t steps = flow->shape.steps, roster_bytes = lab_flow_roster_place(&flow->shape, NULL, NULL),
	       bytes = steps * sizeof(*flow->records) + (steps + 1) * sizeof(*flow->times) + roster_bytes +
		lab_flow_slots(flow) * sizeof(*flow->map);
	enum kwhy_status status = flow->gpu->ops->host_new(flow->gpu, KWHY_GPU_HOST_PINNED, bytes,
		flow->gpu->facts.numa_node, &flow->host_memory, error);

	if (status)
		return status;
	flow->records = flow->host_memory.memory;
	flow->times = (uint64_t *)(flow->records + steps);
	flow->map = (uint32_t *)((char *)(flow->times + steps + 1) + roster_bytes);
	lab_flow_roster_place(&flow->shape, flow->times + steps + 1, &flow->roster);
	return KWHY_OK;
}

static enum kwhy_status issue_steps(void *context, struct kwhy_error *error)
{
	struct lab_flow *flow = context;
	enum kwhy_status status = KWHY_OK;

	for (uint32_t step = 0; !status && step < flow->shape.steps; step++)
		status = lab_flow_step_issue(flow, step, error);
	return status;
}

/*
 * Captures the whole run as a graph. One step is run before, outside the graph, since a kernel's first launch
 * loads its code.
 */
static enum kwhy_status capture(struct lab_flow *flow, struct kwhy_error *error)
{
	enum kwhy_status status = lab_flow_reset(flow, error);

	NEXT(status, lab_flow_step_issue(flow, 0, error));
	NEXT(status, lab_flow_wait(flow, 0, error));
	flow->tally = (struct lab_flow_tally){0};
	NEXT(status, kwhy_gpu_capture(flow->gpu, flow->stream, issue_steps, flow, &flow->graph, error));
	flow->graph_kernels = flow->tally.kernels;
	return status;
}

/* Reason why a variant cannot be run on a GPU, with a remedy; NULL: it can be run. */
static const char *refusal_of(const struct lab_flow_variant *variant, const struct kwhy_gpu *gpu)
{
	int architecture = gpu->facts.architecture; /* 0 on the host, which has every kernel in C */
	bool is_cuda = strcmp(gpu->ops->name, "cuda") == 0;

	if (variant->workspace == LAB_FLOW_POOLED && !gpu->ops->pool_new)
		return "the driver has no pool of memory; leave it out";
	if (variant->graph && !gpu->ops->capture_begin)
		return "the driver records no graphs; leave it out";
	if (variant->way == LAB_FLOW_WHOLE && architecture &&
		(!is_cuda || architecture < TENSOR_ARCHITECTURE))
		return "it needs tensor cores of compute capability 8.0 or newer; leave it out";
	return NULL;
}

static const char *refusal(const struct lab_flow_request *request)
{
	const struct lab_flow_shape *shape = &request->shape;
	const struct kwhy_gpu *gpu = request->gpus[0];
	enum lab_flow_method way = request->variant->way;

	if (way == LAB_FLOW_SPLIT &&
		(request->gpu_count > LAB_FLOW_GPUS_MAX || shape->flows % request->gpu_count))
		return "GPUs have parts of one size, and there may be 8; take --flows that they divide";
	if (way == LAB_FLOW_EACH && (uint64_t)shape->flows * shape->steps > EACH_FLOW_STEPS)
		return "these flow-steps take too long one by one; take fewer --steps or --flows";
	if (way == LAB_FLOW_DENSE && !gpu->facts.architecture && cells_of(shape) > HOST_SLOTS)
		return "the whole lattice takes the host minutes a step; run it on a GPU";
	if (way == LAB_FLOW_WHOLE && shape->by_argmax)
		return "it has the fixed path alone; leave it out, or --path argmax";
	return refusal_of(request->variant, gpu);
}

/*
 * Opens the variant on one GPU. `first` is the struct of the first GPU, opened before; NULL: this is the
 * first GPU. *out is set also after a failure.
 */
static enum kwhy_status open_rank(const struct lab_flow_request *request, struct kwhy_gpu *gpu,
	struct lab_flow *first, struct lab_flow **out, struct kwhy_error *error)
{
	struct lab_flow *flow = calloc(1, sizeof(*flow));
	enum kwhy_status status;

	*out = flow;
	if (!flow)
		return kwhy_fail_memory(error, "a run of flow");
	flow->variant = request->variant;
	flow->shape = request->shape;
	flow->facts.precision = request->precision;
	flow->gpu = gpu;
	flow->first_rank = first ? first : flow;
	flow->ranks[0] = flow;
	flow->rank_count = 1;
	status = gpu->ops->enter(gpu, error);
	NEXT(status, open_kernels(flow, error));
	NEXT(status, open_memory(flow, error));
	NEXT(status, send_weights(flow, error));
	NEXT(status, open_products(flow, error));
	return status ? status : lab_flow_wait(flow, 0, error);
}

/* Opens the variant on all GPUs. Each has an equal part of the flows. */
static enum kwhy_status open_ranks(
	struct lab_flow *flow, const struct lab_flow_request *request, struct kwhy_error *error)
{
	struct kwhy_collectives_member members[LAB_FLOW_GPUS_MAX];
	uint32_t count = request->variant->way == LAB_FLOW_SPLIT ? request->gpu_count : 1;
	enum kwhy_status status = KWHY_OK;

	for (; !status && flow->rank_count < count; flow->rank_count += flow->ranks[flow->rank_count] != NULL)
		status = open_rank(request, request->gpus[flow->rank_count], flow,
			&flow->ranks[flow->rank_count], error);
	for (uint32_t i = 0; i < flow->rank_count; i++) {
		struct lab_flow *rank = flow->ranks[i];

		rank->count = flow->shape.flows / count;
		rank->first = rank->count * i;
		members[i] = (struct kwhy_collectives_member){rank->gpu, rank->stream};
	}
	if (!status && count > 1)
		status = kwhy_collectives_own_new(members, count, &flow->group, error);
	return status ? status : flow->gpu->ops->enter(flow->gpu, error);
}

enum kwhy_status lab_flow_open(
	const struct lab_flow_request *request, struct lab_flow **out, struct kwhy_error *error)
{
	struct lab_flow *flow;
	const char *why_not = refusal(request);
	enum kwhy_status status;

	if (why_not)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "%s: %s", request->gpus[0]->facts.name, why_not);
	status = open_rank(request, request->gpus[0], NULL, &flow, error);
	NEXT(status, open_ranks(flow, request, error));
	NEXT(status, open_host(flow, error));
	if (!status && flow->variant->graph)
		status = capture(flow, error);
	if (status)
		lab_flow_close(flow);
	else
		*out = flow;
	return status;
}

static void close_rank(struct lab_flow *flow)
{
	struct kwhy_error ignored;
	struct kwhy_gpu *gpu = flow->gpu;

	(void)gpu->ops->enter(gpu, &ignored);
	if (gpu->ops->graph_free)
		gpu->ops->graph_free(gpu, flow->graph);
	lab_blaslt_close(flow->blaslt);
	lab_gate_close(&flow->gate);
	if (flow->host_memory.memory)
		gpu->ops->host_free(gpu, &flow->host_memory);
	gpu->ops->memory_free(gpu, flow->work);
	gpu->ops->memory_free(gpu, flow->memory);
	gpu->ops->stream_free(gpu, flow->stream);
	gpu->ops->module_free(gpu, flow->module);
	free(flow);
}

void lab_flow_close(struct lab_flow *flow)
{
	struct kwhy_error ignored;

	if (!flow)
		return;
	/* Queued work of all GPUs must end, also after a failure, before its memory is freed. */
	for (uint32_t i = 0; i < flow->rank_count; i++) {
		struct lab_flow *rank = flow->ranks[i];

		if (rank->stream && !rank->gpu->ops->enter(rank->gpu, &ignored))
			(void)rank->gpu->ops->synchronize(rank->gpu, rank->stream, &ignored);
	}
	if (flow->group)
		flow->group->ops->free(flow->group);
	for (uint32_t i = flow->rank_count; i > 0; i--)
		close_rank(flow->ranks[i - 1]);
}

const struct lab_flow_facts *lab_flow_facts(const struct lab_flow *flow)
{
	return &flow->facts;
}
