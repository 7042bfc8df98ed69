/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/inside.h"
#include "lab/next.h"
#include "vendor/nvtx.h"

#include <string.h>

enum { BLOCKS_MAX = 1 << 16 };

#define WIDTH(upper, lower, threads) threads,

/*
 * Number of threads that a kernel has for each of its rows. For LAB_FLOW_PRODUCT the parameter `step` is the
 * number of the matrix.
 */
static uint64_t width_of(const struct lab_flow *flow, enum lab_flow_kernel kernel, uint32_t step)
{
	static const uint32_t widths[] = {LAB_FLOW_KERNELS(WIDTH)};

	return kernel == LAB_FLOW_PRODUCT ? product_of(&flow->args, step).outputs : widths[kernel];
}

/*
 * Number of blocks of the kernel that makes a whole run: one on each multiprocessor, in teams of TEAM, but no
 * more teams than tiles. All blocks must be resident together, since they wait for each other.
 */
static uint32_t blocks_of_run(const struct lab_flow *flow)
{
	uint32_t tiles = (flow->shape.flows + ROWS - 1) / ROWS, teams = flow->gpu->facts.sm_count / TEAM;

	teams = teams < tiles ? teams : tiles;
	return TEAM * (teams ? teams : 1);
}

static struct kwhy_gpu_launch launch_of(
	const struct lab_flow *flow, enum lab_flow_kernel kernel, uint32_t step, uint32_t count)
{
	uint64_t blocks = (count * width_of(flow, kernel, step) + THREADS - 1) / THREADS;
	bool is_run = kernel == LAB_FLOW_RUN;

	blocks = blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX;
	return (struct kwhy_gpu_launch){.kernel = flow->kernels[kernel],
		.blocks = is_run ? blocks_of_run(flow) : (uint32_t)blocks,
		.threads_per_block = kernel == LAB_FLOW_FRONT ? IN : THREADS,
		.cooperative = is_run,
		.stream = flow->stream};
}

/* --- Calls that are counted in the tally --- */

enum kwhy_status lab_flow_launch(struct lab_flow *flow, enum lab_flow_kernel kernel, uint32_t step,
	uint32_t first, uint32_t count, struct kwhy_error *error)
{
	struct lab_flow_tally *tally = &flow->first_rank->tally;
	struct lab_flow_args args = flow->args;
	void *arguments[] = {&args, &step, &first, &count};
	struct kwhy_gpu_launch launch = launch_of(flow, kernel, step, count);
	enum kwhy_status status;

	if (!count)
		return KWHY_OK;
	launch.arguments = arguments;
	tally->calls++;
	tally->kernels++;
	status = lab_gate_reserve(&flow->gate, error);
	return status ? status : flow->gpu->ops->launch(flow->gpu, &launch, error);
}

static enum kwhy_status multiply(
	struct lab_flow *flow, uint32_t matrix, uint32_t first, uint32_t count, struct kwhy_error *error)
{
	const struct lab_flow_product p = product_of(&flow->args, matrix);
	const struct lab_product product = {.m = count,
		.n = p.outputs,
		.k = p.inputs,
		.factors = flow->facts.precision == LAB_FLOW_TF32 ? LAB_TF32 : LAB_FP32,
		.out = LAB_FP32};
	const struct lab_operands at = {p.in + (uint64_t)first * p.inputs * sizeof(float),
		flow->args.weights + p.matrix * sizeof(float),
		p.out + (uint64_t)first * p.outputs * sizeof(float)};
	struct lab_flow_tally *tally = &flow->first_rank->tally;
	const struct lab_blaslt_plan *plan;
	enum kwhy_status status;

	if (!flow->blaslt || !count)
		return lab_flow_launch(flow, LAB_FLOW_PRODUCT, matrix, first, count, error);
	tally->calls++;
	tally->kernels++;
	status = lab_gate_reserve(&flow->gate, error);
	NEXT(status, lab_blaslt_plan(flow->blaslt, &product, NULL, &plan, error));
	return status ? status : lab_blaslt_multiply(flow->blaslt, plan, &at, error);
}

