/* SPDX-License-Identifier: Apache-2.0 */
#include "import/sqlite/tables.h"
#include "base/column.h"
#include "base/span.h"
#include "import/reader.h"
#include "import/sqlite/export_tables.h"
#include "import/sqlite/meta.h"
#include "import/tracks.h"
#include "model/recording_reserve.h"

#include <stdlib.h>
#include <string.h>

/*
 * This file reads kwhy's own SQLite export (docs/formats/sqlite.md): activities, calls, ranges, readings of
 * meters, work and coverage. The accounts and findings in the export are not read.
 */

struct tables {
	struct kwhy_recording *recording;
	struct kwhy_sqlite *db;
	struct kwhy_tracks tracks;
	int64_t shift_ns;
	struct kwhy_track_map machines, processes, devices, streams,
		names;	       /* from the ids in the file to indices in the recording */
	uint8_t *states_class; /* [class_capacity] for each name of the recording, whether it determines the
				  class of a call; 0: not looked up yet, 1: no, 2: yes */
	size_t class_capacity;
	const struct table *reading;
	uint64_t rows;
	/* [value of the enumeration] word by which the file states the value */
	const char *kinds[KWHY_ACTIVITY_KIND_COUNT], *copies[KWHY_COPY_KIND_COUNT];
	const char *memories[KWHY_MEMORY_KIND_COUNT], *classes[KWHY_CALL_CLASS_COUNT];
	const char *host_kinds[KWHY_HOST_KIND_COUNT];
};

struct table {
	struct kwhy_sqlite_table table;
	enum kwhy_status (*read)(
		struct tables *tables, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error);
};

static int64_t integer(const struct kwhy_sqlite_rows *rows, size_t column, int64_t unknown)
{
	int64_t value;

	return kwhy_sqlite_integer(rows, column, &value) ? value : unknown;
}

/* The number in a column if it is from 0 to `unknown` - 1; otherwise `unknown`. */
static uint32_t small(const struct kwhy_sqlite_rows *rows, size_t column, uint32_t unknown)
{
	int64_t value = integer(rows, column, -1);

	return value >= 0 && value < unknown ? (uint32_t)value : unknown;
}

/* The index in `words` of the text in a column; 0 if it is not among them. */
static size_t word(const struct kwhy_sqlite_rows *rows, size_t column, const char *const *words, size_t count)
{
	const char *bytes;
	size_t length;

	if (kwhy_sqlite_text(rows, column, &bytes, &length))
		for (size_t i = 0; i < count; i++)
			if (kwhy_span_is((struct kwhy_span){bytes, length}, words[i]))
				return i;
	return 0;
}

static enum kwhy_status put(struct kwhy_track_map *map, const struct kwhy_sqlite_rows *rows, uint32_t row,
	struct kwhy_error *error)
{
	return kwhy_track_map_put(map, (struct kwhy_track_key){.a = integer(rows, 0, -1)}, row, error);
}

/*
 * The index in the recording that belongs to the id in a column; KWHY_NONE: the column is NULL, or the id is
 * unknown.
 */
static uint32_t find(const struct kwhy_track_map *map, const struct kwhy_sqlite_rows *rows, size_t column)
{
	uint32_t row;
	int64_t id;

	if (!kwhy_sqlite_integer(rows, column, &id) ||
		!kwhy_track_map_find((struct kwhy_track_map *)map, (struct kwhy_track_key){.a = id}, &row))
		return KWHY_NONE;
	return row;
}

static enum kwhy_status times(struct tables *tables, const struct kwhy_sqlite_rows *rows, size_t column,
	int64_t *out_start_ns, int64_t *out_end_ns, struct kwhy_error *error)
{
	int64_t start_ns, end_ns;

	*out_start_ns = *out_end_ns = 0;
	if (!kwhy_sqlite_integer(rows, column, &start_ns) ||
		!kwhy_sqlite_integer(rows, column + 1, &end_ns) ||
		__builtin_add_overflow(start_ns, tables->shift_ns, out_start_ns) ||
		__builtin_add_overflow(end_ns, tables->shift_ns, out_end_ns) || end_ns < start_ns)
		return kwhy_sqlite_row_fail(
			rows, error, "its start and end are not times in order; export it again");
	return KWHY_OK;
}

