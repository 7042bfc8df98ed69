/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_NUMBERS_H
#define LAB_NUMBERS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/*
 * Number types of GPUs. Conversions round to the nearest value, ties to even. TF32 is stored as FP32. FP8 is
 * E4M3, which has no infinity: values above 448 become 448.
 */
enum lab_number { LAB_FP32, LAB_TF32, LAB_BF16, LAB_FP16, LAB_FP8, LAB_INT8, LAB_INT32, LAB_NUMBER_COUNT };

static inline uint32_t lab_number_bytes(enum lab_number type)
{
	static const uint8_t bytes[LAB_NUMBER_COUNT] = {4, 4, 2, 2, 1, 1, 4};

	return bytes[type];
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

/* Rounds to TF32, which has 13 bits less than FP32. The value must be finite, as for lab_to_bf16(). */
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

/*
 * Rounds to FP16. Values that round to more than 65504 become infinite, NAN stays NAN, and values below 2^-14
 * become subnormal.
 */
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

static inline float lab_from_fp8(uint8_t bits)
{
	int exponent = bits >> 3 & 15, digits = bits & 7;
	float value = exponent ? ldexpf((float)(8 + digits), exponent - 10) : (float)digits * 0x1p-9F;

	return bits & 0x80 ? -value : value;
}

static inline uint8_t lab_to_fp8(float value)
{
	float most = fminf(fabsf(value), 448);
	int exponent, digits;

	(void)frexpf(most, &exponent);
	exponent = exponent - 1 < -6 ? -6 : exponent - 1;
	digits = (int)lrintf(ldexpf(most, 3 - exponent));
	if (digits == 16) {
		digits = 8;
		exponent++;
	}
	return (uint8_t)((signbit(value) ? 0x80 : 0) |
		(digits < 8 ? digits : (exponent + 7) << 3 | (digits - 8)));
}

/* The number at an index of an array. */
static inline float lab_number_get(enum lab_number type, const void *numbers, size_t place)
{
	switch (type) {
	case LAB_BF16:
		return lab_from_bf16(((const uint16_t *)numbers)[place]);
	case LAB_FP16:
		return lab_from_fp16(((const uint16_t *)numbers)[place]);
	case LAB_FP8:
		return lab_from_fp8(((const uint8_t *)numbers)[place]);
	case LAB_INT8:
		return ((const int8_t *)numbers)[place];
	case LAB_INT32:
		return (float)((const int32_t *)numbers)[place];
	default:
		return ((const float *)numbers)[place];
	}
}

static inline void lab_number_put(enum lab_number type, void *numbers, size_t place, float value)
{
	switch (type) {
	case LAB_BF16:
		((uint16_t *)numbers)[place] = lab_to_bf16(value);
		break;
	case LAB_FP16:
		((uint16_t *)numbers)[place] = lab_to_fp16(value);
		break;
	case LAB_FP8:
		((uint8_t *)numbers)[place] = lab_to_fp8(value);
		break;
	case LAB_INT8:
		((int8_t *)numbers)[place] = (int8_t)lrintf(value);
		break;
	case LAB_INT32:
		((int32_t *)numbers)[place] = (int32_t)lrintf(value);
		break;
	default:
		((float *)numbers)[place] = value;
	}
}

#endif
