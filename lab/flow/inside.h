/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_FLOW_INSIDE_H
#define LAB_FLOW_INSIDE_H

#include "gpu/collectives.h"
#include "lab/flow/device.h"
#include "lab/flow/roster.h"
#include "lab/flow/run.h"
#include "lab/gate.h"
#include "vendor/cublas.h"

/* The inside of a variant that is open, for the files of this folder. */

#define LAB_FLOW_KERNEL(upper, lower) LAB_FLOW_##upper,
enum lab_flow_kernel { LAB_FLOW_KERNELS(LAB_FLOW_KERNEL) LAB_FLOW_KERNEL_COUNT };

/* The five matrices of a step. */
enum lab_flow_matrix {
	LAB_FLOW_FIRST,
	LAB_FLOW_SECOND,
	LAB_FLOW_GATES_IN,
	LAB_FLOW_GATES_HIDDEN,
	LAB_FLOW_LAST
};

enum { LAB_FLOW_BLAS_BYTES = 32 << 20 }; /* what the library asks for on the newest GPUs */

struct lab_flow {
	const struct lab_flow_variant *variant;
	struct lab_flow_shape shape;
	enum lab_flow_precision precision;
	struct kwhy_gpu *gpu;
	struct kwhy_gpu_module *module;
	const struct kwhy_gpu_kernel *kernels[LAB_FLOW_KERNEL_COUNT];
	struct kwhy_gpu_stream *stream;
	struct lab_gate gate;
	struct kwhy_gpu_graph *graph;
	struct lab_flow_tally graph_tally;
	uint64_t memory, work; /* what stays, and what the products need */
	size_t memory_bytes, work_bytes;
	struct lab_flow_args args;
	uint32_t chunk; /* slots of the dense lattice at once */
	struct kwhy_cublas cublas;
	kwhy_cublas_handle blas; /* NULL: own kernels */
	uint64_t blas_memory;
	char products[sizeof(((struct kwhy_error *)0)->text) + 32];
	struct lab_flow_roster roster; /* where the host says who merges */
	struct kwhy_gpu_host mail_memory;
	uint64_t *moved, *fresh;			/* [flows], of the mail */
	uint32_t *next, *map;				/* [flows] and [slots] */
	struct lab_flow_step *records, *device_records; /* [steps]; the latter as fetched */
	uint64_t *times;
	struct lab_flow_tally tally;
	/* On several GPUs: who has which flows; the first of them is this one. Else it is alone and has all.
	 */
	struct lab_flow *ranks[LAB_FLOW_GPUS_MOST];
	uint32_t rank_count, first, count;
	struct kwhy_collectives *group; /* of several GPUs */
};

static inline uint32_t lab_flow_slots(const struct lab_flow *flow)
{
	return flow->shape.width * flow->shape.height * flow->shape.depth + flow->shape.flows;
}

/* Lays out the workspace at an address; gives its bytes. */
size_t lab_flow_place_work(struct lab_flow *flow, uint64_t start);

/* cuBLAS, where it is there and of use; says in flow->products which it is. */
KWHY_MUST_USE enum kwhy_status lab_flow_blas_open(struct lab_flow *flow, struct kwhy_error *error);
void lab_flow_blas_close(struct lab_flow *flow);

/* Counted calls. */
KWHY_MUST_USE enum kwhy_status lab_flow_launch(struct lab_flow *flow, enum lab_flow_kernel kernel,
	uint32_t step, uint32_t first, uint32_t count, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status lab_flow_multiply(struct lab_flow *flow, enum lab_flow_matrix matrix,
	uint32_t first, uint32_t count, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status lab_flow_wait(struct lab_flow *flow, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status lab_flow_copy_in(
	struct lab_flow *flow, uint64_t to, const void *from, size_t bytes, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status lab_flow_copy_out(
	struct lab_flow *flow, void *to, uint64_t from, size_t bytes, struct kwhy_error *error);

/* At once, and not counted. */
KWHY_MUST_USE enum kwhy_status lab_flow_fetch(
	struct lab_flow *flow, void *to, uint64_t from, size_t bytes, struct kwhy_error *error);

/* The plain kernels and products of some rows, up to their moves. */
KWHY_MUST_USE enum kwhy_status lab_flow_issue_plain(
	struct lab_flow *flow, uint32_t step, uint32_t first, uint32_t count, struct kwhy_error *error);

/* What became of all rows goes to the device, and its own begin the next step. */
KWHY_MUST_USE enum kwhy_status lab_flow_settle(
	struct lab_flow *flow, const struct lab_flow_roster *roster, uint32_t step, struct kwhy_error *error);

/* Of several GPUs; each of these leaves the thread at the first. */
KWHY_MUST_USE enum kwhy_status lab_flow_ranks_open(
	struct lab_flow *flow, const struct lab_flow_request *request, struct kwhy_error *error);
void lab_flow_ranks_close(struct lab_flow *flow);
KWHY_MUST_USE enum kwhy_status lab_flow_ranks_step(
	struct lab_flow *flow, uint32_t step, struct kwhy_error *error);

/* All that the ranks have queued has run. */
KWHY_MUST_USE enum kwhy_status lab_flow_ranks_wait(struct lab_flow *flow, struct kwhy_error *error);

/* All flows begin, and nobody has been anywhere. */
KWHY_MUST_USE enum kwhy_status lab_flow_reset(struct lab_flow *flow, struct kwhy_error *error);

/* One step of a variant that is no graph and no single kernel. */
KWHY_MUST_USE enum kwhy_status lab_flow_step_issue(
	struct lab_flow *flow, uint32_t step, struct kwhy_error *error);

#endif
