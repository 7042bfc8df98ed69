/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_POOL_H
#define KWHY_INJECT_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KWHY_INJECT_POOL_MAX = 256 };

/*
 * CUPTI's buffers: made and touched once, borrowed and taken back without a lock by any thread, always zeroed
 * when borrowed. Also stands for the memory of a recording as a whole: it is given back by nobody but the end
 * of the process.
 */
struct kwhy_inject_pool {
	uint8_t *memory;
	size_t bytes, count;			   /* of one; buffers */
	atomic_uchar states[KWHY_INJECT_POOL_MAX]; /* here, borrowed, or come back and being read */
};

/* Memory that is there (touched), zeroed; NULL: none. For use before anything is recorded. */
void *kwhy_inject_pool_memory(size_t bytes);

/* False: no memory, or more than the most. */
bool kwhy_inject_pool_init(struct kwhy_inject_pool *pool, size_t bytes, size_t count);

/* A zeroed buffer; NULL: all are borrowed. */
uint8_t *kwhy_inject_pool_take(struct kwhy_inject_pool *pool);

/* A buffer comes back, to be read. False: it is none of ours, or not borrowed. */
bool kwhy_inject_pool_take_back(struct kwhy_inject_pool *pool, const uint8_t *buffer);

/* One that came back, of which this many bytes were written, may be borrowed again. */
void kwhy_inject_pool_give(struct kwhy_inject_pool *pool, uint8_t *buffer, size_t used_bytes);

/* How many are borrowed that something was written to; more may be, any moment. */
size_t kwhy_inject_pool_withheld(const struct kwhy_inject_pool *pool);

#endif
