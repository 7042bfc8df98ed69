/* SPDX-License-Identifier: Apache-2.0 */
#include "sensor/sensor_csv.h"

#include "model/counter.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 256 };

/* State of writing the readings of one source. */
struct place {
	struct kwhy_channel_cursor cursor;
	uint64_t lost_reported;
	struct kwhy_reading last;
	bool begun;
	int64_t wrapped; /* sum of the counter's wraps so far, which is added to each of its readings */
};

struct kwhy_sensor_csv {
	const struct kwhy_sensors *sensors;
	char *path;
	FILE *file;
	struct kwhy_clock_relation relation;
	struct place *places; /* one for each source */
	/* errno of the first write that failed, after which nothing is written; 0: none failed */
	int failure;
};

static enum kwhy_status refused(const struct kwhy_sensor_csv *csv, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_IO, "cannot write '%.300s': %s; name another file or folder",
		csv->path, strerror(csv->failure));
}

static void flush(struct kwhy_sensor_csv *csv)
{
	if (fflush(csv->file) || ferror(csv->file))
		csv->failure = errno ? errno : EIO;
}

static void release(struct kwhy_sensor_csv *csv)
{
	if (csv->file)
		fclose(csv->file);
	free(csv->path);
	free(csv->places);
	free(csv);
}

static int32_t index_of(const struct kwhy_sensor_csv *csv, const struct kwhy_source_channel *source)
{
	return source->device == KWHY_SENSOR_NO_DEVICE ? -1 : csv->sensors->devices[source->device].index;
}

/*
 * Writes a text in double quotes. Double quotes and control characters in it become spaces, because a quoted
 * text in a comment line of power CSV has no escapes.
 */
static void write_quoted(FILE *file, const char *text)
{
	fputc('"', file);
	for (; *text; text++)
		fputc(*text == '"' || (unsigned char)*text < ' ' ? ' ' : *text, file);
	fputc('"', file);
}

static void write_device(FILE *file, const struct kwhy_sensor_device *device)
{
	fprintf(file, "# device %" PRId32, device->index);
	if (device->name) {
		fputs(" name=", file);
		write_quoted(file, device->name);
	}
	if (device->uuid) {
		fputs(" uuid=", file);
		write_quoted(file, device->uuid);
	}
	if (device->limit_mw >= 0)
		fprintf(file, " limit_w=%g", (double)device->limit_mw / 1e3);
	fputc('\n', file);
}

static void write_head(struct kwhy_sensor_csv *csv)
{
	const struct kwhy_sensors *sensors = csv->sensors;
	char name[KWHY_METER_NAME_BYTES];

	for (size_t i = 0; i < sensors->device_count; i++)
		if (sensors->devices[i].mig_index < 0)
			write_device(csv->file, &sensors->devices[i]);
	for (size_t i = 0; i < sensors->source_count; i++) {
		const struct kwhy_source_channel *source = &sensors->sources[i];

		if (source->kind != KWHY_SOURCE_METER || !source->label)
			continue;
		fprintf(csv->file,
			"# source %s label=", kwhy_meter_source(name, source->meter, source->domain));
		write_quoted(csv->file, source->label);
		fputc('\n', csv->file);
	}
	fputs("time_ns,device,source,value\n", csv->file);
}

enum kwhy_status kwhy_sensor_csv_open(const char *path, const struct kwhy_sensors *sensors,
	struct kwhy_sensor_csv **out, struct kwhy_error *error)
{
	struct kwhy_sensor_csv *csv = calloc(1, sizeof(*csv));

	if (!csv)
		return kwhy_fail_memory(error, "keeping the readings");
	csv->sensors = sensors;
	csv->relation = kwhy_sensors_relate(sensors);
	csv->path = strdup(path);
	csv->places = calloc(sensors->source_count + 1, sizeof(*csv->places));
	if (!csv->path || !csv->places) {
		release(csv);
		return kwhy_fail_memory(error, "keeping the readings");
	}
	csv->file = fopen(path, "we");
	if (csv->file) {
		errno = 0;
		write_head(csv);
		flush(csv);
	} else {
		csv->failure = errno;
	}
	if (csv->failure) {
		refused(csv, error);
		release(csv);
		return error->status;
	}
	*out = csv;
	return KWHY_OK;
}

