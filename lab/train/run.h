/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_TRAIN_RUN_H
#define KWHY_LAB_TRAIN_RUN_H

#include "gpu/gpu.h"
#include "lab/train/train.h"

/*
 * `train` on GPUs, in every variant: each changes one thing of another (lab/README.md). A variant is opened
 * once and then runs as often as wanted, always from the same beginning. One thread.
 */
enum { KWHY_TRAIN_RANKS_MOST = 8 };

struct kwhy_train;

struct kwhy_train_variant {
	const char *id, *title;
	const char *after;  /* the variant that it changes; NULL: the first */
	const char *change; /* what it changes */
	bool half;	    /* products of bf16 by tensor instructions; weights and moments stay fp32 */
	bool waits;	    /* reads the loss in every step */
	bool fused;	    /* AdamW where the gradient is made */
	bool graph;	    /* one graph a step */
	bool recompute;	    /* keeps activations at every so manieth layer, makes the others again */
	bool parts;	    /* takes a batch in parts and accumulates their gradients */
	bool library;	    /* products by cuBLAS */
	bool pipeline;	    /* layers apart on GPUs, through which the parts of a batch go */
	bool parallel;	    /* a share of the batch and of AdamW for each GPU */
};

extern const struct kwhy_train_variant kwhy_train_variants[];
extern const size_t kwhy_train_variant_count;

const struct kwhy_train_variant *kwhy_train_variant_find(const char *id, size_t length); /* may be NULL */

/* What one run asked of the driver. */
struct kwhy_train_tally {
	uint64_t launches, graphs, copies, waits;
};

struct kwhy_train_result {
	double run_s;  /* from the beginning to the last loss: the weights are set, then come the steps */
	float *losses; /* [shape.steps], the caller's */
	struct kwhy_train_tally tally;
};

struct kwhy_train_request {
	struct kwhy_gpu *const *gpus; /* variants that are not parallel use the first alone */
	uint32_t gpu_count;
	const struct kwhy_train_variant *variant;
	struct kwhy_train_shape shape; /* parts are of variants with parts; others take a batch at once */
	const struct kwhy_train_shape *like; /* kernels are chosen as for that shape; NULL: its own */
};

/* KWHY_E_UNSUPPORTED: not on these GPUs. */
KWHY_MUST_USE enum kwhy_status kwhy_train_open(
	const struct kwhy_train_request *request, struct kwhy_train **out, struct kwhy_error *error);
void kwhy_train_close(struct kwhy_train *train); /* NULL is allowed */

/* Who makes the products: "own kernels", "cuBLAS 13.0.2"; lent. */
const char *kwhy_train_products(const struct kwhy_train *train);

uint32_t kwhy_train_ranks(const struct kwhy_train *train); /* GPUs that it uses */

/* Memory of a GPU: in all, and of the activations that a step keeps. */
uint64_t kwhy_train_bytes(const struct kwhy_train *train);
uint64_t kwhy_train_activation_bytes(const struct kwhy_train *train);

KWHY_MUST_USE enum kwhy_status kwhy_train_run(
	struct kwhy_train *train, struct kwhy_train_result *out, struct kwhy_error *error);

/* Where it is after a run; the state is of the caller. KWHY_E_INPUT where GPUs have different weights. */
KWHY_MUST_USE enum kwhy_status kwhy_train_read(
	struct kwhy_train *train, struct kwhy_train_state *state, struct kwhy_error *error);

/* How far a run is from the reference's: relative, by the root of squares; losses: the farthest one. */
struct kwhy_train_errors {
	double loss, first, second;
	double weights; /* of how far the reference's weights have moved */
};

/*
 * Runs a request and compares it with where the reference is after that. KWHY_E_INPUT, naming the variant,
 * where they are farther apart than rounding explains.
 */
KWHY_MUST_USE enum kwhy_status kwhy_train_check(const struct kwhy_train_request *request,
	const struct kwhy_train_state *expected, struct kwhy_train_errors *out, struct kwhy_error *error);

#endif
