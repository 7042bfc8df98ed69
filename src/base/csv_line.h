/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_CSV_LINE_H
#define KWHY_BASE_CSV_LINE_H

#include "base/span.h"

/*
 * One line of a comma-separated file. White space around fields is dropped. Fields may be quoted as in RFC
 * 4180, but not contain line ends. Nothing is allocated.
 */
#define KWHY_CSV_LINE_FIELDS 512 /* largest number of fields in a line */

/*
 * Splits a line without its line end into fields, which point into the line; quotes are resolved in place.
 * Returns NULL or, for a malformed line, words that describe the error and can follow "line 7: ".
 */
const char *kwhy_csv_line_split(
	char *line, size_t length, struct kwhy_span fields[KWHY_CSV_LINE_FIELDS], size_t *out_count);

/*
 * Returns the number of fields that equal `name`; *out_field: index of the first of them; unchanged if there
 * is none.
 */
size_t kwhy_csv_line_find(
	const struct kwhy_span *fields, size_t field_count, const char *name, size_t *out_field);

/* Returns the first line of a file without the byte order mark (of UTF-8) that editors on Windows write. */
struct kwhy_span kwhy_csv_line_unmarked(struct kwhy_span line);

#endif
