/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_SORT_H
#define KWHY_BASE_SORT_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Compares two items, which are given by their indices in the array to be sorted. Below 0: item `a` sorts
 * before item `b`; 0: they are equal; above 0: item `a` sorts after item `b`.
 */
typedef int kwhy_sort_compare(const void *context, uint32_t a, uint32_t b);

/* Compares two numbers: above 0 if `a` is larger, below 0 if it is less, 0 if they are equal. */
static inline int kwhy_sort_by(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/*
 * Finds the order of `count` items by a stable natural merge sort. (*out_order)[i] is the index of the item
 * that belongs at index i; the caller frees it. *out_order NULL: the items are already in order. Takes 8
 * bytes per item and time in proportion to count * log(runs): traces mostly consist of a few runs that are in
 * order.
 */
KWHY_MUST_USE enum kwhy_status kwhy_sort_order(size_t count, kwhy_sort_compare *compare, const void *context,
	uint32_t **out_order, struct kwhy_error *error);

/*
 * Does the same as kwhy_sort_order(), but faster, if `compare` orders by group first: group[i], below
 * group_count, is the group of item i (NULL: there are no groups). Items are first gathered by group, because
 * traces mix the rows of threads, and the rows of each thread are mostly in order.
 */
KWHY_MUST_USE enum kwhy_status kwhy_sort_order_in_groups(size_t count, const uint32_t *group,
	size_t group_count, kwhy_sort_compare *compare, const void *context, uint32_t **out_order,
	struct kwhy_error *error);

/*
 * Rearranges *items (malloc'ed; replaced) so that index i holds the item from index order[i]. order NULL:
 * nothing is done.
 */
KWHY_MUST_USE enum kwhy_status kwhy_sort_apply(
	void **items, size_t item_bytes, size_t count, const uint32_t *order, struct kwhy_error *error);

#endif
