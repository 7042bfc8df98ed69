/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"
#include "cmocka_all.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { KEYS = 20000 };

static struct kwhy_error error;

static uint32_t *added(struct kwhy_map *map, uint64_t key, uint32_t value)
{
	struct kwhy_map_slot *slot = NULL;

	assert_int_equal(kwhy_map_add(map, key, value, &slot, &error), KWHY_OK);
	return &slot->value;
}

static struct kwhy_map_slot *added_bytes(
	struct kwhy_map *map, const char *bytes, size_t length, uint32_t value)
{
	struct kwhy_map_slot *slot = NULL;

	assert_int_equal(kwhy_map_add_bytes(map, bytes, length, value, &slot, &error), KWHY_OK);
	return slot;
}

static void an_empty_map_finds_nothing(void **state)
{
	struct kwhy_map map = {0};

	(void)state;
	assert_null(kwhy_map_find(&map, 0));
	assert_null(kwhy_map_find_bytes(&map, "", 0));
	kwhy_map_done(&map);
}

static void a_key_keeps_its_first_value_until_the_caller_changes_it(void **state)
{
	struct kwhy_map map = {0};

	(void)state;
	assert_int_equal(*added(&map, 0, 7), 7);
	assert_int_equal(*added(&map, 0, 8), 7);
	*added(&map, 0, 9) = UINT32_MAX;
	assert_int_equal(kwhy_map_find(&map, 0)->value, UINT32_MAX);
	assert_null(kwhy_map_find(&map, 1));
	assert_int_equal(map.count, 1);
	kwhy_map_done(&map);
}

/* Keys whose low bits are equal (i << 40) must not all begin at one slot of the table. */
static void integers_far_apart_and_close_keep_their_values(void **state)
{
	struct kwhy_map map = {0};

	(void)state;
	for (uint64_t i = 0; i < KEYS; i++) {
		*added(&map, i, 0) = (uint32_t)i;
		*added(&map, i << 40 | UINT64_C(1) << 63, 0) = (uint32_t)i + 1;
	}
	assert_int_equal(map.count, 2 * KEYS);
	for (uint64_t i = 0; i < KEYS; i++) {
		assert_int_equal(kwhy_map_find(&map, i)->value, i);
		assert_int_equal(kwhy_map_find(&map, i << 40 | UINT64_C(1) << 63)->value, i + 1);
	}
	kwhy_map_done(&map);
}

static void what_is_reserved_is_not_allocated_again(void **state)
{
	struct kwhy_map map = {0};
	const struct kwhy_map_slot *slots;

	(void)state;
	assert_int_equal(kwhy_map_reserve(&map, KEYS, &error), KWHY_OK);
	slots = map.slots;
	for (uint64_t i = 0; i < KEYS; i++)
		added(&map, i, 0);
	assert_ptr_equal(map.slots, slots);
	assert_int_equal(kwhy_map_reserve(&map, 1, &error), KWHY_OK);
	assert_ptr_equal(map.slots, slots);
	kwhy_map_done(&map);
}

static void keys_of_bytes_differ_by_length_and_by_every_byte(void **state)
{
	static const char zeros[80];
	struct kwhy_map map = {0};
	char key[64] = {0};

	(void)state;
	for (uint32_t length = 0; length <= 70; length++)
		added_bytes(&map, zeros, length, length);
	assert_int_equal(map.count, 71);
	for (uint32_t at = 0; at < sizeof(key); at++) {
		key[at] = 1;
		assert_null(kwhy_map_find_bytes(&map, key, sizeof(key)));
		added_bytes(&map, key, sizeof(key), 100 + at);
		key[at] = 0;
	}
	for (uint32_t length = 0; length <= 70; length++)
		assert_int_equal(kwhy_map_find_bytes(&map, zeros, length)->value, length);
	kwhy_map_done(&map);
}

static void bytes_are_copied_and_end_in_nul(void **state)
{
	struct kwhy_map map = {0};
	char text[32];

	(void)state;
	for (uint32_t i = 0; i < KEYS; i++) {
		size_t length = (size_t)snprintf(text, sizeof(text), "kernel_%u", i);
		const struct kwhy_map_slot *slot = added_bytes(&map, text, length, i);

		assert_string_equal(kwhy_map_bytes(&map, slot), text);
	}
	for (uint32_t i = 0; i < KEYS; i++) {
		size_t length = (size_t)snprintf(text, sizeof(text), "kernel_%u", i);
		const struct kwhy_map_slot *slot = kwhy_map_find_bytes(&map, text, length);

		assert_int_equal(slot->value, i);
		assert_string_equal(kwhy_map_bytes(&map, slot), text);
	}
	kwhy_map_done(&map);
}

