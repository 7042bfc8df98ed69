/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_COLLECTIVES_H
#define KWHY_IMPORT_COLLECTIVES_H

#include "base/status.h"

#include <stdbool.h>

/*
 * Finds by name which kernels are collectives or point-to-point transfers, from the built-in table and then
 * the user's table (docs/formats/collectives.md). The last pattern that matches decides, so the user's table
 * overrides the built-in one. The struct does not change once made, so any number of threads may use it.
 * Matching a name tries all patterns, so callers match each distinct name once, not once for each activity.
 */
struct kwhy_collectives;

/* `path` is the user's table; NULL: only the built-in table is used. */
KWHY_MUST_USE enum kwhy_status kwhy_collectives_new(
	const char *path, struct kwhy_collectives **out, struct kwhy_error *error);
void kwhy_collectives_free(struct kwhy_collectives *table);
bool kwhy_collectives_match(const struct kwhy_collectives *table, const char *kernel_name);

#endif
