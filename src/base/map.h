/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_MAP_H
#define KWHY_BASE_MAP_H

#include "base/arena.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct kwhy_map_slot {
	uint64_t key;	/* the integer, or the hash of the bytes */
	uint32_t value; /* any; callers may change it */
	uint32_t size;	/* 0: free; 1: an integer; else the number of bytes + 2 */
};

/*
 * A hash table from integers or from strings of bytes to 32-bit values; one map has keys of one kind. Of
 * bytes it keeps a copy. Keys are hashed with secrets that differ from process to process, so that no file
 * can be written whose keys all share a place. Nothing can depend on the order of the slots, which is not
 * shown. Zero-initialise; end with kwhy_map_done().
 */
struct kwhy_map {
	struct kwhy_map_slot *slots; /* [slot_count], a power of two */
	const char **bytes;	     /* [slot_count] the keys; NULL: integers */
	size_t count, slot_count;
	size_t space; /* keys that fit: three of four slots, so that a search ends after a few */
	uint64_t secrets[2];
	struct kwhy_arena arena; /* holds the bytes of keys */
};

void kwhy_map_done(struct kwhy_map *map);

/* Space for `count` integer keys, so that adding them cannot fail. */
KWHY_MUST_USE enum kwhy_status kwhy_map_reserve(struct kwhy_map *map, size_t count, struct kwhy_error *error);

/* NULL: the map does not have the key. A slot is valid until the next key is added. */
struct kwhy_map_slot *kwhy_map_find(const struct kwhy_map *map, uint64_t key);
struct kwhy_map_slot *kwhy_map_find_bytes(const struct kwhy_map *map, const void *bytes, size_t length);

/* The slot of a key, which is added with `value` if the map does not have it. */
KWHY_MUST_USE enum kwhy_status kwhy_map_add(struct kwhy_map *map, uint64_t key, uint32_t value,
	struct kwhy_map_slot **out_slot, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_map_add_bytes(struct kwhy_map *map, const void *bytes, size_t length,
	uint32_t value, struct kwhy_map_slot **out_slot, struct kwhy_error *error);

/* Numbers the keys 0, 1, 2, ... in the order of their first use; a new key has the number `count` before. */
KWHY_MUST_USE enum kwhy_status kwhy_map_number(
	struct kwhy_map *map, uint64_t key, uint32_t *out_number, struct kwhy_error *error);

/* The bytes of a slot's key and a NUL after them, valid until kwhy_map_done(). */
static inline const char *kwhy_map_bytes(const struct kwhy_map *map, const struct kwhy_map_slot *slot)
{
	return map->bytes[slot - map->slots];
}

#endif
