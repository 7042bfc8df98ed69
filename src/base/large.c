/* SPDX-License-Identifier: Apache-2.0 */
#include "base/large.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGE_BYTES ((size_t)256 << 10)
#define HUGE_PAGE_BYTES ((uintptr_t)2 << 20)

enum { HEAP_STEP_BYTES = 128 << 20, HEAP_ARRAY_MAX_BYTES = 32 << 20 };

/*
 * Arrays of fewer bytes than this are placed in the heap (brk) by malloc(); 0: unknown, because
 * kwhy_large_heap() was not called.
 */
static size_t heap_array_max_bytes;

/*
 * End of the memory that gets huge pages: the end of the array or, for an array in the heap, the end of the
 * heap, since later arrays are placed there.
 */
static uintptr_t end_of(uintptr_t array, size_t bytes)
{
	uintptr_t heap_end = (uintptr_t)sbrk(0);

	return array < heap_end ? heap_end : array + bytes; /* arrays above the heap were mapped by mmap() */
}

void *kwhy_large(void *array, size_t bytes)
{
	uintptr_t at = (uintptr_t)array, end = end_of(at, bytes);
	uintptr_t before = at & (HUGE_PAGE_BYTES - 1), after = -end & (HUGE_PAGE_BYTES - 1);

	/*
	 * The range is widened to whole huge pages, because the system takes advice for whole pages
	 * only. The first and the last may also hold other arrays. The system ignores addresses that are not
	 * mapped.
	 */
	if (array && bytes >= LARGE_BYTES)
		(void)madvise((char *)array - before, end - at + before + after, MADV_HUGEPAGE);
	return array;
}

void *kwhy_large_grow(void *array, size_t used, size_t bytes)
{
	void *grown;

	if (bytes < LARGE_BYTES || bytes >= heap_array_max_bytes)
		return kwhy_large(realloc(array, bytes), bytes);
	grown = kwhy_large(malloc(bytes), bytes);
	if (!grown || !array)
		return grown;
	memcpy(grown, array, used);
	free(array);
	return grown;
}

void kwhy_large_heap(void)
{
	heap_array_max_bytes = HEAP_ARRAY_MAX_BYTES;
	mallopt(M_MMAP_THRESHOLD, HEAP_ARRAY_MAX_BYTES);
	mallopt(M_TOP_PAD, HEAP_STEP_BYTES);
	/*
	 * Extends the heap once and asks for huge pages for it, so that arrays below LARGE_BYTES get them,
	 * too.
	 */
	free(kwhy_large(malloc(LARGE_BYTES), LARGE_BYTES));
}
