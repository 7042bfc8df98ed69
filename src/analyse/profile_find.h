/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_ANALYSE_PROFILE_FIND_H
#define KWHY_ANALYSE_PROFILE_FIND_H

#include "base/status.h"
#include "model/profile.h"
#include "model/recording.h"

/*
 * Finds the bundled profile of a device by its name; case is ignored, and '-' and '_' count as blanks. *out
 * is NULL if there is no such profile. The environment variable KWHY_PROFILES names the folder to search. If
 * it is not set, these are searched: share/kwhy/profiles beside the bin/ or lib/ folder of the program or
 * shared library that contains this code, profiles/ of the source tree in which it was built, and the folder
 * of the installation.
 */
KWHY_MUST_USE enum kwhy_status kwhy_profile_find(
	const char *device_name, struct kwhy_profile **out, struct kwhy_error *error);

/*
 * Writes to `out` the first of the folders searched by kwhy_profile_find() that has a profile, and returns
 * the number of profiles in it. 0: no folder has one; `out` is then the first folder that was searched.
 */
size_t kwhy_profile_folder(char *out, size_t out_bytes);

/*
 * Reads the profile at `path` or, if `path` is NULL, the bundled profile of the first device of the recording
 * that has one. *out must be NULL before; it stays NULL if no device has one.
 */
KWHY_MUST_USE enum kwhy_status kwhy_profile_read(const char *path, const struct kwhy_recording *recording,
	struct kwhy_profile **out, struct kwhy_error *error);

#endif
