/* SPDX-License-Identifier: Apache-2.0 */
#include "sensor/visible.h"
#include "sensor/nvml/parts.h"

#include <string.h>

enum {
	/* space for a GPU, its MIG instances (at most 7 up to Blackwell), and one spare entry */
	UNITS_PER_GPU = 9,
	LIST_BYTES = 120
};

unsigned kwhy_nvml_instances_most(const struct kwhy_nvml *nvml, kwhy_nvml_handle gpu)
{
	bool is_divided;
	unsigned most = 0;

	if (kwhy_nvml_is_divided(nvml, gpu, &is_divided) || !is_divided ||
		kwhy_nvml_call(nvml, nvmlDeviceGetMaxMigDeviceCount, gpu, &most))
		return 0;
	return most;
}

static void name_unit(const struct kwhy_nvml *nvml, kwhy_nvml_handle handle, struct kwhy_visible_unit *unit)
{
	if (kwhy_nvml_call(nvml, nvmlDeviceGetName, handle, unit->name, sizeof(unit->name)))
		unit->name[0] = '\0';
	if (kwhy_nvml_call(nvml, nvmlDeviceGetUUID, handle, unit->uuid, sizeof(unit->uuid)))
		unit->uuid[0] = '\0';
}

/* Writes a GPU and its MIG instances to `units`, UNITS_PER_GPU at most, and returns how many were written. */
static size_t list_gpu(const struct kwhy_nvml *nvml, unsigned index, struct kwhy_visible_unit *units)
{
	kwhy_nvml_handle gpu, instance;
	size_t count = 1;
	unsigned most;

	units[0] = (struct kwhy_visible_unit){.gpu = (int32_t)index};
	if (nvml->nvmlDeviceGetHandleByIndex_v2(index, &gpu))
		return count;
	name_unit(nvml, gpu, &units[0]);
	most = kwhy_nvml_instances_most(nvml, gpu);
	for (unsigned i = 0; i < most && count < UNITS_PER_GPU; i++)
		if (kwhy_nvml_call(nvml, nvmlDeviceGetMigDeviceHandleByIndex, gpu, i, &instance) ==
			KWHY_NVML_SUCCESS) {
			units[count] = (struct kwhy_visible_unit){.gpu = (int32_t)index, .is_instance = true};
			name_unit(nvml, instance, &units[count++]);
		}
	return count;
}

static enum kwhy_status tell_unknown(
	struct kwhy_sensors *sensors, const char *visible, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_sensors_add_absence(sensors, "nvml", error,
		"all GPUs are metered, for which of them CUDA_VISIBLE_DEVICES='%.100s' shows is not known: "
		"they are not alike, and CUDA numbers the fastest first; set CUDA_DEVICE_ORDER=PCI_BUS_ID, "
		"write UUIDs, or list the devices (--device)",
		visible);

	if (!status)
		kwhy_sensors_absence_is_choice(sensors);
	return status;
}

static enum kwhy_status tell_left_out(struct kwhy_sensors *sensors, const char *visible, unsigned count,
	const bool *seen, struct kwhy_error *error)
{
	bool left_out[KWHY_SENSOR_INDEX_MAX + 1] = {false};
	char list[LIST_BYTES];
	enum kwhy_status status;

	for (unsigned i = 0; i < count && i <= KWHY_SENSOR_INDEX_MAX; i++)
		left_out[i] = !seen[i];
	kwhy_sensor_indices_write(left_out, list, sizeof(list));
	if (!*list)
		return KWHY_OK;
	status = kwhy_sensors_add_absence(sensors, "nvml", error,
		"GPU %s left out, which a program cannot see where CUDA_VISIBLE_DEVICES is '%.100s'; a list "
		"of devices (--device) meters what it names",
		list, visible);
	if (!status)
		kwhy_sensors_absence_is_choice(sensors);
	return status;
}

enum kwhy_status kwhy_nvml_visible(const struct kwhy_nvml *nvml, struct kwhy_sensors *sensors,
	const struct kwhy_sensor_request *request, unsigned count, bool seen[KWHY_SENSOR_INDEX_MAX + 1],
	struct kwhy_error *error)
{
	struct kwhy_visible_unit *units;
	size_t unit_count = 0;

	if (request->devices || !request->visible) {
		memset(seen, true, (KWHY_SENSOR_INDEX_MAX + 1) * sizeof(*seen));
		return KWHY_OK;
	}
	units = kwhy_arena_alloc(&sensors->arena, (size_t)count * UNITS_PER_GPU, sizeof(*units));
	if (!units)
		return kwhy_fail_memory(error, "the GPUs");
	for (unsigned i = 0; i < count && i <= KWHY_SENSOR_INDEX_MAX; i++)
		unit_count += list_gpu(nvml, i, units + unit_count);
	if (kwhy_visible_find(request, units, unit_count, seen))
		return tell_left_out(sensors, request->visible, count, seen, error);
	memset(seen, true, (KWHY_SENSOR_INDEX_MAX + 1) * sizeof(*seen));
	return tell_unknown(sensors, request->visible, error);
}
