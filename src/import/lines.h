/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_LINES_H
#define KWHY_IMPORT_LINES_H

#include "base/span.h"
#include "base/status.h"

#include <stdint.h>

/*
 * The lines of a text file, plain, gzip or zstd, front to back, in memory that does not grow with the file.
 * One thread at a time.
 */
struct kwhy_lines;

#define KWHY_LINES_LONGEST (64 << 10) /* bytes */

/* `path` is borrowed until kwhy_lines_close(). `partial`: a damaged file is taken to end at the damage. */
KWHY_MUST_USE enum kwhy_status kwhy_lines_open(
	const char *path, bool partial, struct kwhy_lines **out, struct kwhy_error *error);
void kwhy_lines_close(struct kwhy_lines *lines);

/*
 * Gives the next line without its LF. Its bytes may be changed and are valid until the next call. *out_end:
 * the file has no further line. A line longer than KWHY_LINES_LONGEST is KWHY_E_INPUT with file and line.
 */
struct kwhy_line {
	char *bytes;
	size_t length;
	uint64_t number; /* from 1 */
	bool ended;	 /* the line ended in an LF */
};
KWHY_MUST_USE enum kwhy_status kwhy_lines_next(
	struct kwhy_lines *lines, struct kwhy_line *out, bool *out_end, struct kwhy_error *error);

bool kwhy_lines_ended_early(const struct kwhy_lines *lines); /* `partial` was set and the file was damaged */

#endif
