/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORD_FOLDER_H
#define KWHY_RECORD_FOLDER_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>

/* What a recording that stood in the way is called then. */
#define KWHY_RECORD_OLD_SUFFIX ".old"

/* In the folder while `kwhy probe` runs: what earlier runs taught, which the library in the command reads. Of
 * what that says in turn: recording/probe_progress.h. */
#define KWHY_RECORD_KNOWN_FILE "probe.known"

/* Where a recording is made. */
struct kwhy_record_folder {
	const char *path;
	const char *aside; /* what a recording that had that name is called meanwhile; NULL: none had it */
	const char *old;   /* and from then on */
	bool is_taken;	   /* it holds the recording, made or empty before */
	bool is_made;
};

/*
 * Makes an empty folder for a recording at folder->path; a recording that is there already, a folder or a
 * file, is put aside under a name in the arena. KWHY_E_USAGE: something else is there, or has the name
 * PATH.old; it is left alone.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_folder_make(
	struct kwhy_record_folder *folder, struct kwhy_arena *arena, struct kwhy_error *error);

/* There is something to record: what was put aside becomes PATH.old, and one that had that name is deleted.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_folder_keep(
	const struct kwhy_record_folder *folder, struct kwhy_error *error);

/* There is nothing: what was put aside has its name again. A folder that was not made is left alone. */
KWHY_MUST_USE enum kwhy_status kwhy_record_folder_unmake(
	const struct kwhy_record_folder *folder, struct kwhy_error *error);

/*
 * Makes one packed file of a folder, which then has its name: docs/formats/recording.md. When it cannot, the
 * recording is a folder still, and the error says where.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_folder_pack(const char *path, struct kwhy_error *error);

/* Deletes what the folder holds only while `kwhy probe` runs. */
void kwhy_record_folder_clear(const char *path);

/* Deletes the blocks in a folder, then the folder, unless it holds anything else; or a recording's one file.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_folder_delete(const char *path, struct kwhy_error *error);

#endif
