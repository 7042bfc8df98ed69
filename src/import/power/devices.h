/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_DEVICES_H
#define KWHY_IMPORT_POWER_DEVICES_H

#include "import/import.h"
#include "import/power/log.h"

/*
 * Finds the recording's device for each key (GPU) of a power log: the device for which the user named the GPU
 * (--power-device), else the device with the same UUID, else with the same PCI address, else with the same
 * number; hosts that both sides name must be equal. KWHY_NONE: the recording does not have the GPU.
 * *out_by_number: some GPU was found by its number alone. KWHY_E_INPUT: the assignment is not unique, or it
 * rests on numbers although the trace may number devices otherwise than meters do.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_devices_find(const struct kwhy_recording *recording,
	const struct kwhy_power_log *log, const struct kwhy_import_options *options,
	uint32_t *out_devices /* [key_count] */, bool *out_by_number, struct kwhy_error *error);

/*
 * Sets *out to the number that power files use for a device of the recording: the number that the user stated
 * with --power-device or, without such a statement, the device's index in the trace; -1: the user stated a
 * UUID or PCI address. *out_stated: whether a --power-device option is about the device.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_devices_number(const struct kwhy_device *device,
	const struct kwhy_import_options *options, int32_t *out, bool *out_stated, struct kwhy_error *error);

/*
 * KWHY_E_INPUT if the trace may number devices otherwise than meters do (as HSA agents), so that `index` may
 * mean another GPU in the power file `path`. Call it only for a device for which the user gave no
 * --power-device.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_devices_check_number(
	const struct kwhy_recording *recording, int32_t index, const char *path, struct kwhy_error *error);

#endif
