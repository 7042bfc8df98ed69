/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of the workload `decode` (lab/README.md): all that stands between the products, which cuBLASLt
 * makes. Compiled for one kind of weights. KIND: as enum lab_decode_weights. The same text is their form for the
 * host, of one thread (BY_WARPS 0).
 */
#ifdef __cplusplus
#define KERNEL extern "C" __global__
#define BY_WARPS 1
#define NOW_NS() now_ns()
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

#ifndef KIND
#define KIND BF16
#endif

#define IS_SCALED (KIND == FP8 || KIND == INT8) /* products are of 8 bits, whose sums are yet to be scaled */
#define IS_BF16 (KIND == BF16 || KIND == INT4)
#define CODE_MOST (KIND == FP8 ? 448.0f : KIND == INT8 ? 127.0f : KIND == INT4 ? 7.0f : 0.0f)

/* What products take, and what keys and values are kept as. */
#if KIND == FP32 || KIND == TF32
typedef float act;
typedef float kept;
#elif IS_SCALED
typedef u8 act;
typedef u16 kept;
#else
typedef u16 act;
typedef u16 kept;
#endif

enum {
	HEAD = 64,
	THREADS = 256,
	WARPS = THREADS / 32,
	SPAN = 4,      /* positions whose keys and values a lane loads at once */
	PIECE = HEAD + 2
};

enum { ATTENTION, PROJECTION, WIDENING, NARROWING, NOTHING };

/* As struct lab_decode_args of lab/decode/device.h. */
struct args {
	const u8 *words;	  /* weights [word_count * ranks][width] */
	const float *word_scales; /* [word_count * ranks] */
	const float *places;	  /* [positions][width] */
	const float *scales;	  /* [layers][rows of a layer] */
	const float *biases;	  /* [layers][rows of a layer] */
	kept *keys, *values;	  /* [layers][cache_slots][heads][positions][HEAD] */
	float *queries;		  /* [tokens][heads * HEAD] */
	float *x;		  /* [tokens][width] */
	act *acts;		  /* what the next product takes, [tokens][columns] */
	float *act_scales;	  /* [tokens] */
	float *last_scales;	  /* [slots], of what the last product takes */
	float *sums;		  /* what a product has left, [tokens][rows]; of int8 they are int */
	float *parts;		  /* [ranks][tokens][width] the same of all GPUs, scaled; 0: of one GPU */
	float *logits;		  /* [slots][word_count], this GPU's; scaled by picking */
	float *all_logits;	  /* [ranks][slots][word_count] */
	u64 *best;		  /* [slots] the next token: its logit's bits in order, then ~token */
	u32 *at;		  /* [slots] the position that a slot is at */
	const u32 *prompt;	  /* [slots][each] */
	u32 *chosen;		  /* [slots][positions] the token of every position */
	u64 *times;		  /* [positions] when the first slot came to a position, ns */
	u32 tokens, each;	  /* in hand; of a slot: 1, or of a whole prompt from position 0 on */
	u32 slots, cache_slots, positions;
	u32 vocabulary, word_count, first_word; /* of all; that this GPU multiplies with, from which on */
	u32 width, heads, inner, ranks;		/* heads and inner are this GPU's */
	u32 rank, kind;
	u32 top_k, seed; /* of choosing: the likeliest k, 0: all */
	float top_p, temperature;
};

/* --- Numbers --- */

static __device__ u32 mix(u32 x)
{
	x ^= x >> 16;
	x *= 0x7feb352du;
	x ^= x >> 15;
	x *= 0x846ca68bu;
	return x ^ (x >> 16);
}

static __device__ float unit_of(u32 hash, u32 place)
{
	return (float)(int)mix(place ^ hash) * (1.0f / 2147483648.0f);
}

#ifdef __cplusplus
static __device__ u16 half_of(float value)
{
	u16 half;

#if IS_BF16
	asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(half) : "f"(value));
#else
	asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
#endif
	return half;
}

static __device__ float float_of_half(u16 half)
{
#if IS_BF16
	return __uint_as_float((u32)half << 16);
#else
	float value;

	asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
	return value;
#endif
}

#if KIND == FP8
static __device__ u8 fp8_of(float value)
{
	u16 pair;

	asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(value));
	return (u8)(pair & 0xff);
}

static __device__ float float_of_fp8(u8 code)
{
	u32 halves;
	float value;

	asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"((u16)code));
	asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"((u16)(halves & 0xffff)));
	return value;
}
#endif

static __device__ u64 now_ns(void)
{
	u64 ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}
#endif

#if KIND == FP32 || KIND == TF32
#define kept_of(value) (value)
#define float_of_kept(number) (number)
#else
#define kept_of(value) half_of(value)
#define float_of_kept(number) float_of_half(number)
#endif

/* value: of 8 bits already divided by its scale. */
static __device__ act act_of(float value)
{
#if KIND == FP32 || KIND == TF32
	return value;
#elif KIND == FP8
	return fp8_of(value);
#elif KIND == INT8
	return (u8)(__float2int_rn(value) & 0xff);
#else
	return half_of(value);
#endif
}

/* A token's key: of two the larger is the larger value's, of equal ones the first token's. */
static __device__ u32 order_of(float value)
{
	u32 bits = __float_as_uint(value);

	return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

static __device__ u64 key_of(float value, u32 token)
{
	return (u64)order_of(value) << 32 | (u32)~token;
}

/* --- Over the threads of a block, for all of them --- */

#if BY_WARPS
static __device__ float sum_of_block(float value)
{
	__shared__ float sums[32];
	float sum = 0;

	for (int distance = 16; distance; distance /= 2)
		value += __shfl_xor_sync(0xffffffffu, value, distance);
	__syncthreads();
	if (threadIdx.x % 32 == 0)
		sums[threadIdx.x / 32] = value;
	__syncthreads();
	for (u32 i = 0; i < blockDim.x / 32; i++)
		sum += sums[i];
	return sum;
}

static __device__ float most_of_block(float value)
{
	__shared__ float mosts[32];
	float most = 0;

	for (int distance = 16; distance; distance /= 2)
		value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
	__syncthreads();
	if (threadIdx.x % 32 == 0)
		mosts[threadIdx.x / 32] = value;
	__syncthreads();
	for (u32 i = 0; i < blockDim.x / 32; i++)
		most = fmaxf(most, mosts[i]);
	return most;
}
#else
#define sum_of_block(value) (value)
#define most_of_block(value) (value)
#endif

static __device__ u64 best_of_block(u64 key)
{
	__shared__ u64 best;

	__syncthreads();
	if (threadIdx.x == 0)
		best = 0;
	__syncthreads();
	atomicMax(&best, key);
	__syncthreads();
	return best;
}
