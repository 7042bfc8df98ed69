/* SPDX-License-Identifier: Apache-2.0 */
#include "sensor/attribute.h"
#include "sensor/rocm/parts.h"
#include "sensor/sensor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * AMD's GPUs through ROCm SMI: the energy accumulator of the firmware, the socket's power, and gauges. This
 * file follows the vendor's documentation and was tested with a fake library only, because we had no such
 * card.
 */

enum { CARDS_MAX = 64, DEVICES_MAX = 64, VENDOR_AMD = 0x1002 };

#define DRM_ROOT "/sys/class/drm"
#define COUNTER_PERIOD_NS INT64_C(100000000)
#define GAUGE_PERIOD_NS INT64_C(1000000000)
#define COUNTER_UPDATE_NS INT64_C(1000000) /* the driver asks the firmware at most once a ms */

/*
 * A count of the accumulator is 2^-16 J (15.259 uJ), by the driver's documentation of gpu_metrics. The
 * library reports 15.3 uJ, which is 0.27 % too much. If it reports 15.3 +- 0.06 uJ, 2^-16 J is therefore
 * used; any other figure is used as it is.
 */
#define RESOLUTION_UJ (1e6 / 65536)
#define RESOLUTION_REPORTED_UJ 15.3
#define RESOLUTION_NEAR_UJ 0.06

#define STAMP_NEAR_NS INT64_C(1000000000)

enum { NO_SOURCE = UINT32_MAX };

struct unit {
	uint32_t number; /* number of the GPU in the library */
	uint32_t device; /* index into sensors->devices */
	uint32_t energy, power;
	uint32_t gauges[KWHY_ROCM_GAUGES];
	bool current_power; /* whether the library reports the instantaneous power of the socket; false: its
			       average power is read instead */
};

struct rocm {
	struct kwhy_sensors *sensors;
	const struct kwhy_sensor_request *request; /* valid only while the back end opens */
	struct kwhy_rocm_smi smi;
	int64_t boot_minus_mono_ns;
	uint32_t count;
	struct unit units[DEVICES_MAX];
};

/* Reads the accumulator in microjoules, and the driver's time of that reading, in nanoseconds since boot. */
static int read_energy(
	const struct kwhy_rocm_smi *smi, uint32_t device, int64_t *out_uj, uint64_t *out_stamp_ns)
{
	uint64_t counts = 0;
	float reported_uj = 0;
	double resolution_uj;
	int result = kwhy_rocm_smi_call(
		smi, rsmi_dev_energy_count_get, device, &counts, &reported_uj, out_stamp_ns);

	if (result != KWHY_RSMI_SUCCESS)
		return result;
	resolution_uj = (double)reported_uj;
	if (resolution_uj > RESOLUTION_REPORTED_UJ - RESOLUTION_NEAR_UJ &&
		resolution_uj < RESOLUTION_REPORTED_UJ + RESOLUTION_NEAR_UJ)
		resolution_uj = RESOLUTION_UJ;
	if (!(resolution_uj > 0) || counts == UINT64_MAX ||
		(double)counts * resolution_uj >= (double)INT64_MAX)
		return KWHY_RSMI_UNKNOWN;
	*out_uj = (int64_t)((double)counts * resolution_uj);
	return result;
}

static int read_power(const struct kwhy_rocm_smi *smi, uint32_t device, bool current, uint64_t *out_uw)
{
	return current ? kwhy_rocm_smi_call(smi, rsmi_dev_current_socket_power_get, device, out_uw)
		       : kwhy_rocm_smi_call(smi, rsmi_dev_power_ave_get, device, 0, out_uw);
}

static void push(struct rocm *rocm, uint32_t source, int result, int64_t time_mono_ns, int64_t value)
{
	struct kwhy_source_channel *channel = &rocm->sensors->sources[source];

	if (result == KWHY_RSMI_SUCCESS)
		kwhy_channel_push(&channel->channel, (struct kwhy_reading){time_mono_ns, value});
	else
		atomic_fetch_add_explicit(&channel->failures, 1, memory_order_relaxed);
	atomic_store_explicit(&channel->refused, result != KWHY_RSMI_SUCCESS, memory_order_relaxed);
}

/*
 * Converts the driver's time since boot to CLOCK_MONOTONIC. If the result is a second or more from the
 * present time, returns the present time.
 */
