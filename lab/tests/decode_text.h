/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_TESTS_DECODE_TEXT_H
#define KWHY_LAB_TESTS_DECODE_TEXT_H

/* What decode.cu asks of a GPU beyond C, in C; include it before the text. Copies that run ahead are done at
 * once, and a tensor instruction gathers what the lanes of its warp hold. */
#include "fakes/cuda_text.h"

#include "lab/decode/numbers.h"

struct __attribute__((aligned(16))) four;

enum { ROOM_QUADS = 12288 };

#define ROOM(name) static _Thread_local struct four name[ROOM_QUADS]

#define load_weights(from) (*(const struct four *)(const void *)(from))
#define load_weights_two(from, out) memcpy((out), (from), 8)
#define load_fresh(from) (*(const struct four *)(const void *)(from))
#define load_shared(from) (*(from))
#define load_fresh_two(from) (*(const uint64_t *)(const void *)(from))
#define load_far_four(from) load_fresh(from)
#define load_far(from) __atomic_load_n((from), __ATOMIC_RELAXED)
#define load_far_two(from, out) ((out)[0] = load_far(from), (out)[1] = load_far((from) + 1))
#define store_far(to, word) __atomic_store_n((to), (word), __ATOMIC_RELAXED)
#define store_flag(to, flag) __atomic_store_n((to), (flag), __ATOMIC_RELEASE)
#define load_flag(from) __atomic_load_n((from), __ATOMIC_ACQUIRE)
#define ask_line(from) ((void)(from))
#define ask_piece(from, bytes) ((void)(from), (void)(bytes))
#define copy_async(to, from) ((void)memcpy((to), (from), 16))
#define copy_end_stage() ((void)0)
#define copy_await() ((void)0)
#define copy_await_but_one() ((void)0)
#define copy_await_but(count) ((void)0)
#define __syncwarp() ((void)cuda_text_exchange(0))
#define await_previous() ((void)0)
#define root_under_one(value) (1 / sqrtf(value))
#define exp_two(value) exp2f(value)
#define now_ns() 0

/* Eight blocks, which all run. */
static __attribute__((unused)) void cluster_meet(void)
{
	static _Atomic unsigned arrived[256];
	_Atomic unsigned *here = &arrived[blockIdx.x / 8];

	__syncthreads();
	if (threadIdx.x == 0) {
		unsigned all = atomic_fetch_add(here, 1) / 8 * 8 + 8;

		while (atomic_load(here) < all)
			WAIT;
	}
	__syncthreads();
}

/* Where the blocks of clusters have their shared memory. */
static __attribute__((unused)) char *cluster_rooms[256];

#define cluster_open(room) ((void)(cluster_rooms[blockIdx.x] = (char *)(room)))
#define cluster_ready() cluster_meet()
#define store_near(to, rank, ...)                                         \
	do {                                                              \
		const struct four near_value = __VA_ARGS__;               \
                                                                          \
		memcpy(cluster_rooms[blockIdx.x / 8 * 8 + (rank)] +       \
				((char *)(to)-cluster_rooms[blockIdx.x]), \
			&near_value, sizeof(near_value));                 \
	} while (0)

#define store_near_two(to, rank, two)                                     \
	do {                                                              \
		const uint64_t near_two = (two);                          \
                                                                          \
		memcpy(cluster_rooms[blockIdx.x / 8 * 8 + (rank)] +       \
				((char *)(to)-cluster_rooms[blockIdx.x]), \
			&near_two, sizeof(near_two));                     \
	} while (0)

/* The same of so many; who waits has arrived. */
static __attribute__((unused)) void cluster_wait(unsigned blocks)
{
	static _Atomic unsigned arrived[9][512];
	_Atomic unsigned *here = &arrived[blocks][blockIdx.x / blocks];

	if (blocks == 1)
		return;
	__syncthreads();
	if (threadIdx.x == 0) {
		unsigned all = atomic_fetch_add(here, 1) / blocks * blocks + blocks;

		while (atomic_load(here) < all)
			WAIT;
	}
	__syncthreads();
}

#define cluster_arrive(room, blocks) (cluster_open(room), (void)(blocks))
#define cluster_store(room, to, rank, quad, blocks) \
	(((struct four *)(void *)                   \
			 cluster_rooms[blockIdx.x / (blocks) * (blocks) + (rank)])[(to) - (room)] = (quad))

