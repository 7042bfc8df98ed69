/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_TESTS_FLOW_TEXT_H
#define KWHY_LAB_TESTS_FLOW_TEXT_H

/* What flow.cu asks of a GPU beyond C, in C, Hopper's barriers, images and products among it; include it
 * before the text. */
#include "fakes/cuda_text.h"

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

typedef struct {
	unsigned x, y, z, w;
} uint4;

typedef struct {
	float x, y, z, w;
} float4;

typedef struct {
	unsigned x, y;
} uint2;

#define __ldcg(place) (*(place))
#define __popc(mask) __builtin_popcount(mask)
#define __syncwarp() \
	cuda_text_meet(&cuda_text_here->warps[threadIdx.x / CUDA_TEXT_WARP].meeting, CUDA_TEXT_WARP)
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

static float bits_as_float(unsigned bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}
#define __uint_as_float bits_as_float

static unsigned __shfl_xor_sync(unsigned mask, unsigned value, unsigned lanes)
{
	const unsigned *values = cuda_text_exchange(value);

	(void)mask;
	return values[(threadIdx.x ^ lanes) % CUDA_TEXT_WARP];
}

static unsigned __shfl_sync(unsigned mask, unsigned value, unsigned lane)
{
	const unsigned *values = cuda_text_exchange(value);

	(void)mask;
	return values[lane];
}

static unsigned __ballot_sync(unsigned mask, bool value)
{
	const unsigned *values = cuda_text_exchange(value);
	unsigned ballot = 0;

	(void)mask;
	for (unsigned i = 0; i < CUDA_TEXT_WARP; i++)
		ballot |= values[i] << i;
	return ballot;
}

/* Operands of the lanes of each warp of a block. */
static _Thread_local unsigned operands[32][6][CUDA_TEXT_WARP];

static float operand(const unsigned *lanes, unsigned lane, unsigned half)
{
	return bits_as_float(lanes[lane] >> 16 * half << 16);
}

/* mma.m16n8k16 as its documentation lays out a warp's operands. */
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

/* --- What Hopper has: a block gets its images at once, and a product is there when it is asked for --- */

static void take_turn(void)
{
	cuda_text_let_others(cuda_text_here);
}

/* In the memory of a barrier: who has yet to come in this round, of how many, and the round. */
struct text_barrier {
	unsigned short left, count;
	unsigned round;
};

static void barrier_init(unsigned long long *barrier, unsigned count)
{
	*(struct text_barrier *)barrier = (struct text_barrier){
		(unsigned short)count, (unsigned short)count, 0};
}

static void barrier_arrive(unsigned long long *barrier)
{
	struct text_barrier *of = (struct text_barrier *)barrier;

	if (--of->left)
		return;
	of->left = of->count;
	of->round++;
}

static void barrier_wait(unsigned long long *barrier, unsigned parity)
{
	while ((((struct text_barrier *)barrier)->round & 1) == parity)
		take_turn();
}

/* Whoever expects bytes copies them next: that is when it arrives. */
static void barrier_expect(unsigned long long *barrier, unsigned bytes)
{
	(void)barrier;
	(void)bytes;
}

static void barrier_leave(unsigned long long *barrier)
{
	__syncwarp();
	if (threadIdx.x % CUDA_TEXT_WARP == 0)
		barrier_arrive(barrier);
}

static void copy_in(void *to, const void *from, unsigned bytes, unsigned long long *barrier)
{
	memcpy(to, from, bytes);
	barrier_arrive(barrier);
}

static _Thread_local struct cuda_text_meeting meetings[8];

static void meet_some(unsigned which, unsigned threads)
{
	cuda_text_meet(&meetings[which], threads);
}

static void let_go(unsigned which, unsigned threads)
{
	struct cuda_text_meeting *meeting = &meetings[which];

	if (++meeting->arrived < threads)
		return;
	meeting->arrived = 0;
	meeting->round++;
}

