/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_COLLECTIVES_H
#define KWHY_IMPORT_COLLECTIVES_H

#include "base/status.h"

#include <stdbool.h>

/*
 * Which kernels are collectives or sends and receives, by name: the built-in table and after it the user's
 * (docs/formats/collectives.md). The last pattern that fits decides, so the user's overrides. Read-only once
 * made: any number of threads. One match tries all patterns: ask once a name, not once an activity.
 */
struct kwhy_collectives;

/* `path`: the user's table; NULL: the built-in one alone. */
KWHY_MUST_USE enum kwhy_status kwhy_collectives_new(
	const char *path, struct kwhy_collectives **out, struct kwhy_error *error);
void kwhy_collectives_free(struct kwhy_collectives *table);
bool kwhy_collectives_match(const struct kwhy_collectives *table, const char *kernel_name);

#endif
