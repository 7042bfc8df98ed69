/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_ARENA_H
#define KWHY_BASE_ARENA_H

#include <stddef.h>

struct kwhy_arena_block;

/* Memory that is freed in one call. Zero-initialise; free with kwhy_arena_done(). */
struct kwhy_arena {
	struct kwhy_arena_block *head;
};

/* Zeroed memory, aligned for any type, valid until kwhy_arena_done(); NULL: out of memory. */
void *kwhy_arena_alloc(struct kwhy_arena *arena, size_t count, size_t item_bytes);

/*
 * Returns an array of the same `count` items that has memory for one more: `items` itself or, if `count` is a
 * power of two or 0, a copy with twice the capacity. Only for arrays that start as NULL and are grown by this
 * call before each item that is added. NULL: out of memory.
 */
void *kwhy_arena_grow(struct kwhy_arena *arena, void *items, size_t count, size_t item_bytes);
char *kwhy_arena_copy(struct kwhy_arena *arena, const char *string);
char *kwhy_arena_printf(struct kwhy_arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void kwhy_arena_done(struct kwhy_arena *arena);

#endif
