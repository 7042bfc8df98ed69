/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_CSV_COMMENTS_H
#define KWHY_IMPORT_CSV_COMMENTS_H

#include "import/csv/clock.h"
#include "import/csv/table.h"
#include "import/tracks.h"

/* What comment lines of activities state: the clock, devices, coverage. Other comments say nothing. */
struct kwhy_csv_comments {
	struct kwhy_csv_clock *clock;
	struct kwhy_tracks *tracks;
	struct kwhy_coverage *coverage; /* of the file, of no device yet */
	size_t coverage_count, coverage_capacity;
	uint32_t *ranks;    /* [KWHY_CSV_DEVICES_MAX] by device index; KWHY_NONE */
	int32_t last_index; /* of the device asked for last; 0 before */
	bool device_stated; /* by a comment */
	bool key_noted;	    /* that a device line says something unknown is noted once */
};

#define KWHY_CSV_DEVICES_MAX 1024

KWHY_MUST_USE enum kwhy_status kwhy_csv_comments_init(struct kwhy_csv_comments *comments,
	struct kwhy_csv_clock *clock, struct kwhy_tracks *tracks, struct kwhy_error *error);
void kwhy_csv_comments_done(struct kwhy_csv_comments *comments);

/* Reads the comment that kwhy_csv_each() gave. */
KWHY_MUST_USE enum kwhy_status kwhy_csv_comments_read(
	struct kwhy_csv_comments *comments, const struct kwhy_csv *csv, struct kwhy_error *error);

/* The device of that number, with the rank that a comment gave it. */
KWHY_MUST_USE enum kwhy_status kwhy_csv_comments_device(
	struct kwhy_csv_comments *comments, int32_t index, uint32_t *out_device, struct kwhy_error *error);

/* Puts the file's coverage into the recording, for each device of the file. At the end of the file. */
KWHY_MUST_USE enum kwhy_status kwhy_csv_comments_add_coverage(
	struct kwhy_csv_comments *comments, struct kwhy_error *error);

#endif
