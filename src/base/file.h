/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_FILE_H
#define KWHY_BASE_FILE_H

#include "base/status.h"
#include "base/text.h"

#include <stddef.h>

/*
 * Writes a whole file beside `path` and renames it into place: `path` holds the old bytes or all of the new
 * ones, never a part. A link keeps pointing where it did; a device or a pipe is written to directly. Which
 * links are followed and what mode the file has: output.h.
 */
KWHY_MUST_USE enum kwhy_status kwhy_file_write(
	const char *path, const void *bytes, size_t length, struct kwhy_error *error);

/* Writes everything to the file `beside`, which exists and is empty. */
typedef enum kwhy_status kwhy_file_writer(void *context, const char *temporary, struct kwhy_error *error);

/*
 * As kwhy_file_write(), for files that are written in pieces or by a library: `write` fills a file beside
 * `path`, which then takes its place; after a failure nothing is left.
 */
KWHY_MUST_USE enum kwhy_status kwhy_file_make(
	const char *path, kwhy_file_writer *write, void *context, struct kwhy_error *error);

/* Appends the file's bytes to `out`; one of more than `limit_bytes` is KWHY_E_INPUT. */
KWHY_MUST_USE enum kwhy_status kwhy_file_read(
	const char *path, size_t limit_bytes, struct kwhy_text *out, struct kwhy_error *error);

#endif