static enum kwhy_status read_machine(
	struct tables *tables, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	struct kwhy_machine machine = {.width_ns = -1};
	const char *name = kwhy_sqlite_kept_text(rows, 1, &tables->tracks);
	enum kwhy_status status;
	uint32_t row;

	status = kwhy_names_intern(
		&tables->recording->names, name ? name : "", name ? strlen(name) : 0, &machine.host, error);
	if (!status)
		status = kwhy_recording_add_machine(tables->recording, &machine, &row, error);
	return status ? status : put(&tables->machines, rows, row, error);
}

static enum kwhy_status read_process(
	struct tables *tables, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	struct kwhy_process process = {.machine = find(&tables->machines, rows, 1),
		.pid = integer(rows, 2, -1),
		.rank = small(rows, 3, KWHY_NONE),
		.host = kwhy_sqlite_kept_text(rows, 5, &tables->tracks),
		.source = tables->tracks.source};
	uint32_t row, world_size = small(rows, 4, KWHY_NONE);
	enum kwhy_status status;

	process.world_size = world_size == KWHY_NONE ? 0 : world_size;
	status = kwhy_recording_add_process(tables->recording, &process, &row, error);
	return status ? status : put(&tables->processes, rows, row, error);
}

enum device_column {
	DEVICE_ID,
	DEVICE_INDEX,
	DEVICE_RANK,
	DEVICE_NAME,
	DEVICE_MACHINE,
	DEVICE_LIMIT,
	DEVICE_CONTEXT_IDLE,
	DEVICE_CLEAN_IDLE,
	DEVICE_SMS,
	DEVICE_THREADS,
	DEVICE_REGISTERS,
	DEVICE_SHARED,
	DEVICE_MAJOR,
	DEVICE_MINOR,
	DEVICE_MEMORY,
	DEVICE_RATE,
	DEVICE_UUID,
	DEVICE_PCI,
	DEVICE_COLUMN_COUNT
};

static void describe(struct tables *tables, const struct kwhy_sqlite_rows *rows, struct kwhy_device *device)
{
	uint32_t *const figures[] = {&device->sm_count, &device->threads_per_sm, &device->registers_per_sm,
		&device->shared_bytes_per_sm, &device->compute_major, &device->compute_minor};
	double rate;
	int64_t *const powers[] = {&device->limit_mw, &device->context_idle_mw, &device->clean_idle_mw};

	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
		uint32_t value = small(rows, DEVICE_SMS + i, KWHY_NONE);

		*figures[i] = value == KWHY_NONE ? 0 : value;
	}
	for (size_t i = 0; i < sizeof(powers) / sizeof(powers[0]); i++)
		*powers[i] = integer(rows, DEVICE_LIMIT + i, -1);
	device->memory_bytes = (uint64_t)integer(rows, DEVICE_MEMORY, 0);
	if (kwhy_sqlite_number(rows, DEVICE_RATE, &rate) && rate > 0 && rate < 1e18)
		device->memory_rate_bytes_per_s = rate;
	device->name = kwhy_sqlite_kept_text(rows, DEVICE_NAME, &tables->tracks);
	device->uuid = kwhy_sqlite_kept_text(rows, DEVICE_UUID, &tables->tracks);
	device->pci = kwhy_sqlite_kept_text(rows, DEVICE_PCI, &tables->tracks);
}

static enum kwhy_status read_device(
	struct tables *tables, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	const struct kwhy_track_device track = {(int32_t)small(rows, DEVICE_INDEX, INT32_MAX),
		small(rows, DEVICE_RANK, KWHY_NONE), find(&tables->machines, rows, DEVICE_MACHINE)};
	size_t before = tables->recording->device_count;
	enum kwhy_status status;
	uint32_t row;

	status = kwhy_tracks_device(&tables->tracks, &track, &row, error);
	if (status)
		return status;
	if (tables->recording->device_count > before)
		describe(tables, rows, &tables->recording->devices[row]);
	return put(&tables->devices, rows, row, error);
}

