/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_FLOW_RULES_H
#define LAB_FLOW_RULES_H

#include "lab/one_thread.h"

#include "lab/flow/kernels/args.cu"
#include "lab/flow/kernels/claims.cu"

#include "lab/flow/flow.h"

/* The rules of `flow` as the kernels have them: who is where, by the lattice in their arguments. */

static inline struct args lattice_of(const struct lab_flow_shape *shape)
{
	return (struct args){.flows = shape->flows,
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

#endif
