/* SPDX-License-Identifier: Apache-2.0 */
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
