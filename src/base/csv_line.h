/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_CSV_LINE_H
#define KWHY_BASE_CSV_LINE_H

#include "base/span.h"

/*
 * One line of a comma-separated file. Fields are trimmed; they may be quoted as RFC 4180 says, but not go
 * over the line's end. Nothing is allocated.
 */
#define KWHY_CSV_LINE_FIELDS 512 /* at most */

/*
 * Cuts a line, without its end, into fields that lie in it: quotes are resolved in place. NULL: good; else
 * words of what is wrong, to stand behind the line's number.
 */
const char *kwhy_csv_line_split(
	char *line, size_t length, struct kwhy_span fields[KWHY_CSV_LINE_FIELDS], size_t *out_count);

/* How many fields are that text; *out_field: the first of them. */
size_t kwhy_csv_line_find(
	const struct kwhy_span *fields, size_t field_count, const char *name, size_t *out_field);

/* A file's first line without the byte order mark that editors on Windows put in front. */
struct kwhy_span kwhy_csv_line_unmarked(struct kwhy_span line);

#endif
