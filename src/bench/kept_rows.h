/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_KEPT_ROWS_H
#define KWHY_BENCH_KEPT_ROWS_H

#include "base/status.h"
#include "base/text.h"

#include <stdio.h>

/*
 * Rows of a benchmark in the files of a folder. They are written as they are measured, so that an interrupted
 * benchmark can be continued. A line without its end, as after a crash, is not a row.
 */
enum { KWHY_KEPT_PATH_BYTES = 4096 };

/* Builds the path FOLDER/NAME. KWHY_E_USAGE: it is too long. */
KWHY_MUST_USE enum kwhy_status kwhy_kept_path(
	const char *folder, const char *name, char out[KWHY_KEPT_PATH_BYTES], struct kwhy_error *error);

/* Makes the folder and its parents if need be. */
KWHY_MUST_USE enum kwhy_status kwhy_kept_folder_make(const char *folder, struct kwhy_error *error);

/* Reads the complete lines of a file. Free `out` with kwhy_text_done(), also after a failure. */
KWHY_MUST_USE enum kwhy_status kwhy_kept_read(
	const char *path, struct kwhy_text *out, struct kwhy_error *error);

/*
 * Opens a file to append rows ("a") or to start it anew ("w"). Before appending, kwhy_kept_cut() truncates
 * the file to its complete lines `whole`.
 */
KWHY_MUST_USE enum kwhy_status kwhy_kept_open(
	const char *path, const char *mode, FILE **out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_kept_cut(
	const char *path, const struct kwhy_text *whole, struct kwhy_error *error);

/* Writes and flushes the text, and frees it. A failure from while the text was built is reported first. */
KWHY_MUST_USE enum kwhy_status kwhy_kept_write(
	FILE *file, const char *path, struct kwhy_text *text, struct kwhy_error *error);

#endif
