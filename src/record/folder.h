/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORD_FOLDER_H
#define KWHY_RECORD_FOLDER_H

#include "base/status.h"

#include <stdbool.h>

/* What a recording that stood in the way is called then. */
#define KWHY_RECORD_OLD_SUFFIX ".old"

/*
 * Makes an empty folder for a recording. A recording that is there already, a folder or a file, is renamed to
 * PATH.old, and one that had that name is deleted. KWHY_E_USAGE: something else is there; it is left alone.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_folder_make(
	const char *path, bool *out_put_aside, struct kwhy_error *error);

/* Undoes that, when there is nothing to record: what was put aside has its name again. */
KWHY_MUST_USE enum kwhy_status kwhy_record_folder_unmake(
	const char *path, bool was_put_aside, struct kwhy_error *error);

/*
 * Makes one packed file of a folder, which then has its name: docs/formats/recording.md. When it cannot, the
 * recording is a folder still, and the error says where.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_folder_pack(const char *path, struct kwhy_error *error);

/* Deletes the blocks in a folder, then the folder, unless it holds anything else; or a recording's one file.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_folder_delete(const char *path, struct kwhy_error *error);

#endif
