/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches whether a GPU is divided into other MIG instances than when its meters were opened. An
 * administrator can divide a GPU, or make it whole, while its meters are read; the power meters of the GPU
 * still give readings after that. New instances get no devices, as the sensors' list of devices does not grow
 * after the start.
 */
#include "sensor/nvml/parts.h"

#include <string.h>

/*
 * Time between two checks of the division. On an H200, the check of a GPU that is not divided takes 0.16 ms.
 * That an instance was destroyed is noticed without a check, as NVML refuses its readings and its list of
 * processes.
 */
#define PERIOD_NS INT64_C(2000000000)

struct division {
	struct kwhy_nvml_unit *gpu;
	struct kwhy_nvml_unit *const *units; /* the list of all units */
	bool was_divided;		     /* whether the GPU was divided when its meters were opened */
};

enum kwhy_nvml_result kwhy_nvml_is_divided(
	const struct kwhy_nvml *nvml, kwhy_nvml_handle gpu, bool *out_is_divided)
{
	unsigned current, pending;
	enum kwhy_nvml_result result = kwhy_nvml_call(nvml, nvmlDeviceGetMigMode, gpu, &current, &pending);

	if (!result)
		*out_is_divided = current == KWHY_NVML_ENABLED;
	return result;
}

bool kwhy_nvml_instance_find(const struct kwhy_nvml_unit *instance, kwhy_nvml_handle *out)
{
	const struct kwhy_sensor_device *device = &instance->sensors->devices[instance->device];
	char uuid[KWHY_NVML_TEXT_BYTES];
	kwhy_nvml_handle handle;

	if (kwhy_nvml_call(instance->nvml, nvmlDeviceGetMigDeviceHandleByIndex, instance->parent,
		    (unsigned)device->mig_index, &handle))
		return false;
	*out = handle;
	return !device->uuid ||
		(!kwhy_nvml_call(instance->nvml, nvmlDeviceGetUUID, handle, uuid, sizeof(uuid)) &&
			strcmp(uuid, device->uuid) == 0);
}

static unsigned count_instances(const struct kwhy_nvml_unit *gpu)
{
	const unsigned most = kwhy_nvml_instances_most(gpu->nvml, gpu->handle);
	kwhy_nvml_handle handle;
	unsigned count = 0;

	for (unsigned i = 0; i < most; i++)
		count += !kwhy_nvml_call(
			gpu->nvml, nvmlDeviceGetMigDeviceHandleByIndex, gpu->handle, i, &handle);
	return count;
}

/*
 * Marks an instance as lost or as present, and returns whether it is present. NVML is asked for the number of
 * the GPU instance again when a lost instance comes back, because that number may be another one then.
 */
static bool look_for(struct kwhy_nvml_unit *instance, bool is_divided)
{
	_Atomic bool *lost = &instance->sensors->devices[instance->device].lost;
	kwhy_nvml_handle handle;
	const bool is_there = is_divided && kwhy_nvml_instance_find(instance, &handle);

	if (is_there && atomic_load_explicit(lost, memory_order_relaxed))
		(void)kwhy_nvml_call(
			instance->nvml, nvmlDeviceGetGpuInstanceId, handle, &instance->gpu_instance);
	atomic_store_explicit(lost, !is_there, memory_order_relaxed);
	return is_there;
}

static enum kwhy_division compare(const struct division *division, bool is_divided)
{
	const struct kwhy_nvml_unit *gpu = division->gpu;
	unsigned count = 0, there = 0;

	for (struct kwhy_nvml_unit *unit = *division->units; unit; unit = unit->next)
		if (unit->parent == gpu->handle) {
			count++;
			there += look_for(unit, is_divided);
		}
	if (is_divided != division->was_divided)
		return is_divided ? KWHY_DIVISION_OTHER : KWHY_DIVISION_WHOLE;
	return there == count && (!is_divided || count_instances(gpu) == count) ? KWHY_DIVISION_KEPT
										: KWHY_DIVISION_OTHER;
}

static int64_t read_division(void *state, uint32_t argument, int64_t now_ns)
{
	struct division *division = state;
	struct kwhy_nvml_unit *gpu = division->gpu;
	struct kwhy_sensor_device *device = &gpu->sensors->devices[gpu->device];
	enum kwhy_division now;

	(void)argument;
	(void)now_ns;
	if (kwhy_nvml_unit_is_lost(gpu))
		return INT64_MAX;
	if (kwhy_nvml_is_divided(gpu->nvml, gpu->handle, &gpu->is_divided))
		return 0;
	now = compare(division, gpu->is_divided);
	atomic_store_explicit(&device->division, now, memory_order_relaxed);
	if (now != KWHY_DIVISION_KEPT)
		atomic_store_explicit(&device->divided_anew, true, memory_order_relaxed);
	return 0;
}

enum kwhy_status kwhy_nvml_division_add(
	struct kwhy_nvml_unit *gpu, struct kwhy_nvml_unit *const *units, struct kwhy_error *error)
{
	const int64_t slow_ns = kwhy_nvml_unit_slow_period_ns(gpu);
	struct division *division;
	bool is_divided;

	if (kwhy_nvml_is_divided(gpu->nvml, gpu->handle, &is_divided))
		return KWHY_OK;
	division = kwhy_arena_alloc(&gpu->sensors->arena, 1, sizeof(*division));
	if (!division)
		return kwhy_fail_memory(error, "the GPUs");
	*division = (struct division){gpu, units, is_divided};
	return kwhy_nvml_unit_add_task(
		gpu, "division", division, slow_ns > PERIOD_NS ? slow_ns : PERIOD_NS, read_division, error);
}
