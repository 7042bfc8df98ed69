/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_FLOW_RUN_H
#define LAB_FLOW_RUN_H

#include "gpu/gpu.h"
#include "lab/flow/flow.h"

/*
 * `flow` on GPUs, in every variant (lab/README.md). An open variant can be run any number of times. On the
 * fixed path, the places of the flows are compared with the reference in every run. For one thread.
 */
enum lab_flow_method {
	LAB_FLOW_EACH,	/* each flow by itself, with ten launches per flow and step */
	LAB_FLOW_DENSE, /* every cell of the lattice, with or without a flow */
	LAB_FLOW_BATCH, /* all flows in each kernel launch; the host decides which flows merge */
	LAB_FLOW_SPLIT, /* as LAB_FLOW_BATCH on several GPUs, each of which has a part of the flows */
	LAB_FLOW_FUSED, /* as LAB_FLOW_BATCH with fewer kernels; the device decides which flows merge */
	LAB_FLOW_WHOLE	/* the whole run in one kernel launch */
};

enum lab_flow_workspace { LAB_FLOW_KEPT, LAB_FLOW_ALLOCATED, LAB_FLOW_POOLED };

struct lab_flow_variant {
	const char *id, *title;
	/* id of the variant that `change` changes to get this one; NULL: this is the first variant */
	const char *after;
	const char *change; /* what is changed, in words */
	enum lab_flow_method way;
	/* where the workspace of products is: KEPT: allocated once for all runs; ALLOCATED: allocated and
	 * freed in each step by the driver; POOLED: the same, from the driver's pool of memory */
	enum lab_flow_workspace workspace;
	bool graph; /* true: the whole run is one graph */
};

extern const struct lab_flow_variant lab_flow_variants[];
extern const size_t lab_flow_variant_count;

/* variant with an id; NULL: there is none */
const struct lab_flow_variant *lab_flow_variant_find(const char *id);

enum lab_flow_precision { LAB_FLOW_FP32, LAB_FLOW_TF32, LAB_FLOW_BF16, LAB_FLOW_PRECISION_COUNT };

extern const char *const lab_flow_precision_names[LAB_FLOW_PRECISION_COUNT];

enum { LAB_FLOW_GPUS_MAX = 8 };

struct lab_flow_request {
	struct kwhy_gpu *const *gpus;
	uint32_t gpu_count; /* number of GPUs; variants other than LAB_FLOW_SPLIT use only the first */
	struct lab_flow_shape shape;
	const struct lab_flow_variant *variant;
	/* precision of products; LAB_FLOW_FP32 or LAB_FLOW_TF32 if cuBLASLt makes them */
	enum lab_flow_precision precision;
};

/* Facts about an open variant. */
struct lab_flow_facts {
	enum lab_flow_precision precision;
	/* what makes the products of matrices */
	char products[sizeof(((struct kwhy_error *)0)->text) + 32];
	uint64_t memory_bytes; /* memory of each GPU, with the workspace of products, but without what
				  cuBLASLt allocates itself */
};

/* Counts of what a run requested from the driver. */
struct lab_flow_tally {
	uint64_t calls; /* number of calls of the driver, cuBLASLt and collectives; each counts as 1 */
	uint64_t waits, allocations;
	uint64_t h2d_copies, h2d_bytes, d2h_copies, d2h_bytes;
	/* gathers: number of all-gather operations, each over all GPUs; gathered_bytes: bytes that GPUs
	 * received from others, summed over all GPUs */
	uint64_t gathers, gathered_bytes;
	/*
	 * number of kernels of the workload and of products (also those of cuBLASLt) that ran, including
	 * those in graphs
	 */
	uint64_t kernels;
};

struct lab_flow_result {
	double run_s;	/* time from the first launch to the end of all work */
	double *step_s; /* [shape.steps] time of each step, memory of the caller; NULL: not wanted */
	struct lab_flow_tally tally;
};

/* Comparison of the numbers that flows carry after a run with those of the reference. */
struct lab_flow_numbers {
	uint64_t flows, steps; /* number of flows and steps of the run */
	double sum_out; /* sum of the simulated energies of all flows that left the lattice; not joules of a
			   GPU */
	/*
	 * error_h: Euclidean norm of the difference of all states from the reference's, divided by the norm
	 * of the reference's; error_e: the same for energies. NAN: the reference has no states, or places
	 * differ
	 */
	double error_h, error_e;
	double tolerance; /* largest error_h that the precision explains */
	double worst_h;	  /* largest distance of a single number of a state; NAN as for error_h */
	/* number of the reference's flows that this run has at another place or not at all */
	uint64_t elsewhere;
};

struct lab_flow;

/*
 * Opens a variant. KWHY_E_UNSUPPORTED: this GPU, or this number of flows, cannot be run with this variant;
 * the error states a remedy.
 */
KWHY_MUST_USE enum kwhy_status lab_flow_open(
	const struct lab_flow_request *request, struct lab_flow **out, struct kwhy_error *error);
void lab_flow_close(struct lab_flow *flow); /* NULL is allowed */

/* Facts about an open variant, borrowed from it. */
const struct lab_flow_facts *lab_flow_facts(const struct lab_flow *flow);

/* Whether the device decides which flows merge, and its clock times the steps. */
static inline bool lab_flow_on_device(const struct lab_flow_variant *variant)
{
	return variant->way >= LAB_FLOW_FUSED;
}

/*
 * Makes one whole run. On the fixed path it then compares the checksum of places and the numbers of merged
 * and exited flows of every step with those of `answer`, which must have the same shape. KWHY_E_INPUT: they
 * differ; the error names variant and step.
 */
KWHY_MUST_USE enum kwhy_status lab_flow_run(struct lab_flow *flow, const struct lab_flow_answer *answer,
	struct lab_flow_result *out, struct kwhy_error *error);

/*
 * Time that the device works in a run if it never waits for the host, s, measured in one more run with a gate
 * (lab/gate.h). KWHY_E_UNSUPPORTED: the variant is LAB_FLOW_SPLIT, or no gate can hold the work.
 */
KWHY_MUST_USE enum kwhy_status lab_flow_busy(struct lab_flow *flow, const struct lab_flow_answer *answer,
	double *out_busy_s, struct kwhy_error *error);

/*
 * Compares places, energies and states after the last run with those of `answer`, which must have the same
 * shape.
 */
KWHY_MUST_USE enum kwhy_status lab_flow_read(struct lab_flow *flow, const struct lab_flow_answer *answer,
	struct lab_flow_numbers *out, struct kwhy_error *error);

#endif
