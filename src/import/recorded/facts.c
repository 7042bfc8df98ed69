/* SPDX-License-Identifier: Apache-2.0 */
#include "base/column.h"
#include "import/demangle.h"
#include "import/recorded/recorded.h"

#include <stdlib.h>
#include <string.h>

/* Largest number of writers in a recording. A writer is a process that wrote a part of it. */
enum { WRITERS_MAX = 65536 };

static enum kwhy_status add_writer(
	struct kwhy_recorded *recorded, uint64_t id, uint32_t *out, struct kwhy_error *error)
{
	const struct kwhy_track_key key = {(int64_t)id, 0, 0};
	enum kwhy_status status;

	if (recorded->writer_count == WRITERS_MAX)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s has more than %d writers; it is not a recording of kwhy", recorded->tracks.path,
			WRITERS_MAX);
	status = kwhy_column_reserve((void **)&recorded->writers, &recorded->writer_capacity,
		recorded->writer_count + 1, sizeof(*recorded->writers), "writers of a recording", error);
	if (!status)
		status = kwhy_track_map_put(
			&recorded->writer_of, key, (uint32_t)recorded->writer_count, error);
	if (status)
		return status;
	*out = (uint32_t)recorded->writer_count++;
	recorded->writers[*out] = (struct kwhy_recorded_writer){
		.id = id, .clock.width_ns = -1, .rank = KWHY_NONE, .process = KWHY_NONE};
	return KWHY_OK;
}

enum kwhy_status kwhy_recorded_writer_of(
	struct kwhy_recorded *recorded, uint64_t id, uint32_t *out, struct kwhy_error *error)
{
	const struct kwhy_track_key key = {(int64_t)id, 0, 0};

	if (kwhy_track_map_find(&recorded->writer_of, key, out))
		return KWHY_OK;
	return add_writer(recorded, id, out, error);
}

uint32_t kwhy_recorded_name(struct kwhy_recorded *recorded, uint32_t writer, uint32_t number)
{
	const struct kwhy_track_key key = {writer, number, 0};
	uint32_t name = 0;

	if (number && !kwhy_track_map_find(&recorded->names, key, &name))
		recorded->unknown_names++;
	return name;
}

static const char *text_of(struct kwhy_recorded *recorded, uint32_t writer, uint32_t number)
{
	uint32_t name = kwhy_recorded_name(recorded, writer, number);

	return name ? kwhy_names_get(&recorded->recording->names, name) : NULL;
}

int64_t kwhy_recorded_time(const struct kwhy_recorded *recorded, uint32_t writer, int64_t mono_ns)
{
	const int64_t offset_ns = recorded->writers[writer].clock.offset_ns;
	int64_t unix_ns, time_ns;

	if (mono_ns < 0 || __builtin_add_overflow(mono_ns, offset_ns, &unix_ns) ||
		__builtin_sub_overflow(unix_ns, recorded->recording->origin_unix_ns, &time_ns) ||
		time_ns > INT64_MAX / 4 || time_ns < INT64_MIN / 4)
		return KWHY_UNKNOWN_TIME;
	return time_ns;
}

static enum kwhy_status take_names(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_block *block, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	const char *bytes;
	size_t at = 0, length;
	uint32_t number, name;

	while (!status && kwhy_block_name(block, &at, &number, &bytes, &length)) {
		status = kwhy_demangle_intern(&recorded->recording->names, NULL, bytes, length, &name, error);
		if (!status)
			status = kwhy_track_map_put(
				&recorded->names, (struct kwhy_track_key){writer, number, 0}, name, error);
	}
	return status;
}

/*
 * A writer reads CLOCK_MONOTONIC and Unix time in pairs (KWHY_WIRE_CLOCK). Keeps the pair that was read
 * within the shortest time, width_ns. All times of the writer are converted by this one pair, so that setting
 * the Unix time during the run does not distort them. Also keeps the earliest Unix time.
 */
static void take_clocks(
	struct kwhy_recorded *recorded, struct kwhy_recorded_writer *writer, const struct kwhy_block *block)
{
	struct kwhy_wire_clock scratch;
	int64_t unix_ns;