/* The place of a number whose 8 rows of 128 bytes have their 16 bytes spread: as the hardware does by
 * addresses. */
static float spread_number(unsigned long long place, unsigned row, unsigned k)
{
	uintptr_t address = (uintptr_t)(place << 4) + row * 128 + k * 2;

	address ^= (address >> 7 & 7) << 4;
	return bits_as_float((unsigned)*(const unsigned short *)address << 16);
}

static unsigned long long place_of(const unsigned short *image)
{
	return (uintptr_t)image >> 4;
}

static void load_image_rows(unsigned to[4], const unsigned short *image, unsigned row, unsigned k)
{
	unsigned lane = threadIdx.x % CUDA_TEXT_WARP;

	for (unsigned i = 0; i < 4; i++) {
		uintptr_t address = (uintptr_t)image + (row + lane / 4 + i % 2 * 8) * 128 +
			(k * 16 + i / 2 * 8 + lane % 4 * 2) * 2;

		to[i] = *(const unsigned *)(address ^ (address >> 7 & 7) << 4);
	}
}

/* wgmma.m64nNk16 as its documentation lays out operands and sums of four warps: of each, mma's. */
static void multiply_some(float *sums, unsigned count, const unsigned rows[4], unsigned long long weights)
{
	unsigned warp = threadIdx.x / CUDA_TEXT_WARP, lane = threadIdx.x % CUDA_TEXT_WARP;

	for (unsigned i = 0; i < 4; i++)
		operands[warp][i][lane] = rows[i];
	__syncwarp();
	for (unsigned i = 0; i < count; i++)
		for (unsigned k = 0; k < 16; k++)
			sums[i] += operand(operands[warp][i % 4 / 2 + k / 8 * 2], lane / 4 * 4 + k % 8 / 2,
					   k % 2) *
				spread_number(weights, i / 4 * 8 + lane % 4 * 2 + i % 2, k);
	__syncwarp();
}

static void multiply_out(float *sums, const unsigned rows[4], unsigned long long weights)
{
	multiply_some(sums, 20, rows, weights);
}

/* Rows of an image: those of a warp as operands first. */
static void multiply_rows(
	float *sums, unsigned count, unsigned long long rows, unsigned long long weights, unsigned more)
{
	uintptr_t first = (uintptr_t)(rows << 4);
	unsigned of[4], row = threadIdx.x % 128 / CUDA_TEXT_WARP * 16;

	load_image_rows(of, (const unsigned short *)(first / 128 * 128), row, (unsigned)(first % 128 / 32));
	for (unsigned i = 0; i < count && !more; i++)
		sums[i] = 0;
	multiply_some(sums, count, of, weights);
}

static void multiply_once(float *sums, unsigned long long rows, unsigned long long weights, unsigned more)
{
	multiply_rows(sums, 32, rows, weights, more);
}

static void multiply_twice(
	float *low, float *high, unsigned long long rows, unsigned long long weights, unsigned more)
{
	multiply_rows(low, 32, rows, weights, more);
	multiply_rows(high, 32, rows, weights + 64 * 128 / 16, more);
}

static void multiply_thrice(float *low, float *high, float *last, unsigned long long rows,
	unsigned long long weights, unsigned more)
{
	multiply_twice(low, high, rows, weights, more);
	multiply_rows(last, 32, rows, weights + 2 * 64 * 128 / 16, more);
}

static void take_four(float to[4], const float *from)
{
	memcpy(to, from, 4 * sizeof(*to));
}

static void put_four(void *to, unsigned x, unsigned y, unsigned z, unsigned w)
{
	const unsigned four[] = {x, y, z, w};

	memcpy(to, four, sizeof(four));
}

#define show_engine() ((void)0)
#define begin_products() ((void)0)
#define end_products() ((void)0)
#define await_but(count) ((void)0)
#define await_products() ((void)0)
#define take_registers() ((void)0)
#define leave_registers() ((void)0)

#endif
