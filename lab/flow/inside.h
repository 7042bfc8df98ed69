/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_FLOW_INSIDE_H
#define LAB_FLOW_INSIDE_H

#include "gpu/collectives.h"
#include "lab/blaslt.h"
#include "lab/flow/device.h"
#include "lab/flow/run.h"
#include "lab/gate.h"

/* Internals of an open variant, for the files of this folder. */

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
	/* memory: address of the arrays that all runs use; work: address of the workspace of products */
	uint64_t memory, work;
	size_t work_bytes;
	struct lab_flow_args args;
	/*
	 * LAB_FLOW_DENSE: number of slots that are computed together. Each cell has a slot; `flows` more
	 * slots are for flows that begin in a cell whose slot another flow has.
	 */
	uint32_t chunk;
	struct lab_blaslt *blaslt;	  /* NULL: kernels of the workload make the products */
	struct kwhy_gpu_host host_memory; /* memory of the next four members */
	struct lab_flow_step *records;	  /* [steps] results of each step */
	uint64_t *times; /* [steps + 1] start of the run and end of each step by the device's clock, ns */
	uint32_t *map;	 /* [slots] row of the flow in each slot of the dense lattice */
	struct lab_flow_roster roster; /* used if the host decides which flows merge */
	struct lab_flow_tally tally;
	/*
	 * For LAB_FLOW_SPLIT, where each GPU has a struct lab_flow of its own. first_rank: the struct of the
	 * first GPU, which has the roster, the records and the tally of all GPUs; first, count: this GPU's
	 * range of rows.
	 */
	struct lab_flow *first_rank;
	uint32_t first, count;
	/* On the first GPU: the structs of all GPUs. */
	struct lab_flow *ranks[LAB_FLOW_GPUS_MAX];
	uint32_t rank_count;
	struct kwhy_collectives *group; /* NULL: the variant uses one GPU */
};

static inline uint32_t lab_flow_slots(const struct lab_flow *flow)
{
	return cells_of(&flow->shape) + flow->shape.flows;
}

/* Lays out the workspace from an address on, and returns its size in bytes. */
size_t lab_flow_place_work(struct lab_flow *flow, uint64_t start);

/*
 * lab_flow_launch() launches a kernel for `count` rows from `first` on; lab_flow_wait() waits for the stream.
 * Both are counted in the tally.
 */
KWHY_MUST_USE enum kwhy_status lab_flow_launch(struct lab_flow *flow, enum lab_flow_kernel kernel,
	uint32_t step, uint32_t first, uint32_t count, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status lab_flow_wait(
	struct lab_flow *flow, uint32_t unused, struct kwhy_error *error);

/* Copies from the GPU to the host and waits for the copy; neither is counted in the tally. */
KWHY_MUST_USE enum kwhy_status lab_flow_fetch(
	struct lab_flow *flow, void *to, uint64_t from, size_t bytes, struct kwhy_error *error);

/* Calls a function for each GPU while that GPU is current. The first GPU comes last and stays current. */
KWHY_MUST_USE enum kwhy_status lab_flow_on_each(struct lab_flow *flow,
	enum kwhy_status (*call)(struct lab_flow *rank, uint32_t step, struct kwhy_error *error),
	uint32_t step, struct kwhy_error *error);

/*
 * Prepares the memory of the GPUs and of the host for the first step of a run: every row gets a new flow, and
 * cells keep nothing of an earlier run.
 */
KWHY_MUST_USE enum kwhy_status lab_flow_reset(struct lab_flow *flow, struct kwhy_error *error);

/*
 * Makes one step of a variant that launches its steps one by one, or captures them in a graph. Variants whose
 * host decides which flows merge wait for the GPU within the step.
 */
KWHY_MUST_USE enum kwhy_status lab_flow_step_issue(
	struct lab_flow *flow, uint32_t step, struct kwhy_error *error);

#endif
