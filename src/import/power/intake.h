/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_INTAKE_H
#define KWHY_IMPORT_POWER_INTAKE_H

#include "import/power/level.h"
#include "import/power/window.h"

/*
 * Adds the readings of one power file to the recording, and summarises them for the checks after the last
 * reading.
 */
struct kwhy_power_intake {
	struct kwhy_recording *recording;
	const char *path;
	/* [device_count * KWHY_METER_COUNT] summary of each meter, by device of the recording. */
	struct kwhy_power_level *levels;
	struct kwhy_power_window window; /* time range of the readings of the host's meters */
	/*
	 * Digest of all readings (import/identity.h), including readings of GPUs that the recording does not
	 * have.
	 */
	uint64_t digest;
	uint64_t readings; /* number of readings added */
};

struct kwhy_power_intake_row {
	enum kwhy_meter meter;
	uint32_t domain;
	uint32_t device; /* device of the recording; KWHY_NONE: a meter of the host */
	int64_t time_ns; /* ns since the recording's origin */
	int64_t value;	 /* reading in the meter's unit */
};

/*
 * Starts a power file. `recording` must have its devices; it and `path` are borrowed until
 * kwhy_power_intake_done().
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_intake_init(struct kwhy_power_intake *intake,
	struct kwhy_recording *recording, const char *path, struct kwhy_error *error);
void kwhy_power_intake_done(struct kwhy_power_intake *intake);

KWHY_MUST_USE enum kwhy_status kwhy_power_intake_add(struct kwhy_power_intake *intake,
	const struct kwhy_power_intake_row *reading, struct kwhy_error *error);

/*
 * Checks the file after its last reading; the file must have at least one reading. Refuses wrong units,
 * times of another run, and a copy of an earlier file. Leaves out dead meters and adds notes on them.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_intake_close(
	struct kwhy_power_intake *intake, struct kwhy_error *error);

/*
 * Adds a note on the number of readings that were left out because the recording does not have their devices.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_intake_note_elsewhere(
	const struct kwhy_power_intake *intake, uint64_t readings, struct kwhy_error *error);

#endif
