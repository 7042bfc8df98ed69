/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_PROFILE_OPERATIONS_H
#define KWHY_IMPORT_PROFILE_OPERATIONS_H

#include "base/status.h"
#include "model/profile.h"

#include <jansson.h>

/*
 * Sets the peaks of a machine profile, FLOP/s by precision and bytes/s of memory, to the fastest operations
 * of its member "operations" (schema kwhy.ops/1). KWHY_E_INPUT: the message names the operation that is
 * wrong. `path` is the path of the profile.
 */
KWHY_MUST_USE enum kwhy_status kwhy_import_profile_operations(
	const char *path, const json_t *part, struct kwhy_profile *profile, struct kwhy_error *error);

#endif
