/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_PROFILE_COUNTERS_H
#define KWHY_IMPORT_PROFILE_COUNTERS_H

#include "base/status.h"
#include "model/profile.h"

#include <jansson.h>

/*
 * Reads `part`, the member "counter_model" of a machine profile: a model that gives the power of a kernel
 * from its performance counters. KWHY_E_INPUT: the message names the member that is wrong. `path` is the path
 * of the profile.
 */
KWHY_MUST_USE enum kwhy_status kwhy_import_profile_counters(
	const char *path, const json_t *part, struct kwhy_profile *profile, struct kwhy_error *error);

#endif
