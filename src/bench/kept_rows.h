/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_KEPT_ROWS_H
#define KWHY_BENCH_KEPT_ROWS_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdio.h>

/*
 * Rows of a benchmark that are kept in the files of a folder. Each row is written once it is measured, so
 * that an interrupted benchmark can be continued. A last line without a newline, as after a crash, does not
 * count as a row.
 */
enum { KWHY_KEPT_PATH_BYTES = 4096 };

/* Builds the path FOLDER/NAME. KWHY_E_USAGE: the path is too long. */
KWHY_MUST_USE enum kwhy_status kwhy_kept_path(
	const char *folder, const char *name, char out[KWHY_KEPT_PATH_BYTES], struct kwhy_error *error);

/*
 * Finds the folder that has samples.csv: FOLDER itself or, if FOLDER contains a single folder, that folder
 * (bench pairs makes one for each GPU and driver). False: neither folder has it; `out` is then FOLDER, cut if
 * it is too long.
 */
bool kwhy_kept_folder_find(const char *folder, char out[KWHY_KEPT_PATH_BYTES]);

/* Makes the folder and its parents where they do not exist. */
KWHY_MUST_USE enum kwhy_status kwhy_kept_folder_make(const char *folder, struct kwhy_error *error);

/* Reads the complete lines of a file. Free `out` with kwhy_text_done(), also after a failure. */
KWHY_MUST_USE enum kwhy_status kwhy_kept_read(
	const char *path, struct kwhy_text *out, struct kwhy_error *error);

/*
 * Opens a file to append rows (mode "a") or to start it anew ("w"). Call kwhy_kept_cut() before appending: it
 * truncates the file to the complete lines in `whole`.
 */
KWHY_MUST_USE enum kwhy_status kwhy_kept_open(
	const char *path, const char *mode, FILE **out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_kept_cut(
	const char *path, const struct kwhy_text *whole, struct kwhy_error *error);

/*
 * Writes the text to the file, flushes it, and frees the text. If adding to the text failed earlier, that
 * failure is reported.
 */
KWHY_MUST_USE enum kwhy_status kwhy_kept_write(
	FILE *file, const char *path, struct kwhy_text *text, struct kwhy_error *error);

#endif
