/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of the workload `decode` (lab/README.md). A warp multiplies 8 rows of weights with 16 tokens
 * by its tensor instruction. Weights lie as the warp takes them: of 8 rows, 16 bytes for each lane, one
 * behind the other; which columns an instruction takes as neighbours is free as long as weights and tokens
 * agree, so that every lane loads 16 bytes of either and nothing is moved between lanes.
 *
 * Compiled for one kind of weights and one width. WEIGHTS: as enum kwhy_decode_weights. GPUs without such an
 * instruction get nothing: they are refused before.
 */
#if !defined(__cplusplus) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800)
#ifdef __cplusplus
#define KERNEL extern "C" __global__
#define ROOM(name) extern __shared__ struct four name[]
#endif

typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;

#define FP32 0
#define TF32 1
#define BF16 2
#define FP16 3
#define FP8 4
#define INT8 5
#define INT4 6
#define SPARSE 7 /* two of four, in fp16, whose last two digits say which column */

#ifndef WEIGHTS
#define WEIGHTS BF16
#define WIDTH 768
#define INNER 3072
#endif

/* Of several GPUs each has some heads, as many columns of the inner layer, and some words. */
#ifndef RANKS
#define RANKS 1
#define HEADS_HERE (WIDTH / 64)
#endif

#if WEIGHTS == FP32 || WEIGHTS == TF32
typedef float act; /* an activation */
#define ACT_BYTES 4
#define EACH 4 /* weights in 16 bytes */
#else
typedef u16 act;
#define ACT_BYTES 2
#define EACH (WEIGHTS == INT4 ? 32 : WEIGHTS == INT8 || WEIGHTS == FP8 || WEIGHTS == SPARSE ? 16 : 8)
#endif

/* Whether keys and values are kept in 8 bits. */
#ifndef SHORT_CACHE
#define SHORT_CACHE 0
#endif
#if SHORT_CACHE
typedef u8 cached; /* a number of a key or a value */
#else
typedef act cached;
#endif

/* Positions of a page of keys and values; 0: those of a slot lie in one piece. */
#ifndef PAGE
#define PAGE 0
#endif

/* Whether slots may be beams, whose places are of other slots. */
#ifndef BEAM
#define BEAM 0
#endif

enum {
	HEAD = 64,
	HEADS = HEADS_HERE,
	MIXED = HEADS * HEAD,		      /* columns of them */
	CHUNK = 4 * EACH,		      /* columns that a warp takes at once */
	STRIP = 32,			      /* the same, where a lane takes 8 weights of 8 or 16 bits */
	UNITS = EACH * ACT_BYTES / 16,	      /* times 16 bytes of activations to 16 bytes of weights */
	UNIT = 16 / ACT_BYTES,		      /* activations in 16 bytes */
	ROWS = 3 * MIXED + 2 * WIDTH + INNER, /* of a layer's matrices */
	FEW = 16,			      /* tokens that thin kernels take */
	CROWD = 64,			      /* tokens that clusters of blocks take */
	MANY = 64,			      /* tokens of a block of a wide one */
	FEW_THREADS = 256,
	MANY_THREADS = 128,
	NARROW_THREADS = 512, /* columns of the inner layer are four times as many */
	RECALL_THREADS = 64,  /* a head of a token a warp */
	WARPS_MOST = 16,
	SHARES_MOST = 8,
	SPLITS_MOST = 8,
	RANKS_MOST = 8,
	BEAMS_MOST = 8,
	STAGES = 4,
	STAGE_CHUNKS = UNITS == 1 ? 2 : 1,
	STEP = STAGE_CHUNKS * CHUNK, /* columns of a stage */
	PAD = 64 / ACT_BYTES,	     /* behind a token in shared memory, for its banks */
	PIECE = HEAD + 2 /* of attention to some of the tokens: its sums, their weight, the most */
};

