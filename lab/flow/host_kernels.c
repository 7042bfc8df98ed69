/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "lab/flow/device.h"
#include "lab/flow/rules.h"

/* The host forms of kernels/flow/: each runs its whole grid. */

enum { E = KWHY_FLOW_ENERGIES, H = KWHY_FLOW_STATE, IN = KWHY_FLOW_INPUTS, OUT = KWHY_FLOW_OUTPUTS };

/* One launch, with the addresses as pointers. */
struct call {
	const struct kwhy_flow_args *args;
	uint32_t step, first, end;
	struct kwhy_flow_shape shape;
	const float *weights;
	float *e, *in, *u, *a, *gi, *gh, *h, *outputs, *h_rows, *outputs_rows;
	uint64_t *at, *moved, *fresh, *heads, *owners; /* of the step's half */
	uint32_t *next, *numbers;
	const uint32_t *map;
	struct kwhy_flow_step *records;
};

static void *at(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

static void find_halves(struct call *call, uint32_t step)
{
	const struct kwhy_flow_args *args = call->args;
	size_t rows = step % 2 * args->flows, cells = step % 2 * kwhy_flow_cells(&call->shape);

	call->step = step;
	call->moved = (uint64_t *)at(args->moved) + rows;
	call->fresh = (uint64_t *)at(args->fresh) + rows;
	call->next = (uint32_t *)at(args->next) + rows;
	call->heads = (uint64_t *)at(args->heads) + cells;
}

static struct call call_of(void **arguments)
{
	const struct kwhy_flow_args *args = arguments[0];
	uint32_t first = *(const uint32_t *)arguments[2];
	struct call call = {.args = args,
		.first = first,
		.end = first + *(const uint32_t *)arguments[3],
		.shape = {args->flows, args->steps, args->by_argmax, args->width, args->height, args->depth},
		.weights = at(args->weights),
		.e = at(args->e),
		.in = at(args->in),
		.u = at(args->u),
		.a = at(args->a),
		.gi = at(args->gi),
		.gh = at(args->gh),
		.h = at(args->h),
		.outputs = at(args->outputs),
		.h_rows = at(args->h_rows),
		.outputs_rows = at(args->outputs_rows),
		.at = at(args->at),
		.owners = at(args->owners),
		.numbers = at(args->numbers),
		.map = at(args->map),
		.records = at(args->records)};

	find_halves(&call, *(const uint32_t *)arguments[1]);
	return call;
}

static void run_cells(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct call call = call_of(arguments);
	float *cells = at(call.args->cells);

	(void)grid;
	for (uint32_t i = 0; i < kwhy_flow_cells(&call.shape) * KWHY_FLOW_PLACE; i++)
		cells[i] = kwhy_flow_place(i / KWHY_FLOW_PLACE, i % KWHY_FLOW_PLACE);
}

static void run_input(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct call call = call_of(arguments);

	(void)grid;
	for (size_t row = call.first; row < call.end; row++) {
		kwhy_flow_input(
			&call.shape, call.weights, call.at[row], call.e + row * E, call.in + row * IN);
		memcpy(call.a + row * IN + E, call.e + row * E, E * sizeof(*call.a));
	}
}

static void product(const struct call *call, uint32_t which)
{
	const struct {
		const float *in;
		uint32_t inputs, matrix;
		float *out;
		uint32_t outputs, stride;
	} all[KWHY_FLOW_PRODUCTS] = {{call->in, IN, KWHY_FLOW_W1, call->u, IN, IN},
		{call->u, IN, KWHY_FLOW_W2, call->a, E, IN},
		{call->a, IN, KWHY_FLOW_WI, call->gi, KWHY_FLOW_GATES, KWHY_FLOW_GATES},
		{call->h, H, KWHY_FLOW_WH, call->gh, KWHY_FLOW_GATES, KWHY_FLOW_GATES},
		{call->h, H, KWHY_FLOW_WO, call->outputs, OUT, OUT}},
	  *one = &all[which];

	for (size_t row = call->first; row < call->end; row++)
		kwhy_flow_product(one->in + row * one->inputs, call->weights + one->matrix,
			one->out + row * one->stride, one->inputs, one->outputs);
}

static void run_product(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct call call = call_of(arguments);

	(void)grid;
	product(&call, call.step);
}

static void relu(const struct call *call)
{
	for (size_t i = (size_t)call->first * IN; i < (size_t)call->end * IN; i++)
		call->u[i] = fmaxf(call->u[i] + call->weights[KWHY_FLOW_B1 + i % IN], 0);
}

static void run_relu(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct call call = call_of(arguments);

	(void)grid;
	relu(&call);
}

static void bias(const struct call *call)
{
	for (size_t row = call->first; row < call->end; row++)
		for (uint32_t k = 0; k < E; k++)
			call->a[row * IN + k] += call->weights[KWHY_FLOW_B2 + k];
}

static void run_bias(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct call call = call_of(arguments);

	(void)grid;
	bias(&call);
}

static void gates(const struct call *call)
{
	for (size_t row = call->first; row < call->end; row++)
		for (uint32_t j = 0; j < H; j++) {
			float *h = call->h + row * H + j;

			*h = kwhy_flow_gate(call->weights, call->gi + row * KWHY_FLOW_GATES,
				call->gh + row * KWHY_FLOW_GATES, j, *h);
		}
}

static void run_gates(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct call call = call_of(arguments);

	(void)grid;
	gates(&call);
}

/* --- Books, where the device keeps them: as the kernels do it --- */

static void renew(const struct call *call, uint32_t row)
{
	call->fresh[row] = (uint64_t)(call->step + 1) << 32 | call->numbers[0]++;
}

static void claim(const struct call *call, uint32_t row, uint64_t moved)
{
	uint64_t key = (uint64_t)(0xffe - call->step) << 52 | moved >> 32 << 20 | row, *owner, *head;

	if (kwhy_flow_z(moved) >= call->shape.depth) {
		renew(call, row);
		call->records[call->step].exited++;
		return;
	}
	owner = &call->owners[kwhy_flow_cell(&call->shape, moved)];
	head = &call->heads[kwhy_flow_cell(&call->shape, moved)];
	if (*owner >> 52 == 0xffe - call->step) {
		renew(call, (uint32_t)((*owner > key ? *owner : key) & 0xfffff));
		call->records[call->step].merged++;
	}
	*owner = key < *owner ? key : *owner;
	call->next[row] = *head >> 32 == call->step + 1 ? (uint32_t)*head : KWHY_FLOW_NONE;
	*head = (uint64_t)(call->step + 1) << 32 | row;
}

static void move(const struct call *call)
{
	for (uint32_t row = call->first; row < call->end; row++) {
		float *outputs = call->outputs_rows + (size_t)row * OUT;

		for (uint32_t k = 0; k < E; k++)
			outputs[k] = tanhf(outputs[k]);
		call->moved[row] = kwhy_flow_move(&call->shape, call->at[row], call->step, outputs + E);
		if (!call->args->by_row)
			claim(call, row, call->moved[row]);
	}
}

static void run_move(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct call call = call_of(arguments);

	(void)grid;
	move(&call);
}

static void begin_row(const struct call *call, uint32_t row, uint32_t number)
{
	call->at[row] = kwhy_flow_start(&call->shape, number);
	memset(call->h_rows + (size_t)row * H, 0, H * sizeof(*call->h_rows));
	for (uint32_t k = 0; k < E; k++)
		call->e[(size_t)row * E + k] = kwhy_flow_start_energy(number, k);
}

static void leave_row(const struct call *call, uint32_t row)
{
	const float *outputs = call->outputs_rows + (size_t)row * OUT;
	int64_t *out = at(call->args->out);

	for (uint32_t k = 0; kwhy_flow_z(call->moved[row]) >= call->shape.depth && k < E; k++)
		*out += (int64_t)((double)outputs[k] * 0x1p32);
}

static void stay_row(const struct call *call, uint32_t row)
{
	float *e = call->e + (size_t)row * E;
	uint32_t count = 0,
		 first = call->args->by_row
		? row
		: (uint32_t)call->heads[kwhy_flow_cell(&call->shape, call->moved[row])];

	call->at[row] = call->moved[row];
	call->records[call->step].places += kwhy_splitmix(call->moved[row]) * (2 * (uint64_t)call->step + 1);
	memset(e, 0, E * sizeof(*e));
	for (uint32_t i = first; i != KWHY_FLOW_NONE; i = call->next[i], count++)
		for (uint32_t k = 0; k < E; k++)
			e[k] += call->outputs_rows[(size_t)i * OUT + k];
	for (uint32_t k = 0; k < E; k++)
		e[k] /= (float)count;
}

static void settle(const struct call *call)
{
	uint64_t *times = at(call->args->times);

	times[call->step + 1] = (uint64_t)kwhy_clock_mono_ns();
	for (uint32_t row = call->first; row < call->end; row++)
		if (call->step == KWHY_FLOW_NONE) {
			begin_row(call, row, row);
		} else if (call->fresh[row] >> 32 == call->step + 1) {
			leave_row(call, row);
			begin_row(call, row, (uint32_t)call->fresh[row]);
		} else {
			stay_row(call, row);
		}
}

static void run_settle(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct call call = call_of(arguments);

	(void)grid;
	settle(&call);
}

static void front(const struct call *call)
{
	for (size_t row = call->first; row < call->end; row++) {
		kwhy_flow_input(
			&call->shape, call->weights, call->at[row], call->e + row * E, call->in + row * IN);
		memcpy(call->a + row * IN + E, call->e + row * E, E * sizeof(*call->a));
	}
	product(call, 0);
	relu(call);
	product(call, 1);
	bias(call);
}

static void run_front(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct call call = call_of(arguments);

	(void)grid;
	front(&call);
}

/* --- The dense lattice --- */

static void run_spread(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct call call = call_of(arguments);

	(void)grid;
	for (size_t i = 0; i < call.end - call.first; i++) {
		uint32_t row = call.map[call.first + i];
		const float *e = call.e + (size_t)row * E;

		memset(call.h + i * H, 0, H * sizeof(*call.h));
		memset(call.in + i * IN, 0, IN * sizeof(*call.in));
		memset(call.a + i * IN + E, 0, E * sizeof(*call.a));
		if (row == KWHY_FLOW_NONE)
			continue;
		memcpy(call.h + i * H, call.h_rows + (size_t)row * H, H * sizeof(*call.h));
		memcpy(call.a + i * IN + E, e, E * sizeof(*call.a));
		kwhy_flow_input(&call.shape, call.weights, call.at[row], e, call.in + i * IN);
	}
}

static void run_collect(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct call call = call_of(arguments);

	(void)grid;
	for (size_t i = 0; i < call.end - call.first; i++) {
		size_t row = call.map[call.first + i];

		if (row == KWHY_FLOW_NONE)
			continue;
		memcpy(call.h_rows + row * H, call.h + i * H, H * sizeof(*call.h));
		memcpy(call.outputs_rows + row * OUT, call.outputs + i * OUT, OUT * sizeof(*call.outputs));
	}
}

/* --- A whole run: the state is rounded as on the device, the weights are not --- */

static void round_state(const struct call *call)
{
	for (size_t i = 0; i < (size_t)call->args->flows * H; i++)
		call->h[i] = kwhy_flow_whole(kwhy_flow_half(call->h[i]));
}

static void run_run(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct call call = call_of(arguments);
	uint64_t *times = at(call.args->times);

	(void)grid;
	call.first = 0;
	call.end = call.args->flows;
	call.step = KWHY_FLOW_NONE;
	settle(&call);
	times[0] = (uint64_t)kwhy_clock_mono_ns();
	for (uint32_t step = 0; step < call.args->steps; step++) {
		find_halves(&call, step);
		front(&call);
		product(&call, 2);
		product(&call, 3);
		gates(&call);
		round_state(&call);
		product(&call, 4);
		move(&call);
		settle(&call);
	}
}

/* --- Two kernels a step: rounded as above; weights need no packing, and the books are kept as a step begins
 * --- */

static void run_pack(const struct kwhy_gpu_grid *grid, void **arguments)
{
	(void)grid;
	(void)arguments;
}

static void run_books(const struct kwhy_gpu_grid *grid, void **arguments)
{
	(void)grid;
	(void)arguments;
}

static void run_begin(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct call call = call_of(arguments);
	uint64_t *times = at(call.args->times);
	uint32_t step = call.step;

	(void)grid;
	find_halves(&call, step - 1); /* of the first step: KWHY_FLOW_NONE */
	settle(&call);
	times[step] = (uint64_t)kwhy_clock_mono_ns();
	find_halves(&call, step);
	if (step < call.args->steps)
		front(&call);
}

static void run_wide(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct call call = call_of(arguments);

	(void)grid;
	product(&call, 2);
	product(&call, 3);
	gates(&call);
	round_state(&call);
	product(&call, 4);
	if (!call.args->by_argmax)
		move(&call);
}

static void run_choose(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct call call = call_of(arguments);

	(void)grid;
	move(&call);
}

#define ROW(name)                                              \
	{                                                      \
		"kwhy_flows_" #name, run_##name,               \
		{                                              \
			sizeof(struct kwhy_flow_args), 4, 4, 4 \
		}                                              \
	}

const struct kwhy_gpu_host_kernel kwhy_flow_host_kernels[] = {
	ROW(cells),
	ROW(input),
	ROW(product),
	ROW(relu),
	ROW(bias),
	ROW(gates),
	ROW(move),
	ROW(settle),
	ROW(front),
	ROW(spread),
	ROW(collect),
	ROW(run),
	ROW(pack),
	ROW(books),
	ROW(begin),
	ROW(wide),
	ROW(choose),
	{NULL, NULL, {0}},
};
