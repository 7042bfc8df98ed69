/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_FLOW_INSIDE_H
#define KWHY_LAB_FLOW_INSIDE_H

#include "gpu/collectives.h"
#include "lab/flow/books.h"
#include "lab/flow/bridge.h"
#include "lab/flow/device.h"
#include "lab/flow/run.h"
#include "vendor/cublas.h"

/* The inside of a variant that is open, for the files of this folder. */

enum kwhy_flow_kernel {
	KWHY_FLOW_CELLS,
	KWHY_FLOW_INPUT,
	KWHY_FLOW_PRODUCT,
	KWHY_FLOW_RELU,
	KWHY_FLOW_BIAS,
	KWHY_FLOW_GATES_KERNEL,
	KWHY_FLOW_MOVE,
	KWHY_FLOW_SETTLE,
	KWHY_FLOW_FRONT,
	KWHY_FLOW_SPREAD,
	KWHY_FLOW_COLLECT,
	KWHY_FLOW_RUN,
	KWHY_FLOW_PACK,
	KWHY_FLOW_BOOKS,
	KWHY_FLOW_BEGIN,
	KWHY_FLOW_WIDE_GATES,
	KWHY_FLOW_CHOOSE,
	KWHY_FLOW_KERNEL_COUNT
};

/* The five matrices of a step. */
enum kwhy_flow_matrix {
	KWHY_FLOW_FIRST,
	KWHY_FLOW_SECOND,
	KWHY_FLOW_GATES_IN,
	KWHY_FLOW_GATES_HIDDEN,
	KWHY_FLOW_LAST
};

enum { KWHY_FLOW_BLAS_BYTES = 32 << 20 }; /* what the library asks for on the newest GPUs */

struct kwhy_flow {
	const struct kwhy_flow_variant *variant;
	struct kwhy_flow_shape shape;
	enum kwhy_flow_precision precision;
	struct kwhy_gpu *gpu;
	struct kwhy_gpu_module *module;
	const struct kwhy_gpu_kernel *kernels[KWHY_FLOW_KERNEL_COUNT];
	struct kwhy_gpu_stream *stream;
	struct kwhy_gpu_event *start, *end;
	struct kwhy_gpu_graph *graph;
	struct kwhy_flow_tally graph_tally;
	uint64_t memory, work; /* what stays, and what the products need */
	size_t memory_bytes, work_bytes;
	struct kwhy_flow_args args;
	uint32_t chunk; /* slots of the dense lattice at once */
	struct kwhy_cublas cublas;
	kwhy_cublas_handle blas; /* NULL: own kernels */
	uint64_t blas_memory;
	char products[sizeof(((struct kwhy_error *)0)->text) + 32];
	struct kwhy_flow_books books; /* where the host keeps them */
	struct kwhy_gpu_host mail_memory;
	uint64_t *moved, *fresh; /* [flows], of the mail */
	uint32_t *next, *map;	 /* [flows] and [slots] */
	struct kwhy_flow_bridge bridge;
	struct kwhy_flow_step *records, *device_records; /* [steps]; the latter as fetched */
	uint64_t *times;
	struct kwhy_flow_tally tally;
	struct kwhy_gpu_gate *gate; /* NULL: nothing is held back */
	bool held;
	uint32_t queued;		    /* behind it */
	double busy_ns;			    /* of what was held back */
	struct kwhy_flow_components *apart; /* each component is waited for; NULL: none is */
	int64_t began_ns;		    /* the one at hand */
	double parted_ns;		    /* of busy_ns, given to components */
	/* On several GPUs: who has which flows; the first of them is this one. Else it is alone and has all.
	 */
	struct kwhy_flow *ranks[KWHY_FLOW_GPUS_MOST];
	uint32_t rank_count, first, count;
	struct kwhy_gpu_event *settled; /* of a step: what others read may be written again */
	struct kwhy_collectives *group; /* NULL: what a rank puts out is copied to the others */
};

static inline bool kwhy_flow_has_books(const struct kwhy_flow *flow) /* on the host */
{
	return flow->variant->way < KWHY_FLOW_FUSED;
}

