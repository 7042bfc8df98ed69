/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_COLLECTIVES_H
#define KWHY_IMPORT_COLLECTIVES_H

#include "base/status.h"

#include <stdbool.h>

/*
 * Finds by name which kernels are collectives or sends and receives, in the built-in table and then in the
 * user's (docs/formats/collectives.md). The last pattern that matches decides, so the user's table overrides
 * the built-in one. Read-only once made, for any number of threads. One match tries all patterns: match once
 * a name, not once an activity.
 */
struct kwhy_collectives;

/* `path`: the user's table; NULL: the built-in table alone. */
KWHY_MUST_USE enum kwhy_status kwhy_collectives_new(
	const char *path, struct kwhy_collectives **out, struct kwhy_error *error);
void kwhy_collectives_free(struct kwhy_collectives *table);
bool kwhy_collectives_match(const struct kwhy_collectives *table, const char *kernel_name);

#endif
