/* SPDX-License-Identifier: Apache-2.0 */
#include "sensor/nvml/parts.h"

#include <stdio.h>
#include <string.h>

enum { PROCESSES_ASKED = 512 };

struct state {
	struct kwhy_nvml nvml;
	struct kwhy_nvml_unit *units;
};

/* Facts about a device that are needed only until it has been added. */
struct facts {
	char name[KWHY_NVML_TEXT_BYTES], uuid[KWHY_NVML_TEXT_BYTES], pci[KWHY_NVML_ADDRESS_BYTES],
		driver[KWHY_NVML_TEXT_BYTES];
	struct kwhy_sensor_device device;
};

static const char *known(enum kwhy_nvml_result result, char *text)
{
	return result == KWHY_NVML_SUCCESS && *text ? text : NULL;
}

static int64_t known_mw(enum kwhy_nvml_result result, unsigned value_mw)
{
	return result == KWHY_NVML_SUCCESS ? (int64_t)value_mw : -1;
}

static void read_names(const struct kwhy_nvml *nvml, kwhy_nvml_handle handle, struct facts *facts)
{
	struct kwhy_sensor_device *device = &facts->device;
	struct kwhy_nvml_pci pci;

	device->name = known(
		kwhy_nvml_call(nvml, nvmlDeviceGetName, handle, facts->name, sizeof(facts->name)),
		facts->name);
	device->uuid = known(
		kwhy_nvml_call(nvml, nvmlDeviceGetUUID, handle, facts->uuid, sizeof(facts->uuid)),
		facts->uuid);
	device->driver = known(
		kwhy_nvml_call(nvml, nvmlSystemGetDriverVersion, facts->driver, sizeof(facts->driver)),
		facts->driver);
	if (kwhy_nvml_call(nvml, nvmlDeviceGetPciInfo_v3, handle, &pci) == KWHY_NVML_SUCCESS) {
		device->pci_address = kwhy_nvml_address(&pci, facts->pci);
	}
	/* The energy counter of a Grace Hopper module includes the module's CPU and memory. */
	device->energy_is_module = device->name && strstr(device->name, "GH200");
}

static void read_sizes(
	const struct kwhy_nvml *nvml, kwhy_nvml_handle handle, struct kwhy_sensor_device *device)
{
	struct kwhy_nvml_memory memory;
	struct kwhy_nvml_attributes attributes;
	unsigned limit_mw = 0;
	enum kwhy_nvml_result result;

	if (kwhy_nvml_memory(nvml, handle, &memory) == KWHY_NVML_SUCCESS)
		device->memory_bytes = memory.total_bytes;
	if (kwhy_nvml_call(nvml, nvmlDeviceGetAttributes_v2, handle, &attributes) == KWHY_NVML_SUCCESS)
		device->sm_count = attributes.sm_count; /* these attributes describe the MIG instance, not the
							   whole GPU */
	result = kwhy_nvml_call(nvml, nvmlDeviceGetEnforcedPowerLimit, handle, &limit_mw);
	device->limit_mw = known_mw(result, limit_mw);
	result = kwhy_nvml_call(nvml, nvmlDeviceGetPowerManagementDefaultLimit, handle, &limit_mw);
	device->default_limit_mw = known_mw(result, limit_mw);
}

static void set_title(struct kwhy_nvml_unit *unit, int32_t index, int32_t mig_index)
{
	if (mig_index < 0)
		unit->title = kwhy_arena_printf(&unit->sensors->arena, "GPU %d", index);
	else
		unit->title = kwhy_arena_printf(
			&unit->sensors->arena, "MIG instance %d of GPU %d", mig_index, index);
}

/*
 * Adds a GPU or a MIG instance (mig_index 0 or more) as a device, without its meters. `like` gives the
 * library, the request and the handle.
 */
static enum kwhy_status add_unit(struct state *state, struct kwhy_nvml_unit *like, int32_t index,
	int32_t mig_index, struct kwhy_nvml_unit **out, struct kwhy_error *error)
{
	struct kwhy_nvml_unit *unit = kwhy_arena_alloc(&like->sensors->arena, 1, sizeof(*unit));
	struct facts facts = {
		.device = {.vendor = KWHY_VENDOR_NVIDIA, .index = index, .mig_index = mig_index}};
	enum kwhy_status status;

	if (!unit)
		return kwhy_fail_memory(error, "the GPUs");
	*unit = *like;
	set_title(unit, index, mig_index);
	if (!unit->title)
		return kwhy_fail_memory(error, "the GPUs");
	read_names(unit->nvml, unit->handle, &facts);
	read_sizes(unit->nvml, unit->handle, &facts.device);
	status = kwhy_sensors_add_device(unit->sensors, &facts.device, &unit->device, error);
	if (status)
		return status;
	unit->next = state->units;
	state->units = unit;
	*out = unit;
	return KWHY_OK;
}

