/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha256.h"

#include <string.h>

enum { ROUNDS = 64, LENGTH_BYTES = 8 };

/* First 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2). */
static const uint32_t constants[ROUNDS] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b,
	0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74,
	0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3,
	0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354,
	0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
	0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3,
	0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa,
	0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turned(uint32_t word, int bits)
{
	return word >> bits | word << (32 - bits);
}

static void expand(const unsigned char *block, uint32_t out[ROUNDS])
{
	for (int i = 0; i < 16; i++)
		out[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
			(uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < ROUNDS; i++)
		out[i] = out[i - 16] + out[i - 7] +
			(turned(out[i - 15], 7) ^ turned(out[i - 15], 18) ^ out[i - 15] >> 3) +
			(turned(out[i - 2], 17) ^ turned(out[i - 2], 19) ^ out[i - 2] >> 10);
}

static void take_block(uint32_t state[8], const unsigned char *block)
{
	uint32_t words[ROUNDS], v[8];

	expand(block, words);
	memcpy(v, state, sizeof(v));
	for (int i = 0; i < ROUNDS; i++) {
		uint32_t one = v[7] + (turned(v[4], 6) ^ turned(v[4], 11) ^ turned(v[4], 25)) +
			((v[4] & v[5]) ^ (~v[4] & v[6])) + constants[i] + words[i];
		uint32_t two = (turned(v[0], 2) ^ turned(v[0], 13) ^ turned(v[0], 22)) +
			((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));

		memmove(v + 1, v, 7 * sizeof(*v));
		v[4] += one;
		v[0] = one + two;
	}
	for (int i = 0; i < 8; i++)
		state[i] += v[i];
}

void kwhy_sha256_init(struct kwhy_sha256 *sum)
{
	/* First 32 bits of the fractional parts of the square roots of the first eight primes (5.3.3). */
	*sum = (struct kwhy_sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
					    0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void kwhy_sha256_add(struct kwhy_sha256 *sum, const void *bytes, size_t length)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < length; i++) {
		sum->block[sum->length++ % sizeof(sum->block)] = at[i];
		if (sum->length % sizeof(sum->block) == 0)
			take_block(sum->state, sum->block);
	}
}

void kwhy_sha256_end(struct kwhy_sha256 *sum, unsigned char out[KWHY_SHA256_BYTES])
{
	const uint64_t bits = sum->length * 8;
	unsigned char byte = 0x80;

	kwhy_sha256_add(sum, &byte, 1);
	for (byte = 0; sum->length % sizeof(sum->block) != sizeof(sum->block) - LENGTH_BYTES;)
		kwhy_sha256_add(sum, &byte, 1);
	for (int i = LENGTH_BYTES - 1; i >= 0; i--) {
		byte = (unsigned char)(bits >> 8 * i);
		kwhy_sha256_add(sum, &byte, 1);
	}
	for (int i = 0; i < KWHY_SHA256_BYTES; i++)
		out[i] = (unsigned char)(sum->state[i / 4] >> (24 - 8 * (i % 4)));
}

void kwhy_hmac_sha256(const struct kwhy_sha256_part *key, const struct kwhy_sha256_part *parts, size_t count,
	unsigned char out[KWHY_SHA256_BYTES])
{
	unsigned char pad[KWHY_SHA256_BLOCK_BYTES] = {0};
	struct kwhy_sha256 sum;

	kwhy_sha256_init(&sum);
	if (key->length > sizeof(pad)) {
		kwhy_sha256_add(&sum, key->bytes, key->length);
		kwhy_sha256_end(&sum, pad);
		kwhy_sha256_init(&sum);
	} else if (key->length) {
		memcpy(pad, key->bytes, key->length);
	}
	for (size_t i = 0; i < sizeof(pad); i++)
		pad[i] ^= 0x36;
	kwhy_sha256_add(&sum, pad, sizeof(pad));
	for (size_t i = 0; i < count; i++)
		kwhy_sha256_add(&sum, parts[i].bytes, parts[i].length);
	kwhy_sha256_end(&sum, out);
	for (size_t i = 0; i < sizeof(pad); i++)
		pad[i] ^= 0x36 ^ 0x5c;
	kwhy_sha256_init(&sum);
	kwhy_sha256_add(&sum, pad, sizeof(pad));
	kwhy_sha256_add(&sum, out, KWHY_SHA256_BYTES);
	kwhy_sha256_end(&sum, out);
}

bool kwhy_sha256_equal(const unsigned char a[KWHY_SHA256_BYTES], const unsigned char b[KWHY_SHA256_BYTES])
{
	unsigned difference = 0;

	for (int i = 0; i < KWHY_SHA256_BYTES; i++)
		difference |= a[i] ^ b[i];
	return difference == 0;
}
