/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "kwhy/transfer.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/*
 * Compares conversions from float to half, bfloat16 and int8 with values that the test computes in double
 * precision from the definitions of the formats.
 */

static float from_bits(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* Returns the value of a half-precision number (IEEE 754 binary16) from its bits. */
static double half_value(uint16_t half)
{
	int exponent = (half >> 10) & 31, fraction = half & 1023;
	double sign = half & 0x8000 ? -1 : 1;

	if (exponent == 31)
		return fraction ? NAN : sign * INFINITY;
	return exponent == 0 ? sign * ldexp(fraction, -24) : sign * ldexp(fraction + 1024, exponent - 25);
}

static double bf16_value(uint16_t bits)
{
	return from_bits((uint32_t)bits << 16);
}

static uint16_t convert_one(float value, int format)
{
	uint16_t out;

	assert_int_equal(kwhy_transfer_convert(&out, &value, 1, format, 0), KWHY_TRANSFER_OK);
	return out;
}

static void every_half_becomes_itself_and_what_lies_between_two_the_nearer_or_even_one(void **state)
{
	(void)state;
	for (uint32_t half = 0; half < 0x7c00; half++) {
		double value = half_value((uint16_t)half), next = half_value((uint16_t)(half + 1)),
		       middle = half + 1 < 0x7c00 ? (value + next) / 2 : 65520;

		assert_int_equal(convert_one((float)value, KWHY_TRANSFER_F16), half);
		assert_int_equal(convert_one((float)-value, KWHY_TRANSFER_F16), half | 0x8000);
		assert_int_equal(convert_one((float)middle, KWHY_TRANSFER_F16), half + (half & 1));
		assert_int_equal(
			convert_one(nextafterf((float)middle, INFINITY), KWHY_TRANSFER_F16), half + 1);
		assert_int_equal(convert_one(nextafterf((float)middle, 0), KWHY_TRANSFER_F16), half);
	}
}

static void what_a_half_cannot_hold_is_infinite_zero_or_not_a_number(void **state)
{
	(void)state;
	assert_int_equal(convert_one(INFINITY, KWHY_TRANSFER_F16), 0x7c00);
	assert_int_equal(convert_one(-1e30F, KWHY_TRANSFER_F16), 0xfc00);
	assert_int_equal(convert_one(1e-30F, KWHY_TRANSFER_F16), 0);
	assert_int_equal(convert_one(-0.0F, KWHY_TRANSFER_F16), 0x8000);
	assert_true(isnan(half_value(convert_one(NAN, KWHY_TRANSFER_F16))));
}

static void bf16_is_the_nearest_too(void **state)
{
	(void)state;
	for (uint32_t bits = 0; bits < 0x7f80; bits += 7) {
		float value = from_bits(bits << 16), middle = from_bits(bits << 16 | 0x8000);

		assert_int_equal(convert_one(value, KWHY_TRANSFER_BF16), bits);
		assert_int_equal(convert_one(-middle, KWHY_TRANSFER_BF16), (bits + (bits & 1)) | 0x8000);
		assert_int_equal(convert_one(from_bits(bits << 16 | 0x8001), KWHY_TRANSFER_BF16), bits + 1);
		assert_int_equal(convert_one(from_bits(bits << 16 | 0x7fff), KWHY_TRANSFER_BF16), bits);
	}
	assert_true(isnan(bf16_value(convert_one(NAN, KWHY_TRANSFER_BF16))));
	assert_true(isnan(bf16_value(convert_one(from_bits(0x7f800001), KWHY_TRANSFER_BF16))));
	assert_int_equal(convert_one(-INFINITY, KWHY_TRANSFER_BF16), 0xff80);
}

static void integers_are_the_nearest_of_value_by_scale_and_held_in_their_range(void **state)
{
	float values[] = {0, 1, -1, 1.25F, 0.75F, -0.25F, 63.5F, 64, 1e9F, -1e9F, INFINITY, -INFINITY, NAN};
	int8_t expected[] = {0, 2, -2, 2, 2, 0, 127, 127, 127, -127, 127, -127, 0}, out[13];

	(void)state;
	assert_int_equal(kwhy_transfer_convert(out, values, 13, KWHY_TRANSFER_I8, 0.5F), KWHY_TRANSFER_OK);
	assert_memory_equal(out, expected, 13);
}

static void wrong_formats_scales_and_places_are_refused(void **state)
{
	static const float scales[] = {0, -1, NAN, INFINITY, 1e-44F};
	float value = 1;
	char out[8] __attribute__((aligned(4))) = {0};

	(void)state;
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(kwhy_transfer_convert(out, &value, 1, KWHY_TRANSFER_I8, scales[i]),
			KWHY_TRANSFER_E_INPUT);
	assert_int_equal(kwhy_transfer_convert(out, &value, 1, 4, 1), KWHY_TRANSFER_E_INPUT);
	assert_int_equal(kwhy_transfer_convert(out, &value, 1, -1, 1), KWHY_TRANSFER_E_INPUT);
	assert_int_equal(
		kwhy_transfer_convert(out + 1, &value, 1, KWHY_TRANSFER_F16, 1), KWHY_TRANSFER_E_INPUT);
	assert_int_equal(kwhy_transfer_convert(out, &value, 1, KWHY_TRANSFER_F32, 0), KWHY_TRANSFER_OK);
	assert_memory_equal(out, &value, sizeof(value));
	assert_int_equal(kwhy_transfer_format_bytes(KWHY_TRANSFER_I8), 1);
	assert_int_equal(kwhy_transfer_format_bytes(9), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_half_becomes_itself_and_what_lies_between_two_the_nearer_or_even_one),
		cmocka_unit_test(what_a_half_cannot_hold_is_infinite_zero_or_not_a_number),
		cmocka_unit_test(bf16_is_the_nearest_too),
		cmocka_unit_test(integers_are_the_nearest_of_value_by_scale_and_held_in_their_range),
		cmocka_unit_test(wrong_formats_scales_and_places_are_refused),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
