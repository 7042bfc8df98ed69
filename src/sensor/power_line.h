/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_POWER_LINE_H
#define KWHY_SENSOR_POWER_LINE_H

#include "base/status.h"
#include "model/power_row.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads power CSV (docs/formats/csv.md) line by line, for files that are still being written or are replayed;
 * no I/O, no allocation. Lines are split as in base/csv_line.h and rows read as in model/power_row.h. Times
 * must be Unix time, because the rows are read live.
 */
#define KWHY_POWER_LINE_BYTES 4096 /* the longest line accepted */

/* State of a reader. Zero-initialise and set the path. */
struct kwhy_power_lines {
	const char *path; /* for messages; borrowed */
	uint64_t number;  /* number of the last line, from 1 */
	size_t columns;	  /* number of columns in the file; 0: the header line has not come */
	size_t places[KWHY_POWER_COLUMN_COUNT]; /* number of each column, from 1; 0: the file does not have it
						 */
};

enum kwhy_power_item {
	KWHY_POWER_NOTHING, /* an empty line, a comment, the columns' names, a row without a value */
	KWHY_POWER_ROW
};

/*
 * Parses one line without its newline; quotes are resolved in place. KWHY_E_INPUT, with file, line and what
 * to do: the line is not a valid row. Later lines may still be parsed, unless the columns are unknown.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_line_take(struct kwhy_power_lines *lines, char *line, size_t length,
	enum kwhy_power_item *out_item, struct kwhy_power_row *out, struct kwhy_error *error);

#endif