/*
 * Converts a counter's reading to a value without wraps. If the value fell because the counter was reset, not
 * because it wrapped, the converted value falls, too.
 */
static int64_t unwrapped(
	const struct kwhy_source_channel *source, struct place *place, const struct kwhy_reading *reading)
{
	struct kwhy_counter_span span = {
		.before = place->last.value,
		.after = reading->value,
		.wrap = source->wrap,
		.length_ns = (double)reading->time_mono_ns - (double)place->last.time_mono_ns,
		.unit_nj = kwhy_meter_unit_nj(source->meter),
	};
	enum kwhy_counter_step step;
	int64_t rise;

	if (source->wrap == 0 || !place->begun)
		return reading->value;
	step = kwhy_counter_rise(&span, &rise);
	if (step == KWHY_COUNTER_WRAPPED)
		place->wrapped += source->wrap + 1;
	return reading->value + place->wrapped;
}

static void write_reading(struct kwhy_sensor_csv *csv, const struct kwhy_source_channel *source,
	struct place *place, const struct kwhy_reading *reading)
{
	int64_t time_ns = kwhy_clock_unix_of_mono(&csv->relation, reading->time_mono_ns),
		value = unwrapped(source, place, reading);
	char name[KWHY_METER_NAME_BYTES], device[16] = "";

	if (index_of(csv, source) >= 0)
		snprintf(device, sizeof(device), "%" PRId32, index_of(csv, source));
	fprintf(csv->file, "%" PRId64 ",%s,%s,%" PRId64 "\n", time_ns, device,
		kwhy_meter_source(name, source->meter, source->domain), value);
	place->last = *reading;
	place->begun = true;
}

static void tell_lost(
	struct kwhy_sensor_csv *csv, const struct kwhy_source_channel *source, struct place *place)
{
	char name[KWHY_METER_NAME_BYTES];

	if (place->cursor.lost == place->lost_reported)
		return;
	fprintf(csv->file, "# lost %" PRIu64 " readings of %s here\n",
		place->cursor.lost - place->lost_reported,
		kwhy_meter_source(name, source->meter, source->domain));
	place->lost_reported = place->cursor.lost;
}

static void drain(struct kwhy_sensor_csv *csv, const struct kwhy_source_channel *source, struct place *place)
{
	struct kwhy_reading batch[BATCH];
	size_t count;

	while ((count = kwhy_channel_read(&source->channel, &place->cursor, batch, BATCH)) > 0) {
		tell_lost(csv, source, place);
		for (size_t i = 0; i < count; i++)
			write_reading(csv, source, place, &batch[i]);
	}
}

void kwhy_sensor_csv_drain(struct kwhy_sensor_csv *csv)
{
	if (csv->failure)
		return;
	errno = 0;
	for (size_t i = 0; i < csv->sensors->source_count; i++)
		if (csv->sensors->sources[i].kind == KWHY_SOURCE_METER)
			drain(csv, &csv->sensors->sources[i], &csv->places[i]);
	flush(csv);
}

uint64_t kwhy_sensor_csv_lost(const struct kwhy_sensor_csv *csv)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < csv->sensors->source_count; i++)
		lost += csv->places[i].cursor.lost;
	return lost;
}

enum kwhy_status kwhy_sensor_csv_close(struct kwhy_sensor_csv *csv, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (!csv)
		return KWHY_OK;
	kwhy_sensor_csv_drain(csv);
	if (fclose(csv->file) && !csv->failure)
		csv->failure = errno;
	csv->file = NULL;
	status = csv->failure ? refused(csv, error) : KWHY_OK;
	release(csv);
	return status;
}
