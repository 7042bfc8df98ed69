/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_FLOW_RUN_H
#define KWHY_LAB_FLOW_RUN_H

#include "gpu/gpu.h"
#include "lab/flow/flow.h"

/*
 * `flow` on a GPU, in every variant (lab/README.md). A variant is opened once and then runs as often as
 * wanted; where its flows are is held against the reference in every run. One thread.
 */
enum kwhy_flow_way {
	KWHY_FLOW_EACH,	 /* each flow by itself, ten launches */
	KWHY_FLOW_DENSE, /* every cell of the lattice */
	KWHY_FLOW_BATCH, /* all flows at once; the host keeps the books */
	KWHY_FLOW_SPLIT, /* the same on several GPUs, each with a part of the flows */
	KWHY_FLOW_FUSED, /* fewer kernels, and the device keeps the books */
	KWHY_FLOW_WHOLE, /* the whole run in one kernel */
	KWHY_FLOW_WIDE	 /* two kernels a step, for Hopper */
};

enum kwhy_flow_workspace { KWHY_FLOW_KEPT, KWHY_FLOW_ALLOCATED, KWHY_FLOW_POOLED };

struct kwhy_flow_variant {
	const char *id, *title;
	const char *after;  /* the variant that it changes; NULL: the first */
	const char *change; /* what it changes */
	enum kwhy_flow_way way;
	enum kwhy_flow_workspace workspace; /* in each step */
	bool graph;			    /* the whole run is one */
	bool text;			    /* who comes and who leaves does so as text of the host */
};

enum {
	KWHY_FLOW_GPUS_MOST = 16,
	KWHY_FLOW_TEXT_FLOW_STEPS = 2000000 /* of a run with a text bridge, at most: the host takes seconds */
};

extern const struct kwhy_flow_variant kwhy_flow_variants[];
extern const size_t kwhy_flow_variant_count;

const struct kwhy_flow_variant *kwhy_flow_variant_find(const char *id); /* may be NULL */

enum kwhy_flow_precision { KWHY_FLOW_FP32, KWHY_FLOW_TF32, KWHY_FLOW_BF16, KWHY_FLOW_PRECISION_COUNT };

const char *kwhy_flow_precision_name(enum kwhy_flow_precision precision); /* "fp32", "tf32", "bf16" */

/* How far the state may be from the reference: |h - reference| / |reference|. */
double kwhy_flow_tolerance(enum kwhy_flow_precision precision);

struct kwhy_flow_request {
	struct kwhy_gpu *gpu;
	struct kwhy_flow_shape shape;
	const struct kwhy_flow_variant *variant;
	enum kwhy_flow_precision precision; /* of cuBLAS, where it is used and found */
	/* Further ones, where the variant takes several; up to GPUS_MOST - 1. */
	struct kwhy_gpu *const *others;
	uint32_t other_count;
	bool by_nccl; /* what GPUs put out goes to the others by NCCL's all-gather, of parts of one size; else
			 by copies */
};

/* What one run asked of the driver. */
struct kwhy_flow_tally {
	uint64_t calls; /* of the driver and of cuBLAS */
	uint64_t launches, products, graphs, waits, allocations;
	uint64_t h2d_copies, h2d_bytes, d2h_copies, d2h_bytes;
	uint64_t peer_copies, peer_bytes; /* from GPU to GPU; the bytes also by NCCL */
	uint64_t gathers;		  /* by NCCL, of all GPUs */
	uint64_t kernels;		  /* of ours that ran, and products; a graph's included */
	uint64_t lines;			  /* of text, written and read */
};

struct kwhy_flow_result {
	double run_s;	/* from the first launch until all is done */
	double *step_s; /* [shape.steps], the caller's; NULL: not wanted */
	double busy_s;	/* of the one kernel that it is; NAN: it is many: kwhy_flow_busy() */
	struct kwhy_flow_tally tally;
};