static enum kwhy_status read_stream(
	struct tables *tables, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	const struct kwhy_stream stream = {.device = find(&tables->devices, rows, 1),
		.process = find(&tables->processes, rows, 2),
		.context = integer(rows, 3, -1),
		.id = integer(rows, 4, -1)};
	enum kwhy_status status;
	uint32_t row;

	if (stream.device == KWHY_NONE || stream.process == KWHY_NONE)
		return kwhy_sqlite_row_fail(rows, error, "its device or process is missing; export it again");
	status = kwhy_tracks_stream(&tables->tracks, &stream, &row, error);
	return status ? status : put(&tables->streams, rows, row, error);
}

static enum kwhy_status read_name(
	struct tables *tables, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	const char *bytes = "";
	size_t length = 0;
	enum kwhy_status status;
	uint32_t row;

	if (!kwhy_sqlite_text(rows, 1, &bytes, &length))
		length = 0;
	status = kwhy_names_intern(&tables->recording->names, bytes, length, &row, error);
	return status ? status : put(&tables->names, rows, row, error);
}

enum activity_column {
	ACTIVITY_START,
	ACTIVITY_END,
	ACTIVITY_KIND,
	ACTIVITY_NAME,
	ACTIVITY_STREAM,
	ACTIVITY_BYTES,
	ACTIVITY_BLOCKS,
	ACTIVITY_THREADS,
	ACTIVITY_CALL,
	ACTIVITY_COPY,
	ACTIVITY_SRC,
	ACTIVITY_DST,
	ACTIVITY_PEER,
	ACTIVITY_REGISTERS,
	ACTIVITY_SHARED,
	ACTIVITY_NODE,
	ACTIVITY_COLUMN_COUNT
};

static void read_ends(
	const struct tables *tables, const struct kwhy_sqlite_rows *rows, struct kwhy_activity *activity)
{
	activity->copy_kind = (uint8_t)word(rows, ACTIVITY_COPY, tables->copies, KWHY_COPY_KIND_COUNT);
	activity->src_memory = (uint8_t)word(rows, ACTIVITY_SRC, tables->memories, KWHY_MEMORY_KIND_COUNT);
	activity->dst_memory = (uint8_t)word(rows, ACTIVITY_DST, tables->memories, KWHY_MEMORY_KIND_COUNT);
	activity->peer = (uint16_t)small(rows, ACTIVITY_PEER, KWHY_UNKNOWN_U16);
	activity->bytes = (uint64_t)integer(
		rows, ACTIVITY_BYTES, -1); /* a missing size becomes -1, which is KWHY_UNKNOWN_BYTES */
}

static enum kwhy_status read_activity(
	struct tables *tables, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	struct kwhy_activity activity = kwhy_activity_unknown();
	enum kwhy_status status;

	status = times(tables, rows, ACTIVITY_START, &activity.start_ns, &activity.end_ns, error);
	if (status)
		return status;
	activity.kind = (uint8_t)word(rows, ACTIVITY_KIND, tables->kinds, KWHY_ACTIVITY_KIND_COUNT);
	activity.name = find(&tables->names, rows, ACTIVITY_NAME);
	activity.stream = find(&tables->streams, rows, ACTIVITY_STREAM);
	if (activity.name == KWHY_NONE || activity.stream == KWHY_NONE)
		return kwhy_sqlite_row_fail(rows, error, "its name or stream is missing; export it again");
	activity.blocks = small(rows, ACTIVITY_BLOCKS, KWHY_UNKNOWN_BLOCKS);
	activity.threads_per_block = (uint16_t)small(rows, ACTIVITY_THREADS, KWHY_UNKNOWN_U16);
	activity.registers = (uint16_t)small(rows, ACTIVITY_REGISTERS, KWHY_UNKNOWN_U16);
	activity.shared_bytes = small(rows, ACTIVITY_SHARED, KWHY_NONE);
	activity.graph_node = small(rows, ACTIVITY_NODE, KWHY_NONE);
	activity.call = small(rows, ACTIVITY_CALL, KWHY_NONE);
	read_ends(tables, rows, &activity);
	return kwhy_recording_add_activity(tables->recording, &activity, error);
}

