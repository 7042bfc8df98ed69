/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_POOL_H
#define KWHY_INJECT_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KWHY_INJECT_POOL_MAX = 256 };

/*
 * Buffers that are lent to CUPTI. They are allocated and their pages mapped once. Any thread may borrow and
 * return them without a lock. A buffer is all zero when it is borrowed. They are freed only when the process
 * ends.
 */
struct kwhy_inject_pool {
	uint8_t *memory;
	size_t bytes, count;			   /* size of a buffer; number of buffers */
	atomic_uchar states[KWHY_INJECT_POOL_MAX]; /* state of each buffer: available, borrowed, or returned
						      and being read */
};

/*
 * Allocates zeroed memory whose pages are already mapped; NULL: out of memory. Called before anything is
 * recorded.
 */
void *kwhy_inject_pool_memory(size_t bytes);

/* Allocates `count` buffers. False: out of memory, or `count` is above KWHY_INJECT_POOL_MAX. */
bool kwhy_inject_pool_init(struct kwhy_inject_pool *pool, size_t bytes, size_t count);

/* Borrows a zeroed buffer; NULL: all buffers are borrowed. */
uint8_t *kwhy_inject_pool_take(struct kwhy_inject_pool *pool);

/*
 * Marks a buffer as returned; the caller reads it next. False: the pool does not own it, or it was not
 * borrowed.
 */
bool kwhy_inject_pool_take_back(struct kwhy_inject_pool *pool, const uint8_t *buffer);

/* Zeroes a returned buffer, of which CUPTI reported `used_bytes` as used, and makes it available again. */
void kwhy_inject_pool_give(struct kwhy_inject_pool *pool, uint8_t *buffer, size_t used_bytes);

/*
 * Number of borrowed buffers into which CUPTI has written records. It may grow at any moment, as CUPTI goes
 * on writing.
 */
size_t kwhy_inject_pool_withheld(const struct kwhy_inject_pool *pool);

#endif
