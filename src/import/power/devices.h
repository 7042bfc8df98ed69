/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_DEVICES_H
#define KWHY_IMPORT_POWER_DEVICES_H

#include "import/import.h"
#include "import/power/log.h"

/*
 * Finds the device of the recording that each GPU of a power log is: as the user states it (--power-device),
 * by UUID, by PCI address, or by index on the host that both name. KWHY_NONE: the recording does not show
 * that GPU. Refuses a GPU that could be several devices, and indices where the trace's differ from those of
 * meters.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_devices_find(const struct kwhy_recording *recording,
	const struct kwhy_power_log *log, const struct kwhy_import_options *options,
	uint32_t *out_devices /* [key_count] */, bool *out_by_number, struct kwhy_error *error);

/*
 * The index that meters use for that device, for a file that has indices alone: the stated one, else the
 * trace's. -1: the user stated something that is no index.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_devices_number(const struct kwhy_device *device,
	const struct kwhy_import_options *options, int32_t *out, bool *out_stated, struct kwhy_error *error);

/* Refuses a device whose index is not stated where the trace's indices may differ from those of meters. */
KWHY_MUST_USE enum kwhy_status kwhy_power_devices_check_number(
	const struct kwhy_recording *recording, int32_t index, const char *path, struct kwhy_error *error);

#endif
