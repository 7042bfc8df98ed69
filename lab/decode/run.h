/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_DECODE_RUN_H
#define KWHY_LAB_DECODE_RUN_H

#include "gpu/gpu.h"
#include "lab/decode/decode.h"
#include "lab/decode/numbers.h"

#include <stdbool.h>

/*
 * `decode` on a GPU: a prompt is read by all slots at once, then each slot writes token after token,
 * greedily; both phases run apart, as often as wanted. Up to 16 slots blocks share few tokens, above kernels
 * take 64 of them. One thread.
 */
enum kwhy_decode_launching {
	KWHY_DECODE_CALLS,  /* a call of the driver for each kernel */
	KWHY_DECODE_GRAPH,  /* one for each token: a graph of its kernels */
	KWHY_DECODE_EARLY,  /* a graph whose kernels load weights while the one before still runs */
	KWHY_DECODE_DEVICE, /* one for all tokens: a kernel whose blocks wait for each other; up to 16 slots
			     */
	KWHY_DECODE_LAUNCHING_COUNT
};

/* Who multiplies where tokens are many. */
enum kwhy_decode_products {
	KWHY_DECODE_PRODUCTS_BEST, /* the faster one; own kernels where there is no library */
	KWHY_DECODE_PRODUCTS_OWN,
	KWHY_DECODE_PRODUCTS_LIBRARY, /* cuBLASLt, of prompts and of tokens of more than 16 sequences */
	KWHY_DECODE_PRODUCTS_COUNT
};

const char *kwhy_decode_products_name(enum kwhy_decode_products products);    /* "best", "own", "cublaslt" */
const char *kwhy_decode_launching_name(enum kwhy_decode_launching launching); /* "calls", "graph", ... */
const char *kwhy_decode_weights_name(enum kwhy_decode_weights weights);	      /* "fp32", ..., "fp16-2:4" */

enum {
	KWHY_DECODE_FEW = 16,
	KWHY_DECODE_SLOTS_MOST = 1024,
	KWHY_DECODE_CHECK_PROMPT = 32, /* tokens that a check reads */
	KWHY_DECODE_CHECK_STEPS = 7    /* and then is told, one after the other */
};

struct kwhy_decode;

/* How a token is chosen: among the likeliest top_k (0: all), of which as few as have the share top_p
 * together. */
struct kwhy_decode_choice {
	float temperature; /* logits are divided by it; 0: the likeliest token, always */
	float top_p;	   /* above 0; 1: all */
	uint32_t top_k, seed;
};

struct kwhy_decode_request {
	struct kwhy_gpu *gpu;
	struct kwhy_gpu *const *peers; /* [peer_count] other GPUs, which have a part of each layer */
	uint32_t peer_count;
	const struct kwhy_decode_shape *shape;
	enum kwhy_decode_weights weights;
	enum kwhy_decode_launching launching;
	enum kwhy_decode_products products;
	uint32_t slots, prompt, tokens; /* sequences at once; tokens read and written by each */
	uint32_t beams; /* slots that each sequence has, to go on in the likeliest ways; 0 and 1: one */
	uint32_t page;	/* keys and values lie in pages of so many tokens; 0: those of a slot in one piece */
	bool has_short_cache; /* keys and values are kept as fp8; else as activations are */
	struct kwhy_decode_choice choice;
};

/*
 * Makes the weights, too. KWHY_E_UNSUPPORTED where the GPU or the launching cannot do it: tensor instructions
 * want NVIDIA's compute capability 8.0, fp8 8.9; and where a library was asked for that is missing.
 */
KWHY_MUST_USE enum kwhy_status kwhy_decode_open(
	const struct kwhy_decode_request *request, struct kwhy_decode **out, struct kwhy_error *error);
void kwhy_decode_close(struct kwhy_decode *decode); /* NULL is allowed */

uint32_t kwhy_decode_ranks(const struct kwhy_decode *decode); /* GPUs */

/* From now on every GPU works as if what others send had come from itself, and nobody waits: tokens are
 * wrong, work is the same. Of one GPU nothing changes. */
KWHY_MUST_USE enum kwhy_status kwhy_decode_leave_alone(
	struct kwhy_decode *decode, bool is_alone, struct kwhy_error *error);

/* KWHY_E_UNSUPPORTED when one has waited for another in vain since the decoder was opened. */
KWHY_MUST_USE enum kwhy_status kwhy_decode_met(struct kwhy_decode *decode, struct kwhy_error *error);

uint32_t kwhy_decode_kernel_count(
	const struct kwhy_decode *decode); /* of a token; of all, launched at once: 1 */
uint64_t kwhy_decode_weights_bytes(const struct kwhy_decode *decode); /* that each GPU has */
uint64_t kwhy_decode_cache_bytes(const struct kwhy_decode *decode);   /* of all slots, on each */
uint64_t kwhy_decode_token_bytes(
	const struct kwhy_decode *decode); /* of keys and values of one token, on each */

