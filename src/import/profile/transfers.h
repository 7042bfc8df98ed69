/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_PROFILE_TRANSFERS_H
#define KWHY_IMPORT_PROFILE_TRANSFERS_H

#include "base/arena.h"
#include "base/status.h"
#include "model/transfers.h"

#include <jansson.h>

/*
 * Reads `part`, the member "transfers" of a machine profile, into the arena: curves of time or energy over
 * size, the best method for each size, and the sizes from which one method is faster than another.
 * KWHY_E_INPUT: the message names the member that is wrong. `path` is the path of the profile.
 */
KWHY_MUST_USE enum kwhy_status kwhy_import_profile_transfers(const char *path, const json_t *part,
	struct kwhy_arena *arena, const struct kwhy_transfers **out, struct kwhy_error *error);

#endif
