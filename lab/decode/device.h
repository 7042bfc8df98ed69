/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_DECODE_DEVICE_H
#define KWHY_LAB_DECODE_DEVICE_H

#include "gpu/gpu.h"
#include "lab/decode/numbers.h"
#include "lab/decode/rules.h"

/*
 * What the kernels of `decode` are given, by value, before other numbers; as struct args of
 * kernels/decode/args.cu, with addresses of the device. An `act` is an activation, fp32, bf16 or fp16.
 */
struct kwhy_decode_args {
	uint64_t layers;	      /* weights */
	uint64_t scales, biases;      /* float [layer_count][rows of a layer] */
	uint64_t words, word_scales;  /* weights and float, of the vocabulary, rounded up */
	uint64_t places;	      /* float [positions][width] */
	uint64_t keys, values;	      /* act, or fp8, [layer_count][cache_slots][heads][room][HEAD]; in pages
					 [layer_count][page_count][heads][page][HEAD] */
	uint64_t x;		      /* float [tokens][width] */
	uint64_t normal;	      /* act [tokens][width] */
	uint64_t queries, mixed;      /* act [tokens][heads * HEAD] */
	uint64_t inner;		      /* act [tokens][inner] */
	uint64_t parts, narrow_parts; /* float [splits][tokens][width] */
	uint64_t pieces;	      /* float [tokens][heads][shares][HEAD + 2] */
	uint64_t best;		      /* uint64 [slots]: kwhy_decode_token() of it is the likeliest token */
	uint64_t at;		      /* uint32 [slots]: the position that a slot is at */
	uint64_t prompt;	      /* uint32 [slots][each] */
	uint64_t chosen;	      /* uint32 [slots][room] */
	uint64_t logits;	      /* float [slots][vocabulary]; 0: nobody asks */
	uint64_t times;		      /* uint64 [room]: when the first slot came to a position, ns */
	uint64_t arrived;	      /* uint32 */
	uint64_t x_between;	      /* float [FEW][width], of several GPUs; of one [3][CROWD][width] */
	uint64_t inbox;		      /* uint64 [2][ranks][FEW][width]: a number, and its flag above it */
	uint64_t bests;		      /* uint64 [ranks][slots][2] as well */
	uint64_t meet;		      /* uint32, enum kwhy_decode_meet */
	uint64_t pages; /* uint32 [slots][pages_each]: which page of the pool has the positions of each */
	uint64_t
		sources; /* uint32 [2][cache_slots][room]: the slot that has a place of a beam; 0: no beams */
	uint64_t scores, first_scores; /* float [slots], as far as they are; behind the prompts */
	uint64_t candidates;	       /* uint64 [slots][BEAMS_MOST]: a score in order, then ~token */
	uint64_t row_sums;	       /* float [layer_count][rows of a layer]: of the matrices that take x */
	uint64_t moments; /* float [2 * layer_count + 1][slots][2]: sums of x and of its squares */
	uint64_t apart[KWHY_DECODE_RANKS_MOST]; /* to the same place in the memory of each GPU */
	uint32_t layer_count, slots, room, vocabulary;
	uint32_t cache_slots; /* that keys and values have room for */
	uint32_t beams,
		sequences; /* slots a sequence, 1: none are beams; slot = beam * sequences + sequence */
	uint32_t page, page_count, pages_each; /* tokens of a page, 0: keys and values have no pages */
	uint32_t tokens, each;		       /* in hand; of a slot: 1, or of its whole prompt */
	uint32_t shares;
	uint32_t project_splits, narrow_splits;
	uint32_t rank, first_word, word_count; /* of the vocabulary, which this GPU multiplies with */
	uint32_t has_short_x;		       /* x is of acts: where a library adds to it */
	uint32_t top_k, seed;
	float top_p, temperature; /* 0 degrees: the likeliest */
	uint32_t weights, width, inner_width, heads,
		ranks;		  /* for the host: a GPU's kernels are compiled for them */
	uint32_t has_short_cache; /* as well: keys and values are fp8 */
};

/* What GPUs tell each other; as the kernels count. */
enum kwhy_decode_meet {
	KWHY_DECODE_MEET_PASSES,
	KWHY_DECODE_MEET_ALONE, /* not 0: all stays on its GPU; sums are wrong */
	KWHY_DECODE_MEET_LOST,	/* not 0: somebody has waited for a GPU in vain */
	KWHY_DECODE_MEET_FLAGS = 8,
	KWHY_DECODE_MEET_COUNT = KWHY_DECODE_MEET_FLAGS + 2 * KWHY_DECODE_RANKS_MOST
};

/* Which product a wide kernel makes; as the kernels count. */
enum { KWHY_DECODE_WORDS = KWHY_DECODE_MATRICES };

/* What kwhy_decode_settle has still to add. */
enum { KWHY_DECODE_SETTLE_NOTHING, KWHY_DECODE_SETTLE_PROJECTION, KWHY_DECODE_SETTLE_NARROWING };

/* A token's key: of two the larger is the larger value's, of equal ones the first token's. */
static inline uint64_t kwhy_decode_key(float value, uint32_t token)
{
	uint32_t bits = kwhy_decode_bits(value), order = bits & 0x80000000U ? ~bits : bits | 0x80000000U;

	return (uint64_t)order << 32 | (uint32_t)~token;
}

static inline uint32_t kwhy_decode_token(uint64_t best)
{
	return ~(uint32_t)best;
}

/* Bytes of so many weights. */
static inline uint64_t kwhy_decode_weight_bytes(enum kwhy_decode_weights weights, uint64_t count)
{
	return count / kwhy_decode_each(weights) * 16;
}

static inline uint32_t kwhy_decode_vocabulary_room(const struct kwhy_decode_shape *shape)
{
	return (shape->vocabulary + KWHY_DECODE_VOCABULARY_STEP - 1) / KWHY_DECODE_VOCABULARY_STEP *
		KWHY_DECODE_VOCABULARY_STEP;
}

extern const struct kwhy_gpu_host_kernel kwhy_decode_host_kernels[];

#endif
