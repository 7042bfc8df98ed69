/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_SHA256_H
#define KWHY_BASE_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* SHA-256 (FIPS 180-4) and HMAC-SHA-256 (RFC 2104); tested with the vectors of NIST and RFC 4231. */
enum { KWHY_SHA256_BYTES = 32, KWHY_SHA256_BLOCK_BYTES = 64 };

struct kwhy_sha256 {
	uint32_t state[8];
	uint64_t length;
	unsigned char block[KWHY_SHA256_BLOCK_BYTES];
};

void kwhy_sha256_init(struct kwhy_sha256 *sum);
void kwhy_sha256_add(struct kwhy_sha256 *sum, const void *bytes, size_t length);
void kwhy_sha256_end(struct kwhy_sha256 *sum, unsigned char out[KWHY_SHA256_BYTES]);

/*
 * A key or a part of a message. kwhy_hmac_sha256() authenticates the message that all `count` parts make one
 * after another.
 */
struct kwhy_sha256_part {
	const void *bytes;
	size_t length;
};
void kwhy_hmac_sha256(const struct kwhy_sha256_part *key, const struct kwhy_sha256_part *parts, size_t count,
	unsigned char out[KWHY_SHA256_BYTES]);
/* Compares two sums in a time that does not depend on where they differ. */
bool kwhy_sha256_equal(const unsigned char a[KWHY_SHA256_BYTES], const unsigned char b[KWHY_SHA256_BYTES]);

#endif
