/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_PROFILE_KINDS_H
#define KWHY_IMPORT_PROFILE_KINDS_H

#include "base/status.h"
#include "model/profile.h"

#include <jansson.h>

/*
 * Reads `part`, the member "kernel_kinds" of a machine profile: measured powers by kind of kernel, such as
 * matrix products. KWHY_E_INPUT: the message names the member that is wrong. `path` is the path of the
 * profile.
 */
KWHY_MUST_USE enum kwhy_status kwhy_import_profile_kinds(
	const char *path, const json_t *part, struct kwhy_profile *profile, struct kwhy_error *error);

#endif