static int64_t stamped_ns(const struct rocm *rocm, uint64_t stamp_ns, int64_t now_mono_ns)
{
	int64_t mono_ns = kwhy_rocm_saturated(stamp_ns) - rocm->boot_minus_mono_ns;

	return mono_ns > now_mono_ns - STAMP_NEAR_NS && mono_ns < now_mono_ns + STAMP_NEAR_NS ? mono_ns
											      : now_mono_ns;
}

static int64_t meters_read(void *state, uint32_t number, int64_t now_mono_ns)
{
	struct rocm *rocm = state;
	const struct unit *unit = &rocm->units[number];

	if (unit->energy != NO_SOURCE) {
		uint64_t stamp_ns = 0;
		int64_t energy_uj = 0;
		int result = read_energy(&rocm->smi, unit->number, &energy_uj, &stamp_ns);

		push(rocm, unit->energy, result, stamped_ns(rocm, stamp_ns, now_mono_ns), energy_uj);
	}
	if (unit->power != NO_SOURCE) {
		uint64_t power_uw = 0;
		int result = read_power(&rocm->smi, unit->number, unit->current_power, &power_uw);

		push(rocm, unit->power, result, now_mono_ns, kwhy_rocm_saturated(power_uw / 1000));
	}
	return 0;
}

static int64_t gauges_read(void *state, uint32_t number, int64_t now_mono_ns)
{
	struct rocm *rocm = state;
	const struct unit *unit = &rocm->units[number];

	for (size_t i = 0; i < KWHY_ROCM_GAUGES; i++) {
		int64_t value = 0;
		int result;

		if (unit->gauges[i] == NO_SOURCE)
			continue;
		result = kwhy_rocm_gauges[i].read(&rocm->smi, unit->number, &value);
		push(rocm, unit->gauges[i], result, now_mono_ns, value);
	}
	return 0;
}

static void rocm_close(void *state)
{
	struct rocm *rocm = state;

	kwhy_rocm_smi_close(&rocm->smi);
	free(rocm);
}

static int64_t or_default(int64_t asked_ns, int64_t default_ns)
{
	return asked_ns ? asked_ns : default_ns;
}

static enum kwhy_status add_meter(
	struct rocm *rocm, uint32_t device, enum kwhy_meter meter, uint32_t *out, struct kwhy_error *error)
{
	struct kwhy_source_channel source = {
		.kind = KWHY_SOURCE_METER,
		.meter = meter,
		.device = device,
		.period_ns = meter == KWHY_METER_ROCM_ENERGY ? COUNTER_UPDATE_NS : 0,
	};
	int64_t period_ns = or_default(rocm->request->counter_period_ns, COUNTER_PERIOD_NS);

	return kwhy_sensors_add_source(
		rocm->sensors, &source, 1e9 / (double)period_ns, rocm->request, out, error);
}

/*
 * Adds the energy counter and the power of a GPU as meters if their readings are above 0 now. On a card with
 * two GPUs (MI250X), the second GPU's meter reads 0, because the first GPU's meter measures both.
 */
static enum kwhy_status add_meters(
	struct rocm *rocm, struct unit *unit, uint32_t device, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	uint64_t stamp_ns, power_uw = 0;
	int64_t energy_uj = 0;
	int energy = read_energy(&rocm->smi, unit->number, &energy_uj, &stamp_ns), power;

	if (energy == KWHY_RSMI_SUCCESS && energy_uj > 0)
		status = add_meter(rocm, device, KWHY_METER_ROCM_ENERGY, &unit->energy, error);
	power = read_power(&rocm->smi, unit->number, true, &power_uw);
	unit->current_power = power == KWHY_RSMI_SUCCESS;
	if (!unit->current_power)
		power = read_power(&rocm->smi, unit->number, false, &power_uw);
	if (!status && power == KWHY_RSMI_SUCCESS && power_uw > 0)
		status = add_meter(rocm, device, KWHY_METER_ROCM_POWER, &unit->power, error);
	if (!status && unit->energy == NO_SOURCE)
		status = kwhy_sensors_add_absence(rocm->sensors, "rocm", error,
			"the energy counter of AMD GPU %" PRIu32 ": %s", unit->number,
			energy == KWHY_RSMI_SUCCESS
				? "it stands at 0; a card of two dies meters both with its first"
				: kwhy_rocm_smi_words(&rocm->smi, energy));
	return status;
}

