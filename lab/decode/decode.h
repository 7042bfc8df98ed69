/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_DECODE_DECODE_H
#define LAB_DECODE_DECODE_H

#include "base/status.h"
#include "lab/numbers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * `decode`, the reference workload of language models (lab/README.md): a decoder of OPT's shape with random
 * weights, which reads a prompt and then writes token after token. Each layer normalises, attends to all
 * earlier tokens with heads of 64, normalises again and passes through an inner layer with ReLU; both halves
 * add to what came in. The table of tokens is also the last matrix. A layer's normalisation has neither scale
 * nor shift: engines fold both into the matrix behind it.
 */
enum {
	LAB_DECODE_HEAD = 64,	       /* width of a head */
	LAB_DECODE_GPUS_MOST = 8,      /* that share a decoder; and decoders of one benchmark */
	LAB_DECODE_REFERENCE_MOST = 64 /* tokens of a sequence that the reference takes */
};

struct lab_decode_shape {
	const char *name;
	uint32_t layers, width, heads, inner, vocabulary;
	uint32_t positions; /* that the model knows */
};

enum { LAB_DECODE_SHAPE_COUNT = 3 };
extern const struct lab_decode_shape lab_decode_shapes[LAB_DECODE_SHAPE_COUNT]; /* "opt-125m", ... */

/*
 * What the model makes of one sequence, in fp32 on one core of the host: out_logits[count -
 * first][vocabulary], of the positions from `first` on. Weights are computed as they are needed; OPT-125m
 * takes about a second. is_pruned: each four neighbours of a row lack the two smallest. KWHY_E_INPUT for more
 * than LAB_DECODE_REFERENCE_MOST tokens or one that is not in the vocabulary.
 */
struct lab_decode_sequence {
	const uint32_t *tokens;
	uint32_t count, first;
	bool is_pruned;
};

KWHY_MUST_USE enum kwhy_status lab_decode_reference(const struct lab_decode_shape *shape,
	const struct lab_decode_sequence *sequence, float *out_logits, struct kwhy_error *error);

/* The kinds of weights, in the order of kernels/args.cu. */
enum lab_decode_weights {
	LAB_DECODE_FP32,
	LAB_DECODE_TF32,
	LAB_DECODE_BF16,
	LAB_DECODE_FP16,
	LAB_DECODE_FP8,
	LAB_DECODE_INT8,
	LAB_DECODE_INT4,
	LAB_DECODE_SPARSE, /* two of four, in fp16, whose last two digits say which column */
	LAB_DECODE_WEIGHTS_COUNT
};

/* What a kind of weights is. */
struct lab_decode_kind {
	const char *name;
	uint32_t weight_bits;
	enum lab_number factors; /* of a product; of INT4 and SPARSE weights are expanded to them before */
	enum lab_number kept;	 /* keys and values */
	/* The largest code of a row's weights, which have one scale; 0: weights are not scaled. Activations
	 * of 8 bits have one scale a token. */
	float code_most;
	int architecture;  /* that its products want at least: 89 is compute capability 8.9 */
	double error_most; /* of logits, root mean square over theirs: more is no rounding */
};

extern const struct lab_decode_kind lab_decode_kinds[LAB_DECODE_WEIGHTS_COUNT];

/* Whether products are of 8 bits, whose sums are yet to be scaled. */
static inline bool lab_decode_is_scaled(enum lab_decode_weights weights)
{
	return weights == LAB_DECODE_FP8 || weights == LAB_DECODE_INT8;
}

static inline bool lab_decode_is_expanded(enum lab_decode_weights weights)
{
	return weights == LAB_DECODE_INT4 || weights == LAB_DECODE_SPARSE;
}

/* Whether of four neighbours this is one of the two that are kept: the largest. */
static inline int lab_decode_is_kept(const float four[4], uint32_t i)
{
	uint32_t larger = 0;

	for (uint32_t j = 0; j < 4; j++)
		larger += fabsf(four[j]) > fabsf(four[i]) || (fabsf(four[j]) == fabsf(four[i]) && j < i);
	return larger < 2;
}

static inline uint32_t lab_decode_round_up(uint32_t count, uint32_t step)
{
	return (count + step - 1) / step * step;
}

#endif
