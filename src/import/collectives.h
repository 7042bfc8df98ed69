/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_COLLECTIVES_H
#define KWHY_IMPORT_COLLECTIVES_H

#include "base/status.h"

#include <stdbool.h>

/* Which kernels are collectives or sends and receives, by name: the built-in table and the user's. */
struct kwhy_collectives;

KWHY_MUST_USE enum kwhy_status kwhy_collectives_new(
	const char *path, struct kwhy_collectives **out, struct kwhy_error *error);
void kwhy_collectives_free(struct kwhy_collectives *table);
bool kwhy_collectives_match(const struct kwhy_collectives *table, const char *kernel_name);

#endif
