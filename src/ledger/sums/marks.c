/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/sums/marks.h"

#include "base/column.h"

#include <stdbool.h>
#include <stdlib.h>

static int compare(const struct kwhy_mark *a, const struct kwhy_mark *b)
{
	if (a->scope != b->scope)
		return a->scope < b->scope ? -1 : 1;
	return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

static int compare_items(const void *a, const void *b)
{
	return compare(a, b);
}

enum kwhy_status kwhy_marks_add(
	struct kwhy_marks *marks, uint64_t scope, int64_t time_ns, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_column_reserve((void **)&marks->items, &marks->capacity,
		marks->count + 1, sizeof(*marks->items), "edges of ranges", error);

	if (!status)
		marks->items[marks->count++] = (struct kwhy_mark){scope, time_ns};
	return status;
}

void kwhy_marks_sort(struct kwhy_marks *marks)
{
	size_t kept = 0;

	if (marks->count)
		qsort(marks->items, marks->count, sizeof(*marks->items), compare_items);
	for (size_t i = 0; i < marks->count; i++)
		if (kept == 0 || compare(&marks->items[kept - 1], &marks->items[i]))
			marks->items[kept++] = marks->items[i];
	marks->count = kept;
}

void kwhy_marks_done(struct kwhy_marks *marks)
{
	free(marks->items);
	*marks = (struct kwhy_marks){0};
}

/*
 * Number of marks at or before `wanted` in the order of the marks (scope, then time), by bisection. The
 * caller knows that it is from `low` to `high`.
 */
static size_t search(const struct kwhy_marks *marks, const struct kwhy_mark *wanted, size_t low, size_t high)
{
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(&marks->items[middle], wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Steps away from *near, doubling the step each time, until the result is bracketed; then bisects. */
size_t kwhy_marks_up_to_near(const struct kwhy_marks *marks, uint64_t scope, int64_t time_ns, size_t *near)
{
	struct kwhy_mark wanted = {scope, time_ns};
	size_t low = *near, high = *near, step = 1;

	while (low > 0 && compare(&marks->items[low - 1], &wanted) > 0) {
		high = low - 1;
		low -= low < step ? low : step;
		step *= 2;
	}
	while (low == *near && high < marks->count && compare(&marks->items[high], &wanted) <= 0) {
		low = *near = high + 1;
		high += marks->count - high < step ? marks->count - high : step;
		step *= 2;
	}
	return *near = search(marks, &wanted, low, high);
}