/* Who makes a layer's products: "cuBLASLt 13.0.2", "own kernels", with a reason where a library was looked
 * for. */
const char *kwhy_decode_products(const struct kwhy_decode *decode, bool is_reading);

/* Reads the prompts, and waits. */
KWHY_MUST_USE enum kwhy_status kwhy_decode_prefill(
	struct kwhy_decode *decode, double *out_s, struct kwhy_error *error);

/* From behind the prompts, writes all tokens, and waits; after a prefill, as often as wanted. */
KWHY_MUST_USE enum kwhy_status kwhy_decode_write(
	struct kwhy_decode *decode, double *out_s, struct kwhy_error *error);

/* After it: what a slot wrote. out_tokens[tokens]. */
KWHY_MUST_USE enum kwhy_status kwhy_decode_tokens(
	struct kwhy_decode *decode, uint32_t slot, uint32_t *out_tokens, struct kwhy_error *error);

/* After it, of beams: the likeliest way of a sequence, out_tokens[tokens + 1], with the one that would come
 * next, and the logarithm of its probability behind the prompt. */
KWHY_MUST_USE enum kwhy_status kwhy_decode_beam(struct kwhy_decode *decode, uint32_t sequence,
	uint32_t *out_tokens, double *out_score, struct kwhy_error *error);

/*
 * Goes on from two prompts that a reference takes, as the decoder's tokens are launched, and holds the
 * likeliest way of the first against the reference: *out_off is by how much the logarithm of its probability
 * is off, a token. Prefill again after it.
 */
KWHY_MUST_USE enum kwhy_status kwhy_decode_beam_check(
	struct kwhy_decode *decode, double *out_off, struct kwhy_error *error);

/* After it: from each token to the next, by the device's clock. out_s[tokens - 1]. */
KWHY_MUST_USE enum kwhy_status kwhy_decode_steps(
	struct kwhy_decode *decode, double *out_s, struct kwhy_error *error);

/*
 * Sequences that arrive at random, each to write from a quarter of the decoder's tokens to all of them behind
 * a prompt. The host waits for every token of all, as servers do.
 */
struct kwhy_decode_arrivals {
	double rate_per_s; /* sequences, of a Poisson process */
	uint32_t count, seed;
	bool continuous; /* a slot takes the next one as soon as it is free; else all wait for the longest */
};

struct kwhy_decode_served {
	double seconds;
	uint64_t tokens, steps;
	uint64_t seat_steps; /* slots that wrote for a sequence, of all steps */
	uint64_t page_steps; /* pages that were somebody's, of all steps; 0: there are none */
	uint32_t pages_most; /* at once */
	double *first_s,
		*whole_s; /* [count], the caller's: from its arrival to its first token, and to its last */
};

/* After a prefill, as often as wanted. KWHY_E_UNSUPPORTED for KWHY_DECODE_DEVICE. */
KWHY_MUST_USE enum kwhy_status kwhy_decode_serve(struct kwhy_decode *decode,
	const struct kwhy_decode_arrivals *arrivals, struct kwhy_decode_served *out,
	struct kwhy_error *error);

/* What two sequences must come to; of a shape, for all decoders of it. */
struct kwhy_decode_answer {
	const struct kwhy_decode_shape *shape;
	uint32_t tokens[2][KWHY_DECODE_CHECK_PROMPT + KWHY_DECODE_CHECK_STEPS];
	float *logits[2]; /* [1 + CHECK_STEPS][vocabulary] */
};

KWHY_MUST_USE enum kwhy_status kwhy_decode_answer_init(
	const struct kwhy_decode_shape *shape, struct kwhy_decode_answer *out, struct kwhy_error *error);
/* Of weights of which each four lack the two smallest, as those of KWHY_DECODE_SPARSE do. */
KWHY_MUST_USE enum kwhy_status kwhy_decode_answer_init_pruned(
	const struct kwhy_decode_shape *shape, struct kwhy_decode_answer *out, struct kwhy_error *error);
void kwhy_decode_answer_done(struct kwhy_decode_answer *answer);

/* How far a decoder's logits are from the reference's, of up to four slots after each token. */
struct kwhy_decode_error {
	double relative; /* root of the mean square of differences, over that of the logits */
	double most;	 /* largest difference; logits have a standard deviation of 2 */
	double agreed;	 /* of the likeliest tokens, the share that is the reference's */
};

/* Reads and writes what the answer was made of, launched as the decoder's tokens are; prefill again after it.
 */
KWHY_MUST_USE enum kwhy_status kwhy_decode_check(struct kwhy_decode *decode,
	const struct kwhy_decode_answer *answer, struct kwhy_decode_error *out, struct kwhy_error *error);

#endif
