/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_TESTS_FLOW_TEXT_H
#define KWHY_LAB_TESTS_FLOW_TEXT_H

/*
 * C versions of the GPU instructions that flow's kernels use (ldmatrix, mma, loads and conversions). Include
 * this before the kernels.
 */
#include "fakes/cuda_text.h"
#include "lab/numbers.h"

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

typedef struct {
	unsigned x, y, z, w;
} uint4;

#define __ldcg(place) (*(place))
#define atomicExch(place, value) __atomic_exchange_n((place), (__typeof__(*(place)))(value), __ATOMIC_SEQ_CST)

static unsigned long long atomic_min(unsigned long long *place, unsigned long long value)
{
	unsigned long long old = __atomic_load_n(place, __ATOMIC_SEQ_CST);

	while (old > value &&
		!__atomic_compare_exchange_n(place, &old, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
	return old;
}
#undef atomicMin
#define atomicMin atomic_min

#define __uint_as_float lab_float_of

static unsigned long long __shfl_xor_sync(unsigned mask, unsigned long long value, unsigned lanes)
{
	unsigned other = (threadIdx.x ^ lanes) % CUDA_TEXT_WARP,
		 low = cuda_text_exchange((unsigned)value)[other],
		 high = cuda_text_exchange((unsigned)(value >> 32))[other];

	(void)mask;
	return (unsigned long long)high << 32 | low;
}

static unsigned pack(float low, float high)
{
	return lab_to_bf16(low) | (unsigned)lab_to_bf16(high) << 16;
}

#define swift_tanh tanhf

static void load_rows(unsigned to[4], const unsigned short *from, unsigned stride)
{
	unsigned lane = threadIdx.x % 32;
	const unsigned short *here = from + lane / 4 * stride + lane % 4 * 2;

	to[0] = *(const unsigned *)here;
	to[1] = *(const unsigned *)(here + 8 * stride);
	to[2] = *(const unsigned *)(here + 8);
	to[3] = *(const unsigned *)(here + 8 * stride + 8);
}

/* Operands of the lanes of each warp in a block. */
static _Thread_local unsigned operands[32][6][CUDA_TEXT_WARP];

static float operand(const unsigned *lanes, unsigned lane, unsigned half)
{
	return lab_float_of(lanes[lane] >> 16 * half << 16);
}

/* mma.m16n8k16, with operands distributed over a warp as its documentation states. */
static void multiply(float sums[4], const unsigned rows[4], unsigned low, unsigned high)
{
	unsigned warp = threadIdx.x / CUDA_TEXT_WARP, lane = threadIdx.x % CUDA_TEXT_WARP;
	struct cuda_text_meeting *meeting = &cuda_text_here->warps[warp].meeting;

	for (unsigned i = 0; i < 6; i++)
		operands[warp][i][lane] = i < 4 ? rows[i] : i == 4 ? low : high;
	cuda_text_meet(meeting, CUDA_TEXT_WARP);
	for (unsigned i = 0; i < 4; i++)
		for (unsigned k = 0; k < 16; k++) {
			unsigned row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
			const unsigned *left = operands[warp][row / 8 + k / 8 * 2],
				       *right = operands[warp][4 + k / 8];

			sums[i] += operand(left, row % 8 * 4 + k % 8 / 2, k % 2) *
				operand(right, column * 4 + k % 8 / 2, k % 2);
		}
	cuda_text_meet(meeting, CUDA_TEXT_WARP);
}

#endif
