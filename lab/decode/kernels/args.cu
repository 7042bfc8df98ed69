/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of the workload `decode` (lab/README.md), which do everything between the products of cuBLASLt. The
 * host back end runs the same code with one thread. This file has the arguments of the kernels. AT(type) is a
 * pointer in kernels and a 64-bit integer in the host's program (inside.h). Types of numbers are those of enum
 * lab_number.
 */
#ifndef AT
#define AT(type) type *
#endif

typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;

enum { LAB_DECODE_THREADS = 256 };

/* X(UPPER, lower, threads of a block) for each kernel. */
#define LAB_DECODE_KERNELS(X) X(FILL, fill, LAB_DECODE_THREADS) X(FILL_FLOATS, fill_floats, LAB_DECODE_THREADS) \
	X(EXPAND, expand, LAB_DECODE_THREADS) X(RESET, reset, 64) X(BEGIN, begin, LAB_DECODE_THREADS) \
	X(NORMALISE, normalise, LAB_DECODE_THREADS) X(KEEP, keep, LAB_DECODE_THREADS) \
	X(ATTEND, attend, LAB_DECODE_THREADS) X(ACTIVATE, activate, LAB_DECODE_THREADS) \
	X(SCALE, scale, LAB_DECODE_THREADS) X(PICK, pick, 1024) X(CHOOSE, choose, 512)

/*
 * How weights are stored. UNPACKED: in the type of the factors of products. FOUR_BITS: four weights of 4 bits in 16
 * bits. TWO_OF_FOUR: of every four weights only the two largest by magnitude, as fp16, in 32 bits.
 */
enum { UNPACKED, FOUR_BITS, TWO_OF_FOUR };

struct lab_decode_args {
	/* [word_count * ranks][width] token vectors, which are also the matrix that computes the logits */
	AT(void) words;
	AT(float) word_scales;	/* [word_count * ranks] scale of each token vector */
	AT(float) places;	/* [positions][width] vectors of positions */
	AT(float) scales;	/* [layers][rows of a layer] scale of each row of weights */
	AT(float) biases;	/* [layers][rows of a layer] bias of each row of weights */
	AT(void) keys;		/* [layers][cache_slots][heads][positions][HEAD] keys, of type `kept` */
	AT(void) values;	/* [layers][cache_slots][heads][positions][HEAD] values, of type `kept` */
	AT(float) queries;	/* [tokens][heads * HEAD] queries */
	/*
	 * [tokens][width] sum that runs through all layers (residual stream): the token's vectors plus the results
	 * of attention and of the two inner matrices of each layer so far
	 */
	AT(float) x;
	AT(void) acts;		/* [tokens][columns] input of the next product, of type `act` */
	AT(float) act_scales;	/* [tokens] scale of each token's activations */
	AT(float) last_scales;	/* [slots] scale of the input of the product that computes the logits */
	AT(float) sums;		/* [tokens][rows] results of a product; those of int8 are int32 */
	/*
	 * [slots][word_count] logits of this GPU's part of the vocabulary; PICK multiplies them by their
	 * scales
	 */
	AT(float) logits;
	AT(float) all_logits;	/* [ranks][slots][word_count] logits of all GPUs */
	/*
	 * [slots] key of each slot's next token. Upper half: the logit, as an integer that sorts like the
	 * logit; lower half: ~token
	 */
	AT(u64) best;
	AT(u64) first;		/* [slots] key of the first token after each prompt */
	AT(u32) at;		/* [slots] position of each slot in its sequence */
	AT(u32) prompt;		/* [slots][each] tokens of the prompts */
	AT(u32) chosen;		/* [slots][positions] token at each position after the prompt */
	AT(u64) times;		/* [positions] device's time at which slot 0 began each position, ns */
	/*
	 * tokens: number of tokens in a pass, which is slots * each; each: number of tokens of one slot: 1 in a
	 * step, or the length of the prompts, which begin at position 0
	 */
	u32 tokens, each;
	u32 slots, cache_slots, positions;
	/*
	 * vocabulary: number of the model's tokens; word_count: number of tokens whose logits this GPU
	 * computes; first_word: the first of these tokens
	 */
	u32 vocabulary, word_count, first_word;
	u32 width, heads, inner, rank, ranks;	/* heads, inner: numbers of this GPU's heads and inner columns */
	u32 act, kept, packing;
	u32 top_k, seed; /* top_k: the random choice is among the top_k likeliest tokens; 0: among all */
	float top_p, temperature;
	float code_most; /* largest magnitude of a stored weight; 0: weights have no scales */
};

/* Arguments of one launch. */
struct lab_decode_call {
	u32 layer;
	/*
	 * The launch uses the result of a product with a matrix of `rows` rows; 0: it uses none. `row` is the index
	 * of the first of these rows among the rows of all layers, by which scales and biases are found.
	 */
	u32 row, rows;
	u32 is_last;	   /* true: only the last token of each slot is processed */
	/*
	 * at: position of each slot at the start; has_first: whether the next token of each slot is in
	 * args.first (otherwise it is token 0)
	 */
	u32 at, has_first;
	/*
	 * For kernels that fill or expand weights: a submatrix of `rows` rows and `columns` columns of a matrix whose
	 * rows have `stride` weights. `start` is the index of the submatrix's first weight in the matrix; from:
	 * packed weights to expand; to: the result; row_scales: scale of each row. The kernel `fill_floats` fills
	 * `columns` floats at `to`.
	 */
	AT(void) from;
	AT(void) to;
	AT(float) row_scales;
	/* known: rows from index `known` on are set to 0 (padding) */
	u32 tensor_hash, known, columns, start, stride;
	float bound;
};
