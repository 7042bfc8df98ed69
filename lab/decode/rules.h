/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_DECODE_RULES_H
#define KWHY_LAB_DECODE_RULES_H

#include "lab/decode/decode.h"

#include <math.h>

/*
 * The numbers of `decode`, the same in its reference, its kernels and its peers: a value is a hash of its
 * tensor and its place, even over (-bound, bound). A layer's tensors are LAYER * 8 and one of the first five
 * below.
 */
enum kwhy_decode_tensor {
	KWHY_DECODE_ATTENTION, /* queries, keys, values: [3 width][width] */
	KWHY_DECODE_PROJECTION,
	KWHY_DECODE_WIDENING,
	KWHY_DECODE_NARROWING,
	KWHY_DECODE_BIASES, /* of these four, one behind the other */
	KWHY_DECODE_MATRICES = 4,
	KWHY_DECODE_TENSORS = 8,
	KWHY_DECODE_EMBEDDING = 1000000, /* [vocabulary][width], also the last matrix */
	KWHY_DECODE_POSITIONS,		 /* [positions][width] */
	KWHY_DECODE_PROMPT		 /* tokens */
};

#define KWHY_DECODE_BIAS_BOUND 0.1F
#define KWHY_DECODE_POSITION_BOUND 0.05F
#define KWHY_DECODE_NORM_LEAST 1e-5F /* added to the variance, as OPT does */

static inline uint32_t kwhy_decode_mix(uint32_t x)
{
	x ^= x >> 16;
	x *= 0x7feb352dU;
	x ^= x >> 15;
	x *= 0x846ca68bU;
	return x ^ (x >> 16);
}

/* In [-1, 1]; of a tensor's hash, which is kwhy_decode_mix(tensor). */
static inline float kwhy_decode_unit(uint32_t tensor_hash, uint32_t place)
{
	return (float)(int32_t)kwhy_decode_mix(place ^ tensor_hash) * (1.0F / 2147483648.0F);
}

/* Sums of rows then have a variance near 1; logits one near 4. */
static inline float kwhy_decode_bound(uint32_t columns)
{
	return sqrtf(3.0F / (float)columns);
}

static inline float kwhy_decode_embedding_bound(const struct kwhy_decode_shape *shape)
{
	return 2 * kwhy_decode_bound(shape->width);
}

static inline uint32_t kwhy_decode_prompt_token(
	const struct kwhy_decode_shape *shape, uint32_t sequence, uint32_t position)
{
	uint32_t hash = kwhy_decode_mix(KWHY_DECODE_PROMPT) ^ kwhy_decode_mix(sequence);

	return kwhy_decode_mix(position ^ hash) % shape->vocabulary;
}

/* Rows and columns of a layer's matrix; of a part of a model, its heads and its columns of the inner layer.
 */
static inline uint32_t kwhy_decode_rows(const struct kwhy_decode_shape *shape, uint32_t matrix)
{
	return matrix == KWHY_DECODE_ATTENTION	 ? 3 * shape->heads * KWHY_DECODE_HEAD
		: matrix == KWHY_DECODE_WIDENING ? shape->inner
						 : shape->width;
}

static inline uint32_t kwhy_decode_columns(const struct kwhy_decode_shape *shape, uint32_t matrix)
{
	return matrix == KWHY_DECODE_NARROWING	   ? shape->inner
		: matrix == KWHY_DECODE_PROJECTION ? shape->heads * KWHY_DECODE_HEAD
						   : shape->width;
}

/* Where a matrix's rows begin among those of its layer; for KWHY_DECODE_MATRICES: how many there are. */
static inline uint32_t kwhy_decode_first_row(const struct kwhy_decode_shape *shape, uint32_t matrix)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < matrix; i++)
		first += kwhy_decode_rows(shape, i);
	return first;
}

#endif
