/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/inside.h"
#include "lab/flow/rules.h"

#include <string.h>

enum { BLOCKS_MOST = 1 << 16 };

/* Threads that a kernel has for each of its rows. */
static uint64_t width_of(enum kwhy_flow_kernel kernel, uint32_t step)
{
	static const uint32_t outputs[KWHY_FLOW_PRODUCTS] = {
		KWHY_FLOW_LAYER, KWHY_FLOW_ENERGIES, KWHY_FLOW_GATES, KWHY_FLOW_GATES, KWHY_FLOW_OUTPUTS};

	switch (kernel) {
	case KWHY_FLOW_INPUT:
	case KWHY_FLOW_RELU:
		return KWHY_FLOW_INPUTS;
	case KWHY_FLOW_PRODUCT:
		return outputs[step];
	case KWHY_FLOW_GATES_KERNEL:
	case KWHY_FLOW_SPREAD:
	case KWHY_FLOW_COLLECT:
		return KWHY_FLOW_STATE;
	default:
		return KWHY_FLOW_ENERGIES;
	}
}

/* All at once, for they wait for each other. */
static uint32_t blocks_of_run(const struct kwhy_flow *flow)
{
	uint32_t rows = flow->args.tile_rows, tiles = (flow->shape.flows + rows - 1) / rows,
		 teams = flow->gpu->facts.sm_count / KWHY_FLOW_TEAM;

	teams = teams < tiles ? teams : tiles;
	return KWHY_FLOW_TEAM * (teams ? teams : 1);
}

/* A block a tile, four blocks for several of them, or a thread a row. */
static uint32_t blocks_of_wide(const struct kwhy_flow *flow, enum kwhy_flow_kernel kernel)
{
	bool has_rows = kernel == KWHY_FLOW_CHOOSE || kernel == KWHY_FLOW_BOOKS;
	uint32_t rows = has_rows ? KWHY_FLOW_THREADS : KWHY_FLOW_WIDE_ROWS,
		 tiles = (flow->shape.flows + rows - 1) / rows,
		 teams = flow->gpu->facts.sm_count / KWHY_FLOW_TEAM;

	if (kernel != KWHY_FLOW_WIDE_GATES)
		return tiles;
	teams = teams < tiles ? teams : tiles;
	return KWHY_FLOW_TEAM * (teams ? teams : 1);
}

static struct kwhy_gpu_launch launch_of(
	const struct kwhy_flow *flow, enum kwhy_flow_kernel kernel, uint32_t step, uint32_t count)
{
	uint64_t blocks = (count * width_of(kernel, step) + KWHY_FLOW_THREADS - 1) / KWHY_FLOW_THREADS;
	bool is_run = kernel == KWHY_FLOW_RUN, is_wide = kernel == KWHY_FLOW_WIDE_GATES;

	return (struct kwhy_gpu_launch){.kernel = flow->kernels[kernel],
		.blocks = is_run		  ? blocks_of_run(flow)
			: kernel > KWHY_FLOW_PACK ? blocks_of_wide(flow, kernel)
			: blocks < BLOCKS_MOST	  ? (uint32_t)blocks
						  : BLOCKS_MOST,
		.threads_per_block = is_wide ? KWHY_FLOW_WIDE_THREADS : KWHY_FLOW_THREADS,
		.shared_bytes = is_run ? flow->args.tile_rows * KWHY_FLOW_ROW_BYTES
			: is_wide      ? KWHY_FLOW_WIDE_BYTES
				       : 0,
		.cooperative = is_run,
		.stream = flow->stream};
}

enum kwhy_status kwhy_flow_launch(struct kwhy_flow *flow, enum kwhy_flow_kernel kernel, uint32_t step,
	uint32_t first, uint32_t count, struct kwhy_error *error)
{
	struct kwhy_flow_args args = flow->args;
	void *arguments[] = {&args, &step, &first, &count};
	struct kwhy_gpu_launch launch = launch_of(flow, kernel, step, count);
	enum kwhy_status status;

	if (!count)
		return KWHY_OK;
	launch.arguments = arguments;
	flow->tally.calls++;
	flow->tally.launches++;
	flow->tally.kernels++;
	status = kwhy_flow_make_room(flow, error);
	return status ? status : flow->gpu->ops->launch(flow->gpu, &launch, error);
}

enum kwhy_status kwhy_flow_wait(struct kwhy_flow *flow, struct kwhy_error *error)
{
	enum kwhy_status status;

