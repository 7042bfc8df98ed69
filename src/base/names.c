/* SPDX-License-Identifier: Apache-2.0 */
#include "base/names.h"

#include "base/column.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/*
 * FNV-1a, 32 bit. Its speed matters little: names are fewer than events, and importers have their own caches.
 */
static uint32_t hash_bytes(const char *bytes, size_t length)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * 16777619u;
	return hash;
}

static uint32_t *slot_of(const struct kwhy_names *names, const char *bytes, size_t length, uint32_t hash)
{
	size_t mask = names->slot_count - 1;

	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		uint32_t name = names->slots[i];

		if (name == 0)
			return &names->slots[i];
		if (names->hashes[name - 1] == hash && !strncmp(names->strings[name - 1], bytes, length) &&
			names->strings[name - 1][length] == '\0')
			return &names->slots[i];
	}
}

static enum kwhy_status rehash(struct kwhy_names *names, struct kwhy_error *error)
{
	size_t count = names->slot_count ? names->slot_count * 2 : 1024;
	uint32_t *slots = calloc(count, sizeof(*slots));

	if (!slots)
		return kwhy_fail_memory(error, "the table of names");
	for (size_t name = 0; name < names->count; name++) {
		size_t i = names->hashes[name] & (count - 1);

		while (slots[i])
			i = (i + 1) & (count - 1);
		slots[i] = (uint32_t)name + 1;
	}
	free(names->slots);
	names->slots = slots;
	names->slot_count = count;
	return KWHY_OK;
}

static enum kwhy_status add(struct kwhy_names *names, const char *bytes, size_t length, uint32_t hash,
	uint32_t *out_name, struct kwhy_error *error)
{
	enum kwhy_status status;
	char *copy;

	status = kwhy_column_reserve((void **)&names->strings, &names->capacity, names->count + 1,
		sizeof(*names->strings), "names", error);
	if (!status)
		status = kwhy_column_reserve((void **)&names->hashes, &names->hash_capacity, names->count + 1,
			sizeof(*names->hashes), "names", error);
	if (!status && (names->count + 1) * 2 > names->slot_count)
		status = rehash(names, error);
	if (status)
		return status;
	copy = kwhy_arena_alloc(&names->arena, length + 1, 1);
	if (!copy)
		return kwhy_fail_memory(error, "names");
	memcpy(copy, bytes, length);
	*slot_of(names, copy, length, hash) = (uint32_t)names->count + 1;
	names->strings[names->count] = copy;
	names->hashes[names->count] = hash;
	*out_name = (uint32_t)names->count++;
	return KWHY_OK;
}

static enum kwhy_status intern_clean(struct kwhy_names *names, const char *bytes, size_t length,
	uint32_t *out_name, struct kwhy_error *error)
{
	uint32_t hash = hash_bytes(bytes, length);
	uint32_t *slot = names->slot_count ? slot_of(names, bytes, length, hash) : NULL;

	if (slot && *slot) {
		*out_name = *slot - 1;
		return KWHY_OK;
	}
	return add(names, bytes, length, hash, out_name, error);
}

enum kwhy_status kwhy_names_intern(struct kwhy_names *names, const char *bytes, size_t length,
	uint32_t *out_name, struct kwhy_error *error)
{
	char clean[3 * KWHY_NAME_MAX_BYTES + 4];
	size_t cut = length;

	if (length > KWHY_NAME_MAX_BYTES) {
		cut = KWHY_NAME_MAX_BYTES - 3;
		while (cut > 0 && ((unsigned char)bytes[cut] & 0xC0) == 0x80)
			cut--;
	} else if (kwhy_text_is_clean(bytes, length)) {
		return intern_clean(names, bytes, length, out_name, error);
	}
	cut = kwhy_text_sanitize(clean, bytes, cut);
	if (length > KWHY_NAME_MAX_BYTES) {
		memcpy(clean + cut, "...", 4);
		cut += 3;
	}
	return intern_clean(names, clean, cut, out_name, error);
}

enum kwhy_status kwhy_names_init(struct kwhy_names *names, struct kwhy_error *error)
{
	uint32_t empty;

	*names = (struct kwhy_names){0};
	return kwhy_names_intern(names, "", 0, &empty, error);
}

void kwhy_names_done(struct kwhy_names *names)
{
	kwhy_arena_done(&names->arena);
	free(names->strings);
	free(names->hashes);
	free(names->slots);
	*names = (struct kwhy_names){0};
}
