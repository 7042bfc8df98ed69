/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_DECODE_NUMBERS_H
#define LAB_DECODE_NUMBERS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/*
 * Small numbers as GPUs have them, rounded to the nearest, ties to even, and the kinds of weights. fp8 is
 * E4M3, without infinity: what is too large becomes 448. The order of kinds is kernels/args.cu's, too.
 */
enum lab_decode_weights {
	LAB_DECODE_FP32,
	LAB_DECODE_TF32,
	LAB_DECODE_BF16,
	LAB_DECODE_FP16,
	LAB_DECODE_FP8,
	LAB_DECODE_INT8,
	LAB_DECODE_INT4,
	LAB_DECODE_SPARSE, /* two of four, in fp16, whose last two digits say which column */
	LAB_DECODE_WEIGHTS_COUNT
};

enum lab_decode_type { LAB_DECODE_F32, LAB_DECODE_B16, LAB_DECODE_F16, LAB_DECODE_F8, LAB_DECODE_I8 };

/* What a kind of weights is. */
struct lab_decode_kind {
	const char *name;
	uint32_t weight_bits;
	enum lab_decode_type
		factors;	   /* of a product; of INT4 and SPARSE weights are expanded to them before */
	enum lab_decode_type kept; /* keys and values */
	/* The largest code of a row's weights, which have one scale; 0: weights are not scaled. Activations
	 * of 8 bits have one scale a token. */
	float code_most;
	int architecture;  /* that its products want at least: 89 is compute capability 8.9 */
	double error_most; /* of logits, root mean square over theirs: more is no rounding */
};

extern const struct lab_decode_kind lab_decode_kinds[LAB_DECODE_WEIGHTS_COUNT];

/* Whether products are of 8 bits, whose sums are yet to be scaled. */
static inline bool lab_decode_is_scaled(enum lab_decode_weights weights)
{
	return weights == LAB_DECODE_FP8 || weights == LAB_DECODE_INT8;
}

static inline bool lab_decode_is_expanded(enum lab_decode_weights weights)
{
	return weights == LAB_DECODE_INT4 || weights == LAB_DECODE_SPARSE;
}

static inline uint32_t lab_decode_type_bytes(enum lab_decode_type type)
{
	return type == LAB_DECODE_F32 ? 4 : type <= LAB_DECODE_F16 ? 2 : 1;
}

static inline uint32_t lab_decode_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline float lab_decode_float(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline float lab_decode_from_bf16(uint16_t bits)
{
	return lab_decode_float((uint32_t)bits << 16);
}

static inline uint16_t lab_decode_to_bf16(float value)
{
	uint32_t bits = lab_decode_bits(value);

	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float lab_decode_from_fp16(uint16_t bits)
{
	uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exponent = bits >> 10 & 31, digits = bits & 0x3ff;

	if (exponent == 0)
		return lab_decode_float(sign | lab_decode_bits((float)digits * 0x1p-24F));
	if (exponent == 31)
		return lab_decode_float(sign | 0x7f800000 | digits << 13);
	return lab_decode_float(sign | (exponent + 112) << 23 | digits << 13);
}

static inline uint16_t lab_decode_to_fp16(float value)
{
	uint32_t bits = lab_decode_bits(value), sign = bits >> 16 & 0x8000, most = bits & 0x7fffffff;

	if (most >= 0x47800000)
		return (uint16_t)(sign | (most > 0x7f800000 ? 0x7e00 : 0x7c00));
	if (most < 0x38800000)
		return (uint16_t)(sign | (uint32_t)lrintf(lab_decode_float(most) * 0x1p24F));
	return (uint16_t)(sign | (most - 0x38000000 + 0xfff + (most >> 13 & 1)) >> 13);
}

static inline float lab_decode_from_fp8(uint8_t bits)
{
	int exponent = bits >> 3 & 15, digits = bits & 7;
	float value = exponent ? ldexpf((float)(8 + digits), exponent - 10) : (float)digits * 0x1p-9F;

	return bits & 0x80 ? -value : value;
}

static inline uint8_t lab_decode_to_fp8(float value)
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

/* The number at a place of some of a type. */
static inline float lab_decode_load(enum lab_decode_type type, const void *numbers, uint64_t i)
{
	switch (type) {
	case LAB_DECODE_F32:
		return ((const float *)numbers)[i];
	case LAB_DECODE_B16:
		return lab_decode_from_bf16(((const uint16_t *)numbers)[i]);
	case LAB_DECODE_F16:
		return lab_decode_from_fp16(((const uint16_t *)numbers)[i]);
	case LAB_DECODE_F8:
		return lab_decode_from_fp8(((const uint8_t *)numbers)[i]);
	default:
		return ((const int8_t *)numbers)[i];
	}
}

/* Whether of four neighbours this is one of the two that are kept: the largest. */
static inline int lab_decode_is_kept(const float four[4], uint32_t i)
{
	uint32_t larger = 0;

	for (uint32_t j = 0; j < 4; j++)
		larger += fabsf(four[j]) > fabsf(four[i]) || (fabsf(four[j]) == fabsf(four[i]) && j < i);
	return larger < 2;
}

static inline uint32_t lab_decode_round_up(uint32_t count, uint32_t step)
{
	return (count + step - 1) / step * step;
}

#endif
