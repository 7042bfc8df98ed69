/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/keys.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 256 };

static size_t slot_of(const struct kwhy_keys *keys, uint64_t key)
{
	size_t mask = keys->slot_count - 1;
	size_t slot = (key * 0x9E3779B97F4A7C15u) >> 32 & mask;

	while (keys->numbers[slot] && keys->keys[slot] != key)
		slot = (slot + 1) & mask;
	return slot;
}

static void move_all(const struct kwhy_keys *from, struct kwhy_keys *to)
{
	for (size_t i = 0; i < from->slot_count; i++) {
		size_t slot;

		if (!from->numbers[i])
			continue;
		slot = slot_of(to, from->keys[i]);
		to->keys[slot] = from->keys[i];
		to->numbers[slot] = from->numbers[i];
	}
}

static enum kwhy_status grow(struct kwhy_keys *keys, struct kwhy_error *error)
{
	struct kwhy_keys old = *keys;
	size_t slot_count = old.slot_count ? old.slot_count * 2 : FIRST_SLOTS;
	uint64_t *items = calloc(slot_count, sizeof(*items));
	uint32_t *numbers = calloc(slot_count, sizeof(*numbers));

	if (!items || !numbers) {
		free(items);
		free(numbers);
		return kwhy_fail_memory(error, "the table of accounts");
	}
	keys->keys = items;
	keys->numbers = numbers;
	keys->slot_count = slot_count;
	move_all(&old, keys);
	free(old.keys);
	free(old.numbers);
	return KWHY_OK;
}

enum kwhy_status kwhy_keys_number(
	struct kwhy_keys *keys, uint64_t key, uint32_t *out_number, struct kwhy_error *error)
{
	size_t slot;

	if ((keys->count + 1) * 2 > keys->slot_count) {
		enum kwhy_status status = grow(keys, error);

		if (status)
			return status;
	}
	slot = slot_of(keys, key);
	if (!keys->numbers[slot]) {
		keys->keys[slot] = key;
		keys->numbers[slot] = (uint32_t)++keys->count;
	}
	*out_number = keys->numbers[slot] - 1;
	return KWHY_OK;
}

void kwhy_keys_done(struct kwhy_keys *keys)
{
	free(keys->keys);
	free(keys->numbers);
	*keys = (struct kwhy_keys){0};
}
