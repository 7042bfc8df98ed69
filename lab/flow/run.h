/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_FLOW_RUN_H
#define LAB_FLOW_RUN_H

#include "gpu/gpu.h"
#include "lab/flow/flow.h"

/*
 * `flow` on a GPU, in every variant (lab/README.md). A variant is opened once and then runs as often as
 * wanted; where its flows are is held against the reference in every run. One thread.
 */
enum lab_flow_method {
	LAB_FLOW_EACH,	/* each flow by itself, ten launches */
	LAB_FLOW_DENSE, /* every cell of the lattice */
	LAB_FLOW_BATCH, /* all flows in one kernel launch; the host says who merges */
	LAB_FLOW_SPLIT, /* the same on several GPUs, each with a part of the flows */
	LAB_FLOW_FUSED, /* fewer kernels, and the device says who merges */
	LAB_FLOW_WHOLE	/* the whole run in one kernel */
};

enum lab_flow_workspace { LAB_FLOW_KEPT, LAB_FLOW_ALLOCATED, LAB_FLOW_POOLED };

struct lab_flow_variant {
	const char *id, *title;
	const char *after;  /* the variant that it changes; NULL: the first */
	const char *change; /* what it changes */
	enum lab_flow_method way;
	enum lab_flow_workspace workspace; /* in each step */
	bool graph;			   /* the whole run is one */
};

extern const struct lab_flow_variant lab_flow_variants[];
extern const size_t lab_flow_variant_count;

const struct lab_flow_variant *lab_flow_variant_find(const char *id); /* may be NULL */

enum lab_flow_precision { LAB_FLOW_FP32, LAB_FLOW_TF32, LAB_FLOW_BF16, LAB_FLOW_PRECISION_COUNT };

extern const char *const lab_flow_precision_names[LAB_FLOW_PRECISION_COUNT];

enum { LAB_FLOW_GPUS_MAX = 8 };

struct lab_flow_request {
	struct kwhy_gpu *const *gpus;
	uint32_t gpu_count; /* variants that are not split use the first alone */
	struct lab_flow_shape shape;
	const struct lab_flow_variant *variant;
	enum lab_flow_precision precision; /* FP32 or TF32: of products by the library */
};

/* What an open variant really has. */
struct lab_flow_facts {
	enum lab_flow_precision precision;
	char products[sizeof(((struct kwhy_error *)0)->text) + 32]; /* who multiplies matrices */
	uint64_t memory_bytes; /* of each GPU, with the workspace; the library's aside */
};

/* What one run asked of the driver. */
struct lab_flow_tally {
	uint64_t calls; /* of the driver and of cuBLASLt; a collective counts as one */
	uint64_t waits, allocations;
	uint64_t h2d_copies, h2d_bytes, d2h_copies, d2h_bytes;
	uint64_t gathers, gathered_bytes; /* of all GPUs; bytes that came to a GPU from others */
	uint64_t kernels;		  /* of ours that ran, and products; a graph's included */
};

struct lab_flow_result {
	double run_s;	/* from the first launch until all is done */
	double *step_s; /* [shape.steps], the caller's; NULL: not wanted */
	struct lab_flow_tally tally;
};

/* What flows carry after a run. */
struct lab_flow_numbers {
	uint64_t flows, steps;	 /* of the run */
	double sum_out;		 /* of e of all that left */
	double error_h, error_e; /* relative to the reference's length; NAN: it has none, or places differ */
	double tolerance;	 /* of error_h, by the precision */
	double worst_h;		 /* the largest distance of one number of a state; NAN likewise */
	uint64_t elsewhere;	 /* flows of the reference that are not where it has them */
};

struct lab_flow;

/* KWHY_E_UNSUPPORTED, with the cure, where this GPU or this number of flows cannot be run in that way. */
KWHY_MUST_USE enum kwhy_status lab_flow_open(
	const struct lab_flow_request *request, struct lab_flow **out, struct kwhy_error *error);
void lab_flow_close(struct lab_flow *flow); /* NULL is allowed */

/* Lent. */
const struct lab_flow_facts *lab_flow_facts(const struct lab_flow *flow);

/* The device says who merges, and its clock times the steps. */
static inline bool lab_flow_on_device(const struct lab_flow_variant *variant)
{
	return variant->way >= LAB_FLOW_FUSED;
}

/*
 * One whole run. On the fixed path its places are held against `answer`, of the same shape, in every step:
 * KWHY_E_INPUT, naming variant and step, where they differ.
 */
KWHY_MUST_USE enum kwhy_status lab_flow_run(struct lab_flow *flow, const struct lab_flow_answer *answer,
	struct lab_flow_result *out, struct kwhy_error *error);

/*
 * Seconds that the device works in a run, were it never to wait for the host (lab/gate.h). One more run.
 * KWHY_E_UNSUPPORTED on several GPUs, and where a gate does not hold.
 */
KWHY_MUST_USE enum kwhy_status lab_flow_busy(struct lab_flow *flow, const struct lab_flow_answer *answer,
	double *out_busy_s, struct kwhy_error *error);

/* What the last run left. */
KWHY_MUST_USE enum kwhy_status lab_flow_read(struct lab_flow *flow, const struct lab_flow_answer *answer,
	struct lab_flow_numbers *out, struct kwhy_error *error);

#endif
