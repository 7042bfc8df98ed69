/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORD_FOLDER_H
#define KWHY_RECORD_FOLDER_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>

/* Suffix that an earlier recording at the same path gets when a new one is kept. */
#define KWHY_RECORD_OLD_SUFFIX ".old"

/*
 * File in the folder of the recording while `kwhy probe` runs: the kernels whose power an earlier recording
 * contains, for the library that is injected into the command (inject/probe/known.h).
 */
#define KWHY_RECORD_KNOWN_FILE "probe.known"

/* The folder that a recording is written to. */
struct kwhy_record_folder {
	const char *path;
	const char
		*aside;	 /* temporary path of the recording that was at `path` before; NULL: there was none */
	const char *old; /* path, `path` with KWHY_RECORD_OLD_SUFFIX, that the earlier recording gets when the
			    new one is kept */
	bool is_taken;	 /* kwhy_record_folder_make() has succeeded, so that `path` is a folder for the new
			    recording */
	bool is_made;
	int locked; /* descriptor of the folder; while it is open no other recorder can use the folder; -1:
		       not open */
};

/*
 * Makes an empty folder for a recording at folder->path, and locks it against other recorders. A symbolic
 * link at folder->path is kept, and folder->path becomes the link's target, a text in the arena
 * (base/output.h states which links are followed). An earlier recording at the path, a folder or a file, is
 * renamed to folder->aside. KWHY_E_USAGE: something other than a recording is at the path or at PATH.old,
 * such as a link, or another kwhy records there; nothing is changed then.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_folder_make(
	struct kwhy_record_folder *folder, struct kwhy_arena *arena, struct kwhy_error *error);

/* Ends the lock. Call it last. */
void kwhy_record_folder_release(struct kwhy_record_folder *folder);

/*
 * Keeps the new recording: renames the earlier one, if any, to PATH.old, and first deletes a recording or an
 * empty folder that has that name. *out_replaced: whether something of that name was there and was deleted.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_folder_keep(
	const struct kwhy_record_folder *folder, bool *out_replaced, struct kwhy_error *error);

/*
 * Deletes the new recording and renames the earlier one back. If the folder existed, empty, before
 * kwhy_record_folder_make(), only its files are deleted. Does nothing if kwhy_record_folder_make() failed.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_folder_unmake(
	const struct kwhy_record_folder *folder, struct kwhy_error *error);

/*
 * Packs a folder into one file, which then gets the folder's name (docs/formats/recording.md). If this fails,
 * the recording stays a folder, and the error states its path.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_folder_pack(const char *path, struct kwhy_error *error);

/* Deletes the files in the folder that are needed only while `kwhy probe` runs. */
void kwhy_record_folder_clear(const char *path);

/*
 * Deletes a recording. Of a folder, its files that kwhy writes are deleted, and then the folder; KWHY_E_IO:
 * it contains other files. A symbolic link is not a recording, and its target is left unchanged.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_folder_delete(const char *path, struct kwhy_error *error);

#endif
