/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORD_FOLDER_H
#define KWHY_RECORD_FOLDER_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>

/* Suffix that is added to the name of an earlier recording at the same path. */
#define KWHY_RECORD_OLD_SUFFIX ".old"

/*
 * File in the folder while `kwhy probe` runs. It holds what earlier runs found out, for the library in the
 * command. The library's own file is described in recording/probe_progress.h.
 */
#define KWHY_RECORD_KNOWN_FILE "probe.known"

/* The folder that a recording is written to. */
struct kwhy_record_folder {
	const char *path;
	const char *aside; /* temporary name of an earlier recording at `path`; NULL: there was none */
	const char *old;   /* name of that recording once the new one is kept */
	bool is_taken;	   /* the recording is written to it: it was made, or was empty before */
	bool is_made;
};

/*
 * Makes an empty folder for a recording at folder->path. An existing recording at this path, a folder or a
 * file, is renamed to a name in the arena. KWHY_E_USAGE: something other than a recording is at this path or
 * at PATH.old; it is left unchanged.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_folder_make(
	struct kwhy_record_folder *folder, struct kwhy_arena *arena, struct kwhy_error *error);

/*
 * Keeps the new recording: the earlier one is renamed to PATH.old, and a recording that had that name is
 * deleted.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_folder_keep(
	const struct kwhy_record_folder *folder, struct kwhy_error *error);

/*
 * Drops the new recording: the earlier one gets its name back. A folder that was not made here is left
 * unchanged.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_folder_unmake(
	const struct kwhy_record_folder *folder, struct kwhy_error *error);

/*
 * Packs a folder into one file, which then has the folder's name (docs/formats/recording.md). If this fails,
 * the recording is still a folder, and the error says where.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_folder_pack(const char *path, struct kwhy_error *error);

/* Deletes the files that exist only while `kwhy probe` runs. */
void kwhy_record_folder_clear(const char *path);

/*
 * Deletes a recording: the files of blocks in a folder and then the folder, unless it holds anything else; or
 * the recording's single file.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_folder_delete(const char *path, struct kwhy_error *error);

#endif
