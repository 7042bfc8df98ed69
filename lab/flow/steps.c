/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/inside.h"
#include "lab/next.h"
#include "vendor/nvtx.h"

#include <string.h>

enum { BLOCKS_MOST = 1 << 16 };

/* Threads that a kernel has for each of its rows. */
static uint64_t width_of(enum lab_flow_kernel kernel, uint32_t step)
{
	static const uint32_t outputs[LAB_FLOW_PRODUCTS] = {
		LAB_FLOW_LAYER, LAB_FLOW_ENERGIES, LAB_FLOW_GATES, LAB_FLOW_GATES, LAB_FLOW_OUTPUTS};

	switch (kernel) {
	case LAB_FLOW_INPUT:
	case LAB_FLOW_RELU:
		return LAB_FLOW_INPUTS;
	case LAB_FLOW_PRODUCT:
		return outputs[step];
	case LAB_FLOW_FRONT:
		return LAB_FLOW_THREADS; /* a block a row */
	case LAB_FLOW_GATES_KERNEL:
	case LAB_FLOW_SPREAD:
	case LAB_FLOW_COLLECT:
		return LAB_FLOW_STATE;
	default:
		return LAB_FLOW_ENERGIES;
	}
}

/* All at once, for they wait for each other. */
static uint32_t blocks_of_run(const struct lab_flow *flow)
{
	uint32_t tiles = (flow->shape.flows + LAB_FLOW_TILE - 1) / LAB_FLOW_TILE,
		 teams = flow->gpu->facts.sm_count / LAB_FLOW_TEAM;

	teams = teams < tiles ? teams : tiles;
	return LAB_FLOW_TEAM * (teams ? teams : 1);
}

static struct kwhy_gpu_launch launch_of(
	const struct lab_flow *flow, enum lab_flow_kernel kernel, uint32_t step, uint32_t count)
{
	uint64_t blocks = (count * width_of(kernel, step) + LAB_FLOW_THREADS - 1) / LAB_FLOW_THREADS;
	bool is_run = kernel == LAB_FLOW_RUN;

	blocks = blocks < BLOCKS_MOST ? blocks : BLOCKS_MOST;
	return (struct kwhy_gpu_launch){.kernel = flow->kernels[kernel],
		.blocks = is_run ? blocks_of_run(flow) : (uint32_t)blocks,
		.threads_per_block = kernel == LAB_FLOW_FRONT ? LAB_FLOW_INPUTS : LAB_FLOW_THREADS,
		.cooperative = is_run,
		.stream = flow->stream};
}

enum kwhy_status lab_flow_launch(struct lab_flow *flow, enum lab_flow_kernel kernel, uint32_t step,
	uint32_t first, uint32_t count, struct kwhy_error *error)
{
	struct lab_flow_args args = flow->args;
	void *arguments[] = {&args, &step, &first, &count};
	struct kwhy_gpu_launch launch = launch_of(flow, kernel, step, count);
	enum kwhy_status status;

	if (!count)
		return KWHY_OK;
	launch.arguments = arguments;
	flow->tally.calls++;
	flow->tally.launches++;
	flow->tally.kernels++;
	status = lab_gate_make_room(&flow->gate, error);
	return status ? status : flow->gpu->ops->launch(flow->gpu, &launch, error);
}

enum kwhy_status lab_flow_wait(struct lab_flow *flow, struct kwhy_error *error)
{
	enum kwhy_status status;

	flow->tally.calls++;
	flow->tally.waits++;
	status = lab_gate_release(&flow->gate, error);
	return status ? status : flow->gpu->ops->synchronize(flow->gpu, flow->stream, error);
}

/* --- Copies --- */

static enum kwhy_status copy(
	struct lab_flow *flow, uint64_t to, uint64_t from, size_t bytes, struct kwhy_error *error)
{
	const struct kwhy_gpu_copy one = {to, from, bytes};
	enum kwhy_status status = lab_gate_make_room(&flow->gate, error);

	flow->tally.calls++;
	return status ? status : flow->gpu->ops->copy(flow->gpu, flow->stream, &one, error);
}

enum kwhy_status lab_flow_copy_in(
	struct lab_flow *flow, uint64_t to, const void *from, size_t bytes, struct kwhy_error *error)
{
	if (!bytes)
		return KWHY_OK;
	flow->tally.h2d_copies++;
	flow->tally.h2d_bytes += bytes;
	return copy(flow, to, kwhy_gpu_address(from), bytes, error);
}

enum kwhy_status lab_flow_copy_out(
	struct lab_flow *flow, void *to, uint64_t from, size_t bytes, struct kwhy_error *error)
{
	if (!bytes)
		return KWHY_OK;
	flow->tally.d2h_copies++;
	flow->tally.d2h_bytes += bytes;
	return copy(flow, kwhy_gpu_address(to), from, bytes, error);
}

