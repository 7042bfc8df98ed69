/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_DECODE_DECODE_H
#define LAB_DECODE_DECODE_H

#include "fit/median.h"
#include "gpu/gpu.h"
#include "lab/numbers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * `decode`, the reference workload of language models (lab/README.md): a decoder of OPT's shape with random
 * weights, which reads a prompt and then writes token after token. Each layer normalises, attends to all
 * earlier tokens with heads of 64, normalises again and passes through an inner layer with ReLU; both halves
 * add to what came in. The table of tokens is also the last matrix. A layer's normalisation has neither scale
 * nor shift: engines fold both into the matrix after it.
 */
enum {
	LAB_DECODE_HEAD = 64,	      /* width of a head */
	LAB_DECODE_GPUS_MAX = 8,      /* that share a decoder; and decoders of one benchmark */
	LAB_DECODE_REFERENCE_MAX = 64 /* tokens of a sequence that the reference takes */
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
 * takes about a second. is_pruned: each four neighbours of a row lack the two smallest.
 */
struct lab_decode_sequence {
	const uint32_t *tokens; /* of the vocabulary */
	uint32_t count, first;	/* LAB_DECODE_REFERENCE_MAX at most */
	bool is_pruned;
};

KWHY_MUST_USE enum kwhy_status lab_decode_reference(const struct lab_decode_shape *shape,
	const struct lab_decode_sequence *sequence, float *out_logits, struct kwhy_error *error);

/* The kinds of weights. */
enum lab_decode_weights {
	LAB_DECODE_FP32,
	LAB_DECODE_TF32,
	LAB_DECODE_BF16,
	LAB_DECODE_FP16,
	LAB_DECODE_FP8,
	LAB_DECODE_INT8,
	LAB_DECODE_INT4,
	LAB_DECODE_SPARSE, /* two of four, in fp16 */
	LAB_DECODE_WEIGHTS_COUNT
};

/* What a kind of weights is. */
struct lab_decode_kind {
	uint32_t weight_bits;
	enum lab_number factors; /* of a product; weights that are packed are expanded to them before */
	enum lab_number kept;	 /* keys and values */
	uint32_t packing;	 /* of weights, see kernels/args.cu */
	/* The largest code of a row's weights, which have one scale; 0: weights are not scaled. Activations
	 * of 8 bits have one scale a token. */
	float code_most;
	int architecture;  /* that its products want at least: 89 is compute capability 8.9 */
	double error_most; /* of logits, root mean square over theirs: more is no rounding */
};

extern const struct lab_decode_kind lab_decode_kinds[LAB_DECODE_WEIGHTS_COUNT];
extern const char *const lab_decode_weights_names[LAB_DECODE_WEIGHTS_COUNT]; /* "fp32", ... */

/* --- On GPUs, or on the host --- */

enum lab_decode_launching {
	LAB_DECODE_CALLS, /* a call of the driver for each kernel */
	LAB_DECODE_GRAPH, /* one for each token: a graph of its kernels; one for all prompts */
	LAB_DECODE_LAUNCHING_COUNT
};

extern const char *const lab_decode_launching_names[LAB_DECODE_LAUNCHING_COUNT]; /* "calls", "graph" */

enum {
	LAB_DECODE_BATCH_MAX = 1024,
	LAB_DECODE_CHECK_PROMPT = 32, /* tokens that a check reads */
	LAB_DECODE_CHECK_STEPS = 7    /* and then is given, one after the other */
};

/* How a token is chosen: among the likeliest top_k (0: all), of which as few as have the share top_p
 * together. */
struct lab_decode_choice {
	float temperature; /* logits are divided by it; 0: the likeliest token, always */
	float top_p;	   /* above 0; 1: all */
	uint32_t top_k, seed;
};

struct lab_decode_request {
	struct kwhy_gpu *const *gpus; /* [tp * dp] */
	uint32_t tp, dp; /* GPUs that share a decoder; decoders that share the sequences. 0: as 1 */
	const struct lab_decode_shape *shape;
	enum lab_decode_weights weights;
	enum lab_decode_launching launching; /* of shared decoders LAB_DECODE_CALLS alone */
	uint32_t batch, prompt, tokens; /* concurrent sequences, of all; tokens read and written by each */
	struct lab_decode_choice choice;
};

struct lab_decode;

/*
 * Makes the weights, too. KWHY_E_UNSUPPORTED where the GPU cannot do it, or cuBLASLt is missing: products are
 * its own, on the host a kernel's. End with lab_decode_close().
 */
KWHY_MUST_USE enum kwhy_status lab_decode_open(
	const struct lab_decode_request *request, struct lab_decode **out, struct kwhy_error *error);
void lab_decode_close(struct lab_decode *decode); /* NULL is allowed */

/* What it is, for all GPUs together. */
struct lab_decode_facts {
	const char *weights, *launching;
	uint64_t batch, tp, dp;
	const char *products; /* who makes them: "cuBLASLt 13.0.2"; lives as long as the decoder */
	const char *gathers;  /* who brings parts together: "nccl", "own"; NULL: of one GPU each */
	uint64_t kernels;     /* launched for a token, on each GPU; known once tokens were written */
	uint64_t weight_bytes, cache_bytes, token_bytes; /* keys and values: of all; of one token */
};

void lab_decode_facts(const struct lab_decode *decode, struct lab_decode_facts *out);

/* Reads the prompts, and waits. */
KWHY_MUST_USE enum kwhy_status lab_decode_prefill(
	struct lab_decode *decode, double *out_s, struct kwhy_error *error);

/* From behind the prompts, writes all tokens, and waits; after a prefill, as often as wanted. */
KWHY_MUST_USE enum kwhy_status lab_decode_write(
	struct lab_decode *decode, double *out_s, struct kwhy_error *error);

/* After it: what a sequence wrote. out_tokens[tokens]. */
KWHY_MUST_USE enum kwhy_status lab_decode_tokens(
	struct lab_decode *decode, uint32_t sequence, uint32_t *out_tokens, struct kwhy_error *error);

/* After it: from each token to the next, by the first device's clock. out_s[tokens - 1]. */
KWHY_MUST_USE enum kwhy_status lab_decode_steps(
	struct lab_decode *decode, double *out_s, struct kwhy_error *error);

/*
 * Sequences that arrive at random, each with a prompt of its own and to write from a quarter of the decoder's
 * tokens to all of them. The host waits for every token of all, as servers do.
 */
struct lab_decode_arrivals {
	double rate_per_s; /* sequences, of a Poisson process */
	uint32_t count;
	bool continuous;  /* a slot takes the next one as soon as it is free; else all wait for the longest */
	uint32_t *tokens; /* [count][decoder's tokens] what each writes; NULL: not wanted */
	uint32_t *lengths; /* [count] how much of it; with `tokens` */
};

struct lab_decode_served {
	double seconds;
	uint64_t sequences, tokens, steps;
	double busy_ratio;		     /* slots that wrote for a sequence, of all in all steps */
	struct kwhy_median first_s, whole_s; /* from arrival to the first token, and to the last */
};

/* By one decoder. As often as wanted; prefill again after it. */
KWHY_MUST_USE enum kwhy_status lab_decode_serve(struct lab_decode *decode,
	const struct lab_decode_arrivals *arrivals, struct lab_decode_served *out, struct kwhy_error *error);

/* What two sequences must come to; of a shape, for all decoders of it. */
struct lab_decode_answer {
	const struct lab_decode_shape *shape;
	float *logits[2]; /* [1 + CHECK_STEPS][vocabulary], of the prompts of sequences 0 and 1 */
};

/* is_pruned: of weights of which each four lack the two smallest, as those of LAB_DECODE_SPARSE do. */
KWHY_MUST_USE enum kwhy_status lab_decode_answer_init(const struct lab_decode_shape *shape, bool is_pruned,
	struct lab_decode_answer *out, struct kwhy_error *error);
void lab_decode_answer_done(struct lab_decode_answer *answer);

/* How far a decoder's logits are from the reference's, of up to four sequences after each token. */
struct lab_decode_error {
	double relative; /* root of the mean square of differences, over that of the logits */
	double most;	 /* largest difference; logits have a standard deviation of 2 */
	double agreed;	 /* of the likeliest tokens, the share that is the reference's */
};

/* Reads and writes what the answer was made of, launched as the decoder's tokens are; prefill again after it.
 */
KWHY_MUST_USE enum kwhy_status lab_decode_check(struct lab_decode *decode,
	const struct lab_decode_answer *answer, struct lab_decode_error *out, struct kwhy_error *error);

#endif
