/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `train` (lab/README.md) does between its products, which a library makes. Matrices of weights are
 * [out][in], activations [sample][feature]. Any grid will do, also one thread alone: so the host runs this text.
 * What kernels are given is here; the host's program (inside.h) has addresses as numbers.
 */
#ifndef AT
#define AT(type) type *
#endif

enum { LAB_TRAIN_THREADS = 256, LAB_TRAIN_COLUMNS = 32 /* a block, of a bias's gradient */ };

#define LAB_TRAIN_KERNELS(X) X(BEGIN, begin) X(TAKE, take) X(BIAS, bias) X(LOSS, loss) X(MASK, mask) \
	X(BIAS_GRADIENT, bias_gradient) X(ADAMW, adamw) X(ADVANCE, advance)

/* Modes of AdamW, in their order; a kernel does all that are asked for. ROUND: to bf16. */
enum { DECAY = 1, FIRST_MOMENT = 2, SECOND_MOMENT = 4, MOVE = 8, ROUND = 16 };

/* What a step of AdamW multiplies by, and its number. */
struct lab_train_clock {
	float power1, power2, rate, root;
	u32 step, unused;
};

struct lab_train_args {
	AT(float) weights; /* matrices [layers][width][width], then biases [layers][width] */
	AT(float) first;   /* AdamW's moments, and gradients: as the weights */
	AT(float) second;
	AT(float) gradients;
	AT(void) factors; /* the matrices in the type of products; in fp32 and tf32 the weights themselves */
	AT(float) staged; /* [2] batches as the host sends them: [batch][width], u32 [batch] */
	AT(void) inputs;  /* [batch][width] */
	AT(u32) labels;	  /* [batch] */
	AT(void) hidden;  /* [slots][batch / parts][width] */
	AT(void) errors;  /* [2][batch / parts][width] */
	AT(float) logits; /* [batch / parts][width] */
	AT(float) row_losses; /* [batch] */
	AT(float) losses;     /* [steps]: this GPU's share of them */
	AT(struct lab_train_clock) clock;
	u32 width, layers, batch, parts; /* batch: of this GPU */
	u32 whole_batch;		 /* of all GPUs */
	u32 type; /* of factors, inputs, hidden and errors: LAB_BF16, or fp32 */
};

/* What a launch does. */
struct lab_train_call {
	u32 layer, part;
	u32 slot;   /* of hidden: what comes out of a layer, or went into it */
	u32 errors; /* which of the two */
	u32 mode;   /* of AdamW; of a bias's gradient: onto that of the parts before */
};
