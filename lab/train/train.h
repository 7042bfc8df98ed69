/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_TRAIN_TRAIN_H
#define LAB_TRAIN_TRAIN_H

#include "lab/numbers.h"
#include "lab/workload.h"

/* `train`, the training of a perceptron (lab/README.md): `layers` square linear layers with biases, a
 * rectifier between them, cross entropy over as many classes as a layer is wide, and AdamW. A run goes
 * `steps` steps from the same beginning, over the samples again and again. */
enum { LAB_TRAIN_WIDTH = 4096, LAB_TRAIN_LAYERS = 2, LAB_TRAIN_BATCH = 64, LAB_TRAIN_PARTS = 4 };
enum { LAB_TRAIN_SAMPLES = 2048, LAB_TRAIN_STEPS = 96 /* three times over them */, LAB_TRAIN_SEED = 42 };
enum { LAB_TRAIN_WIDTH_MAX = 32768, LAB_TRAIN_LAYERS_MAX = 64, LAB_TRAIN_BATCH_MAX = 65536 };
enum { LAB_TRAIN_STEPS_MAX = 4096, LAB_TRAIN_RANKS_MAX = 8 };

/* torch.optim.AdamW's defaults. */
#define LAB_TRAIN_RATE 1e-3f
#define LAB_TRAIN_DECAY_RATE 1e-2f
#define LAB_TRAIN_BETA1 0.9f
#define LAB_TRAIN_BETA2 0.999f
#define LAB_TRAIN_EPSILON 1e-8f

struct lab_train_shape {
	uint32_t width;	  /* a multiple of 32 */
	uint32_t layers;  /* 1 and more */
	uint32_t batch;	  /* samples a step; a multiple of 8 times `parts` */
	uint32_t parts;	  /* of a batch, where gradients are accumulated */
	uint32_t samples; /* a multiple of the batch */
	uint32_t steps;
};

/* KWHY_E_INPUT, with what is allowed. */
KWHY_MUST_USE enum kwhy_status lab_train_shape_check(
	const struct lab_train_shape *shape, struct kwhy_error *error);

/* Of all layers: the matrices [layers][width out][width in], then the biases [layers][width]. */
static inline size_t lab_train_weight_count(const struct lab_train_shape *shape)
{
	return (size_t)shape->layers * shape->width * (shape->width + 1u);
}

/* Multiplications and additions that a step needs: forward, and backward to every matrix and to every input
 * but the first layer's. */
static inline double lab_train_step_flop(const struct lab_train_shape *shape)
{
	return 2.0 * shape->batch * shape->width * shape->width * (3.0 * shape->layers - 1);
}

/* Where a run is after its steps. */
struct lab_train_state {
	float *weights;	       /* [lab_train_weight_count()] */
	float *first, *second; /* AdamW's moments, as the weights */
	double *losses;	       /* [steps]: mean of the step's batch, before its update */
};

KWHY_MUST_USE enum kwhy_status lab_train_state_new(
	const struct lab_train_shape *shape, struct lab_train_state *out, struct kwhy_error *error);
void lab_train_state_done(struct lab_train_state *state);

/* On one core in fp32, plainly. The state is of the caller. Parts make no difference to it. */
KWHY_MUST_USE enum kwhy_status lab_train_reference(
	const struct lab_train_shape *shape, struct lab_train_state *state, struct kwhy_error *error);

/* Loss and gradient of one batch at the given weights: out_gradient[lab_train_weight_count()]. */
KWHY_MUST_USE enum kwhy_status lab_train_gradient(const struct lab_train_shape *shape, uint32_t step,
	const float *weights, float *out_gradient, double *out_loss, struct kwhy_error *error);

enum lab_train_batches {
	LAB_TRAIN_PAGEABLE,  /* copied from pageable memory, and waited for */
	LAB_TRAIN_PINNED,    /* from page-locked memory, not waited for */
	LAB_TRAIN_PREFETCHED /* the next batch by a stream of its own, during the step */
};

/* Each changes one thing of another. */
struct lab_train_variant {
	const char *id, *title;
	const char *after;    /* the variant that it changes; NULL: the first */
	const char *change;   /* what it changes */
	enum lab_number type; /* of the products' factors; weights, sums and moments are fp32 */
	enum lab_train_batches batches;
	bool queued;	/* losses stay on the GPU until the run's end */
	bool fused;	/* AdamW by one kernel */
	bool graph;	/* one graph a step */
	bool recompute; /* keeps activations at every n-th layer, computes the others again */
	bool parts;	/* takes a batch in parts and adds up their gradients */
	bool parallel;	/* a share of the batch for each GPU; gradients are added up over GPUs */
};

extern const struct lab_train_variant lab_train_variants[];
extern const size_t lab_train_variant_count;

struct lab_train_request {
	struct kwhy_gpu *const *gpus; /* variants that are not parallel use the first alone */
	uint32_t gpu_count;
	const struct lab_train_variant *variant;
	struct lab_train_shape shape; /* parts are of variants with parts; others take a batch at once */
};

/* A training that is open runs as often as wanted, always from the same beginning. One thread. */
struct lab_train;

/* KWHY_E_UNSUPPORTED: not on these GPUs. */
KWHY_MUST_USE enum kwhy_status lab_train_open(
	const struct lab_train_request *request, struct lab_train **out, struct kwhy_error *error);
void lab_train_close(struct lab_train *train); /* NULL is allowed */

struct lab_train_facts {
	const char *products; /* who makes them: "cuBLASLt 13.0.2"; borrowed */
	const char *adds;     /* who adds up gradients over GPUs: "nccl", "own"; NULL: one GPU */
	/* Memory of a GPU: in all, without the library's, and of the activations that a step keeps. */
	uint64_t bytes, activation_bytes;
};

void lab_train_facts(const struct lab_train *train, struct lab_train_facts *out);

/* From the beginning to the last loss: the weights are set, then come the steps. out_losses[shape.steps] */
KWHY_MUST_USE enum kwhy_status lab_train_run(
	struct lab_train *train, float *out_losses, double *out_run_s, struct kwhy_error *error);

/* Where it is after a run, as one of its GPUs has it, but for the losses; the state is of the caller. */
KWHY_MUST_USE enum kwhy_status lab_train_read(
	struct lab_train *train, uint32_t gpu, struct lab_train_state *state, struct kwhy_error *error);

/* How far a run is from the reference: relative, by the root of squares; losses: the farthest one. */
struct lab_train_errors {
	double loss, first, second;
	double weights; /* of how far the reference's weights have moved */
};

/* Runs a request and compares it with where the reference is after that. KWHY_E_INPUT, naming the variant,
 * where they are farther apart than rounding explains. */
KWHY_MUST_USE enum kwhy_status lab_train_check(const struct lab_train_request *request,
	const struct lab_train_state *expected, struct lab_train_errors *out, struct kwhy_error *error);

/* Options of the command; counts that are KWHY_COUNT_NOT_GIVEN are as in the guide, or small on the host. */
struct lab_train_options {
	struct lab_options shared;
	uint64_t dp, width, layers, batch, parts, samples, steps, check_width;
};

#endif
