/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_FLOW_DEVICE_H
#define LAB_FLOW_DEVICE_H

#include "gpu/gpu.h"
#include "lab/flow/flow.h"

#ifndef AT /* In the host's program, addresses in the arguments of kernels are integers. */
#define AT(type) uint64_t
#include "lab/one_thread.h"
#endif
#include "lab/kernels/mix.cu"

#include "lab/flow/kernels/args.cu"

/*
 * Kernel arguments with only the members of the shape set (numbers of flows and steps, size of the lattice).
 * The functions for places in kernels/args.cu, such as start() and cell_of(), use no others.
 */

static inline struct lab_flow_args lattice_of(const struct lab_flow_shape *shape)
{
	return (struct lab_flow_args){.flows = shape->flows,
		.steps = shape->steps,
		.by_argmax = shape->by_argmax,
		.width = shape->width,
		.height = shape->height,
		.depth = shape->depth};
}

static inline uint32_t cells_of(const struct lab_flow_shape *shape)
{
	return shape->width * shape->height * shape->depth;
}

/* Adds a product to the outputs: out[outputs] += in[inputs] matrix[inputs][outputs]. */
static inline void lab_flow_add_product(
	const float *in, uint32_t inputs, const float *matrix, uint32_t outputs, float *restrict out)
{
	for (uint32_t k = 0; k < inputs; k++, matrix += outputs)
		for (uint32_t j = 0; j < outputs; j++)
			out[j] += in[k] * matrix[j];
}

/*
 * Computes all weights of the network into weights[WEIGHTS], at the positions that kernels/args.cu defines
 * (W1, B1 and so on).
 */
void lab_flow_weights(float *weights);

#endif