static enum kwhy_status add_gauges(
	struct rocm *rocm, struct unit *unit, uint32_t device, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < KWHY_ROCM_GAUGES; i++) {
		struct kwhy_source_channel source = {
			.kind = KWHY_SOURCE_GAUGE, .gauge = kwhy_rocm_gauges[i].gauge, .device = device};
		int64_t value;

		if (kwhy_rocm_gauges[i].read(&rocm->smi, unit->number, &value) == KWHY_RSMI_SUCCESS)
			status = kwhy_sensors_add_source(
				rocm->sensors, &source, 1.0, rocm->request, &unit->gauges[i], error);
	}
	return status;
}

static enum kwhy_status add_tasks(struct rocm *rocm, uint32_t number, struct kwhy_error *error)
{
	const struct kwhy_sensor_request *request = rocm->request;
	const struct unit *unit = &rocm->units[number];
	struct kwhy_sensor_task task = {
		.title = "rocm meters",
		.state = rocm,
		.argument = number,
		.period_ns = or_default(request->counter_period_ns, COUNTER_PERIOD_NS),
		.read = meters_read,
	};
	enum kwhy_status status = KWHY_OK;

	if (unit->energy != NO_SOURCE || unit->power != NO_SOURCE)
		status = kwhy_sensors_add_task(rocm->sensors, &task, error);
	if (status || !request->gauges)
		return status;
	task.title = "rocm gauges";
	task.period_ns = or_default(request->gauge_period_ns, GAUGE_PERIOD_NS);
	task.read = gauges_read;
	return kwhy_sensors_add_task(rocm->sensors, &task, error);
}

static void format_pci(char out[32], uint64_t id)
{
	snprintf(out, 32, "%04x:%02x:%02x.%x", (unsigned)(id >> 32), (unsigned)(id >> 8 & 0xff),
		(unsigned)(id >> 3 & 0x1f), (unsigned)(id & 7));
}

static enum kwhy_status add_device(
	struct rocm *rocm, uint32_t number, uint32_t *out_device, struct kwhy_error *error)
{
	const struct kwhy_rocm_smi *smi = &rocm->smi;
	struct kwhy_sensor_device device = {
		.vendor = KWHY_VENDOR_AMD,
		.index = (int32_t)number,
		.mig_index = -1,
		.limit_mw = -1,
		.default_limit_mw = -1,
	};
	char name[KWHY_RSMI_TEXT_BYTES] = "", driver[KWHY_RSMI_TEXT_BYTES] = "", uuid[32], pci[32];
	uint64_t id, power_uw;

	if (kwhy_rocm_smi_call(smi, rsmi_dev_name_get, number, name, sizeof(name) - 1) == KWHY_RSMI_SUCCESS)
		device.name = name;
	if (kwhy_rocm_smi_call(smi, rsmi_version_str_get, KWHY_RSMI_COMPONENT_DRIVER, driver,
		    sizeof(driver) - 1) == KWHY_RSMI_SUCCESS)
		device.driver = driver;
	if (kwhy_rocm_smi_call(smi, rsmi_dev_unique_id_get, number, &id) == KWHY_RSMI_SUCCESS) {
		snprintf(uuid, sizeof(uuid), "GPU-%016" PRIx64, id);
		device.uuid = uuid;
	}
	if (kwhy_rocm_smi_call(smi, rsmi_dev_pci_id_get, number, &id) == KWHY_RSMI_SUCCESS) {
		format_pci(pci, id);
		device.pci_address = pci;
	}
	if (kwhy_rocm_smi_call(smi, rsmi_dev_memory_total_get, number, KWHY_RSMI_MEMORY_VRAM, &id) ==
		KWHY_RSMI_SUCCESS)
		device.memory_bytes = id;
	if (kwhy_rocm_smi_call(smi, rsmi_dev_power_cap_get, number, 0, &power_uw) == KWHY_RSMI_SUCCESS)
		device.limit_mw = kwhy_rocm_saturated(power_uw / 1000);
	if (kwhy_rocm_smi_call(smi, rsmi_dev_power_cap_default_get, number, &power_uw) == KWHY_RSMI_SUCCESS)
		device.default_limit_mw = kwhy_rocm_saturated(power_uw / 1000);
	return kwhy_sensors_add_device(rocm->sensors, &device, out_device, error);
}

