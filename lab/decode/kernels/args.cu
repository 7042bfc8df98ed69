/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of the workload `decode` (lab/README.md): all that stands between the products, which cuBLASLt makes. The
 * host runs the same text with one thread. What kernels are given is here; the host's program (inside.h) has addresses as
 * numbers. Types are those of enum lab_number.
 */
#ifndef AT
#define AT(type) type *
#endif

typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;

enum { LAB_DECODE_THREADS = 256 };

/* Kernels, and the threads of their blocks. */
#define LAB_DECODE_KERNELS(X) X(FILL, fill, LAB_DECODE_THREADS) X(FILL_FLOATS, fill_floats, LAB_DECODE_THREADS) \
	X(EXPAND, expand, LAB_DECODE_THREADS) X(RESET, reset, 64) X(BEGIN, begin, LAB_DECODE_THREADS) \
	X(NORMALISE, normalise, LAB_DECODE_THREADS) X(KEEP, keep, LAB_DECODE_THREADS) \
	X(ATTEND, attend, LAB_DECODE_THREADS) X(ACTIVATE, activate, LAB_DECODE_THREADS) \
	X(SCALE, scale, LAB_DECODE_THREADS) X(PICK, pick, 1024) X(CHOOSE, choose, 512)

/* How weights lie where not as products take them: four of them in 16 bits, or the two largest of four in 32. */
enum { UNPACKED, FOUR_BITS, TWO_OF_FOUR };

struct lab_decode_args {
	AT(void) words;		/* weights [word_count * ranks][width] */
	AT(float) word_scales;	/* [word_count * ranks] */
	AT(float) places;	/* [positions][width] */
	AT(float) scales;	/* [layers][rows of a layer] */
	AT(float) biases;	/* [layers][rows of a layer] */
	AT(void) keys;		/* [layers][cache_slots][heads][positions][HEAD] of type `kept` */
	AT(void) values;	/* the same */
	AT(float) queries;	/* [tokens][heads * HEAD] */
	AT(float) x;		/* [tokens][width] */
	AT(void) acts;		/* what the next product takes, [tokens][columns] of type `act` */
	AT(float) act_scales;	/* [tokens] */
	AT(float) last_scales;	/* [slots], of what the last product takes */
	AT(float) sums;		/* what a product has left, [tokens][rows]; of int8 they are int */
	AT(float) logits;	/* [slots][word_count], this GPU's; scaled by picking */
	AT(float) all_logits;	/* [ranks][slots][word_count] */
	AT(u64) best;		/* [slots] the next token: its logit's bits in order, then ~token */
	AT(u64) first;		/* [slots] the next tokens behind the prompts */
	AT(u32) at;		/* [slots] the position that a slot is at */
	AT(u32) prompt;		/* [slots][each] */
	AT(u32) chosen;		/* [slots][positions] the token of every position */
	AT(u64) times;		/* [positions] when the first slot came to a position, ns */
	u32 tokens, each;	/* in hand; of a slot: 1, or of a whole prompt from position 0 on */
	u32 slots, cache_slots, positions;
	u32 vocabulary, word_count, first_word; /* of all; that this GPU multiplies with, from which on */
	u32 width, heads, inner, rank, ranks;	/* heads and inner are this GPU's */
	u32 act, kept, packing;
	u32 top_k, seed; /* of choosing: the likeliest k, 0: all */
	float top_p, temperature;
	float code_most; /* the largest code of weights, which have a scale a row; 0: they have none */
};

/* What a launch does. */
struct lab_decode_call {
	u32 layer;
	u32 row, rows;	   /* of the product whose sums it takes, among those of all layers; 0 rows: there is none */
	u32 is_last;	   /* of each slot its last token alone */
	u32 at, has_first; /* where slots begin, and whether with `first` or token 0 */
	/* Weights, `rows` of them: a piece of a whole matrix, whose rows are `stride` long, from its number `start` on. */
	AT(void) from;
	AT(void) to;
	AT(float) row_scales;
	u32 tensor_hash, known, columns, start, stride; /* rows from `known` on are zeros */
	float bound;
};
