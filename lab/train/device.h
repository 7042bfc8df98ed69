/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_TRAIN_DEVICE_H
#define LAB_TRAIN_DEVICE_H

#include "gpu/gpu.h"

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

#endif
