/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_BOOKS_H
#define KWHY_IMPORT_POWER_BOOKS_H

#include "import/power/level.h"
#include "import/power/window.h"

/* The readings of one power file on their way into the recording, and what they come to. */
struct kwhy_power_books {
	struct kwhy_recording *recording;
	const char *path;
	struct kwhy_power_level *levels; /* [device_count * KWHY_METER_COUNT], by device of the recording */
	struct kwhy_power_window window; /* of the host's readings */
	uint64_t digest;		 /* of all readings, of those elsewhere too (import/identity.h) */
	uint64_t readings;		 /* taken */
};

struct kwhy_power_reading {
	enum kwhy_meter meter;
	uint32_t domain;
	uint32_t device; /* of the recording; KWHY_NONE: the host's */
	int64_t time_ns; /* since the recording's origin */
	int64_t value;	 /* in the unit of its meter */
};

/* Both are borrowed until kwhy_power_books_done(); the devices of the recording are known. */
KWHY_MUST_USE enum kwhy_status kwhy_power_books_init(struct kwhy_power_books *device_ledger,
	struct kwhy_recording *recording, const char *path, struct kwhy_error *error);
void kwhy_power_books_done(struct kwhy_power_books *device_ledger);

KWHY_MUST_USE enum kwhy_status kwhy_power_books_add(struct kwhy_power_books *device_ledger,
	const struct kwhy_power_reading *reading, struct kwhy_error *error);

/*
 * When all are in: refuses wrong units, another run's time, and a copy of an earlier file; leaves dead meters
 * out and notes them. There was a reading at least.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_books_close(
	struct kwhy_power_books *device_ledger, struct kwhy_error *error);

#endif