/* Components as the source document has them; ranges of these names are in every step (lab/README.md). */
enum kwhy_flow_component {
	KWHY_FLOW_NEURON,  /* the first two layers */
	KWHY_FLOW_CARRIER, /* the recurrent unit, and what it puts out */
	KWHY_FLOW_MEMORY,  /* moves, merges and copies */
	KWHY_FLOW_TEXT,	   /* of variants that have a text bridge */
	KWHY_FLOW_COMPONENT_COUNT
};

#define KWHY_FLOW_DOCUMENT_RATIO 0.08 /* the utilisation that it gives the whole */

struct kwhy_flow_component_facts {
	const char *name;
	double document_ratio; /* the utilisation that the document gives it */
	uint32_t flop;	       /* of a flow-step */
};

extern const struct kwhy_flow_component_facts kwhy_flow_components_all[KWHY_FLOW_COMPONENT_COUNT];

/* Two runs in which the host waits for each component before the next begins. */
struct kwhy_flow_components {
	double run_s;				  /* of the first */
	double host_s[KWHY_FLOW_COMPONENT_COUNT]; /* by the host's clock, in the first */
	double busy_s[KWHY_FLOW_COMPONENT_COUNT]; /* by the device's, behind gates, in the second */
};

/* What flows carry after a run. */
struct kwhy_flow_numbers {
	double sum_h, sum_e, sum_out;
	double error_h, error_e; /* relative to the reference's length; NAN: it has none, or places differ */
	double worst_h;		 /* the largest distance of one number of a state; NAN likewise */
	uint32_t elsewhere;	 /* flows of the reference that are not where it has them */
};

struct kwhy_flow;

/* KWHY_E_UNSUPPORTED, with the cure, where this GPU or this number of flows cannot be run in that way. */
KWHY_MUST_USE enum kwhy_status kwhy_flow_open(
	const struct kwhy_flow_request *request, struct kwhy_flow **out, struct kwhy_error *error);
void kwhy_flow_close(struct kwhy_flow *flow); /* NULL is allowed */

enum kwhy_flow_precision kwhy_flow_precision(const struct kwhy_flow *flow); /* that it really has */
const char *kwhy_flow_products(const struct kwhy_flow *flow);  /* who multiplies matrices; lent */
uint64_t kwhy_flow_memory_bytes(const struct kwhy_flow *flow); /* of each GPU, at most, with the workspace */
uint32_t kwhy_flow_gpu_count(const struct kwhy_flow *flow);
bool kwhy_flow_on_device(const struct kwhy_flow *flow); /* steps are timed by the device's clock */

/*
 * One whole run. On the fixed path its places are held against `answer`, of the same shape, in every step,
 * and so is its text where both have one: KWHY_E_INPUT, naming variant and step, where they differ.
 */
KWHY_MUST_USE enum kwhy_status kwhy_flow_run(struct kwhy_flow *flow, const struct kwhy_flow_answer *answer,
	struct kwhy_flow_result *out, struct kwhy_error *error);

/*
 * Seconds that the device works in a run, were it never to wait for the host: what is queued is held behind a
 * gate and then runs by itself between two events. One more run. KWHY_E_UNSUPPORTED for variants that are one
 * kernel or on several GPUs, and where a gate does not hold.
 */
KWHY_MUST_USE enum kwhy_status kwhy_flow_busy(struct kwhy_flow *flow, const struct kwhy_flow_answer *answer,
	double *out_busy_s, struct kwhy_error *error);

/*
 * What each component takes by itself. KWHY_E_UNSUPPORTED for variants whose components the host does not
 * queue one by one on one GPU.
 */
KWHY_MUST_USE enum kwhy_status kwhy_flow_components_measure(struct kwhy_flow *flow,
	const struct kwhy_flow_answer *answer, struct kwhy_flow_components *out, struct kwhy_error *error);

/* What the last run left. */
KWHY_MUST_USE enum kwhy_status kwhy_flow_read(struct kwhy_flow *flow, const struct kwhy_flow_answer *answer,
	struct kwhy_flow_numbers *out, struct kwhy_error *error);

#endif