	for (size_t i = 0; i < block->record_count; i++) {
		const struct kwhy_wire_clock *clock = kwhy_block_record(block, i, &scratch, sizeof(scratch));

		if (writer->clock.width_ns < 0 || clock->width_ns < writer->clock.width_ns)
			writer->clock = *clock;
		if (!__builtin_add_overflow(clock->mono_ns, clock->offset_ns, &unix_ns) &&
			unix_ns < recorded->first_unix_ns)
			recorded->first_unix_ns = unix_ns;
	}
}

enum kwhy_status kwhy_recorded_fact_keep(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_block *block, struct kwhy_error *error)
{
	struct kwhy_recorded_fact fact = {.writer = writer, .block = *block};
	enum kwhy_status status;
	void *copy;

	if (block->kind == KWHY_WIRE_NAME)
		return take_names(recorded, writer, block, error);
	if (block->kind == KWHY_WIRE_CLOCK)
		take_clocks(recorded, &recorded->writers[writer], block);
	status = kwhy_column_reserve((void **)&recorded->facts, &recorded->fact_capacity,
		recorded->fact_count + 1, sizeof(*recorded->facts), "facts of a recording", error);
	if (status)
		return status;
	copy = kwhy_arena_alloc(&recorded->arena, block->raw_bytes, 1);
	if (!copy)
		return kwhy_fail_memory(error, "facts of a recording");
	fact.block.records = memcpy(copy, block->records, block->raw_bytes);
	recorded->facts[recorded->fact_count++] = fact;
	return KWHY_OK;
}

static enum kwhy_status apply_process(struct kwhy_recorded *recorded, uint32_t index,
	const struct kwhy_wire_process *process, struct kwhy_error *error)
{
	struct kwhy_recorded_writer *writer = &recorded->writers[index];
	struct kwhy_process *row;
	enum kwhy_status status;

	writer->rank = process->rank;
	writer->host = kwhy_recorded_name(recorded, index, process->host);
	writer->boot = kwhy_recorded_name(recorded, index, process->boot);
	writer->helps_pid = process->is_helper ? process->parent_pid : 0;
	if (process->is_helper)
		return KWHY_OK;
	status = kwhy_tracks_process(
		&recorded->tracks, (int64_t)writer->id, process->pid, &writer->process, error);
	if (status)
		return status;
	row = &recorded->recording->processes[writer->process];
	row->rank = process->rank;
	row->world_size = process->world_size == KWHY_WIRE_UNKNOWN_U32 ? 0 : process->world_size;
	row->host = text_of(recorded, index, process->host);
	return KWHY_OK;
}

/*
 * The recording's device with this UUID; KWHY_NONE: none, or `uuid` is NULL. Indices are not compared,
 * because one device may have different indices in different processes.
 */
static uint32_t device_of_uuid(const struct kwhy_recording *recording, const char *uuid)
{
	for (uint32_t i = 0; uuid && i < recording->device_count; i++)
		if (recording->devices[i].uuid && !strcmp(recording->devices[i].uuid, uuid))
			return i;
	return KWHY_NONE;
}

static enum kwhy_status map_device(struct kwhy_recorded *recorded, uint32_t writer, int32_t index,
	uint32_t device, struct kwhy_error *error)
{
	return kwhy_track_map_put(
		&recorded->devices, (struct kwhy_track_key){writer, index, 0}, device, error);
}

/* Copies to `known` those properties of the device that `known` lacks and `row` has. */
static void complete_device(struct kwhy_device *known, const struct kwhy_device *row)
{
	if (known->rank == KWHY_NONE)
		known->rank = row->rank;
	if (known->machine == KWHY_NONE)
		known->machine = row->machine;
	if (!known->name)
		known->name = row->name;
	if (!known->sm_count)
		known->sm_count = row->sm_count;
	if (!known->threads_per_sm)
		known->threads_per_sm = row->threads_per_sm;
	if (!known->registers_per_sm)
		known->registers_per_sm = row->registers_per_sm;
	if (!known->shared_bytes_per_sm)
		known->shared_bytes_per_sm = row->shared_bytes_per_sm;
	if (!known->memory_bytes)
		known->memory_bytes = row->memory_bytes;
	if (!(known->memory_rate_bytes_per_s > 0))
		known->memory_rate_bytes_per_s = row->memory_rate_bytes_per_s;
	if (known->limit_mw < 0)
		known->limit_mw = row->limit_mw;
}

/*
 * The machine of a writer; KWHY_NONE if the writer stated neither host nor boot, as may be in a damaged
 * recording.
 */