/*
 * Finds the thread of a row of the host, by the process in process_column and the thread number in the next
 * column. KWHY_NONE: the row states no known process.
 */
static enum kwhy_status find_thread(struct tables *tables, const struct kwhy_sqlite_rows *rows,
	size_t process_column, uint32_t *out_thread, struct kwhy_error *error)
{
	struct kwhy_thread thread = {.process = find(&tables->processes, rows, process_column)};

	*out_thread = KWHY_NONE;
	if (thread.process == KWHY_NONE)
		return KWHY_OK;
	thread.tid = integer(rows, process_column + 1, -1);
	return kwhy_tracks_thread(&tables->tracks, &thread, out_thread, error);
}

/* Sets *out to whether the name of a call determines its class. Each distinct name is looked up once. */
static enum kwhy_status states_class(
	struct tables *tables, uint32_t name, bool *out, struct kwhy_error *error)
{
	size_t known = tables->class_capacity;
	enum kwhy_status status = kwhy_column_reserve((void **)&tables->states_class, &tables->class_capacity,
		(size_t)name + 1, 1, "names of calls", error);

	if (status)
		return status;
	if (tables->class_capacity > known)
		memset(tables->states_class + known, 0, tables->class_capacity - known);
	if (!tables->states_class[name])
		tables->states_class[name] = 1 +
			(kwhy_call_class_of(kwhy_names_get(&tables->recording->names, name)) !=
				KWHY_CALL_OTHER);
	*out = tables->states_class[name] == 2;
	return KWHY_OK;
}

static enum kwhy_status read_call(
	struct tables *tables, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	struct kwhy_recording *recording = tables->recording;
	const size_t class = word(rows, 5, tables->classes, KWHY_CALL_CLASS_COUNT);
	uint32_t name = find(&tables->names, rows, 2), thread;
	int64_t start_ns, end_ns;
	enum kwhy_status status = times(tables, rows, 0, &start_ns, &end_ns, error);
	bool stated;

	if (!status)
		status = find_thread(tables, rows, 3, &thread, error);
	if (status)
		return status;
	if (name == KWHY_NONE || thread == KWHY_NONE)
		return kwhy_sqlite_row_fail(rows, error, "its name or process is missing; export it again");
	/*
	 * A class that follows from the name is not taken from the file: kwhy_recording_finish() sets it,
	 * since the work that the call launched may change it.
	 */
	status = states_class(tables, name, &stated, error);
	if (status)
		return status;
	if (class == KWHY_CALL_OTHER || stated)
		return kwhy_recording_add_call(
			recording, start_ns, end_ns, name, thread, small(rows, 6, KWHY_NONE), error);
	return kwhy_recording_add_call_of_class(
		recording, start_ns, end_ns, name, thread, (enum kwhy_call_class) class, error);
}

static enum kwhy_status read_range(
	struct tables *tables, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	static const char *const kinds[KWHY_RANGE_KIND_COUNT] = {
		[KWHY_RANGE_NVTX] = "nvtx",
		[KWHY_RANGE_USER] = "user",
		[KWHY_RANGE_STEP] = "step",
	};
	struct kwhy_range range = {.name = find(&tables->names, rows, 2),
		.kind = (uint32_t)word(rows, 5, kinds, KWHY_RANGE_KIND_COUNT)};
	enum kwhy_status status = times(tables, rows, 0, &range.start_ns, &range.end_ns, error);

	if (!status)
		status = find_thread(tables, rows, 3, &range.thread, error);
	if (status)
		return status;
	if (range.name == KWHY_NONE)
		return kwhy_sqlite_row_fail(rows, error, "its name is missing; export it again");
	return kwhy_recording_add_range(tables->recording, &range, error);
}

