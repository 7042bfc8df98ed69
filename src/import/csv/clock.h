/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_CSV_CLOCK_H
#define KWHY_IMPORT_CSV_CLOCK_H

#include "import/csv/table.h"
#include "model/recording.h"

/*
 * Converts the times of a CSV file to the recording's clock. The first file sets the origin: its first time,
 * rounded down to a whole second. All files of a recording must use one clock: Unix time, or another clock,
 * which each of them must name in a line "# clock other NAME".
 */
#define KWHY_CSV_YEAR_NS (366 * INT64_C(86400) * 1000000000)

struct kwhy_csv_clock {
	struct kwhy_recording *recording;
	const char *name; /* name of the clock; NULL: the clock is Unix time */
	bool chooses;	/* the recording has no origin yet, so the first time of this file sets the origin */
	bool started;	/* at least one time has been converted */
	bool keeps_far; /* times more than a year from the origin are accepted here, because the caller checks
			   them */
};

/* Call it before the file's source is added to the recording. */
void kwhy_csv_clock_init(struct kwhy_csv_clock *clock, struct kwhy_recording *recording);

/*
 * Sets the clock from the words after "clock" in a comment: "unix" or "other NAME". Fails if a time was
 * converted before.
 */
KWHY_MUST_USE enum kwhy_status kwhy_csv_clock_state(struct kwhy_csv_clock *clock, const struct kwhy_csv *csv,
	struct kwhy_span words, struct kwhy_error *error);

/*
 * Converts a time of the current row to nanoseconds since the recording's origin. Refuses a time in a wrong
 * unit or more than a year from the origin. `column` is the time's column, which the message of an error
 * names.
 */
KWHY_MUST_USE enum kwhy_status kwhy_csv_clock_apply(struct kwhy_csv_clock *clock, const struct kwhy_csv *csv,
	size_t column, int64_t time, int64_t *out_ns, struct kwhy_error *error);

/*
 * Reads the time in column `column` of the current row and converts it. A row without this time is an error.
 */
KWHY_MUST_USE enum kwhy_status kwhy_csv_clock_read(struct kwhy_csv_clock *clock, const struct kwhy_csv *csv,
	size_t column, int64_t *out_ns, struct kwhy_error *error);

#endif
