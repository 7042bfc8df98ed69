/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sort.h"

#include "base/large.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct sorter {
	kwhy_sort_compare *compare;
	const void *context;
	uint32_t *from, *to;
	size_t count;
};

static bool in_order(const struct sorter *sorter)
{
	for (size_t i = 1; i < sorter->count; i++)
		if (sorter->compare(sorter->context, (uint32_t)i - 1, (uint32_t)i) > 0)
			return false;
	return true;
}

/* Index after the last item of the longest run from `start` on whose items are in order already. */
static size_t run_end(const struct sorter *sorter, size_t start)
{
	size_t end = start + 1;

	while (end < sorter->count &&
		sorter->compare(sorter->context, sorter->from[end - 1], sorter->from[end]) <= 0)
		end++;
	return end;
}

static void merge(const struct sorter *sorter, size_t left, size_t middle, size_t right)
{
	const uint32_t *from = sorter->from;
	size_t a = left, b = middle, out = left;

	while (a < middle && b < right)
		sorter->to[out++] = sorter->compare(sorter->context, from[a], from[b]) <= 0 ? from[a++]
											    : from[b++];
	memcpy(sorter->to + out, from + a, (middle - a) * sizeof(*from));
	memcpy(sorter->to + out + (middle - a), from + b, (right - b) * sizeof(*from));
}

/*
 * Merges each two neighbouring runs into one, from `from` to `to`, and swaps these two arrays; false: all
 * items were one run, so the sort is complete.
 */
static bool merge_pass(struct sorter *sorter)
{
	size_t runs = 0;
	uint32_t *swap = sorter->from;

	for (size_t left = 0; left < sorter->count; runs++) {
		size_t middle = run_end(sorter, left);
		size_t right = middle < sorter->count ? run_end(sorter, middle) : middle;

		merge(sorter, left, middle, right);
		left = right;
	}
	sorter->from = sorter->to;
	sorter->to = swap;
	return runs > 1;
}

/* Writes the items' numbers to sorter->from by group, in ascending order within a group. */
static enum kwhy_status gather_groups(
	const struct sorter *sorter, const uint32_t *group, size_t group_count, struct kwhy_error *error)
{
	size_t *first = calloc(group_count + 1, sizeof(*first));

	if (!first)
		return kwhy_fail_memory(error, "sorting");
	for (size_t i = 0; i < sorter->count; i++)
		first[group[i] + 1]++;
	for (size_t g = 1; g < group_count; g++)
		first[g] += first[g - 1];
	for (size_t i = 0; i < sorter->count; i++)
		sorter->from[first[group[i]]++] = (uint32_t)i;
	free(first);
	return KWHY_OK;
}

enum kwhy_status kwhy_sort_order_in_groups(size_t count, const uint32_t *group, size_t group_count,
	kwhy_sort_compare *compare, const void *context, uint32_t **out_order, struct kwhy_error *error)
{
	struct sorter sorter = {.compare = compare, .context = context, .count = count};
	enum kwhy_status status = KWHY_OK;

	*out_order = NULL;
	if (count >= UINT32_MAX)
		return kwhy_fail(
			error, KWHY_E_MEMORY, "more than 4,294,967,294 rows of one kind; split the trace");
	if (in_order(&sorter))
		return KWHY_OK;
	sorter.from = kwhy_large(malloc(count * sizeof(*sorter.from)), count * sizeof(*sorter.from));
	sorter.to = kwhy_large(malloc(count * sizeof(*sorter.to)), count * sizeof(*sorter.to));
	if (!sorter.from || !sorter.to)
		status = kwhy_fail_memory(error, "sorting");
	for (size_t i = 0; !status && !group && i < count; i++)
		sorter.from[i] = (uint32_t)i;
	if (!status && group)
		status = gather_groups(&sorter, group, group_count, error);
	while (!status && merge_pass(&sorter))
		;
	free(sorter.to);
	if (status)
		free(sorter.from);
	else
		*out_order = sorter.from;
	return status;
}

enum kwhy_status kwhy_sort_order(size_t count, kwhy_sort_compare *compare, const void *context,
	uint32_t **out_order, struct kwhy_error *error)
{
	return kwhy_sort_order_in_groups(count, NULL, 0, compare, context, out_order, error);
}

/*
 * Copies item order[i] to index i, for all i. It is inlined for each constant item_bytes, for which memcpy()
 * then needs no call.
 */
static inline __attribute__((always_inline)) void gather_items(
	unsigned char *to, const unsigned char *from, size_t item_bytes, size_t count, const uint32_t *order)
{
	for (size_t i = 0; i < count; i++)
		memcpy(to + i * item_bytes, from + order[i] * item_bytes, item_bytes);
}

static void gather(
	unsigned char *to, const unsigned char *from, size_t item_bytes, size_t count, const uint32_t *order)
{
	switch (item_bytes) {
	case 1:
		gather_items(to, from, 1, count, order);
		break;
	case 2:
		gather_items(to, from, 2, count, order);
		break;
	case 4:
		gather_items(to, from, 4, count, order);
		break;
	case 8:
		gather_items(to, from, 8, count, order);
		break;
	default:
		gather_items(to, from, item_bytes, count, order);
	}
}

enum kwhy_status kwhy_sort_apply(
	void **items, size_t item_bytes, size_t count, const uint32_t *order, struct kwhy_error *error)
{
	unsigned char *sorted;

	if (!order || count == 0)
		return KWHY_OK;
	sorted = kwhy_large(malloc(count * item_bytes), count * item_bytes);
	if (!sorted)
		return kwhy_fail_memory(error, "sorting");
	gather(sorted, *items, item_bytes, count, order);
	free(*items);
	*items = sorted;
	return KWHY_OK;
}
