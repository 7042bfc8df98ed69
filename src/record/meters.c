/* SPDX-License-Identifier: Apache-2.0 */
#include "record/meters.h"

#include "record/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 256 };

struct kwhy_record_meters {
	const struct kwhy_sensors *sensors;
	struct kwhy_record_file file;
	struct kwhy_channel_cursor
		*cursors; /* [source]: how far the readings of that source have been written */
	uint32_t command; /* id of the command's name in the file */
	int64_t start_mono_ns, end_mono_ns;
};

static void say_clock(struct kwhy_record_meters *meters)
{
	struct kwhy_clock_relation relation = kwhy_sensors_relate(meters->sensors);

	kwhy_record_file_add_clock(&meters->file, &relation);
}

static void say_process(struct kwhy_record_meters *meters, const struct kwhy_record_meters_request *request)
{
	struct kwhy_record_process process = {
		.producer = request->producer, .start_mono_ns = kwhy_sensors_relate(meters->sensors).mono_ns};

	process.command = meters->command = kwhy_record_file_name(&meters->file, request->command);
	kwhy_record_file_add_process(&meters->file, &process);
}

/*
 * Whether readings of the source are recorded. Those of MIG instances are not: an instance has no power
 * meter, and a recording identifies devices by an index that instances share with their device.
 */
static bool is_recorded(const struct kwhy_record_meters *meters, const struct kwhy_source_channel *source)
{
	return source->device == KWHY_SENSOR_NO_DEVICE ||
		meters->sensors->devices[source->device].mig_index < 0;
}

static void say_source(struct kwhy_record_meters *meters, uint32_t index)
{
	const struct kwhy_source_channel *source = &meters->sensors->sources[index];
	bool is_meter = source->kind == KWHY_SOURCE_METER;
	struct kwhy_wire_source row = {.id = index,
		.device = -1,
		.domain = source->domain,
		.period_ns = source->period_ns,
		.wrap = source->wrap};
	struct kwhy_wire_source *place;

	row.meter = is_meter ? kwhy_record_file_name(&meters->file, kwhy_meter_name(source->meter)) : 0;
	row.gauge = is_meter ? 0 : kwhy_record_file_name(&meters->file, kwhy_gauge_name(source->gauge));
	row.label = kwhy_record_file_name(&meters->file, source->label);
	if (source->device != KWHY_SENSOR_NO_DEVICE) {
		row.device = meters->sensors->devices[source->device].index;
		row.uuid = kwhy_record_file_name(
			&meters->file, meters->sensors->devices[source->device].uuid);
	}
	place = kwhy_block_writer_add(&meters->file.writer, KWHY_WIRE_SOURCE);
	if (place)
		*place = row;
}

static void say_facts(struct kwhy_record_meters *meters, const struct kwhy_record_meters_request *request)
{
	const struct kwhy_sensors *sensors = meters->sensors;

	say_clock(meters);
	say_process(meters, request);
	for (size_t i = 0; i < sensors->device_count; i++)
		if (sensors->devices[i].mig_index < 0)
			kwhy_record_file_add_device(&meters->file, &sensors->devices[i]);
	for (uint32_t i = 0; i < sensors->source_count; i++)
		if (is_recorded(meters, &sensors->sources[i]))
			say_source(meters, i);
}

static void release(struct kwhy_record_meters *meters)
{
	kwhy_record_file_release(&meters->file);
	free(meters->cursors);
	free(meters);
}

static enum kwhy_status open_file(struct kwhy_record_meters *meters,
	const struct kwhy_record_meters_request *request, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_record_file_open(
		&meters->file, request->path, request->limit_bytes, error);

	meters->cursors = calloc(meters->sensors->source_count + 1, sizeof(*meters->cursors));
	if (!status && !meters->cursors)
		status = kwhy_fail_memory(error, "the recording of the meters");
	return status;
}

enum kwhy_status kwhy_record_meters_open(const struct kwhy_record_meters_request *request,
	const struct kwhy_sensors *sensors, struct kwhy_record_meters **out, struct kwhy_error *error)
{
	struct kwhy_record_meters *meters = calloc(1, sizeof(*meters));
	enum kwhy_status status;

	if (!meters)
		return kwhy_fail_memory(error, "the recording of the meters");
	meters->sensors = sensors;
	kwhy_record_meters_window(meters, INT64_MIN, INT64_MAX);
	status = open_file(meters, request, error);
	if (status) {
		release(meters);
		return status;
	}
	say_facts(meters, request);
	*out = meters;
	return kwhy_record_meters_drain(meters, error);
}

void kwhy_record_meters_window(struct kwhy_record_meters *meters, int64_t start_mono_ns, int64_t end_mono_ns)
{
	meters->start_mono_ns = start_mono_ns;
	meters->end_mono_ns = end_mono_ns;
}

static void write_reading(
	struct kwhy_record_meters *meters, uint32_t source, const struct kwhy_reading *reading)
{
	struct kwhy_wire_reading *row;