static inline uint32_t kwhy_flow_slots(const struct kwhy_flow *flow)
{
	const struct kwhy_flow_shape *shape = &flow->shape;

	return shape->width * shape->height * shape->depth + shape->flows;
}

/* Lays out the workspace at an address; gives its bytes. */
size_t kwhy_flow_place_work(struct kwhy_flow *flow, uint64_t start);

/* cuBLAS, where it is there and of use; says in flow->products which it is. */
KWHY_MUST_USE enum kwhy_status kwhy_flow_blas_open(struct kwhy_flow *flow, struct kwhy_error *error);
void kwhy_flow_blas_close(struct kwhy_flow *flow);

/* Counted calls. */
KWHY_MUST_USE enum kwhy_status kwhy_flow_launch(struct kwhy_flow *flow, enum kwhy_flow_kernel kernel,
	uint32_t step, uint32_t first, uint32_t count, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_flow_multiply(struct kwhy_flow *flow, enum kwhy_flow_matrix matrix,
	uint32_t first, uint32_t count, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_flow_wait(struct kwhy_flow *flow, struct kwhy_error *error);

/*
 * With a gate: what is queued from hold to release runs whole and is timed; where the queue would be too
 * long, in parts, for which whatever queues asks for room. Without one they do nothing.
 */
KWHY_MUST_USE enum kwhy_status kwhy_flow_hold(struct kwhy_flow *flow, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_flow_release(struct kwhy_flow *flow, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_flow_make_room(struct kwhy_flow *flow, struct kwhy_error *error);

/* A run whose work is held back; its time on the device is in busy_ns. */
KWHY_MUST_USE enum kwhy_status kwhy_flow_run_held(
	struct kwhy_flow *flow, const struct kwhy_flow_answer *answer, struct kwhy_error *error);

/* Around a component's part of a step: a range that recordings show. They do not nest. `status` is how it
 * went; where it went well and components run apart, it is waited for. */
void kwhy_flow_component_begin(struct kwhy_flow *flow, enum kwhy_flow_component component);
KWHY_MUST_USE enum kwhy_status kwhy_flow_component_end(struct kwhy_flow *flow,
	enum kwhy_flow_component component, enum kwhy_status status, struct kwhy_error *error);

/* The plain kernels and products of some rows, up to their moves. */
KWHY_MUST_USE enum kwhy_status kwhy_flow_issue_plain(
	struct kwhy_flow *flow, uint32_t step, uint32_t first, uint32_t count, struct kwhy_error *error);

/* Counted copies to and from the device, queued. */
KWHY_MUST_USE enum kwhy_status kwhy_flow_copy_in(
	struct kwhy_flow *flow, uint64_t to, const void *from, size_t bytes, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_flow_copy_out(
	struct kwhy_flow *flow, void *to, uint64_t from, size_t bytes, struct kwhy_error *error);

/* Of several GPUs; each of these leaves the thread at the first. */
KWHY_MUST_USE enum kwhy_status kwhy_flow_ranks_open(
	struct kwhy_flow *flow, const struct kwhy_flow_request *request, struct kwhy_error *error);
void kwhy_flow_ranks_close(struct kwhy_flow *flow);
KWHY_MUST_USE enum kwhy_status kwhy_flow_ranks_step(
	struct kwhy_flow *flow, uint32_t step, struct kwhy_error *error);

/* All that the ranks have queued has run. */
KWHY_MUST_USE enum kwhy_status kwhy_flow_ranks_wait(struct kwhy_flow *flow, struct kwhy_error *error);

/* All flows begin, and nobody has been anywhere. */
KWHY_MUST_USE enum kwhy_status kwhy_flow_reset(struct kwhy_flow *flow, struct kwhy_error *error);

/* One step of a variant that is no graph and no single kernel. */
KWHY_MUST_USE enum kwhy_status kwhy_flow_step_issue(
	struct kwhy_flow *flow, uint32_t step, struct kwhy_error *error);

#endif
