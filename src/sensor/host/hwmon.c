/* SPDX-License-Identifier: Apache-2.0 */
#include "sensor/attribute.h"
#include "sensor/sensor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Power and energy sensors on boards, from Linux's hwmon: "CPU Power Socket 0" and "Module Power Socket 0" of
 * Grace through acpi_power_meter, power supplies, server boards. One sensor may include another, as a module
 * includes its CPU. Both are then shown, and their values are never added.
 */

enum { CHIPS_MAX = 256, SENSORS_MAX = 64, INDEX_MAX = 32 };

#define ROOT "/sys/class/hwmon"
/* time between reads; a read of an ACPI meter takes milliseconds, because it calls the firmware */
#define PERIOD_NS INT64_C(500000000)

/*
 * The forms in which a chip's sensor may give readings: energy, present power, and mean power over an
 * interval. The last one is used only if the sensor has no present power.
 */
static const struct form {
	const char *prefix, *suffix;
	enum kwhy_meter meter;
	int64_t divisor; /* how many units of the attribute (uJ, uW) make one unit of the meter (uJ, mW) */
} forms[] = {
	{"energy", "_input", KWHY_METER_HWMON_ENERGY, 1},
	{"power", "_input", KWHY_METER_HWMON_POWER, 1000},
	{"power", "_average", KWHY_METER_HWMON_POWER, 1000},
};

enum { FORM_COUNT = sizeof(forms) / sizeof(forms[0]) };

struct attribute {
	int fd;
	int64_t divisor;
	uint32_t source;
};

struct hwmon {
	struct kwhy_sensors *sensors;
	const struct kwhy_sensor_request *request; /* valid only while the back end is being opened */
	struct attribute attributes[SENSORS_MAX];
	size_t count;
	/*
	 * number of sensors added so far, which becomes the domain of the next one. Attributes with the same
	 * index in one folder (energy1, power1) are one sensor.
	 */
	uint32_t domains;
	bool refused; /* whether a sensor could not be read; only the first such sensor is reported */
};

static void hwmon_close(void *state)
{
	struct hwmon *hwmon = state;

	for (size_t i = 0; i < hwmon->count; i++)
		close(hwmon->attributes[i].fd);
	free(hwmon);
}

static int64_t hwmon_read(void *state, uint32_t argument, int64_t now_mono_ns)
{
	struct hwmon *hwmon = state;

	(void)argument;
	for (size_t i = 0; i < hwmon->count; i++) {
		const struct attribute *attribute = &hwmon->attributes[i];
		struct kwhy_source_channel *source = &hwmon->sensors->sources[attribute->source];
		int64_t value;

		if (kwhy_attribute_read(attribute->fd, &value) && value >= 0)
			kwhy_channel_push(&source->channel,
				(struct kwhy_reading){now_mono_ns, value / attribute->divisor});
		else
			atomic_fetch_add_explicit(&source->failures, 1, memory_order_relaxed);
	}
	return 0;
}

/*
 * Whether a chip is skipped: its driver is amdgpu, and the back end rocm has added AMD GPUs, whose meters it
 * reads itself. Without GPUs from rocm, the chip is the only meter of its GPU.
 */
static bool is_metered_apart(const struct kwhy_sensors *sensors, const char *driver)
{
	if (strcmp(driver, "amdgpu") != 0)
		return false;
	for (size_t i = 0; i < sensors->device_count; i++)
		if (sensors->devices[i].vendor == KWHY_VENDOR_AMD)
			return true;
	return false;
}

/*
 * Where a sensor is: the folder of its attributes, the name of its driver, the form of its readings and its
 * index, such as 1 in "power1_input".
 */
struct place {
	const char *folder, *driver;
	const struct form *form;
	int index;
};

static const char *attribute_name(char out[64], const struct place *place, const char *suffix)
{
	snprintf(out, 64, "%s%d%s", place->form->prefix, place->index, suffix);
	return out;
}

/*
 * Names a sensor by the text that ACPI's firmware gives ("power1_oem_info"). If there is none, the name is
 * the driver's name and the sensor's label or, without a label, its prefix and index, such as "power1".
 */
static void name_sensor(char out[KWHY_ATTRIBUTE_BYTES], const struct place *place)
{
	char name[64], label[KWHY_ATTRIBUTE_BYTES];

	if (kwhy_attribute_text(out, place->folder, attribute_name(name, place, "_oem_info")) && *out)
		return;
	if (!kwhy_attribute_text(label, place->folder, attribute_name(name, place, "_label")) || !*label)
		attribute_name(label, place, "");
	snprintf(out, KWHY_ATTRIBUTE_BYTES, "%.100s %.100s", place->driver, label);
}

static int64_t interval_ns(const struct place *place)
{
	int64_t interval_ms;
	char name[64];

	if (!kwhy_attribute_integer(
		    &interval_ms, place->folder, attribute_name(name, place, "_average_interval")))
		return 0;
	return interval_ms > 0 && interval_ms < 3600000 ? interval_ms * 1000000 : 0;
}

static enum kwhy_status refuse(
	struct hwmon *hwmon, const struct place *place, int failure, struct kwhy_error *error)
{
	char name[64];

	if (hwmon->refused)
		return KWHY_OK;
	hwmon->refused = true;
	return kwhy_sensors_add_absence(hwmon->sensors, "hwmon", error, "%s/%s cannot be read: %s",
		place->folder, attribute_name(name, place, place->form->suffix),
		failure == EACCES || failure == EPERM ? "permission denied; run kwhy as root"
						      : strerror(failure));
}

