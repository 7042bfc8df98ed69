/* SPDX-License-Identifier: Apache-2.0 */
#include "sensor/sensor.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HISTORY_DEFAULT_S = 60, CHANNEL_MIN = 64, CHANNEL_MAX = 1 << 20, CAPACITY_FIRST = 8 };

/* Least period of a task. Meters do not update more often, and there must be a pause between two runs. */
#define PERIOD_MIN_NS INT64_C(1000000)

static bool wants_replay(const struct kwhy_sensor_request *request)
{
	return request->replay_path != NULL;
}

static bool wants_nvml(const struct kwhy_sensor_request *request)
{
	return !request->replay_path && !request->without_nvml;
}

static bool wants_rocm(const struct kwhy_sensor_request *request)
{
	return !request->replay_path && !request->without_rocm;
}

static bool wants_host(const struct kwhy_sensor_request *request)
{
	return !request->replay_path && !request->without_host;
}

static bool wants_meter_files(const struct kwhy_sensor_request *request)
{
	return !request->replay_path && request->meter_file_count > 0;
}

static const struct row {
	const struct kwhy_sensor_backend *backend;
	bool (*wants)(const struct kwhy_sensor_request *request);
} rows[] = {
#define X(backend, wants) {&kwhy_sensor_##backend, wants},
#include "sensor/backends.def"
#undef X
};

enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };
_Static_assert(ROW_COUNT <= sizeof(((struct kwhy_sensors *)NULL)->states) / sizeof(void *), "states");

/* Reads the next number of a list such as "0,2". False: the list is malformed. */
static bool take_index(const char **list, int32_t *out)
{
	char *end;
	long value;

	if (!isdigit((unsigned char)**list))
		return false;
	value = strtol(*list, &end, 10);
	if (value > KWHY_SENSOR_INDEX_MAX || (*end != ',' && *end != '\0') || (*end == ',' && end[1] == '\0'))
		return false;
	*list = *end == ',' ? end + 1 : end;
	*out = (int32_t)value;
	return true;
}

bool kwhy_sensors_wants_device(
	struct kwhy_sensors *sensors, const struct kwhy_sensor_request *request, int32_t index)
{
	const char *list = request->devices;
	int32_t wanted = -1;

	if (index >= 0 && index <= KWHY_SENSOR_INDEX_MAX)
		sensors->is_there[index] = true;
	if (!list)
		return true;
	while (*list && take_index(&list, &wanted))
		if (wanted == index)
			return true;
	return false;
}

static bool has_device(const struct kwhy_sensors *sensors, int32_t index)
{
	for (size_t i = 0; i < sensors->device_count; i++)
		if (sensors->devices[i].index == index)
			return true;
	return false;
}

static enum kwhy_status check_list(const char *devices, struct kwhy_error *error)
{
	const char *list = devices;
	int32_t index = -1;

	do {
		if (!take_index(&list, &index))
			return kwhy_fail(error, KWHY_E_USAGE,
				"\"%s\" is not a list of devices; write numbers with commas: 0,2", devices);
	} while (*list);
	return KWHY_OK;
}

void kwhy_sensor_indices_write(const bool is_in[KWHY_SENSOR_INDEX_MAX + 1], char *out, size_t out_bytes)
{
	size_t length = 0;

	*out = '\0';
	for (int first = 0; first <= KWHY_SENSOR_INDEX_MAX && length < out_bytes; first++) {
		int last = first;

		if (!is_in[first])
			continue;
		while (last < KWHY_SENSOR_INDEX_MAX && is_in[last + 1])
			last++;
		length += (size_t)snprintf(
			out + length, out_bytes - length, "%s%d", length ? ", " : "", first);
		if (last > first && length < out_bytes)
			length += (size_t)snprintf(out + length, out_bytes - length, " to %d", last);
		first = last;
	}
}

/*
 * Finds the text that says why the device with number `index` has no meter. If the device exists, it is the
 * text of the absence that begins with "GPU INDEX "; if not, that of the first absence. NULL: there is no
 * such absence.
 */
static const char *why_absent(const struct kwhy_sensors *sensors, int32_t index)
{
	char begins[32];

	snprintf(begins, sizeof(begins), "GPU %d ", (int)index);
	for (size_t i = 0; i < sensors->absence_count; i++)
		if (!sensors->is_there[index] ||
			strncmp(sensors->absences[i].text, begins, strlen(begins)) == 0)
			return sensors->absences[i].text;
	return NULL;
}

static enum kwhy_status fail_absent(
	const struct kwhy_sensors *sensors, int32_t index, struct kwhy_error *error)
{
	const char *why = why_absent(sensors, index);
	char there[120];

	kwhy_sensor_indices_write(sensors->is_there, there, sizeof(there));
	if (*there && !sensors->is_there[index])
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "there is no device %d with a meter here; %s %s",
			(int)index, strpbrk(there, " ") ? "there are devices" : "there is device", there);
	return kwhy_fail(error, KWHY_E_UNSUPPORTED, "there is no device %d with a meter here%s%s", (int)index,
		why ? ": " : "", why ? why : "; no device was found");
}