/*
 * Constants for making names whose FNV-1a hashes agree in the lowest 24 bits; a map that used these bits
 * would become slow on them. The low bits after a block of characters depend only on the low bits before it.
 * So if two blocks lead from the same low bits to the same low bits, either can stand in that place of a
 * name. BLOCKS such pairs give 2^BLOCKS colliding names.
 */
enum { BLOCKS = 16, BLOCK_BYTES = 8, NAMES = 1 << BLOCKS, LOW = 0xFFFFFF, TRIES = 1 << 15 };

static uint64_t fnv(uint64_t state, const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		state = (state ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001B3);
	return state;
}

static void block_of(uint32_t number, char out[BLOCK_BYTES])
{
	const uint64_t bytes = (number + UINT64_C(1)) * UINT64_C(0x9E3779B97F4A7C15);

	memcpy(out, &bytes, BLOCK_BYTES);
}

/* Finds two blocks that lead from `state` to the same low bits, and sets `out` to them. Returns these low
 * bits. */
static uint64_t find_pair(uint64_t state, char out[2][BLOCK_BYTES])
{
	struct kwhy_map ends = {0};

	for (uint32_t number = 0; number < TRIES; number++) {
		uint32_t *first;

		block_of(number, out[1]);
		first = added(&ends, fnv(state, out[1], BLOCK_BYTES) & LOW, number);
		if (*first != number) {
			block_of(*first, out[0]);
			kwhy_map_done(&ends);
			return fnv(state, out[1], BLOCK_BYTES);
		}
	}
	fail_msg("no two of %d blocks collide", TRIES);
	return 0;
}

/*
 * Returns the sum over all keys of the distance, in slots, between the slot that the key hashes to and the
 * slot in which it is.
 */
static uint64_t probes_of(const struct kwhy_map *map)
{
	uint64_t probes = 0;

	for (size_t i = 0; i < map->slot_count; i++)
		if (map->slots[i].size)
			probes += (i - map->slots[i].key) & (map->slot_count - 1);
	return probes;
}

static void names_that_collide_by_intent_are_found_as_fast_as_others(void **state)
{
	char blocks[BLOCKS][2][BLOCK_BYTES], name[BLOCKS * BLOCK_BYTES + 1];
	struct kwhy_map collide = {0}, differ = {0};
	uint64_t end = UINT64_C(0xCBF29CE484222325), hash = 0;

	(void)state;
	for (size_t i = 0; i < BLOCKS; i++)
		end = find_pair(end, blocks[i]);
	for (uint32_t n = 0; n < NAMES; n++) {
		for (size_t i = 0; i < BLOCKS; i++)
			memcpy(name + i * BLOCK_BYTES, blocks[i][n >> i & 1], BLOCK_BYTES);
		hash = fnv(UINT64_C(0xCBF29CE484222325), name, BLOCKS * BLOCK_BYTES);
		assert_int_equal(hash & LOW, end & LOW);
		added_bytes(&collide, name, BLOCKS * BLOCK_BYTES, n);
		snprintf(name, sizeof(name), "%0*" PRIx32, BLOCKS * BLOCK_BYTES, n * UINT32_C(2654435761));
		added_bytes(&differ, name, BLOCKS * BLOCK_BYTES, n);
	}
	assert_int_equal(collide.count, NAMES);
	assert_int_equal(collide.slot_count, differ.slot_count);
	assert_true(probes_of(&differ) < NAMES);
	assert_true(probes_of(&collide) < NAMES);
	kwhy_map_done(&collide);
	kwhy_map_done(&differ);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_map_finds_nothing),
		cmocka_unit_test(a_key_keeps_its_first_value_until_the_caller_changes_it),
		cmocka_unit_test(integers_far_apart_and_close_keep_their_values),
		cmocka_unit_test(what_is_reserved_is_not_allocated_again),
		cmocka_unit_test(keys_of_bytes_differ_by_length_and_by_every_byte),
		cmocka_unit_test(names_that_collide_by_intent_are_found_as_fast_as_others),
		cmocka_unit_test(bytes_are_copied_and_end_in_nul),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
