/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_INTAKE_H
#define KWHY_IMPORT_POWER_INTAKE_H

#include "import/power/level.h"
#include "import/power/window.h"

/*
 * Adds the readings of one power file to the recording and keeps a summary of each meter, which
 * kwhy_power_intake_close() checks.
 */
struct kwhy_power_intake {
	struct kwhy_recording *recording;
	const char *path;
	/* [device_count * KWHY_METER_COUNT] summary of each meter of each device of the recording */
	struct kwhy_power_level *levels;
	struct kwhy_power_window window; /* first and last time of the readings of the host's meters;
					    kwhy_power_intake_close() adds those of the devices */
	/*
	 * Digest of all readings of the file (import/identity.h). The caller adds to it, also for readings of
	 * GPUs that the recording does not have.
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
 * Starts a power file. The recording must already have its devices. It and `path` are borrowed until
 * kwhy_power_intake_done().
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_intake_init(struct kwhy_power_intake *intake,
	struct kwhy_recording *recording, const char *path, struct kwhy_error *error);
void kwhy_power_intake_done(struct kwhy_power_intake *intake);

KWHY_MUST_USE enum kwhy_status kwhy_power_intake_add(struct kwhy_power_intake *intake,
	const struct kwhy_power_intake_row *reading, struct kwhy_error *error);

/*
 * Checks a file after its last reading; it must have at least one. KWHY_E_INPUT: a power is probably in a
 * wrong unit, the times are of another run, or the file is a copy of an earlier one. Leaves out dead meters
 * (level.h) and adds notes on them.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_intake_close(
	struct kwhy_power_intake *intake, struct kwhy_error *error);

/*
 * Adds a note that `readings` readings were left out because the recording does not have their devices. Adds
 * nothing if `readings` is 0.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_intake_note_elsewhere(
	const struct kwhy_power_intake *intake, uint64_t readings, struct kwhy_error *error);

#endif
