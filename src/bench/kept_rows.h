/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_KEPT_ROWS_H
#define KWHY_BENCH_KEPT_ROWS_H

#include "base/status.h"
#include "base/text.h"

#include <stdio.h>

/*
 * Rows of a benchmark in files of a folder, written as they are measured, so that what was interrupted can be
 * carried on with: a line that a crash cut short is no row.
 */
enum { KWHY_KEPT_PATH_BYTES = 4096 };

/* FOLDER/NAME. KWHY_E_USAGE: it is too long. */
KWHY_MUST_USE enum kwhy_status kwhy_kept_path(
	const char *folder, const char *name, char out[KWHY_KEPT_PATH_BYTES], struct kwhy_error *error);

/* Makes the folder, with those above it, if need be. */
KWHY_MUST_USE enum kwhy_status kwhy_kept_folder_make(const char *folder, struct kwhy_error *error);

/* Whole lines of a file; free with kwhy_text_done(), after a failure too. */
KWHY_MUST_USE enum kwhy_status kwhy_kept_read(
	const char *path, struct kwhy_text *out, struct kwhy_error *error);

/* Opens to append: behind what was read, or ("w" for `mode`) anew. */
KWHY_MUST_USE enum kwhy_status kwhy_kept_open(
	const char *path, const char *mode, FILE **out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_kept_cut(
	const char *path, const struct kwhy_text *whole, struct kwhy_error *error);

/* Writes the text out, and frees it; what went wrong while it was made is reported first. */
KWHY_MUST_USE enum kwhy_status kwhy_kept_write(
	FILE *file, const char *path, struct kwhy_text *text, struct kwhy_error *error);

#endif
