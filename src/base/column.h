/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_COLUMN_H
#define KWHY_BASE_COLUMN_H

#include "base/status.h"

#include <stddef.h>

/*
 * Grows an array to a capacity of at least `need` items. The capacity, at first 64 items, doubles while the
 * array has at most 64 MiB, and grows by a quarter beyond; if `need` is more than twice the capacity, the new
 * capacity is `need`. realloc() moves large blocks by remapping pages, and pages that were never written take
 * no memory. On failure the array is unchanged. `what` is the array's name in the error.
 */
KWHY_MUST_USE enum kwhy_status kwhy_column_reserve(void **data, size_t *capacity, size_t need,
	size_t item_bytes, const char *what, struct kwhy_error *error);

#endif