typedef enum kwhy_status part_add(struct kwhy_nvml_unit *unit, struct kwhy_error *error);

static enum kwhy_status add_meters(struct kwhy_nvml_unit *unit, struct kwhy_error *error)
{
	static part_add *const meters[] = {kwhy_nvml_counter_add, kwhy_nvml_ring_add, kwhy_nvml_power_add};
	static part_add *const gauges[] = {kwhy_nvml_gauges_add, kwhy_nvml_gpm_add};
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < 3; i++)
		status = meters[i](unit, error);
	for (size_t i = 0; !status && unit->request->gauges && i < 2; i++)
		status = gauges[i](unit, error);
	return status;
}

/*
 * Adds the MIG instances of a GPU that is divided into them. Instances get no power meters, because power
 * is measured only for the whole GPU. They get a gauge of how busy their multiprocessors are, by which the
 * GPU's energy is divided among the instances.
 */
static enum kwhy_status add_instances(
	struct state *state, const struct kwhy_nvml_unit *parent, int32_t index, struct kwhy_error *error)
{
	struct kwhy_nvml_unit like = *parent, *unit;
	unsigned most = kwhy_nvml_instances_most(parent->nvml, parent->handle);
	enum kwhy_status status = KWHY_OK;

	like.gpm[0] = like.gpm[1] = NULL;
	like.parent = parent->handle;
	for (unsigned i = 0; !status && i < most; i++) {
		if (kwhy_nvml_call(parent->nvml, nvmlDeviceGetMigDeviceHandleByIndex, parent->handle, i,
			    &like.handle) != KWHY_NVML_SUCCESS)
			continue;
		status = add_unit(state, &like, index, (int32_t)i, &unit, error);
		if (!status && unit->request->gauges)
			status = kwhy_nvml_gpm_add(unit, error);
	}
	return status;
}

static enum kwhy_status add_gpu(struct state *state, struct kwhy_sensors *sensors,
	const struct kwhy_sensor_request *request, int32_t index, struct kwhy_error *error)
{
	struct kwhy_nvml_unit like = {.nvml = &state->nvml, .sensors = sensors, .request = request}, *unit;
	enum kwhy_nvml_result result = state->nvml.nvmlDeviceGetHandleByIndex_v2(
		(unsigned)index, &like.handle);
	enum kwhy_status status;

	if (result)
		return kwhy_sensors_add_absence(sensors, "nvml", error, "GPU %d cannot be opened: %s", index,
			kwhy_nvml_words(&state->nvml, result));
	if (kwhy_nvml_is_divided(like.nvml, like.handle, &like.is_divided))
		like.is_divided = false;
	status = add_unit(state, &like, index, -1, &unit, error);
	if (!status)
		status = add_meters(unit, error);
	if (!status)
		status = add_instances(state, unit, index, error);
	return status ? status : kwhy_nvml_division_add(unit, &state->units, error);
}

static enum kwhy_status add_gpus(struct state *state, struct kwhy_sensors *sensors,
	const struct kwhy_sensor_request *request, struct kwhy_error *error)
{
	bool seen[KWHY_SENSOR_INDEX_MAX + 1] = {false};
	unsigned count = 0;
	enum kwhy_nvml_result result = state->nvml.nvmlDeviceGetCount_v2(&count);
	enum kwhy_status status = KWHY_OK;

	if (result)
		return kwhy_sensors_add_absence(sensors, "nvml", error, "the GPUs cannot be listed: %s",
			kwhy_nvml_words(&state->nvml, result));
	if (count == 0)
		return kwhy_sensors_add_absence(sensors, "nvml", error,
			"the NVIDIA driver runs but shows no GPU; look at nvidia-smi, and in a container at "
			"NVIDIA_VISIBLE_DEVICES");
	status = kwhy_nvml_visible(&state->nvml, sensors, request, count, seen, error);
	for (unsigned i = 0; !status && i < count && i <= KWHY_SENSOR_INDEX_MAX; i++)
		if (kwhy_sensors_wants_device(sensors, request, (int32_t)i) && seen[i])
			status = add_gpu(state, sensors, request, (int32_t)i, error);
	return status;
}

