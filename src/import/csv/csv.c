/* SPDX-License-Identifier: Apache-2.0 */
#include "import/collectives.h"
#include "import/csv/comments.h"
#include "import/csv/table.h"
#include "import/reader.h"
#include "import/tracks.h"

#include <stdlib.h>
#include <string.h>

enum column {
	COLUMN_KIND,
	COLUMN_NAME,
	COLUMN_DEVICE,
	COLUMN_STREAM,
	COLUMN_START,
	COLUMN_END,
	COLUMN_BYTES,
	COLUMN_BLOCKS,
	COLUMN_THREADS,
	COLUMN_CONTEXT,
	COLUMN_PROCESS,
	COLUMN_THREAD,
	COLUMN_CORRELATION,
	COLUMN_SOURCE,
	COLUMN_DESTINATION,
	COLUMN_REGISTERS,
	COLUMN_SHARED,
	COLUMN_FILE,
	COLUMN_LINE,
	COLUMN_INPUTS,
	COLUMN_COUNT
};

static const struct kwhy_csv_column columns[COLUMN_COUNT] = {
	[COLUMN_KIND] = {"kind", true},
	[COLUMN_NAME] = {"name", false},
	[COLUMN_DEVICE] = {"device", false},
	[COLUMN_STREAM] = {"stream", false},
	[COLUMN_START] = {"start_ns", true},
	[COLUMN_END] = {"end_ns", true},
	[COLUMN_BYTES] = {"bytes", false},
	[COLUMN_BLOCKS] = {"blocks", false},
	[COLUMN_THREADS] = {"threads_per_block", false},
	[COLUMN_CONTEXT] = {"context", false},
	[COLUMN_PROCESS] = {"process", false},
	[COLUMN_THREAD] = {"thread", false},
	[COLUMN_CORRELATION] = {"correlation", false},
	[COLUMN_SOURCE] = {"src_memory", false},
	[COLUMN_DESTINATION] = {"dst_memory", false},
	[COLUMN_REGISTERS] = {"registers", false},
	[COLUMN_SHARED] = {"shared_bytes", false},
	[COLUMN_FILE] = {"file", false},
	[COLUMN_LINE] = {"line", false},
	[COLUMN_INPUTS] = {"inputs", false},
};

enum row_noun { NOUN_ACTIVITY, NOUN_CALL, NOUN_NAMED_CALL, NOUN_RANGE, NOUN_OPERATOR };