/* As struct kwhy_decode_args of workload/decode/device.h. */
struct args {
	const u8 *layers;	     /* weights, a layer behind the other */
	const float *scales;	     /* [layer_count][ROWS] */
	const float *biases;	     /* [layer_count][ROWS] */
	const u8 *words;	     /* weights [vocabulary, rounded up][WIDTH] */
	const float *word_scales;    /* [vocabulary, rounded up] */
	const float *places;	     /* [positions][WIDTH] */
	cached *keys, *values;	     /* [layer_count][cache_slots][HEADS][room][HEAD]; with PAGE
					[layer_count][page_count][HEADS][PAGE][HEAD] */
	float *x;		     /* [tokens][WIDTH] */
	act *normal;		     /* [tokens][WIDTH] */
	act *queries, *mixed;	     /* [tokens][MIXED] */
	act *inner;		     /* [tokens][INNER] */
	float *parts, *narrow_parts; /* [splits][tokens][WIDTH] */
	float *pieces;		     /* [tokens][HEADS][shares][PIECE] */
	u64 *best;		     /* [slots] the likeliest token: its logit's bits in order, then ~token */
	u32 *at;		     /* [slots] the position that a slot is at */
	const u32 *prompt;	     /* [slots][each] */
	u32 *chosen;		     /* [slots][room] the token of every position */
	float *logits;		     /* [slots][vocabulary]; 0: nobody asks */
	u64 *times;		     /* [room] when the first slot came to a position, ns */
	u32 *arrived;		     /* blocks at the barrier */
	float *x_between;	     /* [FEW][WIDTH] x in the middle of a layer, of several GPUs; of one
					[3][CROWD][WIDTH], sums by turns */
	u64 *inbox;   /* [2][RANKS][FEW][WIDTH] words of several GPUs: a number, then its flag */
	u64 *bests;   /* [RANKS][slots][2] as well */
	u32 *meet;    /* enum meet */
	u32 *pages;   /* [slots][pages_each] which page of the pool has the positions of each */
	u32 *sources; /* [2][cache_slots][room] the slot that has a place of a beam */
	float *scores, *first_scores; /* [slots] of beams as far as they are; behind the prompts */
	u64 *candidates;	      /* [slots][BEAMS_MOST] a score in order, then ~token */
	float *row_sums;       /* [layer_count][ROWS] of a row's weights, of the matrices that take x */
	float *moments;	       /* [2 * layer_count + 1][slots][2] of x, as it comes to them: sums of it
				  and of its squares */
	u64 apart[RANKS_MOST]; /* to the same place in the memory of each GPU */
	u32 layer_count, slots, room, vocabulary;
	u32 cache_slots;      /* that keys and values have room for */
	u32 beams, sequences; /* slots a sequence, 1: none are beams; slot = beam * sequences + sequence */
	u32 page, page_count, pages_each; /* page: of the host's kernels; here it is PAGE */
	u32 tokens, each;		  /* in hand; of a slot: 1, or of a whole prompt from position 0 on */
	u32 shares;			  /* blocks that share a head's attention */
	u32 project_splits, narrow_splits; /* of a wide product's columns */
	u32 rank, first_word, word_count;  /* of the vocabulary, which this GPU multiplies with */
	u32 has_short_x;		   /* x is of acts: where a library adds to it */
	u32 top_k, seed;		   /* of choosing: the likeliest k, 0: all */
	float top_p, temperature;     /* and as few as have this share together; 0 degrees: the likeliest */
	u32 kind, width, inner_width; /* of the host's kernels; here they are WEIGHTS, WIDTH and INNER */
	u32 heads, ranks;	      /* as well */
	u32 has_short_cache;	      /* as well: here it is SHORT_CACHE */
};

struct __attribute__((aligned(16))) four {
	u32 of[4];
};

/* Two kernels a layer: of GPUs whose blocks form clusters, and where a lane holds what it takes of a matrix.
 */
#if (!defined(__cplusplus) || __CUDA_ARCH__ >= 900) && RANKS == 1 && 64 % (4 * (EACH)) == 0 && \
	WIDTH <= 1024 && (INNER < 1024 || INNER % 1024 == 0)
#define HAS_JOINT 1
#else
#define HAS_JOINT 0
#endif

/* Sequences, where a kernel's form is of so many; 0: it is of any number. */
#ifndef FEW_SLOTS
#define FEW_SLOTS 0
#endif
#define HAS_FEW (HAS_JOINT && FEW_SLOTS && FEW_SLOTS <= 16)

/* The same of more. */
#define HAS_CROWDS (HAS_JOINT && FEW_SLOTS > 16 && ACT_BYTES == 2)

/* Five kernels a layer, of clusters, too: columns that a block takes, of 64 tokens and some rows. */
#define FOLD_CHUNKS (WIDTH % 384 == 0 ? 3 : 1) /* of a warp */
#define FOLD_COLUMNS (FOLD_CHUNKS * 128)
#define FOLDS(columns)                                                                                  \
	((columns) == FOLD_COLUMNS || (columns) == 2 * FOLD_COLUMNS || (columns) == 4 * FOLD_COLUMNS || \
		(columns) == 8 * FOLD_COLUMNS)
#if (!defined(__cplusplus) || __CUDA_ARCH__ >= 900) && RANKS == 1 && ACT_BYTES == 2 && (EACH) == 8 && \
	FOLDS(WIDTH) && FOLDS(INNER)
#define HAS_FOLD 1
#else
#define HAS_FOLD 0
#endif

/* What a row of weights adds up to: where x goes into products as it is. */
#define HAS_SUMS (HAS_FOLD || HAS_CROWDS)

enum matrix { ATTENTION, PROJECTION, WIDENING, NARROWING, WORDS };
