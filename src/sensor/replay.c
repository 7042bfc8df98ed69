/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/lines.h"
#include "base/sort.h"
#include "sensor/power_line.h"
#include "sensor/sensor.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/*
 * Replays a recorded power CSV as if its meters were on this machine. The first reading gets the time at
 * which the sampler starts; the distances in time between readings are kept.
 */

#define FILE_LIMIT_BYTES ((size_t)256 << 20)

/*
 * Least time between two calls of the task, so that replaying readings that are close in time costs no more
 * than reading a meter. A call pushes all readings whose time has come.
 */
#define REST_NS INT64_C(50000000)

enum { SOURCES_MAX = 4096, NAMES_MAX = 64, NAME_BYTES = 96 };

struct reading {
	int64_t time_unix_ns, value;
	uint32_t source; /* index into the file's series */
};

/* The readings of one meter of one device (or of the host) in the file. One source replays a series. */
struct series {
	struct kwhy_power_row row; /* first row of the series */
	size_t count;
	uint32_t source;
};

/* A device's name, from a comment such as `# device 0 name="NVIDIA H200"`. */
struct naming {
	int32_t index;
	char name[NAME_BYTES];
};

struct replay {
	struct kwhy_sensors *sensors;
	struct naming namings[NAMES_MAX];
	size_t naming_count;
	struct reading *readings; /* readings of all series in the order of their times */
	size_t count, at;
	struct series *series;
	size_t series_count;
	bool started;
	/*
	 * added to a Unix time in the file, gives the time on CLOCK_MONOTONIC at which the reading is
	 * replayed
	 */
	int64_t offset_ns;
};

static void replay_close(void *state)
{
	struct replay *replay = state;

	free(replay->readings);
	free(replay->series);
	free(replay);
}

static bool is_same(const struct kwhy_power_row *a, const struct kwhy_power_row *b)
{
	return a->meter == b->meter && a->domain == b->domain && a->device == b->device;
}

static enum kwhy_status find_series(struct replay *replay, const struct kwhy_power_row *row, const char *path,
	uint32_t *out, struct kwhy_error *error)
{
	for (uint32_t i = 0; i < replay->series_count; i++) {
		if (is_same(&replay->series[i].row, row)) {
			*out = i;
			return KWHY_OK;
		}
	}
	if (replay->series_count == SOURCES_MAX)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s holds readings of more than %d meters; keep those of one machine", path,
			SOURCES_MAX);
	replay->series[replay->series_count].row = *row;
	*out = (uint32_t)replay->series_count++;
	return KWHY_OK;
}

static enum kwhy_status add_reading(
	struct replay *replay, const struct kwhy_power_row *row, const char *path, struct kwhy_error *error)
{
	uint32_t series;

	if (find_series(replay, row, path, &series, error))
		return error->status;
	replay->series[series].count++;
	replay->readings[replay->count++] = (struct reading){row->time_ns, row->value, series};
	return KWHY_OK;
}

/* Stores the name of a device if the line is a comment that states one. All other lines are ignored. */
static void read_comment(struct replay *replay, const char *line, size_t length)
{
	static const char word[] = "# device ", key[] = " name=\"";
	struct naming *naming = &replay->namings[replay->naming_count];
	const char *end, *name;
	char text[256];

	if (replay->naming_count == NAMES_MAX || length >= sizeof(text) || length < sizeof(word) ||
		memcmp(line, word, sizeof(word) - 1) != 0)
		return;
	memcpy(text, line, length);
	text[length] = '\0';
	name = strstr(text, key);
	end = name ? strchr(name + sizeof(key) - 1, '"') : NULL;
	if (!end || !isdigit((unsigned char)text[sizeof(word) - 1]))
		return;
	name += sizeof(key) - 1;
	if ((size_t)(end - name) * 3 >= NAME_BYTES)
		return;
	naming->index = (int32_t)strtol(text + sizeof(word) - 1, NULL, 10);
	kwhy_text_sanitize(naming->name, name, (size_t)(end - name));
	replay->naming_count++;
}

static const char *name_of(const struct replay *replay, int32_t index)
{
	for (size_t i = 0; i < replay->naming_count; i++)
		if (replay->namings[i].index == index)
			return replay->namings[i].name;
	return "replayed device";
}

static enum kwhy_status read_lines(struct replay *replay, const struct kwhy_text *text,
	const struct kwhy_sensor_request *request, struct kwhy_error *error)
{
	struct kwhy_power_lines lines = {.path = request->replay_path};
	enum kwhy_status status = KWHY_OK;

	for (size_t at = 0; !status && at < text->length;) {
		char *line = text->data + at, *newline = memchr(line, '\n', text->length - at);
		size_t length = newline ? (size_t)(newline - line) : text->length - at;
		enum kwhy_power_item item;
		struct kwhy_power_row row;

		read_comment(replay, line, length);
		status = kwhy_power_line_take(&lines, line, length, &item, &row, error);
		if (!status && item == KWHY_POWER_ROW &&
			(row.device < 0 || kwhy_sensors_wants_device(replay->sensors, request, row.device)))
			status = add_reading(replay, &row, request->replay_path, error);
		at += length + (newline != NULL);
	}
	return status;
}

static int compare_times(const void *context, uint32_t a, uint32_t b)
{
	const struct reading *readings = context;

	return (readings[a].time_unix_ns > readings[b].time_unix_ns) -
		(readings[a].time_unix_ns < readings[b].time_unix_ns);
}

static enum kwhy_status sort_readings(struct replay *replay, struct kwhy_error *error)
{
	void *readings = replay->readings;
	uint32_t *order;
	enum kwhy_status status;

