/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/one_thread.h"

#include "lab/kernels/flow.cu"

#include "lab/flow/device.h"
#include "lab/kernels.h"
#include "lab/numbers.h"

/*
 * The kernels for the host, which are the GPU's code compiled as C. Only two are written anew: the product,
 * with an order of loops that suits a processor core, and the kernel of a whole run, whose threads wait for
 * each other on a GPU.
 */

static void multiply(const struct lab_flow_args a, u32 which, u32 first, u32 count)
{
	const struct lab_flow_product p = product_of(&a, which);

	memset(p.out + (size_t)first * p.outputs, 0, (size_t)count * p.outputs * sizeof(*p.out));
	for (size_t row = first; row < first + count; row++)
		lab_flow_add_product(p.in + row * p.inputs, p.inputs, a.weights + p.matrix, p.outputs,
			p.out + row * p.outputs);
}

/*
 * A whole run in one launch. After each step it rounds the states to bfloat16, since the GPU's kernel keeps
 * them in that type for its tensor cores.
 */
static void run(const struct lab_flow_args a, u32 unused, u32 first, u32 count)
{
	(void)unused, (void)first, (void)count;
	lab_flows_settle(a, NONE, 0, a.flows);
	for (u32 step = 0; step < a.steps; step++) {
		lab_flows_front(a, step, 0, a.flows);
		multiply(a, GATES_IN, 0, a.flows);
		multiply(a, GATES_HIDDEN, 0, a.flows);
		lab_flows_gates(a, step, 0, a.flows);
		for (size_t i = 0; i < (size_t)a.flows * H; i++)
			a.h[i] = lab_from_bf16(lab_to_bf16(a.h[i]));
		multiply(a, LAST, 0, a.flows);
		lab_flows_move(a, step, 0, a.flows);
		lab_flows_settle(a, step, 0, a.flows);
	}
}

#define lab_flows_product multiply
#define lab_flows_run run

#define WRAP(upper, lower, threads)                                                                  \
	static void run_##lower(const struct kwhy_gpu_grid *grid, void **arguments)                  \
	{                                                                                            \
		(void)grid;                                                                          \
		lab_flows_##lower(*(const struct lab_flow_args *)arguments[0], *(u32 *)arguments[1], \
			*(u32 *)arguments[2], *(u32 *)arguments[3]);                                 \
	}
#define ROW(upper, lower, threads) \
	{"lab_flows_" #lower, run_##lower, {sizeof(struct lab_flow_args), 4, 4, 4}},

LAB_FLOW_KERNELS(WRAP)

const struct kwhy_gpu_host_kernel lab_flow_host_kernels[] = {LAB_FLOW_KERNELS(ROW){NULL, NULL, {0}}};
