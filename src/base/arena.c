/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 64 << 10, ALIGN = 16 };

struct kwhy_arena_block {
	struct kwhy_arena_block *next;
	size_t used, size;
	_Alignas(ALIGN) unsigned char bytes[];
};

static struct kwhy_arena_block *block_new(size_t size)
{
	struct kwhy_arena_block *block = calloc(1, sizeof(*block) + size);

	if (block)
		block->size = size;
	return block;
}

/*
 * Allocates a block for a large request alone, and links it after the head, whose free space stays usable for
 * small requests. If the arena has no block yet, the new block becomes the head.
 */
static void *alloc_large(struct kwhy_arena *arena, size_t bytes)
{
	struct kwhy_arena_block *block = block_new(bytes);

	if (!block)
		return NULL;
	block->used = bytes;
	if (arena->head) {
		block->next = arena->head->next;
		arena->head->next = block;
	} else {
		arena->head = block;
	}
	return block->bytes;
}

void *kwhy_arena_alloc(struct kwhy_arena *arena, size_t count, size_t item_bytes)
{
	struct kwhy_arena_block *head = arena->head;
	size_t bytes;

	if (item_bytes && count > (SIZE_MAX / 2) / item_bytes)
		return NULL;
	bytes = (count * item_bytes + ALIGN - 1) / ALIGN * ALIGN;
	if (bytes > BLOCK_BYTES / 4)
		return alloc_large(arena, bytes);
	if (!head || head->size - head->used < bytes) {
		head = block_new(BLOCK_BYTES);
		if (!head)
			return NULL;
		head->next = arena->head;
		arena->head = head;
	}
	head->used += bytes;
	return head->bytes + head->used - bytes;
}

void *kwhy_arena_grow(struct kwhy_arena *arena, void *items, size_t count, size_t item_bytes)
{
	void *more;

	if (count & (count - 1))
		return items;
	more = kwhy_arena_alloc(arena, count ? 2 * count : 1, item_bytes);
	return more && count ? memcpy(more, items, count * item_bytes) : more;
}

char *kwhy_arena_copy(struct kwhy_arena *arena, const char *string)
{
	size_t size = strlen(string) + 1;
	char *copy = kwhy_arena_alloc(arena, size, 1);

	return copy ? memcpy(copy, string, size) : NULL;
}

char *kwhy_arena_printf(struct kwhy_arena *arena, const char *format, ...)
{
	va_list args;
	char *string;
	int length;

	va_start(args, format);
	length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	string = length < 0 ? NULL : kwhy_arena_alloc(arena, (size_t)length + 1, 1);
	if (!string)
		return NULL;
	va_start(args, format);
	vsnprintf(string, (size_t)length + 1, format, args);
	va_end(args);
	return string;
}

void kwhy_arena_done(struct kwhy_arena *arena)
{
	struct kwhy_arena_block *next;

	for (struct kwhy_arena_block *block = arena->head; block; block = next) {
		next = block->next;
		free(block);
	}
	arena->head = NULL;
}