static enum kwhy_status read_host_range(
	struct tables *tables, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	const uint32_t file = find(&tables->names, rows, 6), inputs = find(&tables->names, rows, 8);
	const uint32_t line = small(rows, 7, KWHY_NONE);
	struct kwhy_host_range range = {.name = find(&tables->names, rows, 2),
		.file = file == KWHY_NONE ? 0 : file,
		.line = line == KWHY_NONE ? 0 : line,
		.shape = inputs == KWHY_NONE ? 0 : inputs,
		.kind = (uint8_t)word(rows, 5, tables->host_kinds, KWHY_HOST_KIND_COUNT)};
	enum kwhy_status status = times(tables, rows, 0, &range.start_ns, &range.end_ns, error);

	if (!status)
		status = find_thread(tables, rows, 3, &range.thread, error);
	if (status)
		return status;
	if (range.name == KWHY_NONE || range.thread == KWHY_NONE || range.kind < KWHY_HOST_OPERATOR)
		return kwhy_sqlite_row_fail(
			rows, error, "its name, process or kind is missing; export it again");
	return kwhy_recording_add_host_range(tables->recording, &range, error);
}

static enum kwhy_status read_power(
	struct tables *tables, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	struct kwhy_power_source source = {.device = find(&tables->devices, rows, 0),
		.machine = find(&tables->machines, rows, 4),
		.wrap = integer(rows, 5, 0)};
	enum kwhy_meter meter;
	const char *bytes;
	size_t length;
	int64_t time_ns, value;

	if (!kwhy_sqlite_text(rows, 1, &bytes, &length) ||
		!kwhy_meter_find(bytes, length, &meter, &source.domain) ||
		!kwhy_sqlite_integer(rows, 2, &time_ns) || !kwhy_sqlite_integer(rows, 3, &value) ||
		__builtin_add_overflow(time_ns, tables->shift_ns, &time_ns))
		return kwhy_sqlite_row_fail(
			rows, error, "it names no meter known here, or its time or value is none");
	source.meter = meter;
	if (source.device != KWHY_NONE)
		source.machine = KWHY_NONE;
	return kwhy_recording_add_power(tables->recording, &source, time_ns, value, error);
}

static enum kwhy_status read_work(
	struct tables *tables, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	const char *unit = kwhy_sqlite_kept_text(rows, 0, &tables->tracks);
	double count;

	if (!unit || !*unit || !kwhy_sqlite_number(rows, 1, &count) || !(count > 0 && count < 1e300))
		return kwhy_sqlite_row_fail(rows, error, "it does not have a unit and a count above 0");
	return kwhy_recording_add_work(tables->recording, unit, count, error);
}

static enum kwhy_status read_coverage(
	struct tables *tables, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	struct kwhy_coverage coverage = {.device = find(&tables->devices, rows, 2)};
	enum kwhy_status status = times(tables, rows, 0, &coverage.start_ns, &coverage.end_ns, error);

	return status ? status : kwhy_recording_add_coverage(tables->recording, &coverage, error);
}

static const struct kwhy_sqlite_column device_columns[DEVICE_COLUMN_COUNT] = {{"id", NULL},
	{"device_index", NULL}, {"rank", NULL}, {"name", NULL}, {"machine_id", NULL}, {"limit_mw", NULL},
	{"context_idle_mw", NULL}, {"clean_idle_mw", NULL}, {"sm_count", NULL}, {"threads_per_sm", NULL},
	{"registers_per_sm", NULL}, {"shared_bytes_per_sm", NULL}, {"compute_major", NULL},
	{"compute_minor", NULL}, {"memory_bytes", NULL}, {"memory_bytes_per_s", NULL}, {"uuid", NULL},
	{"pci", NULL}};
static const struct kwhy_sqlite_column activity_columns[ACTIVITY_COLUMN_COUNT] = {{"start_ns", NULL},
	{"end_ns", NULL}, {"kind", NULL}, {"name_id", NULL}, {"stream_id", NULL}, {"bytes", NULL},
	{"blocks", NULL}, {"threads_per_block", NULL}, {"call_id", NULL}, {"copy_kind", NULL},
	{"src_memory", NULL}, {"dst_memory", NULL}, {"peer", NULL}, {"registers", NULL},
	{"shared_bytes", NULL}, {"graph_node", NULL}};
