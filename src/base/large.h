/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_LARGE_H
#define KWHY_BASE_LARGE_H

#include <stddef.h>

/*
 * Asks the system for huge pages for an array that was just allocated, and returns the array. The first
 * access to each page causes a page fault, which takes longer than writing the page; with huge pages of 2 MiB
 * in place of 4 KiB there are 512 times fewer faults. Arrays below 256 KiB and NULL are left as they are.
 * Neighbours of the array in memory may get huge pages, too.
 */
void *kwhy_large(void *array, size_t bytes);

/*
 * Does what realloc() does for an array of `used` bytes that grows to `bytes`. If the new array is to lie in
 * the heap (kwhy_large_heap()), it is allocated, huge pages are requested for it, and only then the bytes are
 * copied, because pages that are accessed before the request stay small.
 */
void *kwhy_large_grow(void *array, size_t used, size_t bytes);

/*
 * Makes malloc() extend its heap in steps of several huge pages, and place arrays of up to 32 MiB there.
 * This is a setting of the whole process, so only programs that are about to read large recordings make
 * this call, before they start threads.
 */
void kwhy_large_heap(void);

#endif
