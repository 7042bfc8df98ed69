/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_BENCH_PROFILE_PART_H
#define KWHY_CLI_BENCH_PROFILE_PART_H

#include "base/status.h"
#include "base/text.h"

/*
 * Puts the JSON object `part` into the machine profile at `path` under the key `name`; other members do not
 * change. KWHY_E_INPUT: the file is no machine profile. KWHY_E_USAGE: the profile is of another device than
 * `device`. If `device` is NULL, the devices are not compared.
 */
KWHY_MUST_USE enum kwhy_status kwhy_profile_part_put(const char *path, const char *device, const char *name,
	const struct kwhy_text *part, struct kwhy_error *error);

#endif
