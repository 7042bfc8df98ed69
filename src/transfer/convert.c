/* SPDX-License-Identifier: Apache-2.0 */
/* Loops without branches, which the compiler turns into vectors. */
#include "transfer/convert.h"

#include "kwhy/transfer.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static uint32_t bits_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static float value_of(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* The upper half, rounded to nearest, ties to even; not-a-number stays one. */
static uint16_t bf16_of(float value)
{
	uint32_t bits = bits_of(value), rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16,
		 quiet = (bits >> 16) | 0x40;

	return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? quiet : rounded);
}

/*
 * IEEE half: 5 bits of exponent, bias 15; 10 of fraction. Normal numbers: the exponent moved from bias 127,
 * 13 bits of fraction rounded away. Below 2^-14: adding 0.5 in single precision leaves the rounded fraction
 * in the lowest bits, as multiples of 2^-24.
 */
static uint16_t f16_of(float value)
{
	uint32_t bits = bits_of(value), sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7fffffff,
		 normal = (magnitude - (112U << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13,
		 small = bits_of(value_of(magnitude) + 0.5F) - bits_of(0.5F), half;

	half = magnitude < (113U << 23) ? small : normal;
	half = magnitude >= (143U << 23) ? 0x7c00 : half;
	half = magnitude > 0x7f800000 ? 0x7e00 : half;
	return (uint16_t)(sign | half);
}

/* Adding 1.5 * 2^23 leaves the nearest integer, ties to even, in the lowest bits. */
static int8_t i8_of(float value, float inverse)
{
	float scaled = value * inverse;

	scaled = scaled == scaled ? scaled : 0;
	scaled = scaled < -127 ? -127 : scaled;
	scaled = scaled > 127 ? 127 : scaled;
	return (int8_t)(bits_of(scaled + 12582912.0F) & 0xff);
}

static void to_f16(uint16_t *restrict to, const float *restrict from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] = f16_of(from[i]);
}

static void to_bf16(uint16_t *restrict to, const float *restrict from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] = bf16_of(from[i]);
}

static void to_i8(int8_t *restrict to, const float *restrict from, size_t count, float inverse)
{
	for (size_t i = 0; i < count; i++)
		to[i] = i8_of(from[i], inverse);
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

void kwhy_transfer_convert_numbers(void *to, const float *from, size_t count, int format, float scale)
{
	switch (format) {
	case KWHY_TRANSFER_F16:
		to_f16(to, from, count);
		break;
	case KWHY_TRANSFER_BF16:
		to_bf16(to, from, count);
		break;
	case KWHY_TRANSFER_I8:
		to_i8(to, from, count, 1 / scale);
		break;
	default:
		memcpy(to, from, count * sizeof(*from));
		break;
	}
}

int kwhy_transfer_convert(void *to, const float *from, size_t count, int format, float scale)
{
	if (!kwhy_transfer_can_convert(format, scale) ||
		(uintptr_t)to % kwhy_transfer_format_bytes(format) != 0)
		return KWHY_TRANSFER_E_INPUT;
	kwhy_transfer_convert_numbers(to, from, count, format, scale);
	return KWHY_TRANSFER_OK;
}
