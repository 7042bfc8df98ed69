/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_LINES_H
#define KWHY_IMPORT_LINES_H

#include "base/span.h"
#include "base/status.h"

#include <stdint.h>

/*
 * Reads the lines of a text file (plain, gzip or zstd) from front to back, in memory that does not grow with
 * the file. Only one thread at a time may use a reader.
 */
struct kwhy_lines;

#define KWHY_LINES_LONGEST (64 << 10) /* most bytes of a line, without its line feed */

/*
 * `path` is borrowed until kwhy_lines_close(). With `partial`, a compressed file that is damaged counts as if
 * it ended at the damage.
 */
KWHY_MUST_USE enum kwhy_status kwhy_lines_open(
	const char *path, bool partial, struct kwhy_lines **out, struct kwhy_error *error);
void kwhy_lines_close(struct kwhy_lines *lines);

/*
 * Gives the next line without its line feed. The caller may change its bytes, which are valid until the next
 * call. *out_end: the file has no further line. KWHY_E_INPUT: the line is longer than KWHY_LINES_LONGEST; the
 * message names file and line.
 */
struct kwhy_line {
	char *bytes;
	size_t length;
	uint64_t number; /* number of the line, from 1 */
	bool ended;	 /* false: the file ended inside this line */
};
KWHY_MUST_USE enum kwhy_status kwhy_lines_next(
	struct kwhy_lines *lines, struct kwhy_line *out, bool *out_end, struct kwhy_error *error);

bool kwhy_lines_ended_early(
	const struct kwhy_lines *lines); /* whether, with `partial`, damage ended the file */

#endif
