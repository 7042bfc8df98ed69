/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_TRAIN_INSIDE_H
#define LAB_TRAIN_INSIDE_H

#include "gpu/collectives.h"
#include "lab/blaslt.h"
#include "lab/train/train.h"

/* The inside of a training that is open, for the files of this folder. */

/* --- As kernels know it --- */

/* What all kernels of `train` are given, by value; as struct args of kernels/train.cu. */
struct lab_train_args {
	uint64_t weights, first, second, gradients; /* float, as lab_train_weight_count() */
	uint64_t factors; /* the matrices in the type of products; in fp32 and tf32 the weights themselves */
	uint64_t staged;  /* [2] batches as the host sends them: float [batch][width], uint32 [batch] */
	uint64_t inputs;  /* [batch][width] */
	uint64_t labels;  /* uint32 [batch] */
	uint64_t hidden;  /* [slots][batch / parts][width] */
	uint64_t errors;  /* [2][batch / parts][width] */
	uint64_t logits;  /* float [batch / parts][width] */
	uint64_t row_losses;		      /* float [batch] */
	uint64_t losses;		      /* float [steps]: this GPU's share of them */
	uint64_t clock;			      /* struct lab_train_clock */
	uint32_t width, layers, batch, parts; /* batch: of this GPU */
	uint32_t whole_batch;		      /* of all GPUs */
	uint32_t half;			      /* factors, inputs, hidden and errors are bf16; else float */
};

/* What a launch does, as struct call of kernels/train.cu. */
struct lab_train_call {
	uint32_t layer, part;
	uint32_t slot;	 /* of hidden: what comes out of a layer, or went into it */
	uint32_t errors; /* which of the two */
	uint32_t mode;	 /* of AdamW; of a bias's gradient: onto that of the parts before */
};

/* As struct clock of kernels/train.cu: what a step of AdamW multiplies by, and its number. */
struct lab_train_clock {
	float power1, power2, rate, root;
	uint32_t step, unused;
};

/* Modes of AdamW, in their order; a kernel does all that are asked for. */
enum { LAB_TRAIN_MODES = 15, LAB_TRAIN_ROUND = 16 /* to the type of products */ };

enum { LAB_TRAIN_THREADS = 256, LAB_TRAIN_COLUMNS = 32 /* a block, of a bias's gradient */ };

#define LAB_TRAIN_KERNELS(X) \
	X(BEGIN, begin)      \
	X(TAKE, take)        \
	X(BIAS, bias)        \
	X(LOSS, loss) X(MASK, mask) X(BIAS_GRADIENT, bias_gradient) X(ADAMW, adamw) X(ADVANCE, advance)

/* The kernels for the host. */
extern const struct kwhy_gpu_host_kernel lab_train_host_kernels[];

/* --- As the host knows it --- */

#define LAB_TRAIN_KERNEL(upper, lower) LAB_TRAIN_##upper,
enum lab_train_kernel { LAB_TRAIN_KERNELS(LAB_TRAIN_KERNEL) LAB_TRAIN_KERNEL_COUNT };

enum lab_train_product {
	LAB_TRAIN_FORWARD,
	LAB_TRAIN_FORWARD_LAST,
	LAB_TRAIN_BACKWARD,
	LAB_TRAIN_UPDATE,
	LAB_TRAIN_UPDATE_MORE, /* onto the gradients of the parts before */
	LAB_TRAIN_PRODUCT_COUNT
};

/* What one GPU has of a training. */
struct lab_train_rank {
	struct lab_train *train;
	struct kwhy_gpu *gpu;
	struct kwhy_gpu_module *module;
	const struct kwhy_gpu_kernel *kernels[LAB_TRAIN_KERNEL_COUNT];
	struct lab_blaslt *blaslt;
	const struct lab_blaslt_plan *plans[LAB_TRAIN_PRODUCT_COUNT];
	struct kwhy_gpu_stream *stream, *copies;
	struct kwhy_gpu_event *arrived[2], *before; /* batches; what was queued before one */
	struct kwhy_gpu_host samples;		    /* [samples / batch] blocks as `staged` has them */
	uint64_t memory;			    /* all of the device's */
	size_t bytes, staged_bytes;		    /* of a batch of this GPU */
	struct lab_train_args args;
};

struct lab_train {
	const struct lab_train_variant *variant;
	struct lab_train_shape shape; /* parts 1 where the variant has none */
	struct lab_train_rank ranks[LAB_TRAIN_RANKS_MOST];
	uint32_t rank_count, opened;
	uint32_t segment;		/* layers from one whose inputs are kept to the next */
	uint32_t slots;			/* of hidden */
	struct kwhy_collectives *group; /* NULL: one GPU alone */
	struct kwhy_gpu_graph *graph;	/* of a step; NULL: none */
	/* Of a run, or of opening: */
	uint32_t step;
	enum kwhy_status status; /* the first failure, whose words are in `error` */
	struct kwhy_error *error;
};

/* Makes a call of a training unless one before it has failed. */
#define TRY(train, function, ...) \
	((train)->status = (train)->status ? (train)->status : function(__VA_ARGS__, (train)->error))

/* Queues a step behind its batch. */
void lab_train_queue_step(struct lab_train *train);

#endif
