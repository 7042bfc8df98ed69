/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_POOL_H
#define KWHY_INJECT_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KWHY_INJECT_POOL_MAX = 256 };

/*
 * CUPTI's buffers. They are allocated and touched once; any thread borrows and returns them without a lock,
 * and each is zeroed when borrowed. Their memory is freed only by the end of the process, as is all memory of
 * a recording.
 */
struct kwhy_inject_pool {
	uint8_t *memory;
	size_t bytes, count;			   /* size of a buffer; number of buffers */
	atomic_uchar states[KWHY_INJECT_POOL_MAX]; /* available, borrowed, or returned and being read */
};

/* Zeroed memory whose pages are already mapped; NULL: no memory. For use before anything is recorded. */
void *kwhy_inject_pool_memory(size_t bytes);

/* False: no memory, or `count` is above KWHY_INJECT_POOL_MAX. */
bool kwhy_inject_pool_init(struct kwhy_inject_pool *pool, size_t bytes, size_t count);

/* A zeroed buffer; NULL: all are borrowed. */
uint8_t *kwhy_inject_pool_take(struct kwhy_inject_pool *pool);

/* Marks a buffer as returned, to be read next. False: the pool does not own it, or it was not borrowed. */
bool kwhy_inject_pool_take_back(struct kwhy_inject_pool *pool, const uint8_t *buffer);

/* Zeroes a returned buffer, of which `used_bytes` were written, and makes it available again. */
void kwhy_inject_pool_give(struct kwhy_inject_pool *pool, uint8_t *buffer, size_t used_bytes);

/* Number of borrowed buffers that something was written to; it may grow at any moment. */
size_t kwhy_inject_pool_withheld(const struct kwhy_inject_pool *pool);

#endif
