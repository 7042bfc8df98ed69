/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_DECODE_RULES_H
#define LAB_DECODE_RULES_H

#include "lab/decode/decode.h"

#include <math.h>

/*
 * The random numbers of `decode`, which are the same in its reference, its kernels and its PyTorch version. A
 * value is a hash of its tensor's id and of its index in the tensor, scaled to be uniform in [-bound, bound].
 * The id of a layer's tensor is layer * LAB_DECODE_TENSORS plus one of LAB_DECODE_ATTENTION to
 * LAB_DECODE_BIASES.
 */
enum lab_decode_tensor {
	LAB_DECODE_ATTENTION, /* matrix of queries, keys and values: [3 width][width] */
	LAB_DECODE_PROJECTION,
	LAB_DECODE_UP_PROJECTION,
	LAB_DECODE_DOWN_PROJECTION,
	LAB_DECODE_BIASES, /* biases of these four matrices, one after the other */
	LAB_DECODE_MATRICES = 4,
	/*
	 * in arguments that select a matrix: the token vectors (tensor LAB_DECODE_EMBEDDING), with which
	 * the product that computes the logits is made
	 */
	LAB_DECODE_WORDS = LAB_DECODE_MATRICES,
	LAB_DECODE_TENSORS = 8,
	/* [vocabulary][width] token vectors, which are also the matrix that computes the logits */
	LAB_DECODE_EMBEDDING = 1000000,
	LAB_DECODE_POSITIONS, /* [positions][width] vectors of positions */
	LAB_DECODE_PROMPT     /* tokens of prompts */
};

#define LAB_DECODE_BIAS_BOUND 0.1F
#define LAB_DECODE_POSITION_BOUND 0.05F
#define LAB_DECODE_NORM_MIN 1e-5F /* added to the variance in normalisations, as in OPT */

static inline uint32_t lab_decode_mix(uint32_t x)
{
	x ^= x >> 16;
	x *= 0x7feb352dU;
	x ^= x >> 15;
	x *= 0x846ca68bU;
	return x ^ (x >> 16);
}

/* Value in [-1, 1] at an index of a tensor. tensor_hash: lab_decode_mix(tensor). */
static inline float lab_decode_unit(uint32_t tensor_hash, uint32_t place)
{
	return (float)(int32_t)lab_decode_mix(place ^ tensor_hash) * (1.0F / 2147483648.0F);
}

/*
 * Bound of the values of a matrix with rows of this many columns: the product of a row and inputs of variance
 * 1 has a variance near 1. lab_decode_embedding_bound() is twice as large, so that logits have a variance
 * near 4.
 */
static inline float lab_decode_bound(uint32_t columns)
{
	return sqrtf(3.0F / (float)columns);
}

static inline float lab_decode_embedding_bound(const struct lab_decode_shape *shape)
{
	return 2 * lab_decode_bound(shape->width);
}

static inline uint32_t lab_decode_prompt_token(
	const struct lab_decode_shape *shape, uint32_t sequence, uint32_t position)
{
	uint32_t hash = lab_decode_mix(LAB_DECODE_PROMPT) ^ lab_decode_mix(sequence);

	return lab_decode_mix(position ^ hash) % shape->vocabulary;
}

/*
 * Rows and columns of a layer's matrix. If `shape` is that of one GPU's part of a model, the result is that
 * part of the matrix: `heads` and `inner` are the part's, `width` is the model's.
 */
static inline uint32_t lab_decode_rows(const struct lab_decode_shape *shape, uint32_t matrix)
{
	return matrix == LAB_DECODE_ATTENTION	     ? 3 * shape->heads * LAB_DECODE_HEAD
		: matrix == LAB_DECODE_UP_PROJECTION ? shape->inner
						     : shape->width;
}

static inline uint32_t lab_decode_columns(const struct lab_decode_shape *shape, uint32_t matrix)
{
	return matrix == LAB_DECODE_DOWN_PROJECTION ? shape->inner
		: matrix == LAB_DECODE_PROJECTION   ? shape->heads * LAB_DECODE_HEAD
						    : shape->width;
}

/*
 * Index of a matrix's first row among the rows of its layer; for LAB_DECODE_MATRICES the number of these
 * rows.
 */
static inline uint32_t lab_decode_first_row(const struct lab_decode_shape *shape, uint32_t matrix)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < matrix; i++)
		first += lab_decode_rows(shape, i);
	return first;
}

/* Index of a matrix's first row among the rows of all layers. */
static inline uint32_t lab_decode_row(const struct lab_decode_shape *shape, uint32_t layer, uint32_t matrix)
{
	return layer * lab_decode_first_row(shape, LAB_DECODE_MATRICES) + lab_decode_first_row(shape, matrix);
}

/*
 * Number of weights stored before a layer's matrix, since weights are stored layer by layer. With `layer` set
 * to the number of layers it is the number of weights of all layers.
 */
static inline uint64_t lab_decode_weights_before(
	const struct lab_decode_shape *shape, uint32_t layer, uint32_t matrix)
{
	uint64_t of_a_layer = 0, before = 0;

	for (uint32_t m = 0; m < LAB_DECODE_MATRICES; m++) {
		uint64_t count = (uint64_t)lab_decode_rows(shape, m) * lab_decode_columns(shape, m);

		of_a_layer += count;
		before += m < matrix ? count : 0;
	}
	return of_a_layer * layer + before;
}

#endif
