/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_DEVICES_H
#define KWHY_IMPORT_POWER_DEVICES_H

#include "import/import.h"
#include "import/power/log.h"

/*
 * Finds the recording's device for each GPU of a power log. The user may state the device (--power-device);
 * otherwise it is found by UUID, by PCI address, or by index on a host that both the log and the recording
 * name. KWHY_NONE: the recording has no such device. Refuses a GPU that matches several devices, and refuses
 * indices if the trace may number devices differently than meters do.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_devices_find(const struct kwhy_recording *recording,
	const struct kwhy_power_log *log, const struct kwhy_import_options *options,
	uint32_t *out_devices /* device for each key (GPU) of the log, [key_count] */, bool *out_by_number,
	struct kwhy_error *error);

/*
 * Gets the index that meters use for a device of the recording, for power files that state only indices. It
 * is the index that the user stated or, if the user stated nothing, that of the trace. -1: the user stated
 * something other than an index.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_devices_number(const struct kwhy_device *device,
	const struct kwhy_import_options *options, int32_t *out, bool *out_stated, struct kwhy_error *error);

/*
 * Refuses a device's index, unless the user stated it, if the trace may number devices differently than
 * meters do.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_devices_check_number(
	const struct kwhy_recording *recording, int32_t index, const char *path, struct kwhy_error *error);

#endif