static uint32_t machine_of(const struct kwhy_recorded_writer *writer)
{
	return writer->host || writer->boot ? writer->machine : KWHY_NONE;
}

static enum kwhy_status apply_device(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_device *device, struct kwhy_error *error)
{
	struct kwhy_device row = kwhy_device_unknown(device->index, recorded->writers[writer].rank);
	uint32_t known;
	enum kwhy_status status = KWHY_OK;

	row.machine = machine_of(&recorded->writers[writer]);
	row.name = text_of(recorded, writer, device->name);
	row.uuid = text_of(recorded, writer, device->uuid);
	row.sm_count = device->sm_count;
	row.threads_per_sm = device->threads_per_sm;
	row.registers_per_sm = device->registers_per_sm;
	row.shared_bytes_per_sm = device->shared_bytes_per_sm;
	row.memory_bytes = device->memory_bytes;
	row.memory_rate_bytes_per_s = device->memory_rate_bytes_per_s;
	row.limit_mw = device->limit_mw;
	known = device_of_uuid(recorded->recording, row.uuid);
	if (known == KWHY_NONE)
		status = kwhy_recording_add_device(recorded->recording, &row, &known, error);
	else
		complete_device(&recorded->recording->devices[known], &row);
	return status ? status : map_device(recorded, writer, device->index, known, error);
}

enum kwhy_status kwhy_recorded_device(struct kwhy_recorded *recorded, uint32_t writer, int32_t index,
	uint32_t *out, struct kwhy_error *error)
{
	const struct kwhy_track_key key = {writer, index, 0};
	const struct kwhy_track_device device = {
		index, recorded->writers[writer].rank, machine_of(&recorded->writers[writer])};
	enum kwhy_status status;

	if (kwhy_track_map_find(&recorded->devices, key, out))
		return KWHY_OK;
	status = kwhy_tracks_device(&recorded->tracks, &device, out, error);
	return status ? status : map_device(recorded, writer, index, *out, error);
}

/* Finds the device of a meter by UUID. If no device is known to have this UUID, it is found by index. */
static enum kwhy_status find_metered(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_source *source, uint32_t *out, struct kwhy_error *error)
{
	const char *uuid = text_of(recorded, writer, source->uuid);
	enum kwhy_status status;

	*out = KWHY_NONE;
	if (source->device < 0)
		return KWHY_OK;
	*out = device_of_uuid(recorded->recording, uuid);
	if (*out != KWHY_NONE)
		return KWHY_OK;
	status = kwhy_recorded_device(recorded, writer, source->device, out, error);
	if (!status && !recorded->recording->devices[*out].uuid)
		recorded->recording->devices[*out].uuid = uuid;
	return status;
}

static enum kwhy_status apply_source(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_source *source, struct kwhy_error *error)
{
	const char *name = text_of(recorded, writer, source->meter),
		   *gauge = text_of(recorded, writer, source->gauge);
	struct kwhy_recorded_meter meter = {.gauge = KWHY_GAUGE_COUNT,
		.source = {.meter = KWHY_METER_COUNT,
			.domain = source->domain,
			.machine = source->device < 0 ? recorded->writers[writer].machine : KWHY_NONE,
			.wrap = source->wrap > 0 ? source->wrap : 0}};
	enum kwhy_status status;

	for (int i = 0; name && i < KWHY_METER_COUNT; i++)
		if (!strcmp(name, kwhy_meter_name((enum kwhy_meter)i)))
			meter.source.meter = (uint32_t)i;
	for (int i = 0; gauge && i < KWHY_GAUGE_COUNT; i++)
		if (!strcmp(gauge, kwhy_gauge_name((enum kwhy_gauge)i)))
			meter.gauge = (enum kwhy_gauge)i;
	status = find_metered(recorded, writer, source, &meter.source.device, error);
	if (!status)
		status = kwhy_column_reserve((void **)&recorded->meters, &recorded->meter_capacity,
			recorded->meter_count + 1, sizeof(*recorded->meters), "meters of a recording", error);
	if (status)
		return status;
	recorded->meters[recorded->meter_count] = meter;
	return kwhy_track_map_put(&recorded->sources, (struct kwhy_track_key){writer, source->id, 0},
		(uint32_t)recorded->meter_count++, error);
}

