/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_DECODE_DEVICE_H
#define LAB_DECODE_DEVICE_H

#include "gpu/gpu.h"
#include "lab/decode/rules.h"

/*
 * What the kernels of `decode` are given, by value, before other numbers; as struct args of kernels/args.cu,
 * with addresses of the device. An `act` is what a product takes: fp32, bf16, fp16, fp8 or int8.
 */
struct lab_decode_args {
	uint64_t words, word_scales; /* weights and float, [word_count * ranks] rows */
	uint64_t places;	     /* float [positions][width] */
	uint64_t scales, biases;     /* float [layers][rows of a layer] */
	uint64_t keys, values;	     /* fp32, bf16 or fp16 [layers][cache_slots][heads][positions][HEAD] */
	uint64_t queries;	     /* float [tokens][heads * HEAD] */
	uint64_t x;		     /* float [tokens][width] */
	uint64_t acts;		     /* act [tokens][columns of the next product] */
	uint64_t act_scales;	     /* float [tokens] */
	uint64_t last_scales;	     /* float [slots] */
	uint64_t sums;		     /* float, of int8 int32, [tokens][rows of the product before] */
	uint64_t parts;		     /* float [ranks][tokens][width]; 0: of one GPU */
	uint64_t logits, all_logits; /* float [slots][word_count]; [ranks][slots][word_count] */
	uint64_t best;		     /* uint64 [slots]: lab_decode_key() of the next token */
	uint64_t at;		     /* uint32 [slots]: the position that a slot is at */
	uint64_t prompt;	     /* uint32 [slots][each] */
	uint64_t chosen;	     /* uint32 [slots][positions] */
	uint64_t times;		     /* uint64 [positions]: when the first slot came to a position, ns */
	uint32_t tokens, each;	     /* in hand; of a slot: 1, or its whole prompt */
	uint32_t slots, cache_slots, positions;
	uint32_t vocabulary, word_count, first_word;
	uint32_t width, heads, inner, ranks;
	uint32_t rank, kind;
	uint32_t top_k, seed;
	float top_p, temperature;
};

/* The last product; and nothing, where a product before is named. As the kernels count. */
enum { LAB_DECODE_WORDS = LAB_DECODE_MATRICES, LAB_DECODE_NOTHING = LAB_DECODE_MATRICES };

/* A token's key: of two the larger is the larger value's, of equal ones the first token's. */
static inline uint64_t lab_decode_key(float value, uint32_t token)
{
	uint32_t bits = lab_bits_of(value), order = bits & 0x80000000U ? ~bits : bits | 0x80000000U;

	return (uint64_t)order << 32 | (uint32_t)~token;
}

/* Bytes of weights, whose count is a multiple of 4. */
static inline uint64_t lab_decode_weight_bytes(uint32_t kind, uint64_t count)
{
	return count / 4 * (lab_decode_kinds[kind].weight_bits / 2);
}

#define X(NAME, name, bytes, call) LAB_DECODE_##NAME,
enum lab_decode_kernel {
#include "lab/decode/kernels.def"
	LAB_DECODE_KERNEL_COUNT
};
#undef X

/* A kernel's form for the host, of one kind of weights. */
typedef void (*lab_decode_host_run)(void **arguments);

extern const struct kwhy_gpu_host_kernel lab_decode_host_kernels[];

#endif