/*
 * Opens the attribute that a sensor has in one of the forms, if it exists. *out_found: whether it exists,
 * even if it cannot be read.
 */
static enum kwhy_status add_form(
	struct hwmon *hwmon, const struct place *place, bool *out_found, struct kwhy_error *error)
{
	struct kwhy_source_channel source = {
		.kind = KWHY_SOURCE_METER,
		.meter = place->form->meter,
		.device = KWHY_SENSOR_NO_DEVICE,
		.domain = hwmon->domains,
		.period_ns = interval_ns(place),
	};
	struct attribute *attribute = &hwmon->attributes[hwmon->count];
	char name[64], label[KWHY_ATTRIBUTE_BYTES];
	int64_t value;
	int fd = kwhy_attribute_open(place->folder, attribute_name(name, place, place->form->suffix));

	*out_found = fd >= 0 || errno != ENOENT;
	if (fd < 0)
		return *out_found ? refuse(hwmon, place, errno, error) : KWHY_OK;
	if (!kwhy_attribute_read(fd, &value)) {
		int failure = errno;

		close(fd);
		return refuse(hwmon, place, failure, error);
	}
	*attribute = (struct attribute){.fd = fd, .divisor = place->form->divisor};
	hwmon->count++;
	name_sensor(label, place);
	source.label = label;
	return kwhy_sensors_add_source(
		hwmon->sensors, &source, 1e9 / (double)PERIOD_NS, hwmon->request, &attribute->source, error);
}

/*
 * Adds the sensor with this index in each form that it has; mean power only if the sensor has no present
 * power.
 */
static enum kwhy_status add_index(
	struct hwmon *hwmon, const char *folder, const char *driver, int index, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	size_t before = hwmon->count;
	bool found, power_found = false;

	for (size_t i = 0; !status && i < FORM_COUNT && hwmon->count < SENSORS_MAX; i++) {
		struct place place = {folder, driver, &forms[i], index};

		if (forms[i].meter == KWHY_METER_HWMON_POWER && power_found)
			continue;
		status = add_form(hwmon, &place, &found, error);
		power_found |= found && forms[i].meter == KWHY_METER_HWMON_POWER;
	}
	hwmon->domains += hwmon->count > before;
	return status;
}

/* Adds the sensors of a chip. Older drivers have the attributes in the subfolder "device". */
static enum kwhy_status add_chip(
	struct hwmon *hwmon, const char *root, int64_t number, struct kwhy_error *error)
{
	char name[64], folder[KWHY_ATTRIBUTE_BYTES], device[KWHY_ATTRIBUTE_BYTES],
		driver[KWHY_ATTRIBUTE_BYTES];
	size_t before = hwmon->count;
	enum kwhy_status status = KWHY_OK;

	snprintf(name, sizeof(name), "hwmon%" PRId64, number);
	if (!kwhy_attribute_path(folder, root, name) || !kwhy_attribute_path(device, folder, "device"))
		return KWHY_OK;
	if (!kwhy_attribute_text(driver, folder, "name") && !kwhy_attribute_text(driver, device, "name"))
		snprintf(driver, sizeof(driver), "%s", name);
	if (is_metered_apart(hwmon->sensors, driver))
		return KWHY_OK;
	for (int index = 1; !status && index <= INDEX_MAX; index++)
		status = add_index(hwmon, folder, driver, index, error);
	for (int index = 1; !status && hwmon->count == before && index <= INDEX_MAX; index++)
		status = add_index(hwmon, device, driver, index, error);
	return status;
}

static enum kwhy_status add_all(struct hwmon *hwmon, const char *root, struct kwhy_error *error)
{
	struct kwhy_sensor_task task = {
		.title = "hwmon", .state = hwmon, .period_ns = PERIOD_NS, .read = hwmon_read};
	enum kwhy_status status = KWHY_OK;
	int64_t chips[CHIPS_MAX];
	int count = kwhy_attribute_list(root, "hwmon", chips, CHIPS_MAX);

	for (int i = 0; !status && i < count; i++)
		status = add_chip(hwmon, root, chips[i], error);
	if (!status && hwmon->count == 0 && !hwmon->refused)
		status = kwhy_sensors_add_absence(
			hwmon->sensors, "hwmon", error, "no power sensor of the board: %s shows none", root);
	if (!status && hwmon->count > 0)
		status = kwhy_sensors_add_task(hwmon->sensors, &task, error);
	return status;
}

static enum kwhy_status hwmon_open(struct kwhy_sensors *sensors, const struct kwhy_sensor_request *request,
	void **out_state, struct kwhy_error *error)
{
	struct hwmon *hwmon = calloc(1, sizeof(*hwmon));
	enum kwhy_status status;

	if (!hwmon)
		return kwhy_fail_memory(error, "the board's meters");
	hwmon->sensors = sensors;
	hwmon->request = request;
	status = add_all(hwmon, request->hwmon_root ? request->hwmon_root : ROOT, error);
	if (status) {
		hwmon_close(hwmon);
		return status;
	}
	hwmon->request = NULL;
	*out_state = hwmon;
	return KWHY_OK;
}

const struct kwhy_sensor_backend kwhy_sensor_hwmon = {
	.name = "hwmon", .open = hwmon_open, .close = hwmon_close};
