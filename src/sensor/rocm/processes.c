/* SPDX-License-Identifier: Apache-2.0 */
#include "sensor/rocm/parts.h"

enum { LISTED_MAX = 512, GPUS_MAX = 64 };

/*
 * Whether a process uses the device. *out_alone: it uses exactly one device; not set if the library refuses.
 */
static bool uses(const struct kwhy_rocm_smi *rocm, uint32_t pid, uint32_t device, bool *out_alone)
{
	uint32_t devices[GPUS_MAX], count = GPUS_MAX;
	bool found = false;

	if (kwhy_rocm_smi_call(rocm, rsmi_compute_process_gpus_get, pid, devices, &count) !=
		KWHY_RSMI_SUCCESS)
		return false;
	for (uint32_t i = 0; i < count && i < GPUS_MAX; i++)
		found |= devices[i] == device;
	*out_alone = count == 1;
	return found;
}

size_t kwhy_rocm_processes(const struct kwhy_rocm_smi *rocm, uint32_t device,
	struct kwhy_sensor_process out[KWHY_SENSOR_PROCESSES], bool *out_is_listed)
{
	struct kwhy_rsmi_process listed[LISTED_MAX];
	uint32_t listed_count = LISTED_MAX;
	size_t count = 0;
	int result = kwhy_rocm_smi_call(rocm, rsmi_compute_process_info_get, listed, &listed_count);

	*out_is_listed = result == KWHY_RSMI_SUCCESS || result == KWHY_RSMI_INSUFFICIENT_SIZE;
	if (!*out_is_listed)
		return 0;
	for (uint32_t i = 0; i < listed_count && i < LISTED_MAX && count < KWHY_SENSOR_PROCESSES; i++) {
		bool alone;

		if (!uses(rocm, listed[i].pid, device, &alone))
			continue;
		out[count++] = (struct kwhy_sensor_process){
			.pid = listed[i].pid,
			.memory_bytes = alone ? kwhy_rocm_saturated(listed[i].memory_bytes) : -1,
		};
	}
	return count;
}
