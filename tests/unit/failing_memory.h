/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_FAILING_MEMORY_H
#define TESTS_UNIT_FAILING_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Replaces the allocation functions (link the program with --wrap) so that a test can make one
 * allocation fail, in whichever thread of the program it is made. For one test in a program.
 */

/* number of allocations so far, by any thread */
static _Atomic unsigned allocations;
/* number of allocations that still succeed before one fails; below 0: none fails */
static _Atomic long left_until_failure = -1;
/* true once that allocation has failed; the test resets it */
static _Atomic bool failed;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static bool fails_now(void)
{
	allocations++;
	if (left_until_failure < 0 || left_until_failure-- != 0)
		return false;
	failed = true;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return fails_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails_now() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fails_now() ? NULL : __real_realloc(old, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return fails_now() ? NULL : __real_aligned_alloc(alignment, size);
}

#endif
