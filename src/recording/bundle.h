/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORDING_BUNDLE_H
#define KWHY_RECORDING_BUNDLE_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Suffix of the files of a recording that is a folder. Each process that recorded has one file. */
#define KWHY_BUNDLE_SUFFIX ".blocks"

/* The files that make up a recording: a single file, or the files of a folder in the order of their names. */
struct kwhy_bundle {
	const char **paths;
	size_t count, capacity;
	struct kwhy_arena arena;
};

/*
 * Whether a file of this name in a folder is a part of the recording: it ends in the suffix and is not
 * hidden.
 */
bool kwhy_bundle_is_part(const char *name);

/* Whether the path is a folder with at least one file of blocks (KWHY_BUNDLE_SUFFIX). */
bool kwhy_bundle_is_folder(const char *path);

/*
 * Lists the files of the recording at `path`; a path that is no folder is its only file. KWHY_E_INPUT: a
 * folder has no file of blocks, or more than 65,536. End with kwhy_bundle_done().
 */
KWHY_MUST_USE enum kwhy_status kwhy_bundle_open(
	struct kwhy_bundle *bundle, const char *path, struct kwhy_error *error);
void kwhy_bundle_done(struct kwhy_bundle *bundle);

#endif
