/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_HASH_H
#define KWHY_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/*
 * The 64-bit hash FNV-1a, for hashes that are stored in files: unlike the hashes of base/map.h, it is the
 * same in all processes. It gives no protection against deliberate collisions: anybody can construct texts
 * with equal hashes.
 */
#define KWHY_HASH_START UINT64_C(14695981039346656037)

/* Returns `hash` (KWHY_HASH_START at first) continued with `count` bytes. */
static inline uint64_t kwhy_hash_bytes(uint64_t hash, const char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
	return hash;
}

/* Continues a hash with a text; NULL: the hash does not change. */
static inline uint64_t kwhy_hash_text(uint64_t hash, const char *text)
{
	for (; text && *text; text++)
		hash = kwhy_hash_bytes(hash, text, 1);
	return hash;
}

#endif
