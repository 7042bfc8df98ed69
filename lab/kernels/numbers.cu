/* SPDX-License-Identifier: Apache-2.0 */
/* --- Numbers of all types, and sums over a block, for `train` and `decode` --- */

#ifdef __cplusplus
#define KERNEL extern "C" __global__
#define WARP 32

/* Same as enum lab_number. get() and put() below read and write the number at an index of an array. */
enum { LAB_FP32, LAB_TF32, LAB_BF16, LAB_FP16, LAB_FP8, LAB_INT8, LAB_INT32 };

static __device__ float get(u32 type, const void *from, u64 place)
{
	float value = 0;

	switch (type) {
	case LAB_BF16:
		return __uint_as_float((u32)((const u16 *)from)[place] << 16);
	case LAB_FP16:
		asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(((const u16 *)from)[place]));
		return value;
#if __CUDA_ARCH__ >= 890
	case LAB_FP8: {
		u32 halves;

		asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"((u16)((const u8 *)from)[place]));
		asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"((u16)(halves & 0xffff)));
		return value;
	}
#endif
	case LAB_INT8:
		return (float)((const signed char *)from)[place];
	case LAB_INT32:
		return (float)((const int *)from)[place];
	default:
		return ((const float *)from)[place];
	}
}

/* Writes a number, rounded to the nearest value, ties to even. */
static __device__ void put(u32 type, void *to, u64 place, float value)
{
	u32 bits = __float_as_uint(value);
	u16 half;

	switch (type) {
	case LAB_BF16:
		((u16 *)to)[place] = (u16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
		break;
	case LAB_FP16:
		asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
		((u16 *)to)[place] = half;
		break;
#if __CUDA_ARCH__ >= 890
	case LAB_FP8:
		asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(half) : "f"(0.0f), "f"(value));
		((u8 *)to)[place] = (u8)(half & 0xff);
		break;
#endif
	case LAB_INT8:
		((signed char *)to)[place] = (signed char)__float2int_rn(value);
		break;
	default:
		((float *)to)[place] = value;
	}
}
/*
 * for the host back end, with one thread; some tests compile this text as C with all threads of a block (BY_WARPS)
 */
#else
#include "lab/numbers.h"
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define get(type, from, place) lab_number_get((enum lab_number)(type), from, place)
#define put(type, to, place, value) lab_number_put((enum lab_number)(type), to, place, value)

#if BY_WARPS
#define WARP 32
#else
#define WARP 1
#define __shfl_xor_sync(mask, value, distance) (value)
#endif
#endif

static __device__ float join(float one, float other, u32 is_sum)
{
	return is_sum ? one + other : fmaxf(one, other);
}

/* Sum over all threads of a block, or the largest value. All threads get the result. */
static __device__ float reduce(float value, u32 is_sum)
{
	__shared__ float values[32];

	for (u32 distance = WARP / 2; distance; distance /= 2)
		value = join(value, __shfl_xor_sync(0xffffffffu, value, (int)distance), is_sum);
	__syncthreads();
	if (threadIdx.x % WARP == 0)
		values[threadIdx.x / WARP] = value;
	__syncthreads();
	value = values[0];
	for (u32 i = 1; i < blockDim.x / WARP; i++)
		value = join(value, values[i], is_sum);
	return value;
}
