/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of `train` (lab/README.md), which do everything between the matrix products, which cuBLASLt makes.
 * Matrices of weights are [out][in], activations [sample][feature]. Kernels work with any grid, also with a single
 * thread, so the host back end runs the same code. This file has the arguments of the kernels. AT(type) is a
 * pointer in kernels and a 64-bit integer in the host's program (inside.h).
 */
#ifndef AT
#define AT(type) type *
#endif

enum { LAB_TRAIN_THREADS = 256, LAB_TRAIN_COLUMNS = 32 /* columns of a block that computes gradients of biases */ };

#define LAB_TRAIN_KERNELS(X) X(BEGIN, begin) X(TAKE, take) X(BIAS, bias) X(LOSS, loss) X(MASK, mask) \
	X(BIAS_GRADIENT, bias_gradient) X(ADAMW, adamw) X(ADVANCE, advance)

/*
 * Parts of AdamW as bits, in the order in which they are done. A kernel does all parts that are set. ROUND:
 * rounds the weights to bf16.
 */
enum { DECAY = 1, FIRST_MOMENT = 2, SECOND_MOMENT = 4, MOVE = 8, ROUND = 16 };

/* Factors of a step of AdamW, as in struct lab_train_pace (rules.h), and the number of the step. */
struct lab_train_clock {
	float power1, power2, rate, root;
	u32 step, unused;
};

struct lab_train_args {
	AT(float) weights; /* weights: matrices [layers][width][width], then biases [layers][width] */
	/*
	 * AdamW's first moments; second moments and gradients are in the next two arrays, all in the order
	 * of the weights
	 */
	AT(float) first;
	AT(float) second;
	AT(float) gradients;
	/* the matrices of `weights` in the type of products; for fp32 and tf32 the same memory as `weights` */
	AT(void) factors;
	/*
	 * [2] batches as the host sends them, for even and odd steps: inputs [batch][width], then labels u32
	 * [batch]
	 */
	AT(float) staged;
	AT(void) inputs;  /* [batch][width] inputs of the batch */
	AT(u32) labels;	  /* [batch] labels of the batch */
	AT(void) hidden;  /* [slots][batch / parts][width] inputs of layers but the first */
	/*
	 * [2][batch / parts][width] gradients of the loss with respect to a layer's outputs; layers use the two in
	 * turn
	 */
	AT(void) errors;
	AT(float) logits; /* [batch / parts][width] results of the last layer */
	AT(float) row_losses; /* [batch] loss of each sample */
	AT(float) losses;     /* [steps] this GPU's share of each step's loss */
	AT(struct lab_train_clock) clock;
	u32 width, layers, batch, parts; /* batch: samples of this GPU */
	u32 whole_batch;		 /* samples of all GPUs */
	u32 type; /* type of factors, inputs, hidden and errors: LAB_BF16 or LAB_FP32 */
};

/* Arguments of one launch. */
struct lab_train_call {
	u32 layer, part;
	u32 slot;   /* slot of `hidden`: that of the layer's output (`bias`) or input (`mask`) */
	u32 errors; /* which of the two arrays `errors` */
	/*
	 * for AdamW, its parts; for a bias's gradient, whether it is added to that of earlier parts of the
	 * batch
	 */
	u32 mode;
};