	if (reading->time_mono_ns < meters->start_mono_ns || reading->time_mono_ns > meters->end_mono_ns)
		return;
	row = kwhy_block_writer_add(&meters->file.writer, KWHY_WIRE_READING);
	if (row)
		*row = (struct kwhy_wire_reading){
			.time_mono_ns = reading->time_mono_ns, .value = reading->value, .source = source};
}

enum kwhy_status kwhy_record_meters_drain(struct kwhy_record_meters *meters, struct kwhy_error *error)
{
	const struct kwhy_sensors *sensors = meters->sensors;
	struct kwhy_reading batch[BATCH];
	size_t count;

	for (uint32_t s = 0; s < sensors->source_count; s++) {
		const struct kwhy_source_channel *source = &sensors->sources[s];

		if (!is_recorded(meters, source))
			continue;
		while ((count = kwhy_channel_read(&source->channel, &meters->cursors[s], batch, BATCH)) > 0)
			for (size_t i = 0; i < count; i++)
				write_reading(meters, s, &batch[i]);
	}
	kwhy_block_writer_flush(&meters->file.writer);
	return kwhy_record_file_check(&meters->file, error);
}

void kwhy_record_meters_add_work(
	struct kwhy_record_meters *meters, int64_t time_mono_ns, const char *unit, double count)
{
	uint32_t name = kwhy_record_file_name(&meters->file, unit);
	struct kwhy_wire_work *work = kwhy_block_writer_add(&meters->file.writer, KWHY_WIRE_WORK);

	if (work)
		*work = (struct kwhy_wire_work){.time_mono_ns = time_mono_ns, .count = count, .unit = name};
}

void kwhy_record_meters_add_note(
	struct kwhy_record_meters *meters, enum kwhy_note_kind kind, const char *id, const char *text)
{
	uint32_t id_name = kwhy_record_file_name(&meters->file, id),
		 text_name = kwhy_record_file_name(&meters->file, text);
	struct kwhy_wire_note *note = kwhy_block_writer_add(&meters->file.writer, KWHY_WIRE_NOTE);

	if (note)
		*note = (struct kwhy_wire_note){.kind = kind, .id = id_name, .text = text_name};
}

void kwhy_record_meters_add_cost(
	struct kwhy_record_meters *meters, enum kwhy_wire_cost_kind kind, int64_t spent_ns, uint64_t count)
{
	struct kwhy_wire_cost *cost = kwhy_block_writer_add(&meters->file.writer, KWHY_WIRE_COST);

	if (cost)
		*cost = (struct kwhy_wire_cost){.spent_ns = spent_ns, .count = count, .kind = kind};
}

static void say_run(
	struct kwhy_record_meters *meters, int64_t start_mono_ns, int64_t end_mono_ns, uint32_t exit)
{
	struct kwhy_wire_run *run = kwhy_block_writer_add(&meters->file.writer, KWHY_WIRE_RUN);

	if (run)
		*run = (struct kwhy_wire_run){.start_mono_ns = start_mono_ns,
			.end_mono_ns = end_mono_ns,
			.command = meters->command,
			.exit = exit};
}

enum kwhy_status kwhy_record_meters_begin_run(
	struct kwhy_record_meters *meters, int64_t start_mono_ns, struct kwhy_error *error)
{
	say_run(meters, start_mono_ns, INT64_MAX, KWHY_WIRE_UNKNOWN_U32);
	return kwhy_record_meters_drain(meters, error);
}

void kwhy_record_meters_add_run(
	struct kwhy_record_meters *meters, int64_t start_mono_ns, int64_t end_mono_ns, int exit)
{
	say_run(meters, start_mono_ns, end_mono_ns, (uint32_t)exit);
}

static void tell_lost(struct kwhy_record_meters *meters)
{
	uint64_t lost = 0;
	char text[200];

	for (size_t i = 0; i < meters->sensors->source_count; i++)
		lost += meters->cursors[i].lost;
	if (!lost)
		return;
	snprintf(text, sizeof(text),
		"%" PRIu64 " readings of meters were lost, because this machine was too busy to read the "
		"meters in time.",
		lost);
	kwhy_record_meters_add_note(meters, KWHY_NOTE_COMPLETENESS, "readings-lost", text);
}

enum kwhy_status kwhy_record_meters_close(struct kwhy_record_meters *meters, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (!meters)
		return KWHY_OK;
	status = kwhy_record_meters_drain(meters, error);
	tell_lost(meters);
	say_clock(meters);
	kwhy_block_writer_finish(&meters->file.writer, kwhy_sensors_relate(meters->sensors).mono_ns);
	if (!status)
		status = kwhy_record_file_check(&meters->file, error);
	if (!status && !kwhy_record_file_is_in_place(&meters->file))
		status = kwhy_fail(error, KWHY_E_IO,
			"'%.300s' is gone: it was deleted or moved while the command ran; name another "
			"folder with -o",
			meters->file.path);
	release(meters);
	return status;
}
