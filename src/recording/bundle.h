/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORDING_BUNDLE_H
#define KWHY_RECORDING_BUNDLE_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Suffix of the files of a recording that is a folder; each process that writes has one file. */
#define KWHY_BUNDLE_SUFFIX ".blocks"

/* The files that make up a recording: a single file, or the files of a folder in the order of their names. */
struct kwhy_bundle {
	const char **paths;
	size_t count, capacity;
	struct kwhy_arena arena;
};

/* Whether a file in a folder, by its name, is a part of the recording. */
bool kwhy_bundle_is_part(const char *name);

/* Whether this path is a folder that holds at least one file of blocks. */
bool kwhy_bundle_is_folder(const char *path);

/*
 * Lists the files of the recording at `path`. KWHY_E_INPUT: a folder holds no file of blocks. End with
 * kwhy_bundle_done().
 */
KWHY_MUST_USE enum kwhy_status kwhy_bundle_open(
	struct kwhy_bundle *bundle, const char *path, struct kwhy_error *error);
void kwhy_bundle_done(struct kwhy_bundle *bundle);

#endif
