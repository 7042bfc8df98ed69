/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_PROFILE_FIND_H
#define KWHY_CLI_PROFILE_FIND_H

#include "base/status.h"
#include "model/profile.h"

/*
 * Finds the bundled profile of a device by its name (case, blanks, '-' and '_' do not count). *out is NULL
 * when there is no such profile. The folders are KWHY_PROFILES if it is set; otherwise, relative to the
 * program, ../share/kwhy/profiles, the profiles/ of the source tree that it was built in, and the folder of
 * the installation.
 */
KWHY_MUST_USE enum kwhy_status kwhy_profile_find(
	const char *device_name, struct kwhy_profile **out, struct kwhy_error *error);

#endif
