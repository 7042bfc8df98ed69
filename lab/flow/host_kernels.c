/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "lab/flow/device.h"
#include "lab/flow/rules.h"

/* The host forms of kernels/: each runs its whole grid. */

enum {
	E = LAB_FLOW_ENERGIES,
	H = LAB_FLOW_STATE,
	IN = LAB_FLOW_INPUTS,
	OUT = LAB_FLOW_OUTPUTS,
	GATES = LAB_FLOW_GATES
};

/* One launch, with the addresses as pointers. */
struct call {
	const struct lab_flow_args *args;
	uint32_t step, first, end;
	struct lab_flow_shape shape;
	const float *weights;
	float *e, *in, *u, *a, *gi, *gh, *h, *outputs, *h_rows, *outputs_rows;
	uint64_t *at, *moved, *fresh, *heads, *owners; /* of the step's half */
	uint32_t *next, *numbers;
	const uint32_t *map;
	struct lab_flow_step *records;
};

static struct call call_for(const struct lab_flow_args *args, uint32_t step, uint32_t first, uint32_t count)
{
	struct call call = {.args = args,
		.step = step,
		.first = first,
		.end = first + count,
		.shape = {args->flows, args->steps, args->by_argmax, args->width, args->height, args->depth},
		.weights = kwhy_gpu_at(args->weights),
		.e = kwhy_gpu_at(args->e),
		.in = kwhy_gpu_at(args->in),
		.u = kwhy_gpu_at(args->u),
		.a = kwhy_gpu_at(args->a),
		.gi = kwhy_gpu_at(args->gi),
		.gh = kwhy_gpu_at(args->gh),
		.h = kwhy_gpu_at(args->h),
		.outputs = kwhy_gpu_at(args->outputs),
		.h_rows = kwhy_gpu_at(args->h_rows),
		.outputs_rows = kwhy_gpu_at(args->outputs_rows),
		.at = kwhy_gpu_at(args->at),
		.owners = kwhy_gpu_at(args->owners),
		.numbers = kwhy_gpu_at(args->numbers),
		.map = kwhy_gpu_at(args->map),
		.records = kwhy_gpu_at(args->records)};
	size_t rows = step % 2 * args->flows, cells = step % 2 * lab_flow_cells(&call.shape);

	call.moved = (uint64_t *)kwhy_gpu_at(args->moved) + rows;
	call.fresh = (uint64_t *)kwhy_gpu_at(args->fresh) + rows;
	call.next = (uint32_t *)kwhy_gpu_at(args->next) + rows;
	call.heads = (uint64_t *)kwhy_gpu_at(args->heads) + cells;
	return call;
}

/* The body of a kernel, and what a back end calls. */
#define KERNEL(name)                                                                       \
	static void name(const struct call *call);                                         \
	static void run_##name(const struct kwhy_gpu_grid *grid, void **arguments)         \
	{                                                                                  \
		const struct call call = call_for(arguments[0], *(uint32_t *)arguments[1], \
			*(uint32_t *)arguments[2], *(uint32_t *)arguments[3]);             \
                                                                                           \
		(void)grid;                                                                \
		name(&call);                                                               \
	}                                                                                  \
	static void name(const struct call *call)

KERNEL(cells)
{
	float *cells = kwhy_gpu_at(call->args->cells);

	for (uint32_t i = 0; i < lab_flow_cells(&call->shape) * LAB_FLOW_PLACE; i++)
		cells[i] = lab_flow_place(i / LAB_FLOW_PLACE, i % LAB_FLOW_PLACE);
}

KERNEL(input)
{
	for (size_t row = call->first; row < call->end; row++) {
		lab_flow_input(
			&call->shape, call->weights, call->at[row], call->e + row * E, call->in + row * IN);
		memcpy(call->a + row * IN + E, call->e + row * E, E * sizeof(*call->a));
	}
}

