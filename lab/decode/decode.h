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
 * `decode`, the reference workload of language models (lab/README.md): a decoder of the shape of OPT with
 * random weights. It reads a prompt and then writes one token after the other. Each layer has two halves:
 * attention to all earlier tokens with heads of width 64, and two matrices with a ReLU between them. Each
 * half normalises its input, and its result is added to its input. The table of token vectors is also the
 * matrix that computes the logits. Normalisations have neither scale nor shift, since inference engines fold
 * both into the matrix after them.
 */
enum {
	LAB_DECODE_HEAD = 64, /* width of a head */
	/* largest number of GPUs of one tensor-parallel decoder, and of decoders in one struct lab_decode */
	LAB_DECODE_GPUS_MAX = 8,
	LAB_DECODE_REFERENCE_MAX = 64 /* largest number of tokens in a sequence of the reference */
};

struct lab_decode_shape {
	const char *name;
	uint32_t layers, width, heads, inner, vocabulary;
	uint32_t positions; /* largest number of tokens in a sequence of the model */
};

enum { LAB_DECODE_SHAPE_COUNT = 3 };
/* known shapes: "opt-125m", ... */
extern const struct lab_decode_shape lab_decode_shapes[LAB_DECODE_SHAPE_COUNT];

/*
 * A sequence of tokens for the reference model, which computes in fp32 on one core of the host. The model
 * writes out_logits[count - first][vocabulary], the logits of the positions from `first` on. Weights are
 * computed when they are needed; OPT-125m takes about a second. is_pruned: of each four neighbours in a row
 * of weights, the two smallest are 0.
 */
struct lab_decode_sequence {
	const uint32_t *tokens; /* [count] tokens of the vocabulary */
	/*
	 * count: number of tokens, at most LAB_DECODE_REFERENCE_MAX; first: first position whose logits are
	 * wanted
	 */
	uint32_t count, first;
	bool is_pruned;
};

KWHY_MUST_USE enum kwhy_status lab_decode_reference(const struct lab_decode_shape *shape,
	const struct lab_decode_sequence *sequence, float *out_logits, struct kwhy_error *error);

/* The kinds of weights, by type and storage. */
enum lab_decode_weights {
	LAB_DECODE_FP32,
	LAB_DECODE_TF32,
	LAB_DECODE_BF16,
	LAB_DECODE_FP16,
	LAB_DECODE_FP8,
	LAB_DECODE_INT8,
	LAB_DECODE_INT4,
	LAB_DECODE_SPARSE, /* fp16, of which two of four neighbours are stored */
	LAB_DECODE_WEIGHTS_COUNT
};

/* Properties of a kind of weights. */
struct lab_decode_kind {
	uint32_t weight_bits;
	/* type of the factors of products; packed weights are expanded to it first */
	enum lab_number factors;
	enum lab_number kept; /* type of the stored keys and values */
	uint32_t packing;     /* how weights are packed, an enum in kernels/args.cu */
	/*
	 * Largest magnitude of a stored weight. A weight is what is stored for it times the scale of its
	 * row. Activations of 8 bits have one scale per token. 0: weights have no scales.
	 */
	float code_most;
	/* least architecture for its products, 10 * major + minor: 89 is compute capability 8.9 */
	int architecture;
	/*
	 * Largest error of logits that rounding explains: root mean square of the error, divided by that of
	 * the logits.
	 */
	double error_most;
};

extern const struct lab_decode_kind lab_decode_kinds[LAB_DECODE_WEIGHTS_COUNT];
/* name of each kind: "fp32", ... */
extern const char *const lab_decode_weights_names[LAB_DECODE_WEIGHTS_COUNT];

/* --- On GPUs, or on the host --- */

enum lab_decode_launching {
	LAB_DECODE_CALLS, /* a call of the driver for each kernel */
	/*
	 * two graphs: one has all kernels of a step and is launched again for each step; the other has all
	 * kernels of the prefill
	 */
	LAB_DECODE_GRAPH,
	LAB_DECODE_LAUNCHING_COUNT
};