/*
 * Extends the run of the recording, run_start_ns to run_end_ns, by the run that one launcher (kwhy record)
 * states. A distributed program has one launcher for each rank.
 */
static void apply_run(struct kwhy_recorded *recorded, uint32_t writer, const struct kwhy_wire_run *run)
{
	int64_t start_ns = kwhy_recorded_time(recorded, writer, run->start_mono_ns),
		end_ns = kwhy_recorded_time(recorded, writer, run->end_mono_ns);

	if (start_ns == KWHY_UNKNOWN_TIME)
		return;
	if (recorded->begun_ns == INT64_MIN || start_ns < recorded->begun_ns)
		recorded->begun_ns = start_ns;
	if (end_ns < start_ns)
		return;
	if (start_ns < recorded->run_start_ns)
		recorded->run_start_ns = start_ns;
	if (end_ns > recorded->run_end_ns)
		recorded->run_end_ns = end_ns;
}

/*
 * Limits a window to the run that the launcher states, because the user may ask the launcher to record less
 * time than the processes record. A process that ended properly less than KWHY_RECORDED_JUST_BEFORE_NS before
 * the end of the run ran nothing afterwards; its window then lasts until KWHY_RECORDED_FLUSH_NS after the
 * run, to contain the next update of the energy counters. Otherwise the energy since the last update would
 * belong to no account.
 */
static void fit_to_run(const struct kwhy_recorded *recorded, struct kwhy_recorded_window *row)
{
	const struct kwhy_recorded_writer *writer = &recorded->writers[row->writer];
	const int64_t start_ns = recorded->run_start_ns, end_ns = recorded->run_end_ns;

	if (start_ns > end_ns)
		return;
	if (row->start_ns < start_ns)
		row->start_ns = start_ns;
	if (row->end_ns > end_ns)
		row->end_ns = end_ns;
	else if (writer->has_ended && !writer->selection.is_stated &&
		row->end_ns > end_ns - KWHY_RECORDED_JUST_BEFORE_NS)
		row->end_ns = end_ns + KWHY_RECORDED_FLUSH_NS;
}

static enum kwhy_status apply_coverage(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_coverage *coverage, struct kwhy_error *error)
{
	struct kwhy_recorded_window row = {.writer = writer,
		.device = KWHY_NONE,
		.start_ns = kwhy_recorded_time(recorded, writer, coverage->start_mono_ns),
		.end_ns = kwhy_recorded_time(recorded, writer, coverage->end_mono_ns),
		.since_ns = coverage->since_mono_ns
			? kwhy_recorded_time(recorded, writer, coverage->since_mono_ns)
			: KWHY_UNKNOWN_TIME};
	enum kwhy_status status = KWHY_OK;

	if (row.start_ns == KWHY_UNKNOWN_TIME || row.end_ns < row.start_ns)
		return KWHY_OK;
	fit_to_run(recorded, &row);
	if (row.end_ns < row.start_ns)
		return KWHY_OK;
	if (coverage->device >= 0)
		status = kwhy_recorded_device(recorded, writer, coverage->device, &row.device, error);
	return status ? status : kwhy_recorded_window_keep(recorded, &row, error);
}

/*
 * Adds work that a process reported, such as tokens, to the sum for its unit. A process may report work many
 * times.
 */
static enum kwhy_status apply_work(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_work *work, struct kwhy_error *error)
{
	const char *unit = text_of(recorded, writer, work->unit);

	for (size_t i = 0; unit && i < recorded->recording->work_count; i++) {
		if (strcmp(recorded->recording->work[i].unit, unit) != 0)
			continue;
		recorded->recording->work[i].count += work->count;
		return KWHY_OK;
	}
	return unit ? kwhy_recording_add_work(recorded->recording, unit, work->count, error) : KWHY_OK;
}

static enum kwhy_status apply_note(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_note *note, struct kwhy_error *error)
{
	const char *id = text_of(recorded, writer, note->id), *text = text_of(recorded, writer, note->text);

	if (!id || !text || note->kind >= KWHY_NOTE_KIND_COUNT)
		return KWHY_OK;
	return kwhy_recording_add_note(
		recorded->recording, (enum kwhy_note_kind)note->kind, id, error, "%s", text);
}

