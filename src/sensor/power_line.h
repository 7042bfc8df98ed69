/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_POWER_LINE_H
#define KWHY_SENSOR_POWER_LINE_H

#include "base/status.h"
#include "model/meter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Power CSV a line at a time, for files that are still being written: no I/O, no allocation, no quoted fields
 * (none of its columns needs them). docs/formats/csv.md has the format; the columns are time_ns (Unix time),
 * source, value and, if need be, device, in any order, beside others.
 */
enum kwhy_power_column {
	KWHY_POWER_COLUMN_TIME,
	KWHY_POWER_COLUMN_DEVICE,
	KWHY_POWER_COLUMN_SOURCE,
	KWHY_POWER_COLUMN_VALUE,
	KWHY_POWER_COLUMN_COUNT
};

#define KWHY_POWER_LINE_BYTES 4096 /* the longest line taken */
#define KWHY_POWER_DEVICE_MOST 1023

/* Where a reader is. Zero-initialise and set the path. */
struct kwhy_power_lines {
	const char *path;			/* for messages; lent */
	uint64_t number;			/* of the line last taken, from 1 */
	size_t columns;				/* of the file; 0: the line that names them has not come */
	size_t places[KWHY_POWER_COLUMN_COUNT]; /* 1 for the first; 0: there is none */
};

struct kwhy_power_row {
	enum kwhy_meter meter;
	uint32_t domain;
	int32_t device; /* -1: none, the host's */
	int64_t time_unix_ns, value;
};

enum kwhy_power_item {
	KWHY_POWER_NOTHING, /* an empty line, a comment, the columns' names, a row without a value */
	KWHY_POWER_ROW
};

/*
 * Takes one line without its newline. KWHY_E_INPUT, with file, line and cure, for one that is no row; the
 * next may be taken all the same, except while the columns are not known.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_line_take(struct kwhy_power_lines *lines, const char *line,
	size_t length, enum kwhy_power_item *out_item, struct kwhy_power_row *out, struct kwhy_error *error);

#endif
