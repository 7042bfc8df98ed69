/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_FILE_H
#define KWHY_BASE_FILE_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes a temporary file next to `path` and renames it to `path`, so that other programs see either all of
 * the old bytes or all of the new ones. If `path` is a link, its target is replaced and the link stays.
 * Devices and pipes are written to directly. output.h says which links are followed and which permission bits
 * the file gets.
 */
KWHY_MUST_USE enum kwhy_status kwhy_file_write(
	const char *path, const void *bytes, size_t length, struct kwhy_error *error);

/* Callback that writes all content to the file at the path `temporary`, which exists and is empty. */
typedef enum kwhy_status kwhy_file_writer(void *context, const char *temporary, struct kwhy_error *error);

/*
 * As kwhy_file_write(), for files that are written in parts or by a library. `write` fills a temporary file
 * next to `path`, which then replaces `path`. After a failure the temporary file is removed, and `path` stays
 * as it was. `path` must not be a folder, a device or a pipe (KWHY_E_IO).
 */
KWHY_MUST_USE enum kwhy_status kwhy_file_make(
	const char *path, kwhy_file_writer *write, void *context, struct kwhy_error *error);

/*
 * Removes the temporary file that kwhy_file_write() or kwhy_file_make() has not finished, if there is one. If
 * several are unfinished, it removes only one of them. Safe in handlers of signals that end the program.
 */
void kwhy_file_remove_unfinished(void);

/*
 * Whether two paths name one file or folder, with links followed. Also false if one of the paths does not
 * exist.
 */
bool kwhy_file_is_same(const char *a, const char *b);

/* Filter for scandir(): 1: the entry's name does not begin with a dot. */
struct dirent;
int kwhy_file_is_shown(const struct dirent *entry);

/* Appends the file's bytes to `out`. KWHY_E_INPUT: the file has more than `limit_bytes`. */
KWHY_MUST_USE enum kwhy_status kwhy_file_read(
	const char *path, size_t limit_bytes, struct kwhy_text *out, struct kwhy_error *error);

#endif