/* Kinds of rows, by the word in the column "kind". */
static const struct row_kind {
	const char *word;
	const char *unnamed; /* the name that rows of this kind get if their column "name" is empty; NULL: the
				name stays empty */
	enum row_noun noun;
	uint8_t activity, copy, src,
		dst; /* NOUN_ACTIVITY: enum kwhy_activity_kind; for copies also the direction and the memory
			kinds of source and destination, for memsets the kind of `dst`; otherwise 0 */
	/* NOUN_RANGE: `activity` is an enum kwhy_range_kind; NOUN_OPERATOR: an enum kwhy_host_kind */
	enum kwhy_call_class class; /* NOUN_CALL: the class of the call */
} row_kinds[] = {
	{"kernel", "unnamed kernel", NOUN_ACTIVITY, KWHY_ACTIVITY_KERNEL, 0, 0, 0, 0},
	{"collective", "unnamed collective", NOUN_ACTIVITY, KWHY_ACTIVITY_COLLECTIVE, 0, 0, 0, 0},
	{"graph", "unnamed graph", NOUN_ACTIVITY, KWHY_ACTIVITY_GRAPH, 0, 0, 0, 0},
	{"copy", NULL, NOUN_ACTIVITY, KWHY_ACTIVITY_COPY, KWHY_COPY_UNKNOWN, KWHY_MEMORY_UNKNOWN,
		KWHY_MEMORY_UNKNOWN, 0},
	{"copy_h2d", NULL, NOUN_ACTIVITY, KWHY_ACTIVITY_COPY, KWHY_COPY_H2D, KWHY_MEMORY_UNKNOWN,
		KWHY_MEMORY_DEVICE, 0},
	{"copy_d2h", NULL, NOUN_ACTIVITY, KWHY_ACTIVITY_COPY, KWHY_COPY_D2H, KWHY_MEMORY_DEVICE,
		KWHY_MEMORY_UNKNOWN, 0},
	{"copy_d2d", NULL, NOUN_ACTIVITY, KWHY_ACTIVITY_COPY, KWHY_COPY_D2D, KWHY_MEMORY_DEVICE,
		KWHY_MEMORY_DEVICE, 0},
	{"copy_p2p", NULL, NOUN_ACTIVITY, KWHY_ACTIVITY_COPY, KWHY_COPY_P2P, KWHY_MEMORY_DEVICE,
		KWHY_MEMORY_DEVICE, 0},
	{"copy_h2h", NULL, NOUN_ACTIVITY, KWHY_ACTIVITY_COPY, KWHY_COPY_H2H, KWHY_MEMORY_UNKNOWN,
		KWHY_MEMORY_UNKNOWN, 0},
	{"memset", NULL, NOUN_ACTIVITY, KWHY_ACTIVITY_MEMSET, 0, 0, KWHY_MEMORY_UNKNOWN, 0},
	{"sync", "sync", NOUN_CALL, 0, 0, 0, 0, KWHY_CALL_SYNC},
	{"alloc", "alloc", NOUN_CALL, 0, 0, 0, 0, KWHY_CALL_ALLOC},
	{"free", "free", NOUN_CALL, 0, 0, 0, 0, KWHY_CALL_FREE},
	{"call", "unnamed call", NOUN_NAMED_CALL, 0, 0, 0, 0, 0}, /* the call's name determines its class */
	{"range", "unnamed range", NOUN_RANGE, KWHY_RANGE_USER, 0, 0, 0, 0},
	{"nvtx", "unnamed range", NOUN_RANGE, KWHY_RANGE_NVTX, 0, 0, 0, 0},
	{"operator", "unnamed operator", NOUN_OPERATOR, KWHY_HOST_OPERATOR, 0, 0, 0, 0},
	{"python", "unnamed function", NOUN_OPERATOR, KWHY_HOST_PYTHON, 0, 0, 0, 0},
	{"system", "unnamed system call", NOUN_OPERATOR, KWHY_HOST_SYSTEM, 0, 0, 0, 0},
	{"frame", "unnamed frame", NOUN_OPERATOR, KWHY_HOST_FRAME, 0, 0, 0, 0},
};

enum { ROW_KIND_COUNT = sizeof(row_kinds) / sizeof(row_kinds[0]) };

struct reader {
	struct kwhy_recording *recording;
	const struct kwhy_import_options *options;
	struct kwhy_csv *csv;
	struct kwhy_csv_clock clock;
	struct kwhy_tracks tracks;
	struct kwhy_csv_comments comments;
	uint32_t source, process,
		thread; /* source: this file's index in the recording's sources; process: index in the
			   recording of the process that rows with an empty column "process" belong to */
	const struct row_kind *last_kind;
	bool process_is_used; /* whether a row used `process` */
	bool rows_without_device;
	bool has_calls;
	uint64_t rows;
};

/* The kind of the current row; NULL: the word is unknown. */
static const struct row_kind *find_kind(struct reader *reader)
{
	struct kwhy_span word = kwhy_csv_field(reader->csv, COLUMN_KIND);

	for (size_t i = 0; i < ROW_KIND_COUNT && !kwhy_span_is(word, reader->last_kind->word); i++)
		reader->last_kind = &row_kinds[i];
	return kwhy_span_is(word, reader->last_kind->word) ? reader->last_kind : NULL;
}

static enum kwhy_status find_name(
	struct reader *reader, const struct row_kind *kind, uint32_t *out_name, struct kwhy_error *error)
{
	struct kwhy_span name = kwhy_csv_field(reader->csv, COLUMN_NAME);

	if (name.length == 0 && kind->unnamed)
		name = (struct kwhy_span){kind->unnamed, strlen(kind->unnamed)};
	return kwhy_names_intern(&reader->recording->names, name.bytes, name.length, out_name, error);
}

static enum kwhy_status find_device(struct reader *reader, uint32_t *out_device, struct kwhy_error *error)
{
	static const struct kwhy_csv_range indexes = {0, KWHY_CSV_DEVICES_MAX - 1};
	enum kwhy_status status;
	int64_t index = reader->comments.last_index;
	bool known;