/*
 * Fails if a device in the list was not added to the sensors, because it does not exist or its back end found
 * no meter.
 */
static enum kwhy_status check_devices(
	const struct kwhy_sensors *sensors, const char *devices, struct kwhy_error *error)
{
	const char *list = devices;
	int32_t index = -1;

	while (list && *list && take_index(&list, &index))
		if (!has_device(sensors, index))
			return fail_absent(sensors, index, error);
	return KWHY_OK;
}

enum kwhy_status kwhy_sensors_open(
	const struct kwhy_sensor_request *request, struct kwhy_sensors **out, struct kwhy_error *error)
{
	struct kwhy_sensors *sensors = calloc(1, sizeof(*sensors));
	enum kwhy_status status = KWHY_OK;

	if (!sensors)
		return kwhy_fail_memory(error, "the meters");
	sensors->clock = request->clock;
	if (request->devices)
		status = check_list(request->devices, error);
	for (size_t i = 0; !status && i < ROW_COUNT; i++)
		if (rows[i].wants(request))
			status = rows[i].backend->open(sensors, request, &sensors->states[i], error);
	if (!status)
		status = check_devices(sensors, request->devices, error);
	if (status) {
		kwhy_sensors_close(sensors);
		return status;
	}
	*out = sensors;
	return KWHY_OK;
}

void kwhy_sensors_close(struct kwhy_sensors *sensors)
{
	if (!sensors)
		return;
	for (size_t i = ROW_COUNT; i-- > 0;)
		if (sensors->states[i])
			rows[i].backend->close(sensors->states[i]);
	kwhy_arena_done(&sensors->arena);
	free(sensors);
}

const struct kwhy_source_channel *kwhy_sensors_find_meter(
	const struct kwhy_sensors *sensors, enum kwhy_meter meter, uint32_t device)
{
	for (size_t i = 0; i < sensors->source_count; i++) {
		const struct kwhy_source_channel *source = &sensors->sources[i];

		if (source->kind == KWHY_SOURCE_METER && source->meter == meter && source->device == device)
			return source;
	}
	return NULL;
}

const struct kwhy_source_channel *kwhy_sensors_best_meter(
	const struct kwhy_sensors *sensors, unsigned roles, uint32_t device)
{
	const struct kwhy_meter_list meters = kwhy_meters_ranked(KWHY_METER_OWNER_GPU, roles);
	const struct kwhy_source_channel *source = NULL;

	for (size_t i = 0; !source && i < meters.count; i++)
		source = kwhy_sensors_find_meter(sensors, meters.items[i], device);
	return source;
}

const struct kwhy_source_channel *kwhy_sensors_find_gauge(
	const struct kwhy_sensors *sensors, enum kwhy_gauge gauge, uint32_t device)
{
	for (size_t i = 0; i < sensors->source_count; i++) {
		const struct kwhy_source_channel *source = &sensors->sources[i];

		if (source->kind == KWHY_SOURCE_GAUGE && source->gauge == gauge && source->device == device)
			return source;
	}
	return NULL;
}

size_t kwhy_sensors_processes(
	struct kwhy_sensors *sensors, uint32_t device, struct kwhy_sensor_process out[KWHY_SENSOR_PROCESSES])
{
	size_t count = 0;

	for (size_t i = 0; count == 0 && i < ROW_COUNT; i++)
		if (sensors->states[i] && rows[i].backend->processes)
			count = rows[i].backend->processes(sensors->states[i], device, out);
	return count;
}

bool kwhy_sensors_uses(struct kwhy_sensors *sensors, uint32_t device, int64_t after_unix_us,
	struct kwhy_sensor_use out[KWHY_SENSOR_PROCESSES], size_t *out_count)
{
	*out_count = 0;
	for (size_t i = 0; i < ROW_COUNT; i++)
		if (sensors->states[i] && rows[i].backend->uses &&
			rows[i].backend->uses(sensors->states[i], device, after_unix_us, out, out_count))
			return true;
	return false;
}

void kwhy_sensors_view(struct kwhy_sensors *sensors, int64_t until_mono_ns)
{
	atomic_store_explicit(&sensors->viewed_until_ns, until_mono_ns, memory_order_relaxed);
}

struct kwhy_clock_relation kwhy_sensors_relate(const struct kwhy_sensors *sensors)
{
	return sensors->clock ? sensors->clock->relate(sensors->clock->context) : kwhy_clock_relate();
}

int64_t kwhy_sensors_now_ns(const struct kwhy_sensors *sensors)
{
	return sensors->clock ? sensors->clock->now_mono_ns(sensors->clock->context) : kwhy_clock_mono_ns();
}

/*
 * Makes space for one more item of an array in the arena. The items may move, so pointers to them become
 * invalid.
 */
