/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/pool.h"

#include <string.h>
#include <sys/mman.h>

/*
 * When the used part of a returned buffer is zeroed, this many bytes after it are zeroed, too, because CUPTI
 * may have written a little more than it reports.
 */
enum { ZEROED_BEYOND_BYTES = 4096 };

enum { HERE, LENT, BACK };

void *kwhy_inject_pool_memory(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

bool kwhy_inject_pool_init(struct kwhy_inject_pool *pool, size_t bytes, size_t count)
{
	if (count > KWHY_INJECT_POOL_MAX)
		return false;
	pool->memory = kwhy_inject_pool_memory(bytes * count);
	pool->bytes = bytes;
	pool->count = pool->memory ? count : 0;
	for (size_t i = 0; i < count; i++)
		atomic_init(&pool->states[i], HERE);
	return pool->memory;
}

static bool change(struct kwhy_inject_pool *pool, size_t index, unsigned char from, unsigned char to)
{
	return atomic_compare_exchange_strong(&pool->states[index], &from, to);
}

uint8_t *kwhy_inject_pool_take(struct kwhy_inject_pool *pool)
{
	for (size_t i = 0; i < pool->count; i++)
		if (atomic_load_explicit(&pool->states[i], memory_order_relaxed) == HERE &&
			change(pool, i, HERE, LENT))
			return pool->memory + i * pool->bytes;
	return NULL;
}

bool kwhy_inject_pool_take_back(struct kwhy_inject_pool *pool, const uint8_t *buffer)
{
	const size_t at = (uintptr_t)buffer - (uintptr_t)pool->memory;

	return pool->memory && buffer >= pool->memory && at < pool->bytes * pool->count &&
		at % pool->bytes == 0 && change(pool, at / pool->bytes, LENT, BACK);
}

void kwhy_inject_pool_give(struct kwhy_inject_pool *pool, uint8_t *buffer, size_t used_bytes)
{
	const size_t index = (size_t)(buffer - pool->memory) / pool->bytes;
	const size_t dirty_bytes = used_bytes < pool->bytes - ZEROED_BEYOND_BYTES
		? used_bytes + ZEROED_BEYOND_BYTES
		: pool->bytes;

	memset(buffer, 0, dirty_bytes);
	atomic_store(&pool->states[index], HERE);
}

/*
 * Whether CUPTI has written to a borrowed buffer. While CUPTI is writing the first record, either result may
 * be returned, and callers accept both.
 */
__attribute__((no_sanitize("thread"))) static bool is_written(const uint8_t *buffer)
{
	return *(const volatile uint64_t *)(const void *)buffer != 0;
}

size_t kwhy_inject_pool_withheld(const struct kwhy_inject_pool *pool)
{
	size_t withheld = 0;

	for (size_t i = 0; i < pool->count; i++)
		withheld += atomic_load(&pool->states[i]) == LENT &&
			is_written(pool->memory + i * pool->bytes);
	return withheld;
}
