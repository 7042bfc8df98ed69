/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_PARTS_H
#define LAB_PARTS_H

#include <stddef.h>
#include <stdint.h>

/* One of several arrays in a block of memory: its size, and the variable that gets its address. */
struct lab_part {
	uint64_t *place;
	size_t bytes;
};

/*
 * Lays out arrays one after the other from `start` on, each rounded up to a multiple of 256 bytes. Returns
 * the number of bytes of all.
 */
static inline size_t lab_parts_place(const struct lab_part *parts, size_t count, uint64_t start)
{
	uint64_t next = start;

	for (size_t i = 0; i < count; i++) {
		*parts[i].place = next;
		next += (parts[i].bytes + 255) / 256 * 256;
	}
	return next - start;
}

#endif
