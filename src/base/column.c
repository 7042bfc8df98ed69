/* SPDX-License-Identifier: Apache-2.0 */
#include "base/column.h"

#include "base/large.h"

#include <stdint.h>

enum { FIRST_ITEMS = 64, SLOW_GROWTH_BYTES = 64 << 20 };

static size_t grown(size_t capacity, size_t need, size_t item_bytes)
{
	size_t next = capacity ? capacity : FIRST_ITEMS;

	if (need / 2 > next) /* more than doubling would give: the caller is likely to know the final number
				of items */
		return need;
	while (next < need)
		next += next > SLOW_GROWTH_BYTES / item_bytes ? next / 4 : next;
	return next;
}

enum kwhy_status kwhy_column_reserve(void **data, size_t *capacity, size_t need, size_t item_bytes,
	const char *what, struct kwhy_error *error)
{
	size_t next;
	void *moved;

	if (need <= *capacity)
		return KWHY_OK;
	if (need > SIZE_MAX / 2 / item_bytes)
		return kwhy_fail_memory(error, what);
	next = grown(*capacity, need, item_bytes);
	moved = kwhy_large_grow(*data, *capacity * item_bytes, next * item_bytes);
	if (!moved)
		return kwhy_fail_memory(error, what);
	*data = moved;
	*capacity = next;
	return KWHY_OK;
}
