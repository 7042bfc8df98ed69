/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_DECODE_DECODE_H
#define LAB_DECODE_DECODE_H

#include "base/status.h"

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

#endif
