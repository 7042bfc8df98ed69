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

/* `path` is borrowed until the end. `partial`: a damaged file is one that ends there. */
KWHY_MUST_USE enum kwhy_status kwhy_lines_open(
	const char *path, bool partial, struct kwhy_lines **out, struct kwhy_error *error);
void kwhy_lines_close(struct kwhy_lines *lines);

/*
 * The next line without its LF; its bytes may be changed and last until the next call. *out_end: there is
 * none. A longer line than KWHY_LINES_LONGEST is KWHY_E_INPUT with file and line.
 */
struct kwhy_line {
	char *bytes;
	size_t length;
	uint64_t number; /* from 1 */
	bool ended;	 /* it had its LF */
};
KWHY_MUST_USE enum kwhy_status kwhy_lines_next(
	struct kwhy_lines *lines, struct kwhy_line *out, bool *out_end, struct kwhy_error *error);

bool kwhy_lines_ended_early(const struct kwhy_lines *lines); /* a damaged file, with `partial` */

#endif
