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
