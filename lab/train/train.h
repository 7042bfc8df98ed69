/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_TRAIN_TRAIN_H
#define LAB_TRAIN_TRAIN_H

#include "lab/numbers.h"
#include "lab/workload.h"

/*
 * `train`, the training of a perceptron (lab/README.md): `layers` square linear layers with biases and ReLU
 * between them, cross entropy over as many classes as a layer is wide, and AdamW. A run starts from the same
 * weights every time and makes `steps` steps, each with the next batch; after the last sample comes the first
 * again.
 */
enum { LAB_TRAIN_WIDTH = 4096, LAB_TRAIN_LAYERS = 2, LAB_TRAIN_BATCH = 64, LAB_TRAIN_PARTS = 4 };
enum {
	LAB_TRAIN_SAMPLES = 2048,
	LAB_TRAIN_STEPS = 96 /* three passes over the samples */,
	LAB_TRAIN_SEED = 42
};
enum { LAB_TRAIN_WIDTH_MAX = 32768, LAB_TRAIN_LAYERS_MAX = 64, LAB_TRAIN_BATCH_MAX = 65536 };
enum { LAB_TRAIN_STEPS_MAX = 4096, LAB_TRAIN_RANKS_MAX = 8 };

/* Hyperparameters, the defaults of torch.optim.AdamW. */
#define LAB_TRAIN_RATE 1e-3f
#define LAB_TRAIN_DECAY_RATE 1e-2f
#define LAB_TRAIN_BETA1 0.9f
#define LAB_TRAIN_BETA2 0.999f
#define LAB_TRAIN_EPSILON 1e-8f

struct lab_train_shape {
	uint32_t width;	 /* inputs and outputs of each layer; a multiple of 32 */
	uint32_t layers; /* at least 1 */
	uint32_t batch;	 /* samples in a step; a multiple of 8 times `parts` */
	/* number of parts into which variants with `parts` divide a batch, one after the other; at least 1 */
	uint32_t parts;
	uint32_t samples; /* number of different samples; a multiple of `batch` */
	uint32_t steps;
};

/* Checks a shape. KWHY_E_INPUT: it is not allowed; the error states what is. */
KWHY_MUST_USE enum kwhy_status lab_train_shape_check(
	const struct lab_train_shape *shape, struct kwhy_error *error);

/*
 * Number of weights of all layers: of the matrices [layers][width out][width in], then of the biases
 * [layers][width].
 */
static inline size_t lab_train_weight_count(const struct lab_train_shape *shape)
{
	return (size_t)shape->layers * shape->width * (shape->width + 1u);
}

/*
 * Multiplications and additions of a step's matrix products: each layer has one forward, one for the
 * gradients of its weights and, except the first layer, one for the gradients of its inputs.
 */
static inline double lab_train_step_flop(const struct lab_train_shape *shape)
{
	return 2.0 * shape->batch * shape->width * shape->width * (3.0 * shape->layers - 1);
}

/* State of a training after its steps. */
struct lab_train_state {
	float *weights; /* [lab_train_weight_count()] weights */
	/* [lab_train_weight_count()] first and second moments of AdamW, in the order of the weights */
	float *first, *second;
	/* [steps] mean loss over the batch of each step, before the step's update */
	double *losses;
};

KWHY_MUST_USE enum kwhy_status lab_train_state_new(
	const struct lab_train_shape *shape, struct lab_train_state *out, struct kwhy_error *error);
void lab_train_state_done(struct lab_train_state *state);

/* Computes a run in fp32 on one core. The caller owns the state. The shape's `parts` are ignored. */
KWHY_MUST_USE enum kwhy_status lab_train_reference(
	const struct lab_train_shape *shape, struct lab_train_state *state, struct kwhy_error *error);

/*
 * Mean loss of the batch of step `step` at the given weights, and its gradient:
 * out_gradient[lab_train_weight_count()].
 */
KWHY_MUST_USE enum kwhy_status lab_train_gradient(const struct lab_train_shape *shape, uint32_t step,
	const float *weights, float *out_gradient, double *out_loss, struct kwhy_error *error);

enum lab_train_batches {
	LAB_TRAIN_PAGEABLE,  /* copied from pageable memory; the host waits for the copy */
	LAB_TRAIN_PINNED,    /* copied from page-locked memory; the host does not wait */
	LAB_TRAIN_PREFETCHED /* the next batch is copied in a stream of its own during the step */
};