enum kwhy_status lab_flow_fetch(
	struct lab_flow *flow, void *to, uint64_t from, size_t bytes, struct kwhy_error *error)
{
	const struct kwhy_gpu_copy one = {kwhy_gpu_address(to), from, bytes};

	return bytes ? flow->gpu->ops->copy_now(flow->gpu, &one, error) : KWHY_OK;
}

/* --- Variants --- */

static const char neuron[] = "neuron", carrier[] = "carrier", memory[] = "memory operations";

struct part {
	const char *component; /* of the source document: ranges of these names are in every step */
	bool is_product;
	uint32_t which; /* kernel or matrix */
};

static enum kwhy_status issue_part(struct lab_flow *flow, const struct part *part, uint32_t step,
	uint32_t first, uint32_t count, struct kwhy_error *error)
{
	return part->is_product
		? lab_flow_multiply(flow, (enum lab_flow_matrix)part->which, first, count, error)
		: lab_flow_launch(flow, (enum lab_flow_kernel)part->which, step, first, count, error);
}

/* Parts of one component that follow each other are one range. */
static enum kwhy_status issue(struct lab_flow *flow, const struct part *parts, size_t part_count,
	uint32_t step, uint32_t first, uint32_t count, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < part_count; i++) {
		const char *component = parts[i].component;

		if (i == 0 || component != parts[i - 1].component)
			kwhy_nvtx_push(component);
		status = issue_part(flow, &parts[i], step, first, count, error);
		if (status || i + 1 == part_count || component != parts[i + 1].component)
			kwhy_nvtx_pop();
	}
	return status;
}

#define COUNT(array) (sizeof(array) / sizeof(array[0]))

/* What makes outputs of inputs, with every part by itself. */
#define LAYERS                                                                                           \
	{neuron, true, LAB_FLOW_FIRST}, {neuron, false, LAB_FLOW_RELU}, {neuron, true, LAB_FLOW_SECOND}, \
		{neuron, false, LAB_FLOW_BIAS}, {carrier, true, LAB_FLOW_GATES_IN},                      \
		{carrier, true, LAB_FLOW_GATES_HIDDEN}, {carrier, false, LAB_FLOW_GATES_KERNEL},         \
	{                                                                                                \
		carrier, true, LAB_FLOW_LAST                                                             \
	}

static const struct part plain[] = {{neuron, false, LAB_FLOW_INPUT}, LAYERS, {memory, false, LAB_FLOW_MOVE}};
static const struct part dense[] = {{memory, false, LAB_FLOW_SPREAD}, {memory, false, LAB_FLOW_COLLECT}};
static const struct part dense_layers[] = {LAYERS};
static const struct part fused[] = {{neuron, false, LAB_FLOW_FRONT}, {carrier, true, LAB_FLOW_GATES_IN},
	{carrier, true, LAB_FLOW_GATES_HIDDEN}, {carrier, false, LAB_FLOW_GATES_KERNEL},
	{carrier, true, LAB_FLOW_LAST}, {memory, false, LAB_FLOW_MOVE}, {memory, false, LAB_FLOW_SETTLE}};

static enum kwhy_status give_work_back(struct lab_flow *flow, struct kwhy_error *error)
{
	const struct kwhy_gpu_ops *ops = flow->gpu->ops;
	const uint64_t address = flow->work;

	flow->work = 0;
	if (flow->variant->workspace == LAB_FLOW_POOLED)
		return ops->pool_free(flow->gpu, flow->stream, address, error);
	ops->memory_free(flow->gpu, address);
	return KWHY_OK;
}

/* Behind a closed gate no memory is allocated or freed: both may wait for the device. */
static enum kwhy_status take_work(struct lab_flow *flow, struct kwhy_error *error)
{
	const struct kwhy_gpu_ops *ops = flow->gpu->ops;
	uint64_t address = 0;
	enum kwhy_status status = lab_gate_release(&flow->gate, error);

	flow->tally.calls++;
	flow->tally.allocations++;
	if (!status && flow->work) /* a run that failed kept it */
		status = give_work_back(flow, error);
	NEXT(status,
		flow->variant->workspace == LAB_FLOW_POOLED
			? ops->pool_new(flow->gpu, flow->stream, flow->work_bytes, &address, error)
			: ops->memory_new(flow->gpu, flow->work_bytes, &address, error));
	if (status)
		return status;
	flow->work = address;
	lab_flow_place_work(flow, address);
	return lab_gate_hold(&flow->gate, error);
}

static enum kwhy_status leave_work(struct lab_flow *flow, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (flow->variant->workspace == LAB_FLOW_KEPT)
		return KWHY_OK;
	status = lab_gate_release(&flow->gate, error);
	flow->tally.calls++;
	NEXT(status, give_work_back(flow, error));
	return status ? status : lab_gate_hold(&flow->gate, error);
}

