/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORDING_BUNDLE_H
#define KWHY_RECORDING_BUNDLE_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Suffix of files of blocks in a folder, which holds one file for each writer. */
#define KWHY_BUNDLE_SUFFIX ".blocks"

/* The files that make up a recording: a single file, or the files of a folder in the order of their names. */
struct kwhy_bundle {
	const char **paths;
	size_t count, capacity;
	struct kwhy_arena arena;
};

/* Is this path a folder that holds at least one file of blocks? */
bool kwhy_bundle_is_folder(const char *path);

/* Lists the files; KWHY_E_INPUT: the folder holds no file of blocks. End with kwhy_bundle_done(). */
KWHY_MUST_USE enum kwhy_status kwhy_bundle_open(
	struct kwhy_bundle *bundle, const char *path, struct kwhy_error *error);
void kwhy_bundle_done(struct kwhy_bundle *bundle);

#endif
