/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

enum { FIRST_SLOTS = 64, INTEGER = 1, BYTES = 2 };

/*
 * A key to be looked for: an integer (`key`), or `bytes`, whose hash is `key`. The low bits of `place`, the
 * hash, are the slot at which the search begins. `size` is as in kwhy_map_slot.
 */
struct wanted {
	uint64_t key, place;
	const char *bytes;
	uint32_t size;
};

static uint64_t fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t word_at(const char *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

/* Converts at most seven bytes to a number; different bytes of the same length give different numbers. */
static uint64_t few_bytes(const char *bytes, size_t length)
{
	uint32_t first, last;

	if (length < 4)
		return length ? (uint64_t)(unsigned char)bytes[0] << 16 |
				(uint64_t)(unsigned char)bytes[length / 2] << 8 |
				(unsigned char)bytes[length - 1]
			      : 0;
	memcpy(&first, bytes, sizeof(first));
	memcpy(&last, bytes + length - sizeof(last), sizeof(last));
	return (uint64_t)first << 32 | last;
}

/*
 * Hashes bytes as wyhash does, in steps of 16, each a multiplication to 128 bits whose halves are combined by
 * XOR; this is fast for names of kernels, which are hundreds of bytes long. The last step takes the last 16
 * bytes, which may overlap those of the step before.
 */
static uint64_t hash_of(const uint64_t secrets[2], const char *bytes, size_t length)
{
	const char *end = bytes + length;
	uint64_t hash = secrets[1] ^ length;

	if (length < 8)
		return fold(few_bytes(bytes, length) ^ secrets[0], hash);
	for (; end - bytes > 16; bytes += 16)
		hash = fold(word_at(bytes) ^ secrets[0], word_at(bytes + 8) ^ hash);
	if (length >= 16)
		bytes = end - 16;
	return fold(word_at(bytes) ^ secrets[0], word_at(end - 8) ^ hash);
}

static struct wanted integer(const struct kwhy_map *map, uint64_t key)
{
	return (struct wanted){
		.key = key, .place = fold(key ^ map->secrets[0], map->secrets[1]), .size = INTEGER};
}

static struct wanted string(const struct kwhy_map *map, const void *bytes, size_t length)
{
	const char *given = length ? bytes : "";
	const uint64_t hash = hash_of(map->secrets, given, length);

	return (struct wanted){.key = hash, .place = hash, .bytes = given, .size = (uint32_t)length + BYTES};
}

/* Index of the key's slot, or of the free slot in which the key belongs. The map must have a free slot. */
static size_t slot_of(const struct kwhy_map *map, const struct wanted *wanted)
{
	const size_t mask = map->slot_count - 1;

	for (size_t i = wanted->place & mask;; i = (i + 1) & mask) {
		const struct kwhy_map_slot *slot = &map->slots[i];

		if (slot->size == 0)
			return i;
		if (slot->key == wanted->key && slot->size == wanted->size &&
			(slot->size == INTEGER || !memcmp(map->bytes[i], wanted->bytes, slot->size - BYTES)))
			return i;
	}
}

static struct kwhy_map_slot *find(const struct kwhy_map *map, const struct wanted *wanted)
{
	struct kwhy_map_slot *slot = &map->slots[slot_of(map, wanted)];

	return slot->size ? slot : NULL;
}

struct kwhy_map_slot *kwhy_map_find(const struct kwhy_map *map, uint64_t key)
{
	const struct wanted wanted = integer(map, key);

	return map->count ? find(map, &wanted) : NULL;
}

struct kwhy_map_slot *kwhy_map_find_bytes(const struct kwhy_map *map, const void *bytes, size_t length)
{
	const struct wanted wanted = string(map, bytes, length);

	return map->count ? find(map, &wanted) : NULL;
}

/*
 * Copies every slot of `from` to `to`, which is larger and empty. Keys need not be compared, as no two are
 * equal.
 */
static void move_all(const struct kwhy_map *from, struct kwhy_map *to)
{
	const size_t mask = to->slot_count - 1;

	for (size_t i = 0; i < from->slot_count; i++) {
		const struct kwhy_map_slot *slot = &from->slots[i];
		size_t at;

		if (slot->size == 0)
			continue;
		at = (slot->size == INTEGER ? integer(to, slot->key).place : slot->key) & mask;
		while (to->slots[at].size)
			at = (at + 1) & mask;
		to->slots[at] = *slot;
		if (from->bytes)
			to->bytes[at] = from->bytes[i];
	}
}

/*
 * Makes two secrets from the 16 random bytes that the kernel gives each process. They are odd, because a
 * factor of 0 would make all products 0.
 */
static void draw_secrets(uint64_t secrets[2])
{
	const char *random = (const char *)getauxval(AT_RANDOM);

	for (int i = 0; i < 2; i++)
		secrets[i] = (random ? word_at(random + 8 * i) : 0) | 1;
}

static enum kwhy_status resize(struct kwhy_map *map, size_t slot_count, bool bytes, struct kwhy_error *error)
{
	struct kwhy_map larger = *map;

	larger.slot_count = slot_count;
	larger.space = slot_count / 4 * 3;
	larger.slots = calloc(slot_count, sizeof(*larger.slots));
	larger.bytes = bytes ? calloc(slot_count, sizeof(*larger.bytes)) : NULL;
	if (!larger.slots || (bytes && !larger.bytes)) {
		free(larger.slots);
		free(larger.bytes);
		return kwhy_fail_memory(error, "a table of names or numbers");
	}
	if (!map->slot_count)
		draw_secrets(larger.secrets);
	move_all(map, &larger);
	free(map->slots);
	free(map->bytes);
	*map = larger;
	return KWHY_OK;
}

static enum kwhy_status grow(struct kwhy_map *map, size_t count, bool bytes, struct kwhy_error *error)
{
	size_t slot_count = map->slot_count ? map->slot_count : FIRST_SLOTS;

	if (count > SIZE_MAX / 8 / sizeof(*map->slots))
		return kwhy_fail_memory(error, "a table of names or numbers");
	while (count > slot_count / 4 * 3)
		slot_count *= 2;
	return resize(map, slot_count, bytes, error);
}

enum kwhy_status kwhy_map_reserve(struct kwhy_map *map, size_t count, struct kwhy_error *error)
{
	return count > map->space ? grow(map, count, false, error) : KWHY_OK;
}

enum kwhy_status kwhy_map_add(struct kwhy_map *map, uint64_t key, uint32_t value,
	struct kwhy_map_slot **out_slot, struct kwhy_error *error)
{
	struct kwhy_map_slot *slot;
	struct wanted wanted;

	if (map->count == map->space) {
		enum kwhy_status status = grow(map, map->count + 1, false, error);

		if (status)
			return status;
	}
	wanted = integer(map, key);
	slot = &map->slots[slot_of(map, &wanted)];
	if (slot->size == 0) {
		*slot = (struct kwhy_map_slot){.key = key, .value = value, .size = INTEGER};
		map->count++;
	}
	*out_slot = slot;
	return KWHY_OK;
}

enum kwhy_status kwhy_map_number(
	struct kwhy_map *map, uint64_t key, uint32_t *out_number, struct kwhy_error *error)
{
	struct kwhy_map_slot *slot;
	enum kwhy_status status = kwhy_map_add(map, key, (uint32_t)map->count, &slot, error);

	if (!status)
		*out_number = slot->value;
	return status;
}

enum kwhy_status kwhy_map_add_bytes(struct kwhy_map *map, const void *bytes, size_t length, uint32_t value,
	struct kwhy_map_slot **out_slot, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	struct wanted wanted;
	char *copy;
	size_t at;

	if (length > UINT32_MAX - BYTES)
		return kwhy_fail_memory(error, "a name of more than 4 GiB");
	if (map->count == map->space)
		status = grow(map, map->count + 1, true, error);
	if (status)
		return status;
	wanted = string(map, bytes, length);
	at = slot_of(map, &wanted);
	if (map->slots[at].size == 0) {
		copy = kwhy_arena_alloc(&map->arena, length + 1, 1);
		if (!copy)
			return kwhy_fail_memory(error, "names");
		memcpy(copy, wanted.bytes, length);
		map->slots[at] = (struct kwhy_map_slot){wanted.key, value, wanted.size};
		map->bytes[at] = copy;
		map->count++;
	}
	*out_slot = &map->slots[at];
	return KWHY_OK;
}

void kwhy_map_done(struct kwhy_map *map)
{
	free(map->slots);
	free(map->bytes);
	kwhy_arena_done(&map->arena);
	*map = (struct kwhy_map){0};
}
