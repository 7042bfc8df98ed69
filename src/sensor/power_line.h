/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_POWER_LINE_H
#define KWHY_SENSOR_POWER_LINE_H

#include "base/status.h"
#include "model/power_row.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Power CSV (docs/formats/csv.md) a line at a time, for files that are still being written or are played: no
 * I/O, no allocation. Lines are cut as base/csv_line.h says and rows are read as model/power_row.h says;
 * times must be Unix time, for what is read live.
 */
#define KWHY_POWER_LINE_BYTES 4096 /* the longest line taken */

/* Where a reader is. Zero-initialise and set the path. */
struct kwhy_power_lines {
	const char *path;			/* for messages; borrowed */
	uint64_t number;			/* of the line last taken, from 1 */
	size_t columns;				/* of the file; 0: the line that names them has not come */
	size_t places[KWHY_POWER_COLUMN_COUNT]; /* 1 for the first; 0: there is none */
};

enum kwhy_power_item {
	KWHY_POWER_NOTHING, /* an empty line, a comment, the columns' names, a row without a value */
	KWHY_POWER_ROW
};

/*
 * Takes one line without its newline; quotes in it are resolved in place. KWHY_E_INPUT, with file, line and
 * cure, for one that is no row; the next may be taken all the same, except while the columns are not known.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_line_take(struct kwhy_power_lines *lines, char *line, size_t length,
	enum kwhy_power_item *out_item, struct kwhy_power_row *out, struct kwhy_error *error);

#endif
