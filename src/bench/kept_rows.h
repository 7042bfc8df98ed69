/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_KEPT_ROWS_H
#define KWHY_BENCH_KEPT_ROWS_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdio.h>

/*
 * Results of a benchmark in CSV files of a folder. Each row is written as soon as it is measured, so that an
 * interrupted benchmark can be continued. When rows are read, a last line without a newline, as after a
 * crash, is left out.
 */
enum { KWHY_KEPT_PATH_BYTES = 4096 };

/* Builds the path FOLDER/NAME. KWHY_E_USAGE: the path is too long. */
KWHY_MUST_USE enum kwhy_status kwhy_kept_path(
	const char *folder, const char *name, char out[KWHY_KEPT_PATH_BYTES], struct kwhy_error *error);

/*
 * Finds the folder that has samples.csv: FOLDER itself or, if it has none and FOLDER contains a single entry,
 * that entry (bench pairs makes one for each GPU and driver). False: samples.csv was found in neither place;
 * `out` is then FOLDER, truncated to KWHY_KEPT_PATH_BYTES.
 */
bool kwhy_kept_folder_find(const char *folder, char out[KWHY_KEPT_PATH_BYTES]);

/* Makes the folder and its parents where they do not exist. */
KWHY_MUST_USE enum kwhy_status kwhy_kept_folder_make(const char *folder, struct kwhy_error *error);

/*
 * Reads a file without its last line if that has no newline. Free `out` with kwhy_text_done(), also after a
 * failure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_kept_read(
	const char *path, struct kwhy_text *out, struct kwhy_error *error);

/*
 * kwhy_kept_open() opens a file to append rows (mode "a") or to overwrite it ("w"). Before appending, call
 * kwhy_kept_cut(): it truncates the file to the length of `whole`, the text from kwhy_kept_read(), which
 * removes an incomplete last line.
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
