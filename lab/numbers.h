/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_NUMBERS_H
#define LAB_NUMBERS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Numbers as GPUs have them, rounded to the nearest, ties to even. TF32 lies in memory as FP32. Pure. */
enum lab_number { LAB_FP32, LAB_TF32, LAB_BF16, LAB_FP16, LAB_NUMBER_COUNT };

static inline uint32_t lab_number_bytes(enum lab_number type)
{
	return type <= LAB_TF32 ? 4 : 2;
}

static inline uint32_t lab_bits_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline float lab_float_of(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* Without its last 13 bits; of finite values, as the next two. */
static inline float lab_to_tf32(float value)
{
	uint32_t bits = lab_bits_of(value);

	return lab_float_of((bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu);
}

static inline uint16_t lab_to_bf16(float value)
{
	uint32_t bits = lab_bits_of(value);

	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float lab_from_bf16(uint16_t bits)
{
	return lab_float_of((uint32_t)bits << 16);
}

/* What is too large becomes infinite; what is below 2^-14 has fewer digits. */
static inline uint16_t lab_to_fp16(float value)
{
	uint32_t bits = lab_bits_of(value), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;

	if (size >= 0x47800000)
		return (uint16_t)(sign | (size > 0x7f800000 ? 0x7e00 : 0x7c00));
	if (size < 0x38800000)
		return (uint16_t)(sign | (uint32_t)lrintf(lab_float_of(size) * 0x1p24f));
	return (uint16_t)(sign | (size - 0x38000000 + 0xfff + (size >> 13 & 1)) >> 13);
}

static inline float lab_from_fp16(uint16_t bits)
{
	uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exponent = bits >> 10 & 31, digits = bits & 0x3ff;

	if (exponent == 0)
		return lab_float_of(sign | lab_bits_of((float)digits * 0x1p-24f));
	if (exponent == 31)
		return lab_float_of(sign | 0x7f800000 | digits << 13);
	return lab_float_of(sign | (exponent + 112) << 23 | digits << 13);
}

/* The number at a place of an array. */
static inline float lab_number_get(enum lab_number type, const void *numbers, size_t place)
{
	if (type == LAB_BF16)
		return lab_from_bf16(((const uint16_t *)numbers)[place]);
	if (type == LAB_FP16)
		return lab_from_fp16(((const uint16_t *)numbers)[place]);
	return ((const float *)numbers)[place];
}

static inline void lab_number_put(enum lab_number type, void *numbers, size_t place, float value)
{
	if (type == LAB_BF16)
		((uint16_t *)numbers)[place] = lab_to_bf16(value);
	else if (type == LAB_FP16)
		((uint16_t *)numbers)[place] = lab_to_fp16(value);
	else
		((float *)numbers)[place] = value;
}

#endif
