/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_READERS_H
#define KWHY_IMPORT_POWER_READERS_H

#include "import/import.h"
#include "import/power/log.h"

/* Reads kwhy's own power CSV and adds its readings to the recording row by row. */
KWHY_MUST_USE enum kwhy_status kwhy_power_csv_read(struct kwhy_recording *recording, const char *path,
	const struct kwhy_import_options *options, struct kwhy_error *error);

/*
 * These functions read logs of other tools into `log`; each reads one syntax. Rows that cannot be read are
 * counted in `log`. The functions fail if the file cannot be read, or if memory is exhausted; a log without a
 * usable row is refused by kwhy_power_log_assign().
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_delimited_read(
	struct kwhy_power_log *log, bool partial, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_power_json_read(struct kwhy_power_log *log, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_power_exposition_read(
	struct kwhy_power_log *log, bool partial, struct kwhy_error *error);

/*
 * Whether a line of head[0, length), the start of a file, is a header that kwhy_power_delimited_read()
 * understands.
 */
bool kwhy_power_delimited_is(const unsigned char *head, size_t length);
/*
 * Whether a line of head[0, length), the start of a file, is a sample of a power or energy that
 * kwhy_power_exposition_read() understands.
 */
bool kwhy_power_exposition_is(const unsigned char *head, size_t length);

/*
 * Adds the readings of a log to the recording: converts their times to Unix time and assigns them to devices.
 * KWHY_E_INPUT: the log has no usable row, or does not fit the recording.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_log_assign(struct kwhy_power_log *log,
	struct kwhy_recording *recording, const struct kwhy_import_options *options,
	struct kwhy_error *error);

#endif
