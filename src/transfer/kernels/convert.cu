/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts floats to shorter numbers on the device. Results have the same bits as those of convert.c, which
 * explains the methods.
 */
typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef signed char i8;

#ifndef KERNEL
#define KERNEL extern "C" __global__
#endif

#define EACH(i, count)                                                        \
	for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < (count); \
		i += (u64)gridDim.x * blockDim.x)

__device__ static u16 f16_of(float value)
{
	u32 bits = __float_as_uint(value), sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7fffffff,
	    normal = (magnitude - (112u << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13,
	    small = __float_as_uint(__uint_as_float(magnitude) + 0.5f) - 0x3f000000u, half;

	half = magnitude < (113u << 23) ? small : normal;
	half = magnitude >= (143u << 23) ? 0x7c00 : half;
	half = magnitude > 0x7f800000 ? 0x7e00 : half;
	return (u16)(sign | half);
}

__device__ static u16 bf16_of(float value)
{
	u32 bits = __float_as_uint(value), rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16,
	    quiet = (bits >> 16) | 0x40;

	return (u16)((bits & 0x7fffffff) > 0x7f800000 ? quiet : rounded);
}

__device__ static i8 i8_of(float value, float inverse)
{
	float scaled = value * inverse;

	scaled = scaled == scaled ? scaled : 0;
	scaled = scaled < -127 ? -127 : scaled;
	scaled = scaled > 127 ? 127 : scaled;
	return (i8)(__float_as_uint(scaled + 12582912.0f) & 0xff);
}

KERNEL void kwhy_transfer_to_f16(const float *from, u16 *to, u64 count, float inverse)
{
	(void)inverse;
	EACH(i, count)
	to[i] = f16_of(from[i]);
}

KERNEL void kwhy_transfer_to_bf16(const float *from, u16 *to, u64 count, float inverse)
{
	(void)inverse;
	EACH(i, count)
	to[i] = bf16_of(from[i]);
}

KERNEL void kwhy_transfer_to_i8(const float *from, i8 *to, u64 count, float inverse)
{
	EACH(i, count)
	to[i] = i8_of(from[i], inverse);
}
