/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_READERS_H
#define KWHY_IMPORT_POWER_READERS_H

#include "import/import.h"
#include "import/power/log.h"

/* kwhy's own power CSV, row by row into the recording. */
KWHY_MUST_USE enum kwhy_status kwhy_power_csv_read(struct kwhy_recording *recording, const char *path,
	const struct kwhy_import_options *options, struct kwhy_error *error);

/*
 * Logs of other tools into `log`, by their form. What is not understood is counted there; an error is only a
 * file that cannot be read to its end, or one that no row can be taken from.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_delimited_read(
	struct kwhy_power_log *log, bool partial, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_power_json_read(struct kwhy_power_log *log, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_power_exposition_read(
	struct kwhy_power_log *log, bool partial, struct kwhy_error *error);

/* Puts what a log holds into the recording, on its devices and its clock. */
KWHY_MUST_USE enum kwhy_status kwhy_power_log_book(struct kwhy_power_log *log,
	struct kwhy_recording *recording, const struct kwhy_import_options *options,
	struct kwhy_error *error);

#endif
