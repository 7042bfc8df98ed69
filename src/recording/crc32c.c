/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/crc32c.h"

#include <string.h>

/* The polynomial of CRC-32C, 0x1edc6f41, with its bits reversed. */
#define POLYNOMIAL UINT32_C(0x82f63b78)

static uint32_t byte_step(uint32_t crc, unsigned char byte)
{
	crc ^= byte;
	for (int bit = 0; bit < 8; bit++)
		crc = (crc >> 1) ^ ((crc & 1) ? POLYNOMIAL : 0);
	return crc;
}

uint32_t kwhy_crc32c_portable(const void *bytes, size_t length)
{
	const unsigned char *at = bytes;
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < length; i++)
		crc = byte_step(crc, at[i]);
	return ~crc;
}

#if defined(__x86_64__)
#include <nmmintrin.h>

/*
 * Three adjacent parts of RUN_BYTES each are processed in one interleaved loop, because each crc32
 * instruction takes three cycles but one can start in each cycle. Their checksums are then combined.
 */
enum { RUN_BYTES = 1024, RUN_WORDS = RUN_BYTES / 8 };

static uint64_t word_at(const unsigned char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* Product of two polynomials over GF(2) modulo POLYNOMIAL; all of them have their bits reversed. */
static uint32_t multiply(uint32_t a, uint32_t b)
{
	uint32_t product = 0;

	for (uint32_t mask = UINT32_C(1) << 31; mask; mask >>= 1) {
		if (a & mask)
			product ^= b;
		b = (b >> 1) ^ ((b & 1) ? POLYNOMIAL : 0);
	}
	return product;
}

/*
 * x^(8 * RUN_BYTES) modulo POLYNOMIAL. The product of a checksum and this factor is the checksum after
 * RUN_BYTES more bytes of zeros.
 */
static uint32_t run_factor(void)
{
	uint32_t factor = UINT32_C(1) << 30; /* the polynomial x */

	for (int squared = 1; squared < 8 * RUN_BYTES; squared *= 2)
		factor = multiply(factor, factor);
	return factor;
}

__attribute__((target("sse4.2"))) static uint32_t three_runs(
	uint32_t crc, const unsigned char *at, uint32_t factor)
{
	uint64_t a = crc, b = 0, c = 0;

	for (int i = 0; i < RUN_WORDS; i++) {
		a = _mm_crc32_u64(a, word_at(at + 8 * i));
		b = _mm_crc32_u64(b, word_at(at + RUN_BYTES + 8 * i));
		c = _mm_crc32_u64(c, word_at(at + 2 * RUN_BYTES + 8 * i));
	}
	b ^= multiply(factor, (uint32_t)a);
	return (uint32_t)c ^ multiply(factor, (uint32_t)b);
}

__attribute__((target("sse4.2"))) static uint32_t by_instruction(const unsigned char *at, size_t length)
{
	const uint32_t factor = length >= 3 * RUN_BYTES ? run_factor() : 0;
	uint32_t crc = UINT32_MAX;

	for (; length >= 3 * RUN_BYTES; at += 3 * RUN_BYTES, length -= 3 * RUN_BYTES)
		crc = three_runs(crc, at, factor);
	for (; length >= 8; at += 8, length -= 8)
		crc = (uint32_t)_mm_crc32_u64(crc, word_at(at));
	for (; length; at++, length--)
		crc = _mm_crc32_u8(crc, *at);
	return ~crc;
}

uint32_t kwhy_crc32c(const void *bytes, size_t length)
{
	return __builtin_cpu_supports("sse4.2") ? by_instruction(bytes, length)
						: kwhy_crc32c_portable(bytes, length);
}
#else
uint32_t kwhy_crc32c(const void *bytes, size_t length)
{
	return kwhy_crc32c_portable(bytes, length);
}
#endif