static void multiply(const struct call *call, uint32_t which)
{
	const struct {
		const float *in;
		uint32_t inputs, matrix;
		float *out;
		uint32_t outputs, stride;
	} all[LAB_FLOW_PRODUCTS] = {{call->in, IN, LAB_FLOW_W1, call->u, IN, IN},
		{call->u, IN, LAB_FLOW_W2, call->a, E, IN},
		{call->a, IN, LAB_FLOW_WI, call->gi, GATES, GATES},
		{call->h, H, LAB_FLOW_WH, call->gh, GATES, GATES},
		{call->h, H, LAB_FLOW_WO, call->outputs, OUT, OUT}},
	  *one = &all[which];

	for (size_t row = call->first; row < call->end; row++)
		lab_flow_product(one->in + row * one->inputs, call->weights + one->matrix,
			one->out + row * one->stride, one->inputs, one->outputs);
}

KERNEL(product)
{
	multiply(call, call->step);
}

KERNEL(relu)
{
	for (size_t i = (size_t)call->first * IN; i < (size_t)call->end * IN; i++)
		call->u[i] = fmaxf(call->u[i] + call->weights[LAB_FLOW_B1 + i % IN], 0);
}

KERNEL(bias)
{
	for (size_t row = call->first; row < call->end; row++)
		for (uint32_t k = 0; k < E; k++)
			call->a[row * IN + k] += call->weights[LAB_FLOW_B2 + k];
}

KERNEL(gates)
{
	for (size_t row = call->first; row < call->end; row++)
		for (uint32_t j = 0; j < H; j++) {
			float *h = call->h + row * H + j;

			*h = lab_flow_gate(
				call->weights, call->gi + row * GATES, call->gh + row * GATES, j, *h);
		}
}

KERNEL(front)
{
	input(call);
	multiply(call, 0);
	relu(call);
	multiply(call, 1);
	bias(call);
}

/* --- Who leaves, merges or stays, where the device decides: as the kernels do it --- */

static void renew(const struct call *call, uint32_t row)
{
	call->fresh[row] = (uint64_t)(call->step + 1) << 32 | call->numbers[0]++;
}

static void claim(const struct call *call, uint32_t row, uint64_t moved)
{
	uint64_t key = (uint64_t)(0xffe - call->step) << 52 | moved >> 32 << 20 | row, *owner, *head;

	if (lab_flow_z(moved) >= call->shape.depth) {
		renew(call, row);
		call->records[call->step].exited++;
		return;
	}
	owner = &call->owners[lab_flow_cell(&call->shape, moved)];
	head = &call->heads[lab_flow_cell(&call->shape, moved)];
	if (*owner >> 52 == 0xffe - call->step) {
		renew(call, (uint32_t)((*owner > key ? *owner : key) & 0xfffff));
		call->records[call->step].merged++;
	}
	*owner = key < *owner ? key : *owner;
	call->next[row] = *head >> 32 == call->step + 1 ? (uint32_t)*head : LAB_FLOW_NONE;
	*head = (uint64_t)(call->step + 1) << 32 | row;
}

KERNEL(move)
{
	for (uint32_t row = call->first; row < call->end; row++) {
		float *outputs = call->outputs_rows + (size_t)row * OUT;

		for (uint32_t k = 0; k < E; k++)
			outputs[k] = tanhf(outputs[k]);
		call->moved[row] = lab_flow_move(&call->shape, call->at[row], call->step, outputs + E);
		if (!call->args->by_row)
			claim(call, row, call->moved[row]);
	}
}

static void begin_row(const struct call *call, uint32_t row, uint32_t number)
{
	call->at[row] = lab_flow_start(&call->shape, number);
	memset(call->h_rows + (size_t)row * H, 0, H * sizeof(*call->h_rows));
	for (uint32_t k = 0; k < E; k++)
		call->e[(size_t)row * E + k] = lab_flow_start_energy(number, k);
}

static void leave_row(const struct call *call, uint32_t row)
{
	const float *outputs = call->outputs_rows + (size_t)row * OUT;
	int64_t *out = kwhy_gpu_at(call->args->out);

	for (uint32_t k = 0; lab_flow_z(call->moved[row]) >= call->shape.depth && k < E; k++)
		*out += (int64_t)((double)outputs[k] * 0x1p32);
}