	flow->tally.calls++;
	flow->tally.waits++;
	status = kwhy_flow_release(flow, error);
	return status ? status : flow->gpu->ops->synchronize(flow->gpu, flow->stream, error);
}

/* --- Copies, where the host keeps the books --- */

enum kwhy_status kwhy_flow_copy_in(
	struct kwhy_flow *flow, uint64_t to, const void *from, size_t bytes, struct kwhy_error *error)
{
	const struct kwhy_gpu_copy one = {to, kwhy_gpu_address(from), bytes};
	enum kwhy_status status;

	if (!bytes)
		return KWHY_OK;
	flow->tally.calls++;
	flow->tally.h2d_copies++;
	flow->tally.h2d_bytes += bytes;
	status = kwhy_flow_make_room(flow, error);
	return status ? status : flow->gpu->ops->copy(flow->gpu, flow->stream, &one, error);
}

enum kwhy_status kwhy_flow_copy_out(
	struct kwhy_flow *flow, void *to, uint64_t from, size_t bytes, struct kwhy_error *error)
{
	const struct kwhy_gpu_copy one = {kwhy_gpu_address(to), from, bytes};
	enum kwhy_status status;

	if (!bytes)
		return KWHY_OK;
	flow->tally.calls++;
	flow->tally.d2h_copies++;
	flow->tally.d2h_bytes += bytes;
	status = kwhy_flow_make_room(flow, error);
	return status ? status : flow->gpu->ops->copy(flow->gpu, flow->stream, &one, error);
}

/* Moves come back, and what became of each row goes out. */
static enum kwhy_status exchange_books(struct kwhy_flow *flow, uint32_t step, struct kwhy_error *error)
{
	size_t rows = flow->shape.flows;
	uint64_t half = step % 2 * rows;
	enum kwhy_status status = kwhy_flow_copy_out(flow, flow->moved,
		flow->args.moved + half * sizeof(*flow->moved), rows * sizeof(*flow->moved), error);

	if (!status)
		status = kwhy_flow_wait(flow, error);
	if (status)
		return status;
	kwhy_flow_books_step(&flow->books, step, flow->moved, &flow->records[step]);
	memcpy(flow->fresh, flow->books.fresh, rows * sizeof(*flow->fresh));
	memcpy(flow->next, flow->books.next, rows * sizeof(*flow->next));
	status = kwhy_flow_hold(flow, error);
	if (!status)
		status = kwhy_flow_copy_in(flow, flow->args.fresh + half * sizeof(*flow->fresh), flow->fresh,
			rows * sizeof(*flow->fresh), error);
	return status ? status
		      : kwhy_flow_copy_in(flow, flow->args.next + half * sizeof(*flow->next), flow->next,
				rows * sizeof(*flow->next), error);
}

/* --- Variants --- */

struct part {
	enum kwhy_flow_component component;
	bool is_product;
	uint32_t which; /* kernel or matrix */
};

static enum kwhy_status issue_part(struct kwhy_flow *flow, const struct part *part, uint32_t step,
	uint32_t first, uint32_t count, struct kwhy_error *error)
{
	return part->is_product
		? kwhy_flow_multiply(flow, (enum kwhy_flow_matrix)part->which, first, count, error)
		: kwhy_flow_launch(flow, (enum kwhy_flow_kernel)part->which, step, first, count, error);
}

static enum kwhy_status issue(struct kwhy_flow *flow, const struct part *parts, size_t part_count,
	uint32_t step, uint32_t first, uint32_t count, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < part_count; i++) {
		enum kwhy_flow_component component = parts[i].component;

		if (i == 0 || component != parts[i - 1].component)
			kwhy_flow_component_begin(flow, component);
		status = issue_part(flow, &parts[i], step, first, count, error);
		if (status || i + 1 == part_count || component != parts[i + 1].component)
			status = kwhy_flow_component_end(flow, component, status, error);
	}
	return status;
}

#define COUNT(array) (sizeof(array) / sizeof(array[0]))

/* What makes outputs of inputs, with every part by itself. */
#define LAYERS                                                                                         \
	{KWHY_FLOW_NEURON, true, KWHY_FLOW_FIRST}, {KWHY_FLOW_NEURON, false, KWHY_FLOW_RELU},          \
		{KWHY_FLOW_NEURON, true, KWHY_FLOW_SECOND}, {KWHY_FLOW_NEURON, false, KWHY_FLOW_BIAS}, \
		{KWHY_FLOW_CARRIER, true, KWHY_FLOW_GATES_IN},                                         \
		{KWHY_FLOW_CARRIER, true, KWHY_FLOW_GATES_HIDDEN},                                     \
		{KWHY_FLOW_CARRIER, false, KWHY_FLOW_GATES_KERNEL},                                    \
	{                                                                                              \
		KWHY_FLOW_CARRIER, true, KWHY_FLOW_LAST                                                \
	}

