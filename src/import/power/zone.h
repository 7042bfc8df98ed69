/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_ZONE_H
#define KWHY_IMPORT_POWER_ZONE_H

#include "import/import.h"
#include "import/power/log.h"

/*
 * Turns the times of a log that have no zone into Unix time: by --power-zone ("+02:00", "UTC" or "local",
 * this machine's), else by the one zone in which the log was written while the recording's work ran, which a
 * note states. Where several zones fit, or none, it is asked for.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_zone_apply(struct kwhy_power_log *log,
	struct kwhy_recording *recording, const struct kwhy_import_options *options,
	struct kwhy_error *error);

#endif
