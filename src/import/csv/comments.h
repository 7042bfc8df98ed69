/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_CSV_COMMENTS_H
#define KWHY_IMPORT_CSV_COMMENTS_H

#include "import/csv/clock.h"
#include "import/csv/table.h"
#include "import/tracks.h"

/*
 * Facts in the comment lines of a file of activities: the clock, devices, coverage. Other comments are
 * ignored.
 */
struct kwhy_csv_comments {
	struct kwhy_csv_clock *clock;
	struct kwhy_tracks *tracks;
	struct kwhy_coverage *coverage; /* coverage that the file states, not yet of a device */
	size_t coverage_count, coverage_capacity;
	uint32_t *ranks;    /* [KWHY_CSV_DEVICES_MAX] rank by device index; KWHY_NONE: not stated */
	int32_t last_index; /* index of the device looked up last; 0 at first */
	bool device_stated; /* a comment described a device */
	bool key_noted;	    /* the note on unknown words in device lines has been added */
};

#define KWHY_CSV_DEVICES_MAX 1024

KWHY_MUST_USE enum kwhy_status kwhy_csv_comments_init(struct kwhy_csv_comments *comments,
	struct kwhy_csv_clock *clock, struct kwhy_tracks *tracks, struct kwhy_error *error);
void kwhy_csv_comments_done(struct kwhy_csv_comments *comments);

/* Reads the current comment of kwhy_csv_each(). */
KWHY_MUST_USE enum kwhy_status kwhy_csv_comments_read(
	struct kwhy_csv_comments *comments, const struct kwhy_csv *csv, struct kwhy_error *error);

/* Gives the device with that index and with the rank that a comment stated. */
KWHY_MUST_USE enum kwhy_status kwhy_csv_comments_device(
	struct kwhy_csv_comments *comments, int32_t index, uint32_t *out_device, struct kwhy_error *error);

/* Adds the file's coverage to the recording for each device of the file. Called at the end of the file. */
KWHY_MUST_USE enum kwhy_status kwhy_csv_comments_add_coverage(
	struct kwhy_csv_comments *comments, struct kwhy_error *error);

#endif
