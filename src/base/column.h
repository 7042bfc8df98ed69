/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_COLUMN_H
#define KWHY_BASE_COLUMN_H

#include "base/status.h"

#include <stddef.h>

/*
 * Makes room for `need` items in an array that its owner grows: doubles up to 64 MiB, then grows by
 * a quarter; large blocks move by remapping pages, so untouched room costs no memory.
 * On failure the array is as before. `what` names the array in the error.
 */
KWHY_MUST_USE enum kwhy_status kwhy_column_reserve(void **data, size_t *capacity, size_t need,
	size_t item_bytes, const char *what, struct kwhy_error *error);

#endif