static void stay_row(const struct call *call, uint32_t row)
{
	float *e = call->e + (size_t)row * E;
	uint32_t count = 0, first = row;

	if (!call->args->by_row)
		first = (uint32_t)call->heads[lab_flow_cell(&call->shape, call->moved[row])];
	call->at[row] = call->moved[row];
	call->records[call->step].places += kwhy_splitmix(call->moved[row]) * (2 * (uint64_t)call->step + 1);
	memset(e, 0, E * sizeof(*e));
	for (uint32_t i = first; i != LAB_FLOW_NONE; i = call->next[i], count++)
		for (uint32_t k = 0; k < E; k++)
			e[k] += call->outputs_rows[(size_t)i * OUT + k];
	for (uint32_t k = 0; k < E; k++)
		e[k] /= (float)count;
}

KERNEL(settle)
{
	uint64_t *times = kwhy_gpu_at(call->args->times);

	times[call->step + 1] = (uint64_t)kwhy_clock_mono_ns();
	for (uint32_t row = call->first; row < call->end; row++)
		if (call->step == LAB_FLOW_NONE) {
			begin_row(call, row, row);
		} else if (call->fresh[row] >> 32 == call->step + 1) {
			leave_row(call, row);
			begin_row(call, row, (uint32_t)call->fresh[row]);
		} else {
			stay_row(call, row);
		}
}

/* --- The dense lattice --- */

KERNEL(spread)
{
	for (size_t i = 0; i < call->end - call->first; i++) {
		uint32_t row = call->map[call->first + i];
		const float *e = call->e + (size_t)row * E;

		memset(call->h + i * H, 0, H * sizeof(*call->h));
		memset(call->in + i * IN, 0, IN * sizeof(*call->in));
		memset(call->a + i * IN + E, 0, E * sizeof(*call->a));
		if (row == LAB_FLOW_NONE)
			continue;
		memcpy(call->h + i * H, call->h_rows + (size_t)row * H, H * sizeof(*call->h));
		memcpy(call->a + i * IN + E, e, E * sizeof(*call->a));
		lab_flow_input(&call->shape, call->weights, call->at[row], e, call->in + i * IN);
	}
}

KERNEL(collect)
{
	for (size_t i = 0; i < call->end - call->first; i++) {
		size_t row = call->map[call->first + i];

		if (row == LAB_FLOW_NONE)
			continue;
		memcpy(call->h_rows + row * H, call->h + i * H, H * sizeof(*call->h));
		memcpy(call->outputs_rows + row * OUT, call->outputs + i * OUT, OUT * sizeof(*call->outputs));
	}
}

/* --- All of a step, and a whole run --- */

/* `rounded`: the state is bfloat16, as on tensor cores; the weights are not. */
static void advance(const struct call *call, bool rounded)
{
	front(call);
	multiply(call, 2);
	multiply(call, 3);
	gates(call);
	for (size_t i = 0; rounded && i < (size_t)call->args->flows * H; i++)
		call->h[i] = lab_flow_whole(lab_flow_half(call->h[i]));
	multiply(call, 4);
	move(call);
}

void lab_flow_host_advance(const struct lab_flow_args *args, uint32_t step)
{
	const struct call call = call_for(args, step, 0, args->flows);

	advance(&call, false);
}

void lab_flow_host_settle(const struct lab_flow_args *args, uint32_t step)
{
	const struct call call = call_for(args, step, 0, args->flows);

	settle(&call);
}

KERNEL(run)
{
	const struct lab_flow_args *args = call->args;
	uint64_t *times = kwhy_gpu_at(args->times);

	lab_flow_host_settle(args, LAB_FLOW_NONE);
	times[0] = (uint64_t)kwhy_clock_mono_ns();
	for (uint32_t step = 0; step < args->steps; step++) {
		const struct call now = call_for(args, step, 0, args->flows);

		advance(&now, true);
		settle(&now);
	}
}

#define ROW(name)                                             \
	{                                                     \
		"lab_flows_" #name, run_##name,               \
		{                                             \
			sizeof(struct lab_flow_args), 4, 4, 4 \
		}                                             \
	}

const struct kwhy_gpu_host_kernel lab_flow_host_kernels[] = {
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
	{NULL, NULL, {0}},
};