static const struct part plain[] = {
	{KWHY_FLOW_NEURON, false, KWHY_FLOW_INPUT}, LAYERS, {KWHY_FLOW_MEMORY, false, KWHY_FLOW_MOVE}};
static const struct part dense[] = {
	{KWHY_FLOW_MEMORY, false, KWHY_FLOW_SPREAD}, {KWHY_FLOW_MEMORY, false, KWHY_FLOW_COLLECT}};
static const struct part dense_layers[] = {LAYERS};
static const struct part fused[] = {{KWHY_FLOW_NEURON, false, KWHY_FLOW_FRONT},
	{KWHY_FLOW_CARRIER, true, KWHY_FLOW_GATES_IN}, {KWHY_FLOW_CARRIER, true, KWHY_FLOW_GATES_HIDDEN},
	{KWHY_FLOW_CARRIER, false, KWHY_FLOW_GATES_KERNEL}, {KWHY_FLOW_CARRIER, true, KWHY_FLOW_LAST},
	{KWHY_FLOW_MEMORY, false, KWHY_FLOW_MOVE}, {KWHY_FLOW_MEMORY, false, KWHY_FLOW_SETTLE}};

static enum kwhy_status give_work_back(struct kwhy_flow *flow, struct kwhy_error *error)
{
	const struct kwhy_gpu_ops *ops = flow->gpu->ops;
	const uint64_t address = flow->work;

	flow->work = 0;
	if (flow->variant->workspace == KWHY_FLOW_POOLED)
		return ops->pool_free(flow->gpu, flow->stream, address, error);
	ops->memory_free(flow->gpu, address);
	return KWHY_OK;
}

/* Behind a closed gate no memory is allocated or freed: both may wait for the device. */
static enum kwhy_status take_work(struct kwhy_flow *flow, struct kwhy_error *error)
{
	const struct kwhy_gpu_ops *ops = flow->gpu->ops;
	uint64_t address = 0;
	enum kwhy_status status = kwhy_flow_release(flow, error);

	flow->tally.calls++;
	flow->tally.allocations++;
	if (!status && flow->work) /* a run that failed kept it */
		status = give_work_back(flow, error);
	if (!status)
		status = flow->variant->workspace == KWHY_FLOW_POOLED
			? ops->pool_new(flow->gpu, flow->stream, flow->work_bytes, &address, error)
			: ops->memory_new(flow->gpu, flow->work_bytes, &address, error);
	if (status)
		return status;
	flow->work = address;
	kwhy_flow_place_work(flow, address);
	return kwhy_flow_hold(flow, error);
}

static enum kwhy_status leave_work(struct kwhy_flow *flow, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (flow->variant->workspace == KWHY_FLOW_KEPT)
		return KWHY_OK;
	status = kwhy_flow_release(flow, error);
	flow->tally.calls++;
	if (!status)
		status = give_work_back(flow, error);
	return status ? status : kwhy_flow_hold(flow, error);
}

/* Who merges and who leaves, by the books of the host, and what rows begin the next step with. */
static enum kwhy_status end_step(struct kwhy_flow *flow, uint32_t step, struct kwhy_error *error)
{
	enum kwhy_status status;

	kwhy_flow_component_begin(flow, KWHY_FLOW_MEMORY);
	status = exchange_books(flow, step, error);
	if (!status)
		status = leave_work(flow, error);
	if (!status)
		status = kwhy_flow_launch(flow, KWHY_FLOW_SETTLE, step, 0, flow->shape.flows, error);
	status = kwhy_flow_component_end(flow, KWHY_FLOW_MEMORY, status, error);
	if (status || !flow->variant->text)
		return status;
	kwhy_flow_component_begin(flow, KWHY_FLOW_TEXT);
	status = kwhy_flow_bridge_step(flow, step, error);
	return kwhy_flow_component_end(flow, KWHY_FLOW_TEXT, status, error);
}

static enum kwhy_status step_each(struct kwhy_flow *flow, uint32_t step, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	if (flow->variant->workspace != KWHY_FLOW_KEPT) {
		kwhy_flow_component_begin(flow, KWHY_FLOW_MEMORY);
		status = take_work(flow, error);
		status = kwhy_flow_component_end(flow, KWHY_FLOW_MEMORY, status, error);
	}
	for (uint32_t row = 0; !status && row < flow->shape.flows; row++)
		status = issue(flow, plain, COUNT(plain), step, row, 1, error);
	return status ? status : end_step(flow, step, error);
}

