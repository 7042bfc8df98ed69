/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_BENCH_PROFILE_PART_H
#define KWHY_CLI_BENCH_PROFILE_PART_H

#include "base/status.h"
#include "base/text.h"

/*
 * Puts `part`, an object as JSON, into the machine profile at `path` under `name`; the rest stays.
 * KWHY_E_INPUT: there is no machine profile; KWHY_E_USAGE: it is not of `device`. `device` NULL: which one is
 * not known.
 */
KWHY_MUST_USE enum kwhy_status kwhy_profile_part_put(const char *path, const char *device, const char *name,
	const struct kwhy_text *part, struct kwhy_error *error);

#endif