	status = kwhy_csv_integer(reader->csv, COLUMN_DEVICE, indexes, &known, &index, error);
	if (status)
		return status;
	reader->rows_without_device |= !known;
	return kwhy_csv_comments_device(&reader->comments, (int32_t)index, out_device, error);
}

/* Finds the process whose number the row states, or reader->process if the row states none. */
static enum kwhy_status find_process(struct reader *reader, uint32_t *out_process, struct kwhy_error *error)
{
	static const struct kwhy_csv_range ids = {INT64_MIN, INT64_MAX};
	enum kwhy_status status;
	int64_t pid;
	bool known;

	*out_process = reader->process;
	status = kwhy_csv_integer(reader->csv, COLUMN_PROCESS, ids, &known, &pid, error);
	if (!status && known && !reader->process_is_used) {
		reader->recording->processes[reader->process].pid = pid < 0 ? -1 : pid;
		status = kwhy_track_map_put(
			&reader->tracks.processes, (struct kwhy_track_key){.a = pid}, reader->process, error);
	}
	reader->process_is_used = true;
	if (status || !known)
		return status;
	return kwhy_tracks_process(&reader->tracks, pid, pid < 0 ? -1 : pid, out_process, error);
}

static enum kwhy_status find_stream(struct reader *reader, uint32_t *out_stream, struct kwhy_error *error)
{
	static const struct kwhy_csv_range ids = {-1, INT64_MAX};
	struct kwhy_stream stream = {.context = -1, .id = -1, .unordered = true};
	enum kwhy_status status;
	bool known;

	status = find_device(reader, &stream.device, error);
	if (!status)
		status = find_process(reader, &stream.process, error);
	if (!status)
		status = kwhy_csv_integer(reader->csv, COLUMN_CONTEXT, ids, &known, &stream.context, error);
	if (!status)
		status = kwhy_csv_integer(reader->csv, COLUMN_STREAM, ids, &known, &stream.id, error);
	return status ? status : kwhy_tracks_stream(&reader->tracks, &stream, out_stream, error);
}

/*
 * The kind of memory that the row's field in `column` names; `otherwise` if the field is empty or no name of
 * a kind of memory.
 */
static uint8_t read_memory(const struct reader *reader, size_t column, uint8_t otherwise)
{
	const struct kwhy_span word = kwhy_csv_field(reader->csv, column);

	for (int i = 0; word.length > 0 && i < KWHY_MEMORY_KIND_COUNT; i++)
		if (kwhy_span_is(word, kwhy_memory_kind_name((enum kwhy_memory_kind)i)))
			return (uint8_t)i;
	return otherwise;
}

/* Reads the size and the memory kinds of a copy or memset; in other rows these columns are ignored. */
static enum kwhy_status read_bytes(
	struct reader *reader, struct kwhy_activity *activity, struct kwhy_error *error)
{
	static const struct kwhy_csv_range sizes = {0, INT64_MAX};
	enum kwhy_status status;
	int64_t value;
	bool known;

	activity->src_memory = read_memory(reader, COLUMN_SOURCE, activity->src_memory);
	activity->dst_memory = read_memory(reader, COLUMN_DESTINATION, activity->dst_memory);
	status = kwhy_csv_integer(reader->csv, COLUMN_BYTES, sizes, &known, &value, error);
	if (status)
		return status;
	if (known)
		activity->bytes = (uint64_t)value;
	reader->recording->lost.unknown_bytes += !known;
	return KWHY_OK;
}

/*
 * Reads the sizes of grid and block, registers and shared memory. 0 blocks or threads mean unknown, because a
 * grid has at least one block and a block at least one thread.
 */
static enum kwhy_status read_grid(
	struct reader *reader, struct kwhy_activity *activity, struct kwhy_error *error)
{
	static const struct kwhy_csv_range grids = {0, UINT32_MAX - 1}, blocks = {0, UINT16_MAX - 1};
	enum kwhy_status status;
	int64_t value;
	bool known;