static enum kwhy_status add_unit(struct rocm *rocm, uint32_t number, struct kwhy_error *error)
{
	struct unit *unit = &rocm->units[rocm->count];
	enum kwhy_status status;
	uint32_t device = 0;

	*unit = (struct unit){.number = number, .energy = NO_SOURCE, .power = NO_SOURCE};
	for (size_t i = 0; i < KWHY_ROCM_GAUGES; i++)
		unit->gauges[i] = NO_SOURCE;
	status = add_device(rocm, number, &device, error);
	unit->device = device;
	if (!status)
		status = add_meters(rocm, unit, device, error);
	if (!status && rocm->request->gauges)
		status = add_gauges(rocm, unit, device, error);
	if (!status)
		status = add_tasks(rocm, rocm->count, error);
	rocm->count++;
	return status;
}

static enum kwhy_status add_all(struct rocm *rocm, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	uint32_t count = 0;
	int result = rocm->smi.rsmi_num_monitor_devices(&count);

	if (result != KWHY_RSMI_SUCCESS)
		return kwhy_sensors_add_absence(rocm->sensors, "rocm", error, "ROCm SMI lists no GPUs: %s",
			kwhy_rocm_smi_words(&rocm->smi, result));
	for (uint32_t i = 0; !status && i < count && rocm->count < DEVICES_MAX; i++)
		if (kwhy_sensors_wants_device(rocm->sensors, rocm->request, (int32_t)i))
			status = add_unit(rocm, i, error);
	return status;
}

/*
 * Whether the system has a graphics card of AMD; looks in the folders of DRM (direct rendering manager) under
 * /sys, so that ROCm SMI is loaded only where it can find a GPU.
 */
static bool has_amd_card(const char *root)
{
	int64_t cards[CARDS_MAX];
	int count = kwhy_attribute_list(root, "card", cards, CARDS_MAX);
	char folder[KWHY_ATTRIBUTE_BYTES], text[KWHY_ATTRIBUTE_BYTES], name[64];

	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "card%" PRId64 "/device", cards[i]);
		if (kwhy_attribute_path(folder, root, name) && kwhy_attribute_text(text, folder, "vendor") &&
			strtol(text, NULL, 0) == VENDOR_AMD)
			return true;
	}
	return false;
}

static int64_t boot_minus_mono_ns(void)
{
	struct timespec boot, mono;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	return (int64_t)(boot.tv_sec - mono.tv_sec) * 1000000000 + (boot.tv_nsec - mono.tv_nsec);
}

static enum kwhy_status rocm_open(struct kwhy_sensors *sensors, const struct kwhy_sensor_request *request,
	void **out_state, struct kwhy_error *error)
{
	const char *root = request->drm_root ? request->drm_root : DRM_ROOT;
	struct rocm *rocm;
	enum kwhy_status status;

	if (!has_amd_card(root))
		return kwhy_sensors_add_absence(sensors, "rocm", error, "no AMD GPU: %s shows none", root);
	rocm = calloc(1, sizeof(*rocm));
	if (!rocm)
		return kwhy_fail_memory(error, "the meters of AMD GPUs");
	if (kwhy_rocm_smi_open(&rocm->smi, error)) {
		free(rocm);
		return kwhy_sensors_add_absence(
			sensors, "rocm", error, "no meter of AMD GPUs: %s", error->text);
	}
	rocm->sensors = sensors;
	rocm->request = request;
	rocm->boot_minus_mono_ns = boot_minus_mono_ns();
	status = add_all(rocm, error);
	if (status) {
		rocm_close(rocm);
		return status;
	}
	rocm->request = NULL;
	*out_state = rocm;
	return KWHY_OK;
}

static size_t rocm_processes(
	void *state, uint32_t device, struct kwhy_sensor_process out[KWHY_SENSOR_PROCESSES])
{
	const struct rocm *rocm = state;
	bool is_listed = false;
	size_t count = 0;

	for (uint32_t i = 0; i < rocm->count; i++)
		if (rocm->units[i].device == device) {
			count = kwhy_rocm_processes(&rocm->smi, rocm->units[i].number, out, &is_listed);
			atomic_store_explicit(
				&rocm->sensors->devices[device].unlisted, !is_listed, memory_order_relaxed);
		}
	return count;
}

const struct kwhy_sensor_backend kwhy_sensor_rocm = {
	.name = "rocm", .open = rocm_open, .close = rocm_close, .processes = rocm_processes};