/* names of the ways to launch a step: "calls", "graph" */
extern const char *const lab_decode_launching_names[LAB_DECODE_LAUNCHING_COUNT];

enum {
	LAB_DECODE_BATCH_MAX = 1024,
	LAB_DECODE_CHECK_PROMPT = 32, /* number of tokens that a check reads as prompt */
	/* number of tokens that a check then adds to the sequence, one by one */
	LAB_DECODE_CHECK_STEPS = 7
};

/*
 * How the next token of a sequence is sampled: from the top_k likeliest tokens (0: from all), and among these
 * from the smallest number of likeliest tokens whose probabilities add up to top_p or more.
 */
struct lab_decode_choice {
	float temperature; /* divisor of the logits; 0: the likeliest token is always chosen */
	float top_p;	   /* share of the probability, above 0 and at most 1; 1: all tokens */
	uint32_t top_k, seed;
};

struct lab_decode_request {
	struct kwhy_gpu *const *gpus; /* [tp * dp] GPUs: the tp GPUs of the first decoder, then those of the
					 second, and so on */
	/*
	 * tp: number of GPUs that share a decoder; dp: number of decoders that share the sequences; 0 counts
	 * as 1
	 */
	uint32_t tp, dp;
	const struct lab_decode_shape *shape;
	enum lab_decode_weights weights;
	enum lab_decode_launching launching; /* decoders on several GPUs support only LAB_DECODE_CALLS */
	/*
	 * batch: number of concurrent sequences on all GPUs; prompt, tokens: tokens that each sequence reads
	 * and writes
	 */
	uint32_t batch, prompt, tokens;
	struct lab_decode_choice choice;
};

struct lab_decode;

/*
 * Opens a decoder and makes its weights. KWHY_E_UNSUPPORTED: the GPU does not support the kind of weights, or
 * cuBLASLt, which makes the products on GPUs, is not found. End with lab_decode_close().
 */
KWHY_MUST_USE enum kwhy_status lab_decode_open(
	const struct lab_decode_request *request, struct lab_decode **out, struct kwhy_error *error);
void lab_decode_close(struct lab_decode *decode); /* NULL is allowed */

/* Facts about an open decoder. Bytes are those of all GPUs together. */
struct lab_decode_facts {
	const char *weights, *launching;
	uint64_t batch, tp, dp;
	/* what makes the products: "cuBLASLt 13.0.2"; valid as long as the decoder is open */
	const char *products;
	/*
	 * collectives that combine the results of a decoder's GPUs: "nccl", or "own" for kernels of
	 * kwhy-lab; NULL: each decoder has one GPU
	 */
	const char *gathers;
	/*
	 * number of kernels of a step (one more token of every sequence) on each GPU: those of kwhy-lab and
	 * one for each matrix product; kernels of collectives are not counted
	 */
	uint64_t kernels;
	/*
	 * weight_bytes: of the weights, counted once for each GPU that stores them; cache_bytes: of the keys
	 * and values of all slots at their full length; token_bytes: of the keys and values of one token in
	 * one decoder
	 */
	uint64_t weight_bytes, cache_bytes, token_bytes;
};

void lab_decode_facts(const struct lab_decode *decode, struct lab_decode_facts *out);

/*
 * Reads the prompts of all sequences and waits until all GPUs have finished. *out_s: time that this took, s.
 */
KWHY_MUST_USE enum kwhy_status lab_decode_prefill(
	struct lab_decode *decode, double *out_s, struct kwhy_error *error);

/*
 * Writes the request's `tokens` of every sequence and waits until all GPUs have finished. *out_s: time that
 * this took, s. After a prefill it can be called any number of times; each time it writes the same tokens.
 */
KWHY_MUST_USE enum kwhy_status lab_decode_write(
	struct lab_decode *decode, double *out_s, struct kwhy_error *error);

