/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"
#include "cmocka_all.h"

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

/* Multiples of a power of two share the low bits, by which a table without a hash would place them. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_map_finds_nothing),
		cmocka_unit_test(a_key_keeps_its_first_value_until_the_caller_changes_it),
		cmocka_unit_test(integers_far_apart_and_close_keep_their_values),
		cmocka_unit_test(what_is_reserved_is_not_allocated_again),
		cmocka_unit_test(keys_of_bytes_differ_by_length_and_by_every_byte),
		cmocka_unit_test(bytes_are_copied_and_end_in_nul),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