enum kwhy_status lab_flow_wait(struct lab_flow *flow, uint32_t unused, struct kwhy_error *error)
{
	enum kwhy_status status = lab_gate_release(&flow->gate, error);

	(void)unused;
	flow->first_rank->tally.calls++;
	flow->first_rank->tally.waits++;
	return status ? status : flow->gpu->ops->synchronize(flow->gpu, flow->stream, error);
}

static enum kwhy_status copy(
	struct lab_flow *flow, uint64_t to, uint64_t from, size_t bytes, struct kwhy_error *error)
{
	const struct kwhy_gpu_copy one = {to, from, bytes};
	enum kwhy_status status = lab_gate_reserve(&flow->gate, error);

	flow->first_rank->tally.calls++;
	return status ? status : flow->gpu->ops->copy(flow->gpu, flow->stream, &one, error);
}

static enum kwhy_status copy_in(
	struct lab_flow *flow, uint64_t to, const void *from, size_t bytes, struct kwhy_error *error)
{
	flow->first_rank->tally.h2d_copies++;
	flow->first_rank->tally.h2d_bytes += bytes;
	return copy(flow, to, kwhy_gpu_address(from), bytes, error);
}

/* --- Parts of a step --- */

static const char neuron[] = "neuron", carrier[] = "carrier", memory[] = "memory operations";

struct part {
	/*
	 * name of the NVTX range around this part of a step; the published analysis of such a program
	 * (lab/README.md) uses these names
	 */
	const char *component;
	bool is_product;
	uint32_t which; /* enum lab_flow_kernel of the kernel, or number of the matrix (FIRST to LAST) */
};

/*
 * Queues parts of a step for `count` rows from `first` on. Consecutive parts of the same component are in one
 * NVTX range.
 */
static enum kwhy_status issue(struct lab_flow *flow, const struct part *parts, size_t part_count,
	uint32_t step, uint32_t first, uint32_t count, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	kwhy_nvtx_push(parts[0].component);
	for (const struct part *part = parts; !status && part < parts + part_count; part++) {
		if (part > parts && part->component != part[-1].component) {
			kwhy_nvtx_pop();
			kwhy_nvtx_push(part->component);
		}
		status = part->is_product
			? multiply(flow, part->which, first, count, error)
			: lab_flow_launch(flow, (enum lab_flow_kernel)part->which, step, first, count, error);
	}
	kwhy_nvtx_pop();
	return status;
}

#define COUNT(array) (sizeof(array) / sizeof(array[0]))

static const struct part plain[] = {{neuron, false, LAB_FLOW_INPUT}, {neuron, true, FIRST},
	{neuron, false, LAB_FLOW_RELU}, {neuron, true, SECOND}, {neuron, false, LAB_FLOW_BIAS},
	{carrier, true, GATES_IN}, {carrier, true, GATES_HIDDEN}, {carrier, false, LAB_FLOW_GATES},
	{carrier, true, LAST}, {memory, false, LAB_FLOW_MOVE}};
static const struct part *const layers = plain + 1, *const move = plain + COUNT(plain) - 1;
static const struct part spread = {memory, false, LAB_FLOW_SPREAD},
			 collect = {memory, false, LAB_FLOW_COLLECT};
static const struct part fused[] = {{neuron, false, LAB_FLOW_FRONT}, {carrier, true, GATES_IN},
	{carrier, true, GATES_HIDDEN}, {carrier, false, LAB_FLOW_GATES}, {carrier, true, LAST},
	{memory, false, LAB_FLOW_MOVE}, {memory, false, LAB_FLOW_SETTLE}};

/*
 * Allocates the workspace of a step. An allocation may wait for the device, so the gate is opened before it
 * and closed after it.
 */