	status = kwhy_csv_integer(reader->csv, COLUMN_BLOCKS, grids, &known, &value, error);
	if (!status && known && value > 0)
		activity->blocks = (uint32_t)value;
	if (!status)
		status = kwhy_csv_integer(reader->csv, COLUMN_THREADS, blocks, &known, &value, error);
	if (!status && known && value > 0)
		activity->threads_per_block = (uint16_t)value;
	if (!status)
		status = kwhy_csv_integer(reader->csv, COLUMN_REGISTERS, blocks, &known, &value, error);
	if (!status && known)
		activity->registers = (uint16_t)value;
	if (!status)
		status = kwhy_csv_integer(reader->csv, COLUMN_SHARED, grids, &known, &value, error);
	if (!status && known)
		activity->shared_bytes = (uint32_t)value;
	return status;
}

/*
 * Reads the correlation id, which links an activity with the API call that issued it. KWHY_NONE: the column
 * is empty.
 */
static enum kwhy_status find_correlation(
	struct reader *reader, uint32_t *out_correlation, struct kwhy_error *error)
{
	static const struct kwhy_csv_range ids = {0, KWHY_NONE - 1};
	int64_t value;
	bool known;
	enum kwhy_status status = kwhy_csv_integer(
		reader->csv, COLUMN_CORRELATION, ids, &known, &value, error);

	if (!status)
		*out_correlation = known ? (uint32_t)value : KWHY_NONE;
	return status;
}

static enum kwhy_status add_activity(struct reader *reader, const struct row_kind *kind, int64_t start_ns,
	int64_t end_ns, struct kwhy_error *error)
{
	struct kwhy_activity activity = kwhy_activity_unknown();
	enum kwhy_status status;

	activity.start_ns = start_ns;
	activity.end_ns = end_ns;
	activity.kind = kind->activity;
	activity.copy_kind = kind->copy;
	activity.src_memory = kind->src;
	activity.dst_memory = kind->dst;
	status = find_name(reader, kind, &activity.name, error);
	if (!status)
		status = find_stream(reader, &activity.stream, error);
	if (!status)
		status = find_correlation(reader, &activity.call, error);
	if (!status)
		status = kind->activity == KWHY_ACTIVITY_COPY || kind->activity == KWHY_ACTIVITY_MEMSET
			? read_bytes(reader, &activity, error)
			: read_grid(reader, &activity, error);
	return status ? status : kwhy_recording_add_activity(reader->recording, &activity, error);
}

/*
 * Finds the thread of a row. All rows without a thread count as one thread. A thread's number may be
 * negative, because Kineto writes the low 32 bits of a pthread_t.
 */
static enum kwhy_status find_thread(struct reader *reader, uint32_t *out_thread, struct kwhy_error *error)
{
	static const struct kwhy_csv_range ids = {INT64_MIN, INT64_MAX};
	struct kwhy_thread thread = {.tid = -1};
	enum kwhy_status status = find_process(reader, &thread.process, error);
	bool known;

	if (!status)
		status = kwhy_csv_integer(reader->csv, COLUMN_THREAD, ids, &known, &thread.tid, error);
	return status ? status : kwhy_tracks_thread(&reader->tracks, &thread, out_thread, error);
}

static enum kwhy_status add_host_row(struct reader *reader, const struct row_kind *kind, int64_t start_ns,
	int64_t end_ns, struct kwhy_error *error)
{
	struct kwhy_range range = {.start_ns = start_ns, .end_ns = end_ns};
	uint32_t correlation;
	enum kwhy_status status;

	status = find_name(reader, kind, &range.name, error);
	if (!status)
		status = find_thread(reader, &range.thread, error);
	if (!status)
		status = find_correlation(reader, &correlation, error);
	if (status)
		return status;
	reader->has_calls |= kind->noun != NOUN_RANGE;
	if (kind->noun == NOUN_NAMED_CALL)
		return kwhy_recording_add_call(
			reader->recording, start_ns, end_ns, range.name, range.thread, correlation, error);
	if (kind->noun == NOUN_CALL)
		return kwhy_recording_add_call_of_class(
			reader->recording, start_ns, end_ns, range.name, range.thread, kind->class, error);
	range.kind = kwhy_range_kind_of(
		kwhy_names_get(&reader->recording->names, range.name), (enum kwhy_range_kind)kind->activity);
	return kwhy_recording_add_range(reader->recording, &range, error);
}

