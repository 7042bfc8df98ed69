/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_MAP_H
#define KWHY_BASE_MAP_H

#include "base/arena.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct kwhy_map_slot {
	uint64_t key;	/* the integer, or the hash of the bytes */
	uint32_t value; /* the value, which callers may change */
	uint32_t size; /* 0: the slot is free; 1: the key is an integer; else the number of bytes of the key +
			  2 */
};

/*
 * A hash table from integers or from strings of bytes to 32-bit values. All keys of one map are of one kind,
 * and strings are copied. Keys are hashed with secrets that differ between processes, so that no file can be
 * made whose keys all collide. There is no way to list the keys, so nothing can depend on the order of slots.
 * Zero-initialise; end with kwhy_map_done().
 */
struct kwhy_map {
	struct kwhy_map_slot *slots; /* [slot_count] slots; slot_count is a power of two */
	const char **bytes;	     /* [slot_count] strings that are the keys; NULL: keys are integers */
	size_t count, slot_count;
	size_t space; /* number of keys up to which the map does not grow: three quarters of slot_count, so
			 that a search takes few steps */
	uint64_t secrets[2];
	struct kwhy_arena arena; /* memory of the strings in `bytes` */
};

void kwhy_map_done(struct kwhy_map *map);

/* Reserves slots for `count` integer keys in all, so that adding keys up to that count cannot fail. */
KWHY_MUST_USE enum kwhy_status kwhy_map_reserve(struct kwhy_map *map, size_t count, struct kwhy_error *error);

/*
 * Return the slot of a key, which is valid until the next key is added. NULL: the map does not have the key.
 */
struct kwhy_map_slot *kwhy_map_find(const struct kwhy_map *map, uint64_t key);
struct kwhy_map_slot *kwhy_map_find_bytes(const struct kwhy_map *map, const void *bytes, size_t length);

/* Find the slot of a key; if the map does not have the key, add it with `value`. */
KWHY_MUST_USE enum kwhy_status kwhy_map_add(struct kwhy_map *map, uint64_t key, uint32_t value,
	struct kwhy_map_slot **out_slot, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_map_add_bytes(struct kwhy_map *map, const void *bytes, size_t length,
	uint32_t value, struct kwhy_map_slot **out_slot, struct kwhy_error *error);

/*
 * Returns the number of a key; a new key is added and gets the next number. Numbers are 0, 1, 2, ... in the
 * order of first use, if all keys of the map are added by this call.
 */
KWHY_MUST_USE enum kwhy_status kwhy_map_number(
	struct kwhy_map *map, uint64_t key, uint32_t *out_number, struct kwhy_error *error);

/* The string that is a slot's key, followed by a NUL; valid until kwhy_map_done(). */
static inline const char *kwhy_map_bytes(const struct kwhy_map *map, const struct kwhy_map_slot *slot)
{
	return map->bytes[slot - map->slots];
}

#endif
