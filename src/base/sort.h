/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_SORT_H
#define KWHY_BASE_SORT_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* <0, 0, >0 as item `a` goes before, beside or after item `b`. */
typedef int kwhy_sort_compare(const void *context, uint32_t a, uint32_t b);

/*
 * Stable natural merge sort of the numbers 0..count-1: (*out_order)[i] is the item that belongs at place
 * i; NULL when the items are in order already. The caller frees it. Needs 8 bytes an item, and time
 * count * log(runs): traces are mostly a few sorted runs.
 */
KWHY_MUST_USE enum kwhy_status kwhy_sort_order(size_t count, kwhy_sort_compare *compare, const void *context,
	uint32_t **out_order, struct kwhy_error *error);

/* Rearranges *items (malloc'ed; replaced) so that place i holds what was at order[i]. NULL order: nothing. */
KWHY_MUST_USE enum kwhy_status kwhy_sort_apply(
	void **items, size_t item_bytes, size_t count, const uint32_t *order, struct kwhy_error *error);

#endif
