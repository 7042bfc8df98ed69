/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_DECODE_DECODE_H
#define KWHY_LAB_DECODE_DECODE_H

#include "base/status.h"

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
	KWHY_DECODE_HEAD = 64, /* width of a head */
	KWHY_DECODE_VOCABULARY_STEP = 64,
	KWHY_DECODE_RANKS_MOST = 8, /* GPUs that share a decoder */
	KWHY_DECODE_PAGE_STEP = 64, /* tokens of a page of keys and values, or a multiple */
	KWHY_DECODE_PAGE_MOST = 1024,
	KWHY_DECODE_BEAMS_MOST = 8,	/* ways on of a sequence that are kept */
	KWHY_DECODE_REFERENCE_MOST = 64 /* tokens of a sequence that the reference takes */
};

struct kwhy_decode_shape {
	const char *name;
	uint32_t layers, width, heads, inner, vocabulary;
	uint32_t positions; /* that the model knows */
};

extern const struct kwhy_decode_shape kwhy_decode_shapes[]; /* "opt-125m", "opt-1.3b", "small" */
extern const size_t kwhy_decode_shape_count;

const struct kwhy_decode_shape *kwhy_decode_shape_find(const char *name); /* may be NULL */

/* Weights of all matrices, the table of tokens counted once. */
uint64_t kwhy_decode_weight_count(const struct kwhy_decode_shape *shape);

/* Weights before a layer's matrix, which lie layer by layer; those of all layers: before one more. */
uint64_t kwhy_decode_weights_before(const struct kwhy_decode_shape *shape, uint32_t layer, uint32_t matrix);

/*
 * What the model makes of one sequence, in fp32 on the host's cores: out_logits[count - first][vocabulary],
 * of the positions from `first` on. Weights are computed as they are needed; OPT-125m takes about a second of
 * one core. KWHY_E_INPUT for more than KWHY_DECODE_REFERENCE_MOST tokens or one that is not in the
 * vocabulary.
 */
KWHY_MUST_USE enum kwhy_status kwhy_decode_reference(const struct kwhy_decode_shape *shape,
	const uint32_t *tokens, uint32_t count, uint32_t first, float *out_logits, struct kwhy_error *error);

/* The same of weights of which each four neighbours of a row lack the two smallest. */
KWHY_MUST_USE enum kwhy_status kwhy_decode_reference_pruned(const struct kwhy_decode_shape *shape,
	const uint32_t *tokens, uint32_t count, uint32_t first, float *out_logits, struct kwhy_error *error);

#endif
