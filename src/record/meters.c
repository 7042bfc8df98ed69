/* SPDX-License-Identifier: Apache-2.0 */
#include "record/meters.h"

#include "base/boot.h"
#include "recording/block_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BATCH = 256, SHARE_BYTES = 16384, HOST_BYTES = 256, MODE = 0666 };

struct kwhy_record_meters {
	const struct kwhy_sensors *sensors;
	char *path;
	int fd;
	unsigned char *memory; /* memory of the block writer */
	struct kwhy_block_writer writer;
	struct kwhy_channel_cursor *cursors; /* one cursor for each source of readings */
	uint32_t names, command;
	int64_t start_mono_ns, end_mono_ns;
};

/*
 * Writes a NAME record for a text and returns its id; 0 for NULL. Equal texts get different ids; there are
 * too few of them to search for duplicates.
 */
static uint32_t say(struct kwhy_record_meters *meters, const char *text)
{
	if (!text)
		return 0;
	kwhy_block_writer_add_name(&meters->writer, ++meters->names, text, strlen(text));
	return meters->names;
}

static void say_clock(struct kwhy_record_meters *meters)
{
	struct kwhy_clock_relation relation = kwhy_sensors_relate(meters->sensors);
	struct kwhy_wire_clock *clock = kwhy_block_writer_add(&meters->writer, KWHY_WIRE_CLOCK);

	if (clock)
		*clock = (struct kwhy_wire_clock){relation.mono_ns, relation.offset_ns, relation.width_ns};
}

static void say_process(struct kwhy_record_meters *meters, const struct kwhy_record_meters_request *request)
{
	char name[HOST_BYTES] = "", start[KWHY_BOOT_BYTES];
	bool is_named = !gethostname(name, sizeof(name) - 1) && name[0];
	uint32_t host = say(meters, is_named ? name : NULL), producer = say(meters, request->producer), boot;
	struct kwhy_wire_process *process;

	kwhy_boot_read(NULL, start);
	boot = say(meters, start[0] ? start : NULL);
	meters->command = say(meters, request->command);
	process = kwhy_block_writer_add(&meters->writer, KWHY_WIRE_PROCESS);
	if (process)
		*process = (struct kwhy_wire_process){.pid = getpid(),
			.parent_pid = getppid(),
			.start_mono_ns = kwhy_sensors_relate(meters->sensors).mono_ns,
			.host = host,
			.command = meters->command,
			.producer = producer,
			.rank = KWHY_WIRE_UNKNOWN_U32,
			.world_size = KWHY_WIRE_UNKNOWN_U32,
			.boot = boot};
}

static void say_device(struct kwhy_record_meters *meters, const struct kwhy_sensor_device *device)
{
	uint32_t name = say(meters, device->name), uuid = say(meters, device->uuid);
	struct kwhy_wire_device *row = kwhy_block_writer_add(&meters->writer, KWHY_WIRE_DEVICE);

	if (row)
		*row = (struct kwhy_wire_device){.index = device->index,
			.name = name,
			.uuid = uuid,
			.sm_count = device->sm_count,
			.memory_bytes = device->memory_bytes,
			.limit_mw = device->limit_mw};
}

/*
 * Whether readings of the source are recorded. Those of MIG instances are not: an instance has no power
 * meter, and its index is that of its device.
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

	row.meter = is_meter ? say(meters, kwhy_meter_name(source->meter)) : 0;
	row.gauge = is_meter ? 0 : say(meters, kwhy_gauge_name(source->gauge));
	row.label = say(meters, source->label);
	if (source->device != KWHY_SENSOR_NO_DEVICE) {
		row.device = meters->sensors->devices[source->device].index;
		row.uuid = say(meters, meters->sensors->devices[source->device].uuid);
	}
	place = kwhy_block_writer_add(&meters->writer, KWHY_WIRE_SOURCE);
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
			say_device(meters, &sensors->devices[i]);
	for (uint32_t i = 0; i < sensors->source_count; i++)
		if (is_recorded(meters, &sensors->sources[i]))
			say_source(meters, i);
}

static void release(struct kwhy_record_meters *meters)
{
	if (meters->fd >= 0)
		close(meters->fd);
	free(meters->path);
	free(meters->memory);
	free(meters->cursors);
	free(meters);
}

static enum kwhy_status refused(const struct kwhy_record_meters *meters, int why, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_IO, "cannot write '%.300s': %s; name another folder with -o",
		meters->path, strerror(why));
}

/* Whether the file is still at its path. If its folder was deleted or moved, the file is no longer there. */
static bool is_in_place(const struct kwhy_record_meters *meters)
{
	struct stat ours, there;

	return !fstat(meters->fd, &ours) && !stat(meters->path, &there) && ours.st_dev == there.st_dev &&
		ours.st_ino == there.st_ino;
}

