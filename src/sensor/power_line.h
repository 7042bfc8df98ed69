/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_POWER_LINE_H
#define KWHY_SENSOR_POWER_LINE_H

#include "base/status.h"
#include "model/power_row.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Parses power CSV (docs/formats/csv.md) line by line, from files that another program is still writing and
 * from files that are replayed. No I/O and no allocation. Lines are split as in base/csv_line.h and rows
 * parsed as in model/power_row.h. Times must be Unix times, because they are compared with the time at which
 * the readings are used.
 */
/* longest line that is accepted */
#define KWHY_POWER_LINE_BYTES 4096

/* State of parsing a file. Zero-initialise it and set `path`. */
struct kwhy_power_lines {
	const char *path; /* path of the file for messages; borrowed */
	uint64_t number;  /* number of the line that was parsed last, from 1 */
	size_t columns;	  /* number of columns in the file; 0: there was no header line yet */
	size_t places[KWHY_POWER_COLUMN_COUNT]; /* position of each column in a line, from 1; 0: the file does
						   not have it */
};

enum kwhy_power_item {
	KWHY_POWER_NOTHING, /* the line is empty, a comment, the header, or a row without a value */
	KWHY_POWER_ROW
};

/*
 * Parses one line, which has no newline. Quotes are resolved in place. KWHY_E_INPUT: the line is not valid;
 * the message names the file and the line and says what to do. Lines after it can still be parsed; if it was
 * the header, the next line is taken as the header.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_line_take(struct kwhy_power_lines *lines, char *line, size_t length,
	enum kwhy_power_item *out_item, struct kwhy_power_row *out, struct kwhy_error *error);

#endif
