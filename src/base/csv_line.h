/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_CSV_LINE_H
#define KWHY_BASE_CSV_LINE_H

#include "base/span.h"

/*
 * One line of a comma-separated file. Fields are trimmed; they may be quoted as in RFC 4180, but not contain
 * line ends. Nothing is allocated.
 */
#define KWHY_CSV_LINE_FIELDS 512 /* at most */

/*
 * Splits a line, without its line end, into fields within it; quotes are resolved in place. NULL: success;
 * else words for the error, to follow the line's number.
 */
const char *kwhy_csv_line_split(
	char *line, size_t length, struct kwhy_span fields[KWHY_CSV_LINE_FIELDS], size_t *out_count);

/* Number of fields that equal a text; *out_field is the first of them. */
size_t kwhy_csv_line_find(
	const struct kwhy_span *fields, size_t field_count, const char *name, size_t *out_field);

/* A file's first line without a byte order mark, which editors on Windows write. */
struct kwhy_span kwhy_csv_line_unmarked(struct kwhy_span line);

#endif