enum kwhy_status lab_flow_settle(
	struct lab_flow *flow, const struct lab_flow_roster *roster, uint32_t step, struct kwhy_error *error)
{
	size_t rows = flow->shape.flows, half = step % 2 * rows;
	enum kwhy_status status;

	memcpy(flow->fresh, roster->fresh, rows * sizeof(*flow->fresh));
	memcpy(flow->next, roster->next, rows * sizeof(*flow->next));
	status = lab_flow_copy_in(flow, flow->args.fresh + half * sizeof(*flow->fresh), flow->fresh,
		rows * sizeof(*flow->fresh), error);
	NEXT(status,
		lab_flow_copy_in(flow, flow->args.next + half * sizeof(*flow->next), flow->next,
			rows * sizeof(*flow->next), error));
	NEXT(status, leave_work(flow, error));
	return status ? status
		      : lab_flow_launch(flow, LAB_FLOW_SETTLE, step, flow->first, flow->count, error);
}

/* Moves come back, and the host says who merges and who leaves. */
static enum kwhy_status exchange(struct lab_flow *flow, uint32_t step, struct kwhy_error *error)
{
	size_t rows = flow->shape.flows;
	enum kwhy_status status = lab_flow_copy_out(flow, flow->moved,
		flow->args.moved + step % 2 * rows * sizeof(*flow->moved), rows * sizeof(*flow->moved),
		error);

	NEXT(status, lab_flow_wait(flow, error));
	if (status)
		return status;
	lab_flow_roster_step(&flow->roster, step, flow->moved, &flow->records[step]);
	status = lab_gate_hold(&flow->gate, error);
	return status ? status : lab_flow_settle(flow, &flow->roster, step, error);
}

static enum kwhy_status end_step(struct lab_flow *flow, uint32_t step, struct kwhy_error *error)
{
	enum kwhy_status status;

	kwhy_nvtx_push(memory);
	status = exchange(flow, step, error);
	kwhy_nvtx_pop();
	return status;
}

static enum kwhy_status step_each(struct lab_flow *flow, uint32_t step, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	if (flow->variant->workspace != LAB_FLOW_KEPT) {
		kwhy_nvtx_push(memory);
		status = take_work(flow, error);
		kwhy_nvtx_pop();
	}
	for (uint32_t row = 0; !status && row < flow->shape.flows; row++)
		status = issue(flow, plain, COUNT(plain), step, row, 1, error);
	return status ? status : end_step(flow, step, error);
}

enum kwhy_status lab_flow_issue_plain(
	struct lab_flow *flow, uint32_t step, uint32_t first, uint32_t count, struct kwhy_error *error)
{
	return issue(flow, plain, COUNT(plain), step, first, count, error);
}

static enum kwhy_status step_batch(struct lab_flow *flow, uint32_t step, struct kwhy_error *error)
{
	enum kwhy_status status = issue(flow, plain, COUNT(plain), step, 0, flow->shape.flows, error);

	return status ? status : end_step(flow, step, error);
}

/* Flows that begin may share a cell until they move: those behind the first are behind the lattice. */
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

static enum kwhy_status step_dense(struct lab_flow *flow, uint32_t step, struct kwhy_error *error)
{
	uint32_t slots = lab_flow_slots(flow);
	enum kwhy_status status;

	kwhy_nvtx_push(memory);
	fill_map(flow);
	status = lab_flow_copy_in(flow, flow->args.map, flow->map, (size_t)slots * sizeof(*flow->map), error);
	kwhy_nvtx_pop();
	for (uint32_t first = 0; !status && first < slots; first += flow->chunk) {
		uint32_t count = slots - first < flow->chunk ? slots - first : flow->chunk;

		status = issue(flow, dense, 1, step, first, count, error);
		NEXT(status, issue(flow, dense_layers, COUNT(dense_layers), step, 0, count, error));
		NEXT(status, issue(flow, dense + 1, 1, step, first, count, error));
	}
	NEXT(status, issue(flow, plain + COUNT(plain) - 1, 1, step, 0, flow->shape.flows, error));
	return status ? status : end_step(flow, step, error);
}

enum kwhy_status lab_flow_step_issue(struct lab_flow *flow, uint32_t step, struct kwhy_error *error)
{
	switch (flow->variant->way) {
	case LAB_FLOW_EACH:
		return step_each(flow, step, error);
	case LAB_FLOW_DENSE:
		return step_dense(flow, step, error);
	case LAB_FLOW_BATCH:
		return step_batch(flow, step, error);
	case LAB_FLOW_SPLIT:
		return lab_flow_ranks_step(flow, step, error);
	default:
		return issue(flow, fused, COUNT(fused), step, 0, flow->shape.flows, error);
	}
}