static const struct kwhy_sqlite_column machine_columns[] = {{"id", NULL}, {"name", NULL}};
static const struct kwhy_sqlite_column process_columns[] = {{"id", NULL}, {"machine_id", NULL}, {"pid", NULL},
	{"rank", NULL}, {"world_size", NULL}, {"host", NULL}};
static const struct kwhy_sqlite_column stream_columns[] = {
	{"id", NULL}, {"device_id", NULL}, {"process_id", NULL}, {"context", NULL}, {"stream", NULL}};
static const struct kwhy_sqlite_column name_columns[] = {{"id", NULL}, {"text", NULL}};
static const struct kwhy_sqlite_column call_columns[] = {{"start_ns", NULL}, {"end_ns", NULL},
	{"name_id", NULL}, {"process_id", NULL}, {"tid", NULL}, {"class", NULL}, {"id", NULL}};
static const struct kwhy_sqlite_column range_columns[] = {{"start_ns", NULL}, {"end_ns", NULL},
	{"name_id", NULL}, {"process_id", NULL}, {"tid", NULL}, {"kind", NULL}};
static const struct kwhy_sqlite_column host_range_columns[] = {{"start_ns", NULL}, {"end_ns", NULL},
	{"name_id", NULL}, {"process_id", NULL}, {"tid", NULL}, {"kind", NULL}, {"file_id", NULL},
	{"line", NULL}, {"inputs_id", NULL}};
static const struct kwhy_sqlite_column power_columns[] = {{"device_id", NULL}, {"source", NULL},
	{"time_ns", NULL}, {"value", NULL}, {"machine_id", NULL}, {"wrap", NULL}};
static const struct kwhy_sqlite_column work_columns[] = {{"unit", NULL}, {"count", NULL}};
static const struct kwhy_sqlite_column coverage_columns[] = {
	{"start_ns", NULL}, {"end_ns", NULL}, {"device_id", NULL}};

/* The tables that are read. A table that refers to rows of other tables by id comes after those tables. */
static const struct table table_list[] = {
	{{"machine", machine_columns, 2}, read_machine},
	{{"process", process_columns, 6}, read_process},
	{{"device", device_columns, DEVICE_COLUMN_COUNT}, read_device},
	{{"stream", stream_columns, 5}, read_stream},
	{{"name", name_columns, 2}, read_name},
	{{"activity", activity_columns, ACTIVITY_COLUMN_COUNT}, read_activity},
	{{"call", call_columns, 7}, read_call},
	{{"range", range_columns, 6}, read_range},
	{{"host_range", host_range_columns, 9}, read_host_range},
	{{"power", power_columns, 6}, read_power},
	{{"work", work_columns, 2}, read_work},
	{{"coverage", coverage_columns, 3}, read_coverage},
};

static void fill_words(struct tables *tables)
{
	for (int i = 0; i < KWHY_ACTIVITY_KIND_COUNT; i++)
		tables->kinds[i] = kwhy_activity_kind_name((enum kwhy_activity_kind)i);
	for (int i = 0; i < KWHY_COPY_KIND_COUNT; i++)
		tables->copies[i] = kwhy_copy_kind_name((enum kwhy_copy_kind)i);
	for (int i = 0; i < KWHY_MEMORY_KIND_COUNT; i++)
		tables->memories[i] = kwhy_memory_kind_name((enum kwhy_memory_kind)i);
	for (int i = 0; i < KWHY_CALL_CLASS_COUNT; i++)
		tables->classes[i] = kwhy_call_class_name((enum kwhy_call_class)i);
	for (int i = 0; i < KWHY_HOST_KIND_COUNT; i++)
		tables->host_kinds[i] = kwhy_host_kind_name((enum kwhy_host_kind)i);
}

