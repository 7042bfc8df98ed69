/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_FLOW_INSIDE_H
#define LAB_FLOW_INSIDE_H

#include "gpu/collectives.h"
#include "lab/blaslt.h"
#include "lab/flow/device.h"
#include "lab/flow/run.h"
#include "lab/gate.h"

/* The inside of a variant that is open, for the files of this folder. */

#define LAB_FLOW_KERNEL(upper, lower, threads) LAB_FLOW_##upper,
enum lab_flow_kernel { LAB_FLOW_KERNELS(LAB_FLOW_KERNEL) LAB_FLOW_KERNEL_COUNT };

struct lab_flow {
	const struct lab_flow_variant *variant;
	struct lab_flow_shape shape;
	struct lab_flow_facts facts;
	struct kwhy_gpu *gpu;
	struct kwhy_gpu_module *module;
	const struct kwhy_gpu_kernel *kernels[LAB_FLOW_KERNEL_COUNT];
	struct kwhy_gpu_stream *stream;
	struct lab_gate gate;
	struct kwhy_gpu_graph *graph;
	uint64_t graph_kernels;
	uint64_t memory, work; /* what stays, and what the products need */
	size_t work_bytes;
	struct lab_flow_args args;
	uint32_t chunk;			  /* slots of the dense lattice at once */
	struct lab_blaslt *blaslt;	  /* NULL: own kernels */
	struct kwhy_gpu_host host_memory; /* of the next four */
	struct lab_flow_step *records;	  /* [steps] */
	uint64_t *times;		  /* [steps + 1] */
	uint32_t *map;			  /* [slots], of the dense lattice */
	struct lab_flow_roster roster;	  /* where the host says who merges */
	struct lab_flow_tally tally;
	/* Of each of several GPUs: the first one's, which has the roster, the records and the tally for all,
	 * and the part of the flows. */
	struct lab_flow *first_rank;
	uint32_t first, count;
	/* Of the first. */
	struct lab_flow *ranks[LAB_FLOW_GPUS_MAX];
	uint32_t rank_count;
	struct kwhy_collectives *group; /* NULL: it is alone */
};

static inline uint32_t lab_flow_slots(const struct lab_flow *flow)
{
	return cells_of(&flow->shape) + flow->shape.flows;
}

/* Lays out the workspace at an address; gives its bytes. */
size_t lab_flow_place_work(struct lab_flow *flow, uint64_t start);

/* Counted calls. */
KWHY_MUST_USE enum kwhy_status lab_flow_launch(struct lab_flow *flow, enum lab_flow_kernel kernel,
	uint32_t step, uint32_t first, uint32_t count, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status lab_flow_wait(
	struct lab_flow *flow, uint32_t unused, struct kwhy_error *error);

/* At once, and not counted. */
KWHY_MUST_USE enum kwhy_status lab_flow_fetch(
	struct lab_flow *flow, void *to, uint64_t from, size_t bytes, struct kwhy_error *error);

/* Calls for each GPU, with the thread there; the first is the last, and the thread stays there. */
KWHY_MUST_USE enum kwhy_status lab_flow_on_each(struct lab_flow *flow,
	enum kwhy_status (*call)(struct lab_flow *rank, uint32_t step, struct kwhy_error *error),
	uint32_t step, struct kwhy_error *error);

/* All flows begin, and nobody has been anywhere. */
KWHY_MUST_USE enum kwhy_status lab_flow_reset(struct lab_flow *flow, struct kwhy_error *error);

/* One step of a variant that is no graph and no single kernel. */
KWHY_MUST_USE enum kwhy_status lab_flow_step_issue(
	struct lab_flow *flow, uint32_t step, struct kwhy_error *error);

#endif