static enum kwhy_status open_file(struct kwhy_record_meters *meters,
	const struct kwhy_record_meters_request *request, struct kwhy_error *error)
{
	int64_t now_ns = kwhy_sensors_relate(meters->sensors).mono_ns;

	meters->path = strdup(request->path);
	meters->memory = malloc(KWHY_BLOCK_WRITER_BYTES(SHARE_BYTES));
	meters->cursors = calloc(meters->sensors->source_count + 1, sizeof(*meters->cursors));
	if (!meters->path || !meters->memory || !meters->cursors)
		return kwhy_fail_memory(error, "the recording of the meters");
	meters->fd = open(request->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, MODE);
	if (meters->fd < 0)
		return refused(meters, errno, error);
	/*
	 * The writer's id combines pid and start time, because processes on several machines may have the
	 * same pid.
	 */
	kwhy_block_writer_init(&meters->writer, meters->fd, (uint64_t)getpid() << 40 ^ (uint64_t)now_ns,
		meters->memory, SHARE_BYTES);
	meters->writer.limit_bytes = request->limit_bytes;
	return KWHY_OK;
}

enum kwhy_status kwhy_record_meters_open(const struct kwhy_record_meters_request *request,
	const struct kwhy_sensors *sensors, struct kwhy_record_meters **out, struct kwhy_error *error)
{
	struct kwhy_record_meters *meters = calloc(1, sizeof(*meters));
	enum kwhy_status status;

	if (!meters)
		return kwhy_fail_memory(error, "the recording of the meters");
	meters->sensors = sensors;
	meters->fd = -1;
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
	row = kwhy_block_writer_add(&meters->writer, KWHY_WIRE_READING);
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
	kwhy_block_writer_flush(&meters->writer);
	return meters->writer.failure ? refused(meters, meters->writer.failure, error) : KWHY_OK;
}

void kwhy_record_meters_add_work(
	struct kwhy_record_meters *meters, int64_t time_mono_ns, const char *unit, double count)
{
	uint32_t name = say(meters, unit);
	struct kwhy_wire_work *work = kwhy_block_writer_add(&meters->writer, KWHY_WIRE_WORK);

	if (work)
		*work = (struct kwhy_wire_work){.time_mono_ns = time_mono_ns, .count = count, .unit = name};
}

void kwhy_record_meters_add_note(
	struct kwhy_record_meters *meters, enum kwhy_note_kind kind, const char *id, const char *text)
{
	uint32_t id_name = say(meters, id), text_name = say(meters, text);
	struct kwhy_wire_note *note = kwhy_block_writer_add(&meters->writer, KWHY_WIRE_NOTE);

	if (note)
		*note = (struct kwhy_wire_note){.kind = kind, .id = id_name, .text = text_name};
}

void kwhy_record_meters_add_cost(
	struct kwhy_record_meters *meters, enum kwhy_wire_cost_kind kind, int64_t spent_ns, uint64_t count)
{
	struct kwhy_wire_cost *cost = kwhy_block_writer_add(&meters->writer, KWHY_WIRE_COST);

	if (cost)
		*cost = (struct kwhy_wire_cost){.spent_ns = spent_ns, .count = count, .kind = kind};
}

static void say_run(
	struct kwhy_record_meters *meters, int64_t start_mono_ns, int64_t end_mono_ns, uint32_t exit)
{
	struct kwhy_wire_run *run = kwhy_block_writer_add(&meters->writer, KWHY_WIRE_RUN);

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
	kwhy_block_writer_finish(&meters->writer, kwhy_sensors_relate(meters->sensors).mono_ns);
	if (!status && meters->writer.failure)
		status = refused(meters, meters->writer.failure, error);
	if (!status && !is_in_place(meters))
		status = kwhy_fail(error, KWHY_E_IO,
			"'%.300s' is gone: it was deleted or moved while the command ran; name another "
			"folder with -o",
			meters->path);
	release(meters);
	return status;
}
