/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_GUARDED_MEMORY_H
#define TESTS_UNIT_GUARDED_MEMORY_H

#include "base/arena.h"

#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Replaces the allocation functions (link the program with --wrap) to find accesses beyond the end of a
 * block, for one test in a program. Each block is followed by bytes of 0xff, so a value read from there is a
 * NaN or -1; free() and realloc() abort if they were overwritten. A new block from malloc() is filled with
 * 0xff, too.
 */

enum { GUARD_BYTES = 32, GUARD_BYTE = 0xff };
#define GUARD_MAGIC UINT64_C(0x5bd1e995a1b2c3d4)

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *old);
void *__real_kwhy_arena_alloc(struct kwhy_arena *arena, size_t count, size_t item_bytes);
void *__wrap_kwhy_arena_alloc(struct kwhy_arena *arena, size_t count, size_t item_bytes);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *old);

/*
 * Returns the place of a block's size: the last 8 bytes of what malloc() has reserved for it. The size is
 * combined with a mark (GUARD_MAGIC), by which guarded blocks are recognised.
 */
static uint64_t *guard_mark(void *memory)
{
	return (uint64_t *)(void *)((unsigned char *)memory + (malloc_usable_size(memory) / 8 - 1) * 8);
}

static void *guard(void *memory, size_t size)
{
	if (!memory)
		return NULL;
	memset((unsigned char *)memory + size, GUARD_BYTE,
		(size_t)((unsigned char *)guard_mark(memory) - (unsigned char *)memory) - size);
	*guard_mark(memory) = size ^ GUARD_MAGIC;
	return memory;
}

/*
 * Whether the block has guard bytes; its size is written to *out_size. Blocks that the C library allocated
 * internally have none.
 */
static bool is_guarded(void *memory, size_t *out_size)
{
	const size_t usable = malloc_usable_size(memory);

	*out_size = usable >= GUARD_BYTES ? (size_t)(*guard_mark(memory) ^ GUARD_MAGIC) : SIZE_MAX;
	return *out_size <= usable - GUARD_BYTES;
}

static void check_guard(void *memory)
{
	size_t size;

	if (!memory || !is_guarded(memory, &size))
		return;
	for (unsigned char *at = (unsigned char *)memory + size; at < (unsigned char *)guard_mark(memory);
		at++)
		if (*at != GUARD_BYTE)
			abort();
	*guard_mark(memory) = 0;
}

/* Ends of the blocks that were allocated from arenas since the last check. */
static unsigned char *arena_ends[1 << 16];
static size_t arena_end_count;

void *__wrap_kwhy_arena_alloc(struct kwhy_arena *arena, size_t count, size_t item_bytes)
{
	unsigned char *memory = __real_kwhy_arena_alloc(arena, 1, count * item_bytes + GUARD_BYTES);

	if (!memory || arena_end_count == sizeof(arena_ends) / sizeof(arena_ends[0]))
		abort();
	arena_ends[arena_end_count++] = memory + count * item_bytes;
	memset(memory + count * item_bytes, GUARD_BYTE, GUARD_BYTES);
	return memory;
}

/*
 * Aborts if guard bytes after a block of an arena were overwritten. Call it with true before arenas are
 * freed; with false after that, to forget their blocks.
 */
static void check_arena_guards(bool are_alive)
{
	if (!are_alive)
		arena_end_count = 0;
	while (arena_end_count) {
		const unsigned char *end = arena_ends[--arena_end_count];

		for (int i = 0; i < GUARD_BYTES; i++)
			if (end[i] != GUARD_BYTE)
				abort();
	}
}

void *__wrap_malloc(size_t size)
{
	void *memory = __real_malloc(size + GUARD_BYTES);

	if (memory)
		memset(memory, GUARD_BYTE, size);
	return guard(memory, size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - GUARD_BYTES)
		return NULL;
	return guard(__real_calloc(1, bytes + GUARD_BYTES), bytes);
}

void *__wrap_realloc(void *old, size_t size)
{
	check_guard(old);
	return guard(__real_realloc(old, size + GUARD_BYTES), size);
}

void __wrap_free(void *old)
{
	check_guard(old);
	__real_free(old);
}

#endif