enum kwhy_status kwhy_flow_issue_plain(
	struct kwhy_flow *flow, uint32_t step, uint32_t first, uint32_t count, struct kwhy_error *error)
{
	return issue(flow, plain, COUNT(plain), step, first, count, error);
}

static enum kwhy_status step_batch(struct kwhy_flow *flow, uint32_t step, struct kwhy_error *error)
{
	enum kwhy_status status = issue(flow, plain, COUNT(plain), step, 0, flow->shape.flows, error);

	return status ? status : end_step(flow, step, error);
}

/* Flows that begin may share a cell until they move: those behind the first are behind the lattice. */
static void fill_map(struct kwhy_flow *flow)
{
	uint32_t cells = kwhy_flow_cells(&flow->shape);

	memset(flow->map, 0xff, (size_t)kwhy_flow_slots(flow) * sizeof(*flow->map));
	for (uint32_t row = 0; row < flow->shape.flows; row++) {
		uint32_t cell = kwhy_flow_cell(&flow->shape, flow->books.at[row]);

		flow->map[flow->map[cell] == KWHY_FLOW_NONE ? cell : cells + row] = row;
	}
}

static enum kwhy_status step_dense(struct kwhy_flow *flow, uint32_t step, struct kwhy_error *error)
{
	uint32_t slots = kwhy_flow_slots(flow);
	enum kwhy_status status;

	kwhy_flow_component_begin(flow, KWHY_FLOW_MEMORY);
	fill_map(flow);
	status = kwhy_flow_copy_in(
		flow, flow->args.map, flow->map, (size_t)slots * sizeof(*flow->map), error);
	status = kwhy_flow_component_end(flow, KWHY_FLOW_MEMORY, status, error);
	for (uint32_t first = 0; !status && first < slots; first += flow->chunk) {
		uint32_t count = slots - first < flow->chunk ? slots - first : flow->chunk;

		status = issue(flow, dense, 1, step, first, count, error);
		if (!status)
			status = issue(flow, dense_layers, COUNT(dense_layers), step, 0, count, error);
		if (!status)
			status = issue(flow, dense + 1, 1, step, first, count, error);
	}
	if (!status)
		status = issue(flow, plain + COUNT(plain) - 1, 1, step, 0, flow->shape.flows, error);
	return status ? status : end_step(flow, step, error);
}

/* The books of the next step are kept meanwhile, but where flows choose their way. What the last step came to
 * is worked out as if another began. */
static enum kwhy_status step_wide(struct kwhy_flow *flow, uint32_t step, struct kwhy_error *error)
{
	uint32_t flows = flow->shape.flows;
	bool by_argmax = flow->shape.by_argmax;
	enum kwhy_status status = step ? KWHY_OK
				       : kwhy_flow_launch(flow, KWHY_FLOW_BOOKS, step, 0, flows, error);

	if (!status)
		status = kwhy_flow_launch(flow, KWHY_FLOW_BEGIN, step, 0, flows, error);
	if (!status)
		status = kwhy_flow_launch(flow, KWHY_FLOW_WIDE_GATES, step, 0, flows, error);
	if (!status && by_argmax)
		status = kwhy_flow_launch(flow, KWHY_FLOW_CHOOSE, step, 0, flows, error);
	if (!status && by_argmax)
		status = kwhy_flow_launch(flow, KWHY_FLOW_BOOKS, step + 1, 0, flows, error);
	if (!status && step + 1 == flow->shape.steps)
		status = kwhy_flow_launch(flow, KWHY_FLOW_BEGIN, step + 1, 0, flows, error);
	return status;
}

enum kwhy_status kwhy_flow_step_issue(struct kwhy_flow *flow, uint32_t step, struct kwhy_error *error)
{
	switch (flow->variant->way) {
	case KWHY_FLOW_EACH:
		return step_each(flow, step, error);
	case KWHY_FLOW_DENSE:
		return step_dense(flow, step, error);
	case KWHY_FLOW_BATCH:
		return step_batch(flow, step, error);
	case KWHY_FLOW_SPLIT:
		return kwhy_flow_ranks_step(flow, step, error);
	case KWHY_FLOW_WIDE:
		return step_wide(flow, step, error);
	default:
		return issue(flow, fused, COUNT(fused), step, 0, flow->shape.flows, error);
	}
}
