/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_CSV_COMMENTS_H
#define KWHY_IMPORT_CSV_COMMENTS_H

#include "import/csv/clock.h"
#include "import/csv/table.h"
#include "import/tracks.h"

/*
 * Reads the comment lines of a CSV of activities that state its clock, devices and coverage. Other comments
 * are ignored.
 */
struct kwhy_csv_comments {
	struct kwhy_csv_clock *clock;
	struct kwhy_tracks *tracks;
	struct kwhy_coverage *coverage; /* intervals for which the file states that all work in them was
					   recorded; at the end of the file, each interval is added to the
					   recording once for each device of the file */
	size_t coverage_count, coverage_capacity;
	uint32_t *ranks;    /* [KWHY_CSV_DEVICES_MAX] for each device index the rank that a comment states;
			       KWHY_NONE: none */
	int32_t last_index; /* index of the device that was looked up last; initially 0 */
	bool device_stated; /* whether a comment stated properties of a device */
	bool key_noted;	    /* the note that a "# device" line has an unknown key has been added */
};

#define KWHY_CSV_DEVICES_MAX 1024

KWHY_MUST_USE enum kwhy_status kwhy_csv_comments_init(struct kwhy_csv_comments *comments,
	struct kwhy_csv_clock *clock, struct kwhy_tracks *tracks, struct kwhy_error *error);
void kwhy_csv_comments_done(struct kwhy_csv_comments *comments);

/* Reads the current comment of `csv`. Call it from the callback of kwhy_csv_each(). */
KWHY_MUST_USE enum kwhy_status kwhy_csv_comments_read(
	struct kwhy_csv_comments *comments, const struct kwhy_csv *csv, struct kwhy_error *error);

/*
 * Finds the recording's device with this index and the rank that a comment stated for the index; adds it if
 * there is none.
 */
KWHY_MUST_USE enum kwhy_status kwhy_csv_comments_device(
	struct kwhy_csv_comments *comments, int32_t index, uint32_t *out_device, struct kwhy_error *error);

/* Adds the coverage that the file states, for each device of the file. Call it at the end of the file. */
KWHY_MUST_USE enum kwhy_status kwhy_csv_comments_add_coverage(
	struct kwhy_csv_comments *comments, struct kwhy_error *error);

#endif
