/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_ROCM_PARTS_H
#define KWHY_SENSOR_ROCM_PARTS_H

#include "sensor/sensor.h"
#include "vendor/rocm_smi.h"

/*
 * The parts of the ROCm back end. A function that returns int returns a result of ROCm SMI
 * (KWHY_RSMI_SUCCESS: good).
 */

int64_t kwhy_rocm_saturated(uint64_t value);

struct kwhy_rocm_gauge {
	enum kwhy_gauge gauge;
	int (*read)(
		/* reads the value in the gauge's unit */
		const struct kwhy_rocm_smi *rocm, uint32_t device, int64_t *out);
};

enum { KWHY_ROCM_GAUGES = 9 };

extern const struct kwhy_rocm_gauge kwhy_rocm_gauges[KWHY_ROCM_GAUGES];

/*
 * Lists the processes that use a device and returns how many. The library reports the memory of a process on
 * all devices together, so memory_bytes is -1 for a process that uses several devices. *out_is_listed false:
 * the library refused the list.
 */
size_t kwhy_rocm_processes(const struct kwhy_rocm_smi *rocm, uint32_t device,
	struct kwhy_sensor_process out[KWHY_SENSOR_PROCESSES], bool *out_is_listed);

#endif