static enum kwhy_status take_work(struct lab_flow *flow, struct kwhy_error *error)
{
	const struct kwhy_gpu_ops *ops = flow->gpu->ops;
	enum kwhy_status status = lab_gate_release(&flow->gate, error);

	flow->tally.calls++;
	flow->tally.allocations++;
	NEXT(status,
		flow->variant->workspace == LAB_FLOW_POOLED
			? ops->pool_new(flow->gpu, flow->stream, flow->work_bytes, &flow->work, error)
			: ops->memory_new(flow->gpu, flow->work_bytes, &flow->work, error));
	if (status)
		return status;
	lab_flow_place_work(flow, flow->work);
	return lab_gate_hold(&flow->gate, error);
}

static enum kwhy_status give_work_back(struct lab_flow *flow, struct kwhy_error *error)
{
	const struct kwhy_gpu_ops *ops = flow->gpu->ops;
	const uint64_t address = flow->work;

	if (flow->variant->workspace == LAB_FLOW_KEPT)
		return KWHY_OK;
	flow->tally.calls++;
	flow->work = 0;
	if (flow->variant->workspace == LAB_FLOW_POOLED)
		return ops->pool_free(flow->gpu, flow->stream, address, error);
	ops->memory_free(flow->gpu, address);
	return KWHY_OK;
}

static enum kwhy_status compute_each(struct lab_flow *flow, uint32_t step, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	if (flow->variant->workspace != LAB_FLOW_KEPT) {
		kwhy_nvtx_push(memory);
		status = take_work(flow, error);
		kwhy_nvtx_pop();
	}
	for (uint32_t row = 0; !status && row < flow->shape.flows; row++)
		status = issue(flow, plain, COUNT(plain), step, row, 1, error);
	return status;
}

/*
 * Fills map[slot], the row of the flow in each slot of the dense lattice. Slots are the cells, and one more
 * for each row. New flows may share a cell until they move: the first one gets the slot of the cell, others
 * get the slot of their row.
 */
static void fill_map(struct lab_flow *flow)
{
	const struct lab_flow_args lattice = lattice_of(&flow->shape);
	uint32_t cells = cells_of(&flow->shape);

	memset(flow->map, 0xff, (size_t)lab_flow_slots(flow) * sizeof(*flow->map));
	for (uint32_t row = 0; row < flow->shape.flows; row++) {
		uint32_t cell = cell_of(&lattice, flow->roster.at[row]);

		flow->map[flow->map[cell] == NONE ? cell : cells + row] = row;
	}
}

static enum kwhy_status compute_dense(struct lab_flow *flow, uint32_t step, struct kwhy_error *error)
{
	uint32_t slots = lab_flow_slots(flow);
	enum kwhy_status status;

	kwhy_nvtx_push(memory);
	fill_map(flow);
	status = copy_in(flow, flow->args.map, flow->map, (size_t)slots * sizeof(*flow->map), error);
	kwhy_nvtx_pop();
	for (uint32_t first = 0; !status && first < slots; first += flow->chunk) {
		uint32_t count = slots - first < flow->chunk ? slots - first : flow->chunk;

		status = issue(flow, &spread, 1, step, first, count, error);
		NEXT(status, issue(flow, layers, COUNT(plain) - 2, step, 0, count, error));
		NEXT(status, issue(flow, &collect, 1, step, first, count, error));
	}
	return status ? status : issue(flow, move, 1, step, 0, flow->shape.flows, error);
}

/* --- A step --- */

enum kwhy_status lab_flow_on_each(struct lab_flow *flow,
	enum kwhy_status (*call)(struct lab_flow *rank, uint32_t step, struct kwhy_error *error),
	uint32_t step, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = flow->rank_count; !status && i > 0; i--) {
		struct lab_flow *rank = flow->ranks[i - 1];

		status = rank->gpu->ops->enter(rank->gpu, error);
		NEXT(status, call(rank, step, error));
	}
	return status;
}