/* Tokens that a sequence wrote in the last lab_decode_write(): out_tokens[tokens]. */
KWHY_MUST_USE enum kwhy_status lab_decode_tokens(
	struct lab_decode *decode, uint32_t sequence, uint32_t *out_tokens, struct kwhy_error *error);

/*
 * Times from each token to the next in the last lab_decode_write(), by the clock of the first device:
 * out_s[tokens - 1].
 */
KWHY_MUST_USE enum kwhy_status lab_decode_steps(
	struct lab_decode *decode, double *out_s, struct kwhy_error *error);

/*
 * Sequences that arrive at random times. Each has a prompt of its own, as long as the request's `prompt`, and
 * writes a random number of tokens, from a quarter of the request's `tokens` to all of them. The host waits
 * for the GPUs after every step, as servers do.
 */
struct lab_decode_arrivals {
	double rate_per_s; /* mean rate of a Poisson process, sequences per second */
	uint32_t count;
	/*
	 * true (continuous batching): each slot of the batch takes the next sequence as soon as the slot is
	 * free; false: sequences are taken only when all slots are free
	 */
	bool continuous;
	uint32_t *tokens; /* [count][decoder's tokens] tokens that each sequence wrote; NULL: not wanted */
	/* [count] receives the number of tokens that each sequence wrote; not used if `tokens` is NULL */
	uint32_t *lengths;
};

struct lab_decode_served {
	double seconds;
	uint64_t sequences, tokens, steps;
	/*
	 * tokens written for sequences, divided by the number of slots of the batch times the number of steps
	 */
	double busy_ratio;
	/* times from the arrival of a sequence: first_s: to its first token; whole_s: to its last token */
	struct kwhy_median first_s, whole_s;
};

/*
 * Serves arriving sequences with the first of the decoders; others are not used. It can be called any number
 * of times; after it, lab_decode_write() needs a new lab_decode_prefill().
 */
KWHY_MUST_USE enum kwhy_status lab_decode_serve(struct lab_decode *decode,
	const struct lab_decode_arrivals *arrivals, struct lab_decode_served *out, struct kwhy_error *error);

/* Logits of the reference for two sequences. They hold for all decoders of the same shape. */
struct lab_decode_answer {
	const struct lab_decode_shape *shape;
	/*
	 * [1 + LAB_DECODE_CHECK_STEPS][vocabulary] logits of sequences 0 and 1, after the prompt and after
	 * each step
	 */
	float *logits[2];
};

/*
 * Computes the logits on one core of the host. is_pruned: of every four adjacent weights of a row, the two
 * smallest by magnitude are 0, as in LAB_DECODE_SPARSE. Free with lab_decode_answer_done().
 */
KWHY_MUST_USE enum kwhy_status lab_decode_answer_init(const struct lab_decode_shape *shape, bool is_pruned,
	struct lab_decode_answer *out, struct kwhy_error *error);
void lab_decode_answer_done(struct lab_decode_answer *answer);

/*
 * Differences between the logits of all decoders and those of the reference, over up to four slots of each
 * decoder and all positions of `logits` in struct lab_decode_answer.
 */
struct lab_decode_error {
	double relative; /* root mean square of the differences, divided by that of the logits */
	/*
	 * largest difference of a single logit; for comparison: the standard deviation of logits is about 2
	 */
	double most;
	double agreed; /* share of positions at which the likeliest token is that of the reference */
};

/*
 * Lets the decoders read and write the sequences of the answer, and compares their logits with the answer's.
 * Prompts are always launched by calls, steps as the request demands. After it, lab_decode_write() needs a
 * new lab_decode_prefill().
 */
KWHY_MUST_USE enum kwhy_status lab_decode_check(struct lab_decode *decode,
	const struct lab_decode_answer *answer, struct lab_decode_error *out, struct kwhy_error *error);

#endif
