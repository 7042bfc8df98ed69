/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_DECODE_NUMBERS_H
#define KWHY_LAB_DECODE_NUMBERS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/*
 * Small numbers as GPUs have them, rounded to the nearest, ties to even, and how weights lie in memory. fp8
 * is E4M3, without infinity: what is too large becomes 448.
 */

/* What weights are stored as; with one scale a row from FP8 on. Activations are fp32 for the first two, bf16
 * for BF16, else fp16. The numbers are kernels/decode/'s. */
enum kwhy_decode_weights {
	KWHY_DECODE_FP32, /* multiplied as three products of tf32, which keep 21 digits */
	KWHY_DECODE_TF32,
	KWHY_DECODE_BF16,
	KWHY_DECODE_FP16,
	KWHY_DECODE_FP8,
	KWHY_DECODE_INT8,
	KWHY_DECODE_INT4,
	KWHY_DECODE_SPARSE, /* two of four, in fp16, whose last two digits say which column */
	KWHY_DECODE_WEIGHTS_COUNT
};

static inline uint32_t kwhy_decode_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline float kwhy_decode_float(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline float kwhy_decode_from_bf16(uint16_t bits)
{
	return kwhy_decode_float((uint32_t)bits << 16);
}

static inline uint16_t kwhy_decode_to_bf16(float value)
{
	uint32_t bits = kwhy_decode_bits(value);

	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float kwhy_decode_from_fp16(uint16_t bits)
{
	uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exponent = bits >> 10 & 31, digits = bits & 0x3ff;

	if (exponent == 0)
		return kwhy_decode_float(sign | kwhy_decode_bits((float)digits * 0x1p-24F));
	if (exponent == 31)
		return kwhy_decode_float(sign | 0x7f800000 | digits << 13);
	return kwhy_decode_float(sign | (exponent + 112) << 23 | digits << 13);
}

static inline uint16_t kwhy_decode_to_fp16(float value)
{
	uint32_t bits = kwhy_decode_bits(value), sign = bits >> 16 & 0x8000, most = bits & 0x7fffffff;

	if (most >= 0x47800000)
		return (uint16_t)(sign | (most > 0x7f800000 ? 0x7e00 : 0x7c00));
	if (most < 0x38800000)
		return (uint16_t)(sign | (uint32_t)lrintf(kwhy_decode_float(most) * 0x1p24F));
	return (uint16_t)(sign | (most - 0x38000000 + 0xfff + (most >> 13 & 1)) >> 13);
}

static inline float kwhy_decode_from_fp8(uint8_t bits)
{
	int exponent = bits >> 3 & 15, digits = bits & 7;
	float value = exponent ? ldexpf((float)(8 + digits), exponent - 10) : (float)digits * 0x1p-9F;

	return bits & 0x80 ? -value : value;
}

static inline uint8_t kwhy_decode_to_fp8(float value)
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

/* Whether of four neighbours this is one of the two that are kept: the largest. */
static inline int kwhy_decode_is_kept(const float four[4], uint32_t i)
{
	uint32_t larger = 0;

	for (uint32_t j = 0; j < 4; j++)
		larger += fabsf(four[j]) > fabsf(four[i]) || (fabsf(four[j]) == fabsf(four[i]) && j < i);
	return larger < 2;
}

/* Weights in 16 bytes. */
static inline uint32_t kwhy_decode_each(enum kwhy_decode_weights weights)
{
	return weights <= KWHY_DECODE_TF32    ? 4
		: weights <= KWHY_DECODE_FP16 ? 8
		: weights == KWHY_DECODE_INT4 ? 32
					      : 16;
}

/* Bytes of an activation. */
static inline uint32_t kwhy_decode_act_bytes(enum kwhy_decode_weights weights)
{
	return weights <= KWHY_DECODE_TF32 ? 4 : 2;
}

/* The largest code of a row's scaled weights; 0: weights are not scaled. */
static inline float kwhy_decode_code_most(enum kwhy_decode_weights weights)
{
	return weights == KWHY_DECODE_FP8     ? 448
		: weights == KWHY_DECODE_INT8 ? 127
		: weights == KWHY_DECODE_INT4 ? 7
					      : 0;
}

/* Which 16 bytes a weight is in: 8 rows times as many columns as 4 lanes take make 512 bytes. */
static inline uint64_t kwhy_decode_place(
	enum kwhy_decode_weights weights, uint32_t row, uint32_t column, uint32_t columns)
{
	uint32_t each = kwhy_decode_each(weights), chunk = 4 * each;

	return ((uint64_t)(row / 8) * (columns / chunk) + column / chunk) * 32 + row % 8 * 4 +
		column % chunk / each;
}

#endif