static enum kwhy_status take_row(void *context, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	struct tables *tables = context;

	tables->rows++;
	return tables->reading->read(tables, rows, error);
}

static enum kwhy_status read_tables(struct tables *tables, struct kwhy_error *error)
{
	const struct kwhy_recording_rows rows = {.activities = kwhy_sqlite_row_count(tables->db, "activity"),
		.calls = kwhy_sqlite_row_count(tables->db, "call"),
		.ranges = kwhy_sqlite_row_count(tables->db, "range")};
	enum kwhy_status status = KWHY_OK;
	bool found;

	kwhy_recording_reserve(tables->recording, &rows);
	for (size_t i = 0; !status && i < sizeof(table_list) / sizeof(table_list[0]); i++) {
		tables->reading = &table_list[i];
		status = kwhy_sqlite_each(
			tables->db, &tables->reading->table, take_row, tables, &found, error);
	}
	return status;
}

static enum kwhy_status begin(
	struct tables *tables, const char *path, enum kwhy_trace_format format, struct kwhy_error *error)
{
	struct kwhy_source source = {.format = format, .producer = "kwhy export"};
	enum kwhy_status status;

	source.path = kwhy_recording_copy(tables->recording, path, strlen(path));
	if (!source.path)
		return kwhy_fail_memory(error, "the name of a trace");
	tables->tracks = (struct kwhy_tracks){.recording = tables->recording,
		.path = source.path,
		.source = (uint32_t)tables->recording->source_count};
	fill_words(tables);
	status = kwhy_sqlite_set_clock(tables->recording, tables->db, source.path, &tables->shift_ns, error);
	return status ? status : kwhy_recording_add_source(tables->recording, &source, NULL, error);
}

static void release(struct tables *tables)
{
	struct kwhy_track_map *maps[] = {
		&tables->machines, &tables->processes, &tables->devices, &tables->streams, &tables->names};

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		kwhy_track_map_done(maps[i]);
	kwhy_tracks_done(&tables->tracks);
	free(tables->states_class);
	kwhy_sqlite_close(tables->db);
}

static const char cure[] = "make it again with \"kwhy export --to sqlite\"";

enum kwhy_status kwhy_sqlite_read_export(struct kwhy_recording *recording,
	const struct kwhy_sqlite_file *file, enum kwhy_trace_format format, struct kwhy_error *error)
{
	struct tables tables = {.recording = recording};
	enum kwhy_status status = kwhy_sqlite_open(file, &tables.db, error);

	if (!status)
		status = begin(&tables, file->shown ? file->shown : file->path, format, error);
	if (!status)
		status = read_tables(&tables, error);
	if (!status)
		recording->sources[tables.tracks.source].events = tables.rows;
	release(&tables);
	return status;
}

static enum kwhy_status read_sqlite(struct kwhy_recording *recording, const char *path,
	const struct kwhy_import_options *options, struct kwhy_error *error)
{
	(void)options; /* --partial has no effect: a file that kwhy wrote is complete or no database */
	return kwhy_sqlite_read_export(
		recording, &(struct kwhy_sqlite_file){path, NULL, cure}, KWHY_FORMAT_SQLITE, error);
}

static bool probe_sqlite(const char *path, const unsigned char *head, size_t length)
{
	static const char magic[] = "SQLite format 3";
	struct kwhy_sqlite *db;
	struct kwhy_error error;
	char schema[KWHY_SQLITE_META_BYTES];
	bool found;

	if (length < sizeof(magic) || memcmp(head, magic, sizeof(magic)) != 0 ||
		kwhy_sqlite_open(&(struct kwhy_sqlite_file){path, NULL, cure}, &db, &error) != KWHY_OK)
		return false;
	found = kwhy_sqlite_meta(db, "schema", schema, &error) == KWHY_OK &&
		!strcmp(schema, KWHY_EXPORT_SQLITE_SCHEMA);
	kwhy_sqlite_close(db);
	return found;
}

const struct kwhy_trace_reader kwhy_reader_sqlite = {.probe = probe_sqlite, .read = read_sqlite};
