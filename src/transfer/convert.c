/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions of floats, written as loops without branches, so that the compiler vectorises them. */
#include "transfer/convert.h"

#include "kwhy/transfer.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t bits_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline float value_of(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/*
 * Converts to bfloat16: the upper half of the float's bits, rounded to nearest with ties to even. A NaN stays
 * a NaN.
 */
static inline uint16_t bf16_of(float value)
{
	uint32_t bits = bits_of(value), rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16,
		 quiet = (bits >> 16) | 0x40;

	return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? quiet : rounded);
}

/*
 * Converts to IEEE half precision: 5 bits of exponent with bias 15, and 10 bits of fraction. For normal
 * numbers the exponent's bias is changed from 127 and 13 bits of fraction are rounded away. For numbers below
 * 2^-14, adding 0.5 in single precision leaves the rounded fraction in the lowest bits, in units of 2^-24.
 * Numbers of 2^16 or more become infinity, and a NaN stays a NaN.
 */
static inline uint16_t f16_of(float value)
{
	uint32_t bits = bits_of(value), sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7fffffff,
		 normal = (magnitude - (112U << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13,
		 small = bits_of(value_of(magnitude) + 0.5F) - bits_of(0.5F), half;

	half = magnitude < (113U << 23) ? small : normal;
	half = magnitude >= (143U << 23) ? 0x7c00 : half;
	half = magnitude > 0x7f800000 ? 0x7e00 : half;
	return (uint16_t)(sign | half);
}

/*
 * Multiplies by `inverse` and rounds to an 8-bit integer, limited to -127 to 127; a NaN becomes 0. Adding 1.5
 * * 2^23 leaves the nearest integer, with ties to even, in the lowest bits.
 */
static inline int8_t i8_of(float value, float inverse)
{
	float scaled = value * inverse;

	scaled = scaled == scaled ? scaled : 0;
	scaled = scaled < -127 ? -127 : scaled;
	scaled = scaled > 127 ? 127 : scaled;
	return (int8_t)(bits_of(scaled + 12582912.0F) & 0xff);
}

/*
 * Defines one loop per format. The macro is used for the build's target and, on x86, a second time for AVX2;
 * which version runs is decided at run time.
 */
#define LOOPS(name, target)                                                                               \
	target static void name##_f16(void *to, const float *restrict from, size_t count, float inverse)  \
	{                                                                                                 \
		uint16_t *restrict halves = to;                                                           \
                                                                                                          \
		(void)inverse;                                                                            \
		for (size_t i = 0; i < count; i++)                                                        \
			halves[i] = f16_of(from[i]);                                                      \
	}                                                                                                 \
	target static void name##_bf16(void *to, const float *restrict from, size_t count, float inverse) \
	{                                                                                                 \
		uint16_t *restrict halves = to;                                                           \
                                                                                                          \
		(void)inverse;                                                                            \
		for (size_t i = 0; i < count; i++)                                                        \
			halves[i] = bf16_of(from[i]);                                                     \
	}                                                                                                 \
	target static void name##_i8(void *to, const float *restrict from, size_t count, float inverse)   \
	{                                                                                                 \
		int8_t *restrict bytes = to;                                                              \
                                                                                                          \
		for (size_t i = 0; i < count; i++)                                                        \
			bytes[i] = i8_of(from[i], inverse);                                               \
	}                                                                                                 \
	static const struct loops name = {{[KWHY_TRANSFER_F16] = name##_f16,                              \
		[KWHY_TRANSFER_BF16] = name##_bf16,                                                       \
		[KWHY_TRANSFER_I8] = name##_i8}}

struct loops {
	void (*convert[4])(void *to, const float *from, size_t count, float inverse);
};

LOOPS(plain, );
#if defined(__x86_64__)
LOOPS(wide, __attribute__((target("avx2"))));
#endif

static const struct loops *loops(void)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2"))
		return &wide;
#endif
	return &plain;
}

size_t kwhy_transfer_format_bytes(int format)
{
	static const size_t bytes[] = {
		[KWHY_TRANSFER_F32] = 4,
		[KWHY_TRANSFER_F16] = 2,
		[KWHY_TRANSFER_BF16] = 2,
		[KWHY_TRANSFER_I8] = 1,
	};

	return format >= 0 && (size_t)format < sizeof(bytes) / sizeof(bytes[0]) ? bytes[format] : 0;
}

bool kwhy_transfer_can_convert(int format, float scale)
{
	if (format == KWHY_TRANSFER_I8)
		return scale > 0 && isfinite(scale) && isfinite(1 / scale);
	return kwhy_transfer_format_bytes(format) > 0;
}

float kwhy_transfer_inverse(int format, float scale)
{
	return format == KWHY_TRANSFER_I8 ? 1 / scale : 1;
}

void kwhy_transfer_convert_numbers(void *to, const float *from, size_t count, int format, float inverse)
{
	if (format == KWHY_TRANSFER_F32)
		memcpy(to, from, count * sizeof(*from));
	else
		loops()->convert[format](to, from, count, inverse);
}

int kwhy_transfer_convert(void *to, const float *from, size_t count, int format, float scale)
{
	if (!kwhy_transfer_can_convert(format, scale) ||
		(uintptr_t)to % kwhy_transfer_format_bytes(format) != 0)
		return KWHY_TRANSFER_E_INPUT;
	kwhy_transfer_convert_numbers(to, from, count, format, kwhy_transfer_inverse(format, scale));
	return KWHY_TRANSFER_OK;
}
