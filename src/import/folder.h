/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_FOLDER_H
#define KWHY_IMPORT_FOLDER_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The files of a folder and its subfolders that may be traces, in the order of their names. Hidden files are
 * left out, and so is a report X.nsys-rep of Nsight Systems whose export X.sqlite is in the same folder. A
 * folder that is itself a recording of kwhy or a Parquet export of Nsight Systems is one path.
 * Zero-initialise; end with kwhy_folder_done().
 */
struct kwhy_folder {
	const char **paths;
	size_t count, capacity;
	struct kwhy_arena arena;
};

bool kwhy_folder_is(const char *path);
/*
 * KWHY_E_INPUT: more than 4,096 files, or subfolders nested more than 3 deep. KWHY_E_IO: a folder cannot be
 * read.
 */
KWHY_MUST_USE enum kwhy_status kwhy_folder_list(
	struct kwhy_folder *folder, const char *path, struct kwhy_error *error);
void kwhy_folder_done(struct kwhy_folder *folder);

#endif