static enum kwhy_status add_operator(struct reader *reader, const struct row_kind *kind, int64_t start_ns,
	int64_t end_ns, struct kwhy_error *error)
{
	static const struct kwhy_csv_range lines = {0, UINT32_MAX};
	const struct kwhy_span file = kwhy_csv_field(reader->csv, COLUMN_FILE);
	const struct kwhy_span inputs = kwhy_csv_field(reader->csv, COLUMN_INPUTS);
	struct kwhy_host_range range = {.start_ns = start_ns, .end_ns = end_ns, .kind = kind->activity};
	struct kwhy_names *names = &reader->recording->names;
	int64_t line = 0;
	bool known = false;
	enum kwhy_status status = find_name(reader, kind, &range.name, error);

	if (!status)
		status = find_thread(reader, &range.thread, error);
	if (!status)
		status = kwhy_csv_integer(reader->csv, COLUMN_LINE, lines, &known, &line, error);
	if (!status && file.length)
		status = kwhy_names_intern(names, file.bytes, file.length, &range.file, error);
	if (!status && inputs.length)
		status = kwhy_names_intern(names, inputs.bytes, inputs.length, &range.shape, error);
	range.line = known ? (uint32_t)line : 0;
	return status ? status : kwhy_recording_add_host_range(reader->recording, &range, error);
}

static enum kwhy_status read_row(struct reader *reader, struct kwhy_error *error)
{
	const struct row_kind *kind = find_kind(reader);
	enum kwhy_status status;
	int64_t start_ns, end_ns;

	if (!kind)
		return kwhy_csv_fail(reader->csv, COLUMN_KIND, error,
			"is not a kind; write kernel, collective, graph, copy_h2d, copy_d2h, copy_d2d, "
			"copy_p2p, copy_h2h, copy, memset, sync, alloc, free, call, range, nvtx, operator, "
			"python, system or frame");
	status = kwhy_csv_clock_read(&reader->clock, reader->csv, COLUMN_START, &start_ns, error);
	if (!status)
		status = kwhy_csv_clock_read(&reader->clock, reader->csv, COLUMN_END, &end_ns, error);
	if (status)
		return status;
	if (end_ns < start_ns)
		return kwhy_csv_fail(reader->csv, COLUMN_END, error,
			"is before start_ns; correct the row, or skip such rows with --partial");
	if (kind->noun == NOUN_ACTIVITY)
		return add_activity(reader, kind, start_ns, end_ns, error);
	if (kind->noun == NOUN_OPERATOR)
		return add_operator(reader, kind, start_ns, end_ns, error);
	return add_host_row(reader, kind, start_ns, end_ns, error);
}

static enum kwhy_status read_item(void *context, enum kwhy_csv_item item, struct kwhy_error *error)
{
	struct reader *reader = context;
	enum kwhy_status status = item == KWHY_CSV_COMMENT
		? kwhy_csv_comments_read(&reader->comments, reader->csv, error)
		: read_row(reader, error);

	reader->rows += item == KWHY_CSV_ROW;
	return kwhy_reader_pass(reader->recording, reader->options, status);
}

/*
 * Adds a note for each of these that is true: the file has no rows of API calls; it has rows without a
 * device, and no comment describes a device; it ends early.
 */
static enum kwhy_status add_notes(struct reader *reader, struct kwhy_error *error)
{
	struct kwhy_recording *recording = reader->recording;
	const char *path = reader->tracks.path;
	enum kwhy_status status = KWHY_OK;

	if (!reader->has_calls)
		status = kwhy_recording_add_note(recording, KWHY_NOTE_COMPLETENESS, "no-api-rows", error,
			"%s has no host rows (sync, alloc, free): what an idle device waited for is unknown.",
			path);
	if (!status && reader->rows_without_device && !reader->comments.device_stated)
		status = kwhy_recording_add_note(recording, KWHY_NOTE_COMPLETENESS, "no-device-column", error,
			"%s does not say on which device some rows ran: they are taken for device %d.", path,
			reader->comments.last_index);
	if (!status && kwhy_csv_ended_early(reader->csv))
		status = kwhy_recording_add_note(recording, KWHY_NOTE_COMPLETENESS, "truncated", error,
			"%s ends early or is damaged: what follows row %llu is missing.", path,
			(unsigned long long)reader->rows);
	return status;
}

static enum kwhy_status check_devices(const struct reader *reader, struct kwhy_error *error)
{
	if (!reader->rows_without_device || reader->tracks.devices.map.count <= 1)
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s has several devices, and rows that name none; fill its column \"device\"",
		reader->tracks.path);
}

