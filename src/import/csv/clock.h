/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_CSV_CLOCK_H
#define KWHY_IMPORT_CSV_CLOCK_H

#include "import/csv/table.h"
#include "model/recording.h"

#define KWHY_CSV_YEAR_NS (366 * INT64_C(86400) * 1000000000)

/*
 * Converts the times of a CSV file to nanoseconds since the recording's origin. If the recording has no times
 * yet, the origin becomes the file's first time, rounded down to a whole second. All files of a recording
 * must use one clock: Unix time, or another clock, which each file must name in a line "# clock other NAME".
 */
struct kwhy_csv_clock {
	struct kwhy_recording *recording;
	const char *name; /* name of the clock; NULL: the clock is Unix time */
	bool chooses;	/* the recording has no origin yet, so the first time of this file sets the origin */
	bool started;	/* at least one time has been converted */
	bool keeps_far; /* times more than a year from the origin are accepted; the caller checks their
			   distance */
};

/*
 * Starts a file on Unix time. Call it before a time of the file is added to the recording: a recording that
 * has no times yet gets its origin and clock from the file.
 */
void kwhy_csv_clock_init(struct kwhy_csv_clock *clock, struct kwhy_recording *recording);

/*
 * Sets the clock from the words after "# clock" in a comment line: "unix" or "other NAME". KWHY_E_INPUT:
 * other words, or a time of the file has already been converted.
 */
KWHY_MUST_USE enum kwhy_status kwhy_csv_clock_state(struct kwhy_csv_clock *clock, const struct kwhy_csv *csv,
	struct kwhy_span words, struct kwhy_error *error);

/*
 * Converts a time of the current row to nanoseconds since the recording's origin. Refuses a time that looks
 * like a Unix time in another unit and, unless `keeps_far` is set, a time more than a year from the origin.
 * `column` is the time's column, for the error message; KWHY_CSV_COLUMNS_MAX: the time is not in a column.
 */
KWHY_MUST_USE enum kwhy_status kwhy_csv_clock_apply(struct kwhy_csv_clock *clock, const struct kwhy_csv *csv,
	size_t column, int64_t time, int64_t *out_ns, struct kwhy_error *error);

/*
 * Reads the time in column `column` of the current row and converts it. A row without this time is an error.
 */
KWHY_MUST_USE enum kwhy_status kwhy_csv_clock_read(struct kwhy_csv_clock *clock, const struct kwhy_csv *csv,
	size_t column, int64_t *out_ns, struct kwhy_error *error);

#endif