static __attribute__((unused)) void add_float(float *to, float value)
{
	float old, sum;

	__atomic_load(to, &old, __ATOMIC_RELAXED);
	do
		sum = old + value;
	while (!__atomic_compare_exchange(to, &old, &sum, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

#define add_one(to, one) add_float((to), (one))
#define add_two(to, one, two) (add_float((to), (one)), add_float((to) + 1, (two)))
#define add_four(to, v) (add_two((to), (v)[0], (v)[1]), add_two((to) + 2, (v)[2], (v)[3]))

static __attribute__((unused)) float __uint_as_float(unsigned bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static __attribute__((unused)) unsigned shuffle_word(unsigned value, int distance)
{
	return cuda_text_exchange(value)[(threadIdx.x % CUDA_TEXT_WARP) ^ (unsigned)distance];
}

static __attribute__((unused)) float shuffle_float(float value, int distance)
{
	return __uint_as_float(shuffle_word(__float_as_uint(value), distance));
}

#define any_of_warp(is) ((int)__reduce_max_sync(0xffffffffu, (is) ? 1u : 0u))

/* Of four matrices a lane gets a word each of the row that another one tells. */
static __attribute__((unused)) void load_matrices(const void *from, unsigned out[4])
{
	unsigned lows[CUDA_TEXT_WARP], lane = threadIdx.x % CUDA_TEXT_WARP;
	const unsigned *highs;

	memcpy(lows, cuda_text_exchange((unsigned)(uintptr_t)from), sizeof(lows));
	highs = cuda_text_exchange((unsigned)((uintptr_t)from >> 32));
	for (unsigned i = 0; i < 4; i++)
		out[i] = ((const unsigned *)((uint64_t)highs[i * 8 + lane / 4] << 32 |
			lows[i * 8 + lane / 4]))[lane % 4];
}

#define __shfl_sync(mask, value, lane) (cuda_text_exchange(value)[lane])

#define __shfl_xor_sync(mask, value, distance) \
	_Generic((value), float : shuffle_float, default : shuffle_word)((value), (distance))

static __attribute__((unused)) unsigned __byte_perm(unsigned a, unsigned b, unsigned selector)
{
	uint64_t bytes = (uint64_t)b << 32 | a;
	unsigned result = 0;

	for (unsigned i = 0; i < 4; i++)
		result |= (unsigned)(bytes >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
	return result;
}

#if WEIGHTS <= 1
/* Numbers are cut to 10 digits, as the instruction does. */
static __attribute__((unused)) float number_of(unsigned bits)
{
	return __uint_as_float(bits & 0xffffe000u);
}
enum { PAIR = 1 };
#define NUMBER(bits, i) number_of(bits)
#define round_tf32(bits) ((bits) + 0x1000u)
#else
enum { PAIR = 2 };
#if WEIGHTS == 2
#define NUMBER(bits, i) kwhy_decode_from_bf16((uint16_t)((bits) >> 16 * (i)))
#define pack(low, high) ((unsigned)kwhy_decode_to_bf16(high) << 16 | kwhy_decode_to_bf16(low))
#else
#define NUMBER(bits, i) kwhy_decode_from_fp16((uint16_t)((bits) >> 16 * (i)))
#define pack(low, high) ((unsigned)kwhy_decode_to_fp16(high) << 16 | kwhy_decode_to_fp16(low))

#define unpack(pair, out) floats_of_halves((pair), (out))

static __attribute__((unused)) unsigned subtract_halves(unsigned a, unsigned b)
{
	return pack(NUMBER(a, 0) - NUMBER(b, 0), NUMBER(a, 1) - NUMBER(b, 1));
}

#endif
#define HALF(bits, i) kwhy_decode_from_fp16((uint16_t)((bits) >> 16 * (i)))

static __attribute__((unused)) void floats_of_halves(unsigned pair, float out[2])
{
	out[0] = HALF(pair, 0);
	out[1] = HALF(pair, 1);
}

static __attribute__((unused)) unsigned pack_halves(float low, float high)
{
	return (unsigned)kwhy_decode_to_fp16(high) << 16 | kwhy_decode_to_fp16(low);
}

static __attribute__((unused)) unsigned add_halves(unsigned a, unsigned b)
{
	return pack_halves(HALF(a, 0) + HALF(b, 0), HALF(a, 1) + HALF(b, 1));
}

static __attribute__((unused)) unsigned halves_of_fp8(unsigned pair)
{
	return pack_halves(kwhy_decode_from_fp8((uint8_t)pair), kwhy_decode_from_fp8((uint8_t)(pair >> 8)));
}

static __attribute__((unused)) void halves_of_four(unsigned four, unsigned *first, unsigned *second)
{
	*first = halves_of_fp8(four & 0xffff);
	*second = halves_of_fp8(four >> 16);
}

static __attribute__((unused)) unsigned fp8_of(float low, float high)
{
	return (unsigned)kwhy_decode_to_fp8(high) << 8 | kwhy_decode_to_fp8(low);
}
#endif

/* mma.m16n8: the rows of a are lane / 4 and 8 more, those of b lane / 4; neighbours of columns lie in lane
 * % 4. */
typedef float tensor_number(unsigned bits, int half);

static __attribute__((unused)) float act_number(unsigned bits, int half)
{
	(void)half;
	return NUMBER(bits, half);
}

static __attribute__((unused)) void tensor_of(
	float c[4], const unsigned a[4], unsigned b0, unsigned b1, tensor_number *number)
{
	static _Thread_local unsigned all[2][16][CUDA_TEXT_WARP][6];
	static _Thread_local unsigned char turns[16 * CUDA_TEXT_WARP];
	/* Two by turns: a lane that is ahead overwrites nothing that another still reads. */
	unsigned(*held)[6] = all[turns[threadIdx.x]++ % 2][threadIdx.x / 32], lane = threadIdx.x % 32;
	const unsigned mine[6] = {a[0], a[1], a[2], a[3], b0, b1};

	memcpy(held[lane], mine, sizeof(mine));
	(void)cuda_text_exchange(0);
	for (unsigned i = 0; i < 4; i++)
		for (unsigned k = 0; k < 4; k++) {
			const unsigned *from = held[lane / 4 * 4 + k],
				       *to = held[(lane % 4 * 2 + i % 2) * 4 + k];

			for (int half = 0; half < PAIR; half++)
				c[i] += number(from[i / 2], half) * number(to[4], half) +
					number(from[2 + i / 2], half) * number(to[5], half);
		}
}

#define tensor(c, a, b0, b1) tensor_of((c), (a), (b0), (b1), act_number)

#if WEIGHTS > 1
static __attribute__((unused)) float half_number(unsigned bits, int half)
{
	return HALF(bits, half);
}

#define tensor_halves(c, a, b0, b1) tensor_of((c), (a), (b0), (b1), half_number)
#endif

#endif