/*
 * Sets the rank of each process of the file to the rank of the devices that it used; KWHY_NONE if their ranks
 * differ.
 */
static void set_ranks(struct reader *reader)
{
	struct kwhy_recording *recording = reader->recording;

	for (size_t p = reader->process; p < recording->process_count; p++) {
		uint32_t rank = KWHY_NONE;
		bool same = true;

		for (size_t i = 0; i < recording->stream_count; i++) {
			const struct kwhy_stream *stream = &recording->streams[i];

			if (stream->process != p)
				continue;
			same &= rank == KWHY_NONE || rank == recording->devices[stream->device].rank;
			rank = recording->devices[stream->device].rank;
		}
		recording->processes[p].rank = same ? rank : KWHY_NONE;
	}
}

static enum kwhy_status close_files(struct reader *reader, struct kwhy_error *error)
{
	enum kwhy_status status = check_devices(reader, error);

	reader->recording->sources[reader->source].events = reader->rows + kwhy_csv_skipped(reader->csv);
	reader->recording->lost.skipped_events += kwhy_csv_skipped(reader->csv);
	reader->recording->lost.truncated |= kwhy_csv_ended_early(reader->csv);
	set_ranks(reader);
	if (!status)
		status = kwhy_csv_comments_add_coverage(&reader->comments, error);
	return status ? status : add_notes(reader, error);
}

static enum kwhy_status begin(struct reader *reader, const char *path, struct kwhy_error *error)
{
	struct kwhy_source source = {.format = KWHY_FORMAT_CSV};
	enum kwhy_status status;

	kwhy_csv_clock_init(&reader->clock, reader->recording);
	source.path = kwhy_recording_copy(reader->recording, path, strlen(path));
	if (!source.path)
		return kwhy_fail_memory(error, "the name of a trace");
	status = kwhy_recording_add_source(reader->recording, &source, &reader->source, error);
	reader->tracks = (struct kwhy_tracks){
		.recording = reader->recording, .path = source.path, .source = reader->source};
	if (!status)
		status = kwhy_tracks_process(&reader->tracks, -1, -1, &reader->process, error);
	if (!status)
		status = kwhy_csv_comments_init(&reader->comments, &reader->clock, &reader->tracks, error);
	return status;
}

/*
 * Checks the user's table of collectives, which is not needed here: the rows state which kernels are
 * collectives. An unreadable table must be an error in every format.
 */
static enum kwhy_status check_collectives(const struct kwhy_import_options *options, struct kwhy_error *error)
{
	struct kwhy_collectives *table = NULL;
	enum kwhy_status status = options->collectives_path
		? kwhy_collectives_new(options->collectives_path, &table, error)
		: KWHY_OK;

	kwhy_collectives_free(table);
	return status;
}

static enum kwhy_status read_csv(struct kwhy_recording *recording, const char *path,
	const struct kwhy_import_options *options, struct kwhy_error *error)
{
	struct kwhy_csv_options csv_options = {
		.path = path, .columns = columns, .column_count = COLUMN_COUNT, .partial = options->partial};
	struct reader *reader = calloc(1, sizeof(*reader));
	enum kwhy_status status;

	if (!reader)
		return kwhy_fail_memory(error, "reading CSV");
	reader->recording = recording;
	reader->options = options;
	reader->last_kind = row_kinds;
	status = check_collectives(options, error);
	if (!status)
		status = kwhy_csv_open(&csv_options, &reader->csv, error);
	if (!status)
		status = begin(reader, path, error);
	if (!status)
		status = kwhy_csv_each(reader->csv, read_item, reader, error);
	if (!status)
		status = close_files(reader, error);
	kwhy_csv_close(reader->csv);
	kwhy_csv_comments_done(&reader->comments);
	kwhy_tracks_done(&reader->tracks);
	free(reader);
	return status;
}

/* Recognises a CSV of activities by two of its required columns. */
static bool probe_csv(const char *path, const unsigned char *head, size_t length)
{
	(void)path;
	return kwhy_csv_head_names(head, length, "kind") && kwhy_csv_head_names(head, length, "start_ns");
}

const struct kwhy_trace_reader kwhy_reader_csv = {
	.probe = probe_csv,
	.read = read_csv,
};
