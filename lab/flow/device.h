/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_FLOW_DEVICE_H
#define LAB_FLOW_DEVICE_H

#include "gpu/gpu.h"
#include "lab/flow/flow.h"

#ifndef AT /* as numbers in the host's program */
#define AT(type) uint64_t
#include "lab/one_thread.h"
#endif
#include "lab/flow/kernels/args.cu"

/* What kernels are given, and the rules of places as they have them, by the lattice in their arguments. */

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

enum {
	LAB_FLOW_TEAM = 4,	/* blocks that share the weights in the run in one launch, */
	LAB_FLOW_TILE = 32,	/* and rows that they have at once */
	LAB_FLOW_THREADS = 256, /* of a block, nearly everywhere */
	LAB_FLOW_PRODUCTS = 5
};

/* weights[WEIGHTS] and halves[HALVES] of kernels/args.cu; halves may be NULL. */
void lab_flow_weights(float *weights, uint16_t *halves);

/* On the host, of all rows: how they begin, a step up to its moves, and what they begin the next one with. */
void lab_flow_host_begin(const struct lab_flow_args *args);
void lab_flow_host_advance(const struct lab_flow_args *args, uint32_t step);
void lab_flow_host_settle(const struct lab_flow_args *args, uint32_t step);

#endif