	status = kwhy_sort_order(replay->count, compare_times, replay->readings, &order, error);
	if (status)
		return status;
	status = kwhy_sort_apply(&readings, sizeof(struct reading), replay->count, order, error);
	replay->readings = readings;
	free(order);
	return status;
}

static enum kwhy_status read_file(
	struct replay *replay, const struct kwhy_sensor_request *request, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	enum kwhy_status status = kwhy_file_read(request->replay_path, FILE_LIMIT_BYTES, &text, error);

	if (!status) {
		replay->readings = calloc(kwhy_lines_count(&text) + 1, sizeof(*replay->readings));
		replay->series = calloc(SOURCES_MAX, sizeof(*replay->series));
		if (!replay->readings || !replay->series)
			status = kwhy_fail_memory(error, "the readings to play back");
	}
	if (!status)
		status = read_lines(replay, &text, request, error);
	kwhy_text_done(&text);
	if (!status && replay->count == 0)
		status = kwhy_fail(
			error, KWHY_E_INPUT, "%s holds no readings to play back", request->replay_path);
	return status ? status : sort_readings(replay, error);
}

/* Finds a series of the device with the lowest number above `index`; NULL: there is no such device. */
static const struct series *next_device(const struct replay *replay, int32_t index)
{
	const struct series *next = NULL;

	for (size_t i = 0; i < replay->series_count; i++) {
		const struct series *series = &replay->series[i];

		if (series->row.device > index && (!next || series->row.device < next->row.device))
			next = series;
	}
	return next;
}

/* Adds the file's devices to the sensors, in ascending order of their numbers. */
static enum kwhy_status add_devices(struct replay *replay, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	const struct series *series;
	int32_t index = -1;

	while (!status && (series = next_device(replay, index)) != NULL) {
		struct kwhy_sensor_device device = {
			.vendor = kwhy_meter_row(series->row.meter)->vendor,
			.index = series->row.device,
			.mig_index = -1,
			.name = name_of(replay, series->row.device),
			.limit_mw = -1,
			.default_limit_mw = -1,
		};
		uint32_t added;

		index = device.index;
		status = kwhy_sensors_add_device(replay->sensors, &device, &added, error);
	}
	return status;
}

static uint32_t find_device(const struct kwhy_sensors *sensors, int32_t index)
{
	for (uint32_t i = 0; i < sensors->device_count; i++)
		if (sensors->devices[i].index == index)
			return i;
	return KWHY_SENSOR_NO_DEVICE;
}

static enum kwhy_status add_source(struct replay *replay, struct series *series,
	const struct kwhy_sensor_request *request, struct kwhy_error *error)
{
	int64_t first_ns = replay->readings[0].time_unix_ns,
		length_ns = replay->readings[replay->count - 1].time_unix_ns - first_ns;
	struct kwhy_source_channel source = {
		.kind = KWHY_SOURCE_METER,
		.meter = series->row.meter,
		.domain = series->row.domain,
		.device = find_device(replay->sensors, series->row.device),
	};
	double updates_per_s = 1;

	if (series->count > 1 && length_ns > 0) {
		source.period_ns = length_ns / (int64_t)(series->count - 1);
		updates_per_s = (double)series->count * 1e9 / (double)length_ns;
	}
	return kwhy_sensors_add_source(
		replay->sensors, &source, updates_per_s, request, &series->source, error);
}

static int64_t replay_read(void *state, uint32_t argument, int64_t now_mono_ns)
{
	struct replay *replay = state;
	struct kwhy_sensors *sensors = replay->sensors;

	(void)argument;
	if (!replay->started)
		replay->offset_ns = now_mono_ns - replay->readings[0].time_unix_ns;
	replay->started = true;
	for (; replay->at < replay->count; replay->at++) {
		const struct reading *reading = &replay->readings[replay->at];
		int64_t time_ns = reading->time_unix_ns + replay->offset_ns;
		uint32_t source = replay->series[reading->source].source;

		if (time_ns > now_mono_ns)
			return time_ns > now_mono_ns + REST_NS ? time_ns : now_mono_ns + REST_NS;
		kwhy_channel_push(
			&sensors->sources[source].channel, (struct kwhy_reading){time_ns, reading->value});
	}
	return INT64_MAX;
}

static enum kwhy_status add_all(
	struct replay *replay, const struct kwhy_sensor_request *request, struct kwhy_error *error)
{
	struct kwhy_sensor_task task = {
		.title = "replay", .state = replay, .period_ns = 100000000, .read = replay_read};
	enum kwhy_status status = add_devices(replay, error);

	for (size_t i = 0; !status && i < replay->series_count; i++)
		status = add_source(replay, &replay->series[i], request, error);
	return status ? status : kwhy_sensors_add_task(replay->sensors, &task, error);
}

static enum kwhy_status replay_open(struct kwhy_sensors *sensors, const struct kwhy_sensor_request *request,
	void **out_state, struct kwhy_error *error)
{
	struct replay *replay = calloc(1, sizeof(*replay));
	enum kwhy_status status;

	if (!replay)
		return kwhy_fail_memory(error, "the readings to play back");
	replay->sensors = sensors;
	status = read_file(replay, request, error);
	if (!status)
		status = add_all(replay, request, error);
	if (status) {
		replay_close(replay);
		return status;
	}
	*out_state = replay;
	return KWHY_OK;
}

const struct kwhy_sensor_backend kwhy_sensor_replay = {
	.name = "replay", .open = replay_open, .close = replay_close};
