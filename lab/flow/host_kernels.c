/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/one_thread.h"

#include "lab/kernels/flow.cu"

#include "lab/flow/device.h"
#include "lab/kernels.h"

/* The kernels for the host. Two have forms of their own: products, whose order of loops suits a core, and
 * the run in one launch, whose threads need each other. */

static void multiply_row(const float *from, const float *matrix, float *restrict to, u32 inputs, u32 outputs)
{
	memset(to, 0, outputs * sizeof(*to));
	for (u32 k = 0; k < inputs; k++, matrix += outputs)
		for (u32 j = 0; j < outputs; j++)
			to[j] += from[k] * matrix[j];
}

static void multiply(const struct lab_flow_args a, u32 which, u32 first, u32 count)
{
	const struct {
		const float *in;
		u32 inputs, matrix;
		float *out;
		u32 outputs, stride;
	} all[LAB_FLOW_PRODUCTS] = {{a.in, IN, W1, a.u, IN, IN}, {a.u, IN, W2, a.a, E, IN},
		{a.a, IN, WI, a.gi, GATES, GATES}, {a.h, H, WH, a.gh, GATES, GATES},
		{a.h, H, WO, a.outputs, OUT, OUT}},
	  *one = &all[which];

	for (size_t row = first; row < first + count; row++)
		multiply_row(one->in + row * one->inputs, a.weights + one->matrix,
			one->out + row * one->stride, one->inputs, one->outputs);
}

static float rounded(float value)
{
	u32 bits = __float_as_uint(value);

	bits = (bits + 0x7fff + (bits >> 16 & 1)) >> 16 << 16;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* A step of all rows up to their moves; `halves`: the state is bfloat16, as on tensor cores. */
static void advance(const struct lab_flow_args *a, u32 step, bool halves)
{
	u32 count = a->flows;

	lab_flows_input(*a, step, 0, count);
	multiply(*a, 0, 0, count);
	lab_flows_relu(*a, step, 0, count);
	multiply(*a, 1, 0, count);
	lab_flows_bias(*a, step, 0, count);
	multiply(*a, 2, 0, count);
	multiply(*a, 3, 0, count);
	lab_flows_gates(*a, step, 0, count);
	for (size_t i = 0; halves && i < (size_t)count * H; i++)
		a->h[i] = rounded(a->h[i]);
	multiply(*a, 4, 0, count);
	lab_flows_move(*a, step, 0, count);
}

static void run(const struct lab_flow_args a, u32 unused, u32 first, u32 count)
{
	(void)unused, (void)first, (void)count;
	lab_flows_settle(a, NONE, 0, a.flows);
	for (u32 step = 0; step < a.steps; step++) {
		advance(&a, step, true);
		lab_flows_settle(a, step, 0, a.flows);
	}
}

void lab_flow_host_begin(const struct lab_flow_args *args)
{
	lab_flows_cells(*args, 0, 0, 0);
	lab_flows_settle(*args, NONE, 0, args->flows);
}

void lab_flow_host_advance(const struct lab_flow_args *args, uint32_t step)
{
	advance(args, step, false);
}

void lab_flow_host_settle(const struct lab_flow_args *args, uint32_t step)
{
	lab_flows_settle(*args, step, 0, args->flows);
}

#define lab_flows_product multiply
#define lab_flows_run run

#define WRAP(upper, lower)                                                                           \
	static void run_##lower(const struct kwhy_gpu_grid *grid, void **arguments)                  \
	{                                                                                            \
		(void)grid;                                                                          \
		lab_flows_##lower(*(const struct lab_flow_args *)arguments[0], *(u32 *)arguments[1], \
			*(u32 *)arguments[2], *(u32 *)arguments[3]);                                 \
	}
#define ROW(upper, lower) {"lab_flows_" #lower, run_##lower, {sizeof(struct lab_flow_args), 4, 4, 4}},

LAB_FLOW_KERNELS(WRAP)

const struct kwhy_gpu_host_kernel lab_flow_host_kernels[] = {LAB_FLOW_KERNELS(ROW){NULL, NULL, {0}}};