static enum kwhy_status apply_record(struct kwhy_recorded *recorded, uint32_t writer, unsigned kind,
	const void *record, struct kwhy_error *error)
{
	switch (kind) {
	case KWHY_WIRE_PROCESS:
		return apply_process(recorded, writer, record, error);
	case KWHY_WIRE_DEVICE:
		return apply_device(recorded, writer, record, error);
	case KWHY_WIRE_SOURCE:
		return apply_source(recorded, writer, record, error);
	case KWHY_WIRE_COVERAGE:
		return apply_coverage(recorded, writer, record, error);
	case KWHY_WIRE_WORK:
		return apply_work(recorded, writer, record, error);
	case KWHY_WIRE_NOTE:
		return apply_note(recorded, writer, record, error);
	case KWHY_WIRE_LOST:
		recorded->recording->lost.dropped_records += ((const struct kwhy_wire_lost *)record)->records;
		return KWHY_OK;
	case KWHY_WIRE_RUN:
		apply_run(recorded, writer, record);
		return KWHY_OK;
	case KWHY_WIRE_END:
		recorded->writers[writer].has_ended = true;
		recorded->writers[writer].ended_ns = kwhy_recorded_time(
			recorded, writer, ((const struct kwhy_wire_end *)record)->time_mono_ns);
		return KWHY_OK;
	case KWHY_WIRE_SELECTION:
		kwhy_recorded_selection_keep(recorded, writer, record);
		return KWHY_OK;
	case KWHY_WIRE_BURST:
		return kwhy_recorded_burst_keep(recorded, writer, record, error);
	case KWHY_WIRE_UNPROBED:
		return kwhy_recorded_unprobed_keep(recorded, writer, record, error);
	case KWHY_WIRE_COST:
		kwhy_recorded_cost_keep(recorded, writer, record);
		return KWHY_OK;
	default:
		return kwhy_recorded_line_add(recorded, writer, kind, record, error);
	}
}

static enum kwhy_status apply_kind(struct kwhy_recorded *recorded, unsigned kind, struct kwhy_error *error)
{
	const size_t known_bytes = kwhy_wire_record_bytes(kind);
	enum kwhy_status status = KWHY_OK;
	uint64_t scratch[8]; /* memory for one record; the largest record of facts has 64 bytes */

	for (size_t i = 0; !status && i < recorded->fact_count; i++) {
		const struct kwhy_recorded_fact *fact = &recorded->facts[i];

		if (fact->block.kind != kind)
			continue;
		for (size_t row = 0; !status && row < fact->block.record_count; row++)
			status = apply_record(recorded, fact->writer, kind,
				kwhy_block_record(&fact->block, row, scratch, known_bytes), error);
	}
	return status;
}

/*
 * If this is the first source, sets the recording's origin to the earliest Unix time that a writer read,
 * rounded down to a whole second. If no writer read one, the times are those of CLOCK_MONOTONIC.
 */
static void choose_origin(struct kwhy_recorded *recorded)
{
	struct kwhy_recording *recording = recorded->recording;
	const int64_t first_ns = recorded->first_unix_ns;

	if (recording->source_count > 1)
		return;
	recording->unix_clock = first_ns != INT64_MAX;
	if (recording->unix_clock)
		recording->origin_unix_ns = first_ns - first_ns % 1000000000;
	else
		recording->clock_name = "CLOCK_MONOTONIC";
}

enum kwhy_status kwhy_recorded_facts_apply(struct kwhy_recorded *recorded, struct kwhy_error *error)
{
	static const unsigned order[] = {KWHY_WIRE_DEVICE, KWHY_WIRE_SOURCE, KWHY_WIRE_RUN, KWHY_WIRE_END,
		KWHY_WIRE_SELECTION, KWHY_WIRE_COST, KWHY_WIRE_COVERAGE, KWHY_WIRE_WORK, KWHY_WIRE_NOTE,
		KWHY_WIRE_LOST, KWHY_WIRE_BURST, KWHY_WIRE_UNPROBED, KWHY_WIRE_FRAME, KWHY_WIRE_SAMPLE};
	enum kwhy_status status = apply_kind(recorded, KWHY_WIRE_PROCESS, error);

	if (!status)
		status = kwhy_recorded_machines_apply(recorded, error);
	choose_origin(recorded);
	for (size_t i = 0; !status && i < sizeof(order) / sizeof(order[0]); i++)
		status = apply_kind(recorded, order[i], error);
	return status;
}
