/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_ZONE_H
#define KWHY_IMPORT_POWER_ZONE_H

#include "import/import.h"
#include "import/power/log.h"

/*
 * Converts the log's times without a zone to Unix time. The zone is that of the option --power-zone:
 * "+02:00", "UTC", or "local" for this machine's zone. Without the option it is the only offset from UTC with
 * which the log overlaps the recording's work, and a note states it. KWHY_E_INPUT: several offsets fit. If
 * none fits, the times count as UTC.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_zone_apply(struct kwhy_power_log *log,
	struct kwhy_recording *recording, const struct kwhy_import_options *options,
	struct kwhy_error *error);

#endif