static enum kwhy_status compute(struct lab_flow *rank, uint32_t step, struct kwhy_error *error)
{
	if (rank->variant->way == LAB_FLOW_EACH)
		return compute_each(rank, step, error);
	if (rank->variant->way == LAB_FLOW_DENSE)
		return compute_dense(rank, step, error);
	return issue(rank, plain, COUNT(plain), step, rank->first, rank->count, error);
}

/* Copies the outputs of each GPU's rows to all other GPUs, since flows of different GPUs can merge. */
static enum kwhy_status gather(struct lab_flow *flow, struct kwhy_error *error)
{
	uint64_t from[LAB_FLOW_GPUS_MAX], to[LAB_FLOW_GPUS_MAX], bytes = flow->count * OUT * sizeof(float);

	for (uint32_t i = 0; i < flow->rank_count; i++) {
		to[i] = flow->ranks[i]->args.outputs_rows;
		from[i] = to[i] + i * bytes;
	}
	flow->tally.calls++;
	flow->tally.gathers++;
	flow->tally.gathered_bytes += bytes * flow->rank_count * (flow->rank_count - 1);
	return flow->group->ops->gather(flow->group, from, to, (uint32_t)(bytes / sizeof(uint64_t)), error);
}

static enum kwhy_status take_moves(struct lab_flow *rank, uint32_t step, struct kwhy_error *error)
{
	uint64_t place = step % 2 * (uint64_t)rank->shape.flows + rank->first;
	uint64_t *to = rank->first_rank->roster.moved + rank->first;
	struct lab_flow_tally *tally = &rank->first_rank->tally;
	size_t bytes = rank->count * sizeof(*to);

	tally->d2h_copies++;
	tally->d2h_bytes += bytes;
	return copy(rank, kwhy_gpu_address(to), rank->args.moved + place * sizeof(*to), bytes, error);
}

/*
 * Copies the roster's new flows and lists of merged flows to a GPU, for all rows, and queues the kernel that
 * prepares this GPU's rows for the next step.
 */
static enum kwhy_status settle(struct lab_flow *rank, uint32_t step, struct kwhy_error *error)
{
	const struct lab_flow_roster *roster = &rank->first_rank->roster;
	size_t rows = rank->shape.flows, half = step % 2 * rows;
	enum kwhy_status status = lab_gate_hold(&rank->gate, error);

	NEXT(status,
		copy_in(rank, rank->args.fresh + half * sizeof(*roster->fresh), roster->fresh,
			rows * sizeof(*roster->fresh), error));
	NEXT(status,
		copy_in(rank, rank->args.next + half * sizeof(*roster->next), roster->next,
			rows * sizeof(*roster->next), error));
	return status ? status
		      : lab_flow_launch(rank, LAB_FLOW_SETTLE, step, rank->first, rank->count, error);
}

/* Copies the new places to the host, which decides which flows leave, merge and stay. */
static enum kwhy_status exchange(struct lab_flow *flow, uint32_t step, struct kwhy_error *error)
{
	enum kwhy_status status = lab_flow_on_each(flow, take_moves, step, error);

	NEXT(status, lab_flow_on_each(flow, lab_flow_wait, step, error));
	if (status)
		return status;
	lab_flow_roster_step(&flow->roster, step, &flow->records[step]);
	status = give_work_back(flow, error);
	return status ? status : lab_flow_on_each(flow, settle, step, error);
}

enum kwhy_status lab_flow_step_issue(struct lab_flow *flow, uint32_t step, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (lab_flow_on_device(flow->variant))
		return issue(flow, fused, COUNT(fused), step, 0, flow->shape.flows, error);
	status = lab_flow_on_each(flow, compute, step, error);
	if (!status && flow->group)
		status = gather(flow, error);
	kwhy_nvtx_push(memory);
	NEXT(status, exchange(flow, step, error));
	kwhy_nvtx_pop();
	return status;
}