static enum kwhy_status open_nvml(struct kwhy_sensors *sensors, const struct kwhy_sensor_request *request,
	void **out_state, struct kwhy_error *error)
{
	struct state *state = kwhy_arena_alloc(&sensors->arena, 1, sizeof(*state));
	enum kwhy_status status;

	if (!state)
		return kwhy_fail_memory(error, "the GPUs");
	status = kwhy_nvml_open(&state->nvml, error);
	if (status == KWHY_E_UNSUPPORTED) {
		struct kwhy_error why = *error;

		return kwhy_sensors_add_absence(sensors, "nvml", error, "%s", why.text);
	}
	if (status)
		return status;
	*out_state = state; /* from here on the caller closes the back end with *out_state, also if this
			       function fails */
	status = add_gpus(state, sensors, request, error);
	for (struct kwhy_nvml_unit *unit = state->units; unit; unit = unit->next)
		unit->request = NULL; /* the caller may free the request before the meters are read */
	return status;
}

static void close_nvml(void *opened)
{
	struct state *state = opened;

	for (struct kwhy_nvml_unit *unit = state->units; unit; unit = unit->next)
		kwhy_nvml_gpm_done(unit);
	kwhy_nvml_close(&state->nvml);
}

static const struct kwhy_nvml_unit *unit_of(const struct state *state, uint32_t device)
{
	const struct kwhy_nvml_unit *unit = state->units;

	while (unit && unit->device != device)
		unit = unit->next;
	return unit;
}

static enum kwhy_nvml_result list_processes(
	const struct kwhy_nvml_unit *unit, unsigned *count, struct kwhy_nvml_process *out)
{
	kwhy_nvml_handle handle = unit->handle;
	enum kwhy_nvml_result result;

	if (unit->parent && !kwhy_nvml_instance_find(unit, &handle))
		return KWHY_NVML_NOT_FOUND;
	result = kwhy_nvml_call(unit->nvml, nvmlDeviceGetComputeRunningProcesses_v3, handle, count, out);
	if (result == KWHY_NVML_FUNCTION_NOT_FOUND)
		result = kwhy_nvml_call(
			unit->nvml, nvmlDeviceGetComputeRunningProcesses_v2, handle, count, out);
	return result;
}

static size_t processes_nvml(
	void *opened, uint32_t device, struct kwhy_sensor_process out[KWHY_SENSOR_PROCESSES])
{
	const struct kwhy_nvml_unit *unit = unit_of(opened, device);
	struct kwhy_nvml_process listed[PROCESSES_ASKED];
	unsigned count = PROCESSES_ASKED;
	enum kwhy_nvml_result result;

	if (!unit)
		return 0;
	result = list_processes(unit, &count, listed);
	atomic_store_explicit(
		&unit->sensors->devices[device].unlisted, result != KWHY_NVML_SUCCESS, memory_order_relaxed);
	if (result)
		return 0;
	if (count > KWHY_SENSOR_PROCESSES)
		count = KWHY_SENSOR_PROCESSES;
	for (unsigned i = 0; i < count; i++)
		out[i] = (struct kwhy_sensor_process){
			listed[i].pid, listed[i].used_bytes == ~0ULL ? -1 : (int64_t)listed[i].used_bytes};
	return count;
}

static uint32_t busy_percent(const struct kwhy_nvml_process_utilization *used)
{
	unsigned other = used->memory_percent;

	if (used->sm_percent)
		return used->sm_percent;
	other = used->encoder_percent > other ? used->encoder_percent : other;
	return used->decoder_percent > other ? used->decoder_percent : other;
}

static bool uses_nvml(void *opened, uint32_t device, int64_t after_unix_us,
	struct kwhy_sensor_use out[KWHY_SENSOR_PROCESSES], size_t *out_count)
{
	const struct kwhy_nvml_unit *unit = unit_of(opened, device);
	struct kwhy_nvml_process_utilization listed[PROCESSES_ASKED];
	unsigned count = PROCESSES_ASKED;
	enum kwhy_nvml_result result;

	if (!unit)
		return false;
	result = kwhy_nvml_call(unit->nvml, nvmlDeviceGetProcessUtilization, unit->handle, listed, &count,
		(unsigned long long)after_unix_us);
	if (result == KWHY_NVML_NOT_FOUND)
		return true;
	if (result)
		return false;
	for (unsigned i = 0; i < count && *out_count < KWHY_SENSOR_PROCESSES; i++)
		if (listed[i].pid && listed[i].time_unix_us > (unsigned long long)after_unix_us)
			out[(*out_count)++] = (struct kwhy_sensor_use){
				listed[i].pid, (int64_t)listed[i].time_unix_us, busy_percent(&listed[i])};
	return true;
}

const struct kwhy_sensor_backend kwhy_sensor_nvml = {.name = "nvml",
	.open = open_nvml,
	.close = close_nvml,
	.processes = processes_nvml,
	.uses = uses_nvml};