static enum kwhy_status grow(struct kwhy_sensors *sensors, void **items, size_t item_bytes, size_t count,
	size_t *capacity, struct kwhy_error *error)
{
	size_t wider = *capacity ? *capacity * 2 : CAPACITY_FIRST;
	void *moved;

	if (count < *capacity)
		return KWHY_OK;
	moved = kwhy_arena_alloc(&sensors->arena, wider, item_bytes);
	if (!moved)
		return kwhy_fail_memory(error, "the meters");
	if (count > 0)
		memcpy(moved, *items, count * item_bytes);
	*items = moved;
	*capacity = wider;
	return KWHY_OK;
}

/* Replaces a string by a copy in the arena; NULL stays NULL. False: memory is short. */
static bool keep(struct kwhy_sensors *sensors, const char **string)
{
	if (!*string)
		return true;
	*string = kwhy_arena_copy(&sensors->arena, *string);
	return *string != NULL;
}

enum kwhy_status kwhy_sensors_add_device(struct kwhy_sensors *sensors,
	const struct kwhy_sensor_device *device, uint32_t *out_index, struct kwhy_error *error)
{
	struct kwhy_sensor_device *kept;
	void *items = sensors->devices;

	if (grow(sensors, &items, sizeof(*device), sensors->device_count, &sensors->device_capacity, error))
		return error->status;
	sensors->devices = items;
	kept = &sensors->devices[sensors->device_count];
	*kept = *device;
	if (!keep(sensors, &kept->name) || !keep(sensors, &kept->uuid) ||
		!keep(sensors, &kept->pci_address) || !keep(sensors, &kept->driver))
		return kwhy_fail_memory(error, "the devices");
	*out_index = (uint32_t)sensors->device_count++;
	return KWHY_OK;
}

/*
 * Number of slots for the readings of the history, rounded up to a power of two; at least CHANNEL_MIN, at
 * most CHANNEL_MAX.
 */
static uint64_t slots_for(double updates_per_s, size_t history_s)
{
	double wanted = updates_per_s * (double)(history_s ? history_s : HISTORY_DEFAULT_S);
	uint64_t slots = CHANNEL_MIN;

	while ((double)slots < wanted && slots < CHANNEL_MAX)
		slots *= 2;
	return slots;
}

enum kwhy_status kwhy_sensors_add_source(struct kwhy_sensors *sensors,
	const struct kwhy_source_channel *source, double updates_per_s,
	const struct kwhy_sensor_request *request, uint32_t *out_index, struct kwhy_error *error)
{
	struct kwhy_source_channel *kept;
	void *items = sensors->sources;

	if (grow(sensors, &items, sizeof(*source), sensors->source_count, &sensors->source_capacity, error))
		return error->status;
	sensors->sources = items;
	kept = &sensors->sources[sensors->source_count];
	*kept = *source;
	if (!keep(sensors, &kept->label))
		return kwhy_fail_memory(error, "the meters");
	if (kwhy_channel_init(
		    &kept->channel, &sensors->arena, slots_for(updates_per_s, request->history_s), error))
		return error->status;
	*out_index = (uint32_t)sensors->source_count++;
	return KWHY_OK;
}

enum kwhy_status kwhy_sensors_add_task(
	struct kwhy_sensors *sensors, const struct kwhy_sensor_task *task, struct kwhy_error *error)
{
	struct kwhy_sensor_task *kept;
	void *items = sensors->tasks;

	if (grow(sensors, &items, sizeof(*task), sensors->task_count, &sensors->task_capacity, error))
		return error->status;
	sensors->tasks = items;
	kept = &sensors->tasks[sensors->task_count];
	*kept = *task;
	if (!keep(sensors, &kept->title))
		return kwhy_fail_memory(error, "the meters");
	if (kept->period_ns < PERIOD_MIN_NS)
		kept->period_ns = PERIOD_MIN_NS;
	sensors->task_count++;
	return KWHY_OK;
}

enum kwhy_status kwhy_sensors_add_absence(
	struct kwhy_sensors *sensors, const char *backend, struct kwhy_error *error, const char *format, ...)
{
	struct kwhy_sensor_absence *kept;
	void *items = sensors->absences;
	char text[sizeof(error->text)];
	va_list args;

	if (grow(sensors, &items, sizeof(*kept), sensors->absence_count, &sensors->absence_capacity, error))
		return error->status;
	sensors->absences = items;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	kept = &sensors->absences[sensors->absence_count];
	*kept = (struct kwhy_sensor_absence){.backend = backend, .text = text};
	if (!keep(sensors, &kept->text))
		return kwhy_fail_memory(error, "the meters");
	sensors->absence_count++;
	return KWHY_OK;
}

void kwhy_sensors_absence_is_refused(struct kwhy_sensors *sensors)
{
	sensors->absences[sensors->absence_count - 1].is_refused = true;
}

void kwhy_sensors_absence_is_choice(struct kwhy_sensors *sensors)
{
	sensors->absences[sensors->absence_count - 1].is_choice = true;
}