/* A variant, which changes one thing of another variant. */
struct lab_train_variant {
	const char *id, *title;
	/* id of the variant from which this one differs in one thing; NULL: this is the first variant */
	const char *after;
	const char *change; /* what is changed, in words */
	/* type of the factors of products; weights, sums and moments are always fp32 */
	enum lab_number type;
	enum lab_train_batches batches;
	/*
	 * true: losses stay on the GPU until the end of the run; false: the host reads each step's loss and
	 * so waits for each step
	 */
	bool queued;
	bool fused; /* true: one kernel does all of AdamW */
	bool graph; /* true: each step is one graph */
	/*
	 * true (checkpointing): the inputs of every n-th layer are kept, those of other layers are computed
	 * again in the backward pass
	 */
	bool recompute;
	/*
	 * true: a batch is processed in parts one after the other, and their gradients are added up before
	 * AdamW
	 */
	bool parts;
	bool parallel; /* true: each GPU has a share of the batch, and gradients are added up over GPUs */
};

extern const struct lab_train_variant lab_train_variants[];
extern const size_t lab_train_variant_count;

struct lab_train_request {
	struct kwhy_gpu *const *gpus; /* GPUs; variants that are not `parallel` use only the first */
	uint32_t gpu_count;
	const struct lab_train_variant *variant;
	/* `parts` counts only for variants with parts; others process a batch as a whole */
	struct lab_train_shape shape;
};

/* An open training, which can be run any number of times, always from the same weights. For one thread. */
struct lab_train;

/* Opens a training. KWHY_E_UNSUPPORTED: the variant cannot be run on these GPUs. */
KWHY_MUST_USE enum kwhy_status lab_train_open(
	const struct lab_train_request *request, struct lab_train **out, struct kwhy_error *error);
void lab_train_close(struct lab_train *train); /* NULL is allowed */

struct lab_train_facts {
	const char *products; /* what makes the products: "cuBLASLt 13.0.2"; borrowed */
	/*
	 * what adds up gradients over GPUs: "nccl", or "own" for kernels of kwhy-lab; NULL: one GPU is used
	 */
	const char *adds;
	/*
	 * Device memory of one GPU, without what cuBLASLt allocates. bytes: of all arrays; activation_bytes:
	 * of `hidden`, the activations that the backward pass needs.
	 */
	uint64_t bytes, activation_bytes;
};

void lab_train_facts(const struct lab_train *train, struct lab_train_facts *out);

/*
 * Makes a run: sets the initial weights and makes all steps. Writes the loss of each step to
 * out_losses[shape.steps], and the time until all work was done to *out_run_s.
 */
KWHY_MUST_USE enum kwhy_status lab_train_run(
	struct lab_train *train, float *out_losses, double *out_run_s, struct kwhy_error *error);

/* Reads the state after a run from one of the GPUs, without the losses. The caller owns the state. */
KWHY_MUST_USE enum kwhy_status lab_train_read(
	struct lab_train *train, uint32_t gpu, struct lab_train_state *state, struct kwhy_error *error);

/*
 * Relative differences between a run and the reference. loss: largest relative difference of a step's loss.
 * first, second: of AdamW's moments: root of the sum of squared differences, divided by the same root for the
 * reference's values.
 */
struct lab_train_errors {
	double loss, first, second;
	/*
	 * the same for weights, divided by the root of the sum of squared changes of the reference's weights
	 * since the start
	 */
	double weights;
};

/*
 * Opens a training, makes a run, and compares its losses and its state with those of the reference after the
 * same run. With several GPUs, the last GPU's state is compared. KWHY_E_INPUT: they differ by more than
 * rounding explains; the error names the variant.
 */
KWHY_MUST_USE enum kwhy_status lab_train_check(const struct lab_train_request *request,
	const struct lab_train_state *expected, struct lab_train_errors *out, struct kwhy_error *error);

/*
 * Options of the command. Counts that are KWHY_COUNT_NOT_GIVEN get the values of the published guide
 * (lab/README.md), or small ones on the host.
 */
struct lab_train_options {
	struct lab_options shared;
	uint64_t dp, width, layers, batch, parts, samples, steps, check_width;
};

#endif
