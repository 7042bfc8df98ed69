/* SPDX-License-Identifier: Apache-2.0 */
#include "model/counter.h"
#include "report/export/perfetto_writer.h"

#include <inttypes.h>
#include <stdlib.h>

/*
 * Perfetto's track events. The field numbers are from protos/perfetto/trace/ in Perfetto's source
 * (trace_packet, track_descriptor, track_event, debug_annotation, interned_data) and never change.
 */
enum {
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_TRACK_DESCRIPTOR = 60,
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_COUNTER = 8,
	COUNTER_UNIT_NAME = 6,
	EVENT_CATEGORY_IIDS = 3,
	EVENT_DEBUG_ANNOTATIONS = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK_UUID = 11,
	EVENT_DOUBLE_COUNTER_VALUE = 44,
	INTERNED_CATEGORIES = 1,
	INTERNED_NAMES = 2,
	INTERNED_ANNOTATION_NAMES = 3,
	INTERNED_IID = 1,
	INTERNED_TEXT = 2,
	ANNOTATION_NAME_IID = 1,
	ANNOTATION_UINT = 3,
	ANNOTATION_STRING = 6,
	SLICE_BEGIN = 1,
	SLICE_END = 2,
	INSTANT = 3,
	COUNTER = 4,
	SEQUENCE = 1,
	STATE_CLEARED = 1,
};

const char *kwhy_pftrace_note_name(enum kwhy_pftrace_note note)
{
	static const char *const names[KWHY_PFTRACE_NOTE_COUNT] = {
#define X(name, text) [KWHY_PFTRACE_##name] = (text),
		KWHY_PFTRACE_NOTES(X)
#undef X
	};

	return names[note];
}

/*
 * Categories of events. From CATEGORY_OPERATOR on there is one for each enum kwhy_host_kind from
 * KWHY_HOST_OPERATOR on, in the same order.
 */
enum {
	CATEGORY_NONE,
	CATEGORY_CALL,
	CATEGORY_RANGE,
	CATEGORY_ROW,
	CATEGORY_OPERATOR,
	CATEGORY_END = CATEGORY_OPERATOR + KWHY_HOST_KIND_COUNT - KWHY_HOST_OPERATOR
};

static const char *const category_names[CATEGORY_OPERATOR] = {
	[CATEGORY_CALL] = "api",
	[CATEGORY_RANGE] = "range",
	[CATEGORY_ROW] = "kwhy.row",
};

static const char *category_name(unsigned category)
{
	if (category < CATEGORY_OPERATOR)
		return category_names[category];
	return kwhy_host_kind_name((enum kwhy_host_kind)(category - CATEGORY_OPERATOR + KWHY_HOST_OPERATOR));
}

/*
 * Identifiers (uuid) of tracks. Bits 32 and up say what the track is for: 1 a lane of a thread's calls or
 * ranges, 2 powers of the host, 3 the rows of the recording's tables, 4 a thread's operators.
 */
static uint64_t lane_uuid(size_t track, size_t lane)
{
	return (uint64_t)1 << 32 | (uint64_t)track << 8 | lane;
}

static uint64_t power_uuid(size_t series)
{
	return (uint64_t)2 << 32 | series;
}

static uint64_t operators_uuid(uint32_t thread)
{
	return (uint64_t)4 << 32 | thread;
}

/* Track of the instant events that describe devices, processes, threads and streams. */
static const uint64_t rows_uuid = (uint64_t)3 << 32;

uint64_t kwhy_pftrace_stamp(const struct kwhy_pftrace *writer, int64_t time_ns)
{
	int64_t absolute = time_ns + writer->recording->origin_unix_ns;

	return absolute < 0 ? 0 : (uint64_t)absolute;
}

size_t kwhy_pftrace_begin(struct kwhy_pftrace *writer)
{
	return kwhy_proto_begin(&writer->sink.text, KWHY_PFTRACE_PACKET);
}

void kwhy_pftrace_end(struct kwhy_pftrace *writer, size_t begun)
{
	kwhy_proto_varint(&writer->sink.text, PACKET_SEQUENCE_ID, SEQUENCE);
	kwhy_proto_end(&writer->sink.text, begun);
	kwhy_sink_drain(&writer->sink, KWHY_SINK_PIECE_BYTES);
}

static void describe(struct kwhy_pftrace *writer, uint64_t uuid, const char *name, const char *unit)
{
	struct kwhy_text *out = &writer->sink.text;
	size_t packet = kwhy_pftrace_begin(writer);
	size_t track = kwhy_proto_begin(out, PACKET_TRACK_DESCRIPTOR);

	kwhy_proto_varint(out, TRACK_UUID, uuid);
	kwhy_proto_string(out, TRACK_NAME, name);
	if (unit) {
		size_t counter = kwhy_proto_begin(out, TRACK_COUNTER);

		kwhy_proto_string(out, COUNTER_UNIT_NAME, unit);
		kwhy_proto_end(out, counter);
	}
	kwhy_proto_end(out, track);
	kwhy_pftrace_end(writer, packet);
}

static void intern(struct kwhy_pftrace *writer, unsigned table, uint64_t iid, const char *text)
{
	struct kwhy_text *out = &writer->sink.text;
	size_t packet = kwhy_pftrace_begin(writer);
	size_t data = kwhy_proto_begin(out, KWHY_PFTRACE_INTERNED_DATA);
	size_t entry = kwhy_proto_begin(out, table);

	kwhy_proto_varint(out, INTERNED_IID, iid);
	kwhy_proto_string(out, INTERNED_TEXT, text);
	kwhy_proto_end(out, entry);
	kwhy_proto_end(out, data);
	kwhy_proto_varint(out, KWHY_PFTRACE_SEQUENCE_FLAGS, KWHY_PFTRACE_NEEDS_STATE);
	kwhy_pftrace_end(writer, packet);
}

static void write_names(struct kwhy_pftrace *writer)
{
	const struct kwhy_names *names = &writer->recording->names;
	size_t packet = kwhy_pftrace_begin(writer);

	kwhy_proto_varint(&writer->sink.text, KWHY_PFTRACE_SEQUENCE_FLAGS, STATE_CLEARED);
	kwhy_pftrace_end(writer, packet);
	for (size_t i = 0; i < names->count; i++)
		intern(writer, INTERNED_NAMES, i + 1, names->strings[i]);
	for (unsigned i = 1; i < CATEGORY_END; i++)
		intern(writer, INTERNED_CATEGORIES, i, category_name(i));
	for (unsigned i = 1; i < KWHY_PFTRACE_NOTE_COUNT; i++)
		intern(writer, INTERNED_ANNOTATION_NAMES, i, kwhy_pftrace_note_name(i));
}

const char *kwhy_pftrace_label(struct kwhy_pftrace *writer)
{
	writer->sink.failed |= writer->label.failed;
	return writer->label.data && !writer->label.failed ? writer->label.data : "";
}

void kwhy_pftrace_add_meter(struct kwhy_pftrace *writer, const struct kwhy_power_series *series)
{
	char source[KWHY_METER_NAME_BYTES];

	kwhy_text_add(&writer->label, kwhy_meter_source(source, series->meter, series->domain));
	kwhy_export_names_add_meter(&writer->names, series, &writer->label);
}

static void describe_host_meters(struct kwhy_pftrace *writer)
{
	for (size_t i = 0; i < writer->recording->power_count; i++) {
		const struct kwhy_power_series *series = &writer->recording->power[i];

		if (series->device != KWHY_NONE)
			continue;
		kwhy_text_clear(&writer->label);
		kwhy_pftrace_add_meter(writer, series);
		describe(writer, power_uuid(i), kwhy_pftrace_label(writer), "W");
	}
}

size_t kwhy_pftrace_lane(
	struct kwhy_pftrace *writer, size_t track, int64_t start_ns, int64_t end_ns, bool *out_new)
{
	int64_t *ends = writer->lane_end_ns[track];
	size_t lane = 0;

	while (lane + 1 < KWHY_PFTRACE_LANES && ends[lane] > start_ns)
		lane++;
	*out_new = ends[lane] == INT64_MIN;
	ends[lane] = end_ns;
	return lane;
}

/*
 * Returns the uuid of a lane that is free from start_ns on, of the track with the calls or ranges of a
 * thread. When a lane is used for the first time, its track is described with the name in writer->label.
 */
static uint64_t take_lane(struct kwhy_pftrace *writer, size_t track, int64_t start_ns, int64_t end_ns)
{
	bool is_new;
	uint64_t uuid = lane_uuid(track, kwhy_pftrace_lane(writer, track, start_ns, end_ns, &is_new));

	if (is_new)
		describe(writer, uuid, kwhy_pftrace_label(writer), NULL);
	return uuid;
}

static void annotate(struct kwhy_text *out, enum kwhy_pftrace_note name, uint64_t value)
{
	size_t note = kwhy_proto_begin(out, EVENT_DEBUG_ANNOTATIONS);

	kwhy_proto_varint(out, ANNOTATION_NAME_IID, name);
	kwhy_proto_varint(out, ANNOTATION_UINT, value);
	kwhy_proto_end(out, note);
}

static void annotate_text(struct kwhy_text *out, enum kwhy_pftrace_note name, const char *value)
{
	size_t note = kwhy_proto_begin(out, EVENT_DEBUG_ANNOTATIONS);

	kwhy_proto_varint(out, ANNOTATION_NAME_IID, name);
	kwhy_proto_string(out, ANNOTATION_STRING, value);
	kwhy_proto_end(out, note);
}

/* Adds a number to an event, unless it equals `unknown`. */
static void annotate_known(
	struct kwhy_text *out, enum kwhy_pftrace_note name, uint64_t value, uint64_t unknown)
{
	if (value != unknown)
		annotate(out, name, value);
}

/* Adds a text to an event, unless it is NULL. */
static void annotate_known_text(struct kwhy_text *out, enum kwhy_pftrace_note name, const char *value)
{
	if (value)
		annotate_text(out, name, value);
}

struct slice {
	int64_t start_ns, end_ns;
	uint32_t name;
	unsigned category;
	uint64_t track;
	size_t call;	 /* SIZE_MAX: the event is no API call */
	uint32_t thread; /* thread of calls and ranges; KWHY_NONE: no thread */
	/*
	 * set for operators only: id of the name of the source file, line in it, and id of the text with the
	 * inputs; 0: unknown
	 */
	uint32_t file, line, inputs;
	bool is_nvtx;
};

struct row {
	size_t packet, event;
};

static struct row row_begin(struct kwhy_pftrace *writer)
{
	struct kwhy_text *out = &writer->sink.text;
	struct row row = {.packet = kwhy_pftrace_begin(writer)};

	kwhy_proto_varint(
		out, KWHY_PFTRACE_TIMESTAMP, kwhy_pftrace_stamp(writer, writer->recording->start_ns));
	row.event = kwhy_proto_begin(out, PACKET_TRACK_EVENT);
	kwhy_proto_varint(out, EVENT_TYPE, INSTANT);
	kwhy_proto_varint(out, EVENT_TRACK_UUID, rows_uuid);
	kwhy_proto_varint(out, EVENT_CATEGORY_IIDS, CATEGORY_ROW);
	return row;
}

static void row_end(struct kwhy_pftrace *writer, struct row row)
{
	kwhy_proto_end(&writer->sink.text, row.event);
	kwhy_proto_varint(&writer->sink.text, KWHY_PFTRACE_SEQUENCE_FLAGS, KWHY_PFTRACE_NEEDS_STATE);
	kwhy_pftrace_end(writer, row.packet);
}

static void write_device_rows(struct kwhy_pftrace *writer)
{
	struct kwhy_text *out = &writer->sink.text;

	for (uint32_t d = 0; d < writer->recording->device_count; d++) {
		const struct kwhy_device *device = &writer->recording->devices[d];
		struct row row = row_begin(writer);

		annotate(out, KWHY_PFTRACE_DEVICE_ROW, d);
		annotate(out, KWHY_PFTRACE_DEVICE, (uint64_t)device->index);
		annotate_known(out, KWHY_PFTRACE_RANK, device->rank, KWHY_NONE);
		annotate_known_text(out, KWHY_PFTRACE_NAME, device->name);
		annotate_known_text(out, KWHY_PFTRACE_UUID, device->uuid);
		annotate_known_text(out, KWHY_PFTRACE_PCI, device->pci);
		annotate_known(out, KWHY_PFTRACE_SMS, device->sm_count, 0);
		annotate_known(out, KWHY_PFTRACE_THREADS_PER_SM, device->threads_per_sm, 0);
		annotate_known(out, KWHY_PFTRACE_REGISTERS_PER_SM, device->registers_per_sm, 0);
		annotate_known(out, KWHY_PFTRACE_SHARED_PER_SM, device->shared_bytes_per_sm, 0);
		annotate_known(
			out, KWHY_PFTRACE_COMPUTE, device->compute_major * 100 + device->compute_minor, 0);
		row_end(writer, row);
	}
}

static void write_process_rows(struct kwhy_pftrace *writer)
{
	struct kwhy_text *out = &writer->sink.text;

	for (uint32_t p = 0; p < writer->recording->process_count; p++) {
		const struct kwhy_process *process = &writer->recording->processes[p];
		struct row row = row_begin(writer);

		annotate(out, KWHY_PFTRACE_PROCESS_ROW, p);
		if (process->pid >= 0)
			annotate(out, KWHY_PFTRACE_PID, (uint64_t)process->pid);
		annotate_known(out, KWHY_PFTRACE_RANK, process->rank, KWHY_NONE);
		annotate_known(out, KWHY_PFTRACE_WORLD_SIZE, process->world_size, 0);
		annotate_known_text(out, KWHY_PFTRACE_HOST, process->host);
		row_end(writer, row);
	}
}

static void write_thread_rows(struct kwhy_pftrace *writer)
{
	struct kwhy_text *out = &writer->sink.text;

	for (uint32_t t = 0; t < writer->recording->thread_count; t++) {
		const struct kwhy_thread *thread = &writer->recording->threads[t];
		struct row row = row_begin(writer);

		annotate(out, KWHY_PFTRACE_THREAD_ROW, t);
		annotate(out, KWHY_PFTRACE_PROCESS_ROW, thread->process);
		/* UINT64_MAX is a tid of -1, which means unknown. */
		annotate_known(out, KWHY_PFTRACE_TID, (uint64_t)thread->tid, UINT64_MAX);
		row_end(writer, row);
	}
}

static void write_stream_rows(struct kwhy_pftrace *writer)
{
	struct kwhy_text *out = &writer->sink.text;

	for (uint32_t i = 0; i < writer->recording->stream_count; i++) {
		const struct kwhy_stream *stream = &writer->recording->streams[i];
		struct row row = row_begin(writer);

		annotate(out, KWHY_PFTRACE_STREAM_ROW, i);
		annotate(out, KWHY_PFTRACE_DEVICE_ROW, stream->device);
		annotate(out, KWHY_PFTRACE_PROCESS_ROW, stream->process);
		if (stream->id >= 0)
			annotate(out, KWHY_PFTRACE_STREAM, (uint64_t)stream->id);
		if (stream->context >= 0)
			annotate(out, KWHY_PFTRACE_CONTEXT, (uint64_t)stream->context);
		row_end(writer, row);
	}
}

static void write_slice(struct kwhy_pftrace *writer, const struct slice *slice)
{
	struct kwhy_text *out = &writer->sink.text;
	size_t packet = kwhy_pftrace_begin(writer), event;

	kwhy_proto_varint(out, KWHY_PFTRACE_TIMESTAMP, kwhy_pftrace_stamp(writer, slice->start_ns));
	event = kwhy_proto_begin(out, PACKET_TRACK_EVENT);
	kwhy_proto_varint(out, EVENT_TYPE, SLICE_BEGIN);
	kwhy_proto_varint(out, EVENT_TRACK_UUID, slice->track);
	kwhy_proto_varint(out, EVENT_NAME_IID, (uint64_t)slice->name + 1);
	kwhy_proto_varint(out, EVENT_CATEGORY_IIDS, slice->category);
	annotate(out, KWHY_PFTRACE_THREAD_ROW, slice->thread);
	if (slice->call != SIZE_MAX)
		annotate(out, KWHY_PFTRACE_CORRELATION, (uint64_t)slice->call + 1);
	if (slice->is_nvtx)
		annotate_text(out, KWHY_PFTRACE_KIND, kwhy_host_kind_name(KWHY_HOST_NVTX));
	if (slice->file)
		annotate_text(out, KWHY_PFTRACE_FILE, kwhy_names_get(&writer->recording->names, slice->file));
	annotate_known(out, KWHY_PFTRACE_LINE, slice->line, 0);
	if (slice->inputs)
		annotate_text(
			out, KWHY_PFTRACE_INPUTS, kwhy_names_get(&writer->recording->names, slice->inputs));
	kwhy_proto_end(out, event);
	kwhy_proto_varint(out, KWHY_PFTRACE_SEQUENCE_FLAGS, KWHY_PFTRACE_NEEDS_STATE);
	kwhy_pftrace_end(writer, packet);

	packet = kwhy_pftrace_begin(writer);
	kwhy_proto_varint(out, KWHY_PFTRACE_TIMESTAMP, kwhy_pftrace_stamp(writer, slice->end_ns));
	event = kwhy_proto_begin(out, PACKET_TRACK_EVENT);
	kwhy_proto_varint(out, EVENT_TYPE, SLICE_END);
	kwhy_proto_varint(out, EVENT_TRACK_UUID, slice->track);
	kwhy_proto_end(out, event);
	kwhy_pftrace_end(writer, packet);
}

static void write_calls(struct kwhy_pftrace *writer)
{
	const struct kwhy_recording *recording = writer->recording;
	const struct kwhy_calls *rows = &recording->calls;

	for (size_t i = 0; i < rows->count; i++) {
		const struct kwhy_thread *thread = &recording->threads[rows->thread[i]];
		struct slice slice = {.start_ns = rows->start_ns[i],
			.end_ns = rows->end_ns[i],
			.name = rows->name[i],
			.category = CATEGORY_CALL,
			.call = i,
			.thread = rows->thread[i]};

		kwhy_text_clear(&writer->label);
		kwhy_text_addf(&writer->label, "calls of thread %" PRId64, thread->tid);
		kwhy_export_names_add_process(&writer->names, thread->process, &writer->label);
		slice.track = take_lane(
			writer, recording->stream_count + rows->thread[i], slice.start_ns, slice.end_ns);
		write_slice(writer, &slice);
	}
}

static void write_ranges(struct kwhy_pftrace *writer)
{
	const struct kwhy_recording *recording = writer->recording;
	size_t first = recording->stream_count + recording->thread_count;

	for (size_t i = 0; i < recording->range_count; i++) {
		const struct kwhy_range *range = &recording->ranges[i];
		size_t track = first + (range->thread == KWHY_NONE ? recording->thread_count : range->thread);
		struct slice slice = {.start_ns = range->start_ns,
			.end_ns = range->end_ns,
			.name = range->name,
			.category = CATEGORY_RANGE,
			.is_nvtx = range->kind == KWHY_RANGE_NVTX,
			.call = SIZE_MAX,
			.thread = range->thread};

		kwhy_text_clear(&writer->label);
		kwhy_text_add(&writer->label, "ranges");
		if (range->thread != KWHY_NONE)
			kwhy_export_names_add_process(
				&writer->names, recording->threads[range->thread].process, &writer->label);
		slice.track = take_lane(writer, track, slice.start_ns, slice.end_ns);
		write_slice(writer, &slice);
	}
}

/*
 * Writes operators, Python functions, system calls and frames of call stacks. All of one thread are on one
 * track, since any two of them either nest or do not overlap. The rows are sorted by thread.
 */
static void write_operators(struct kwhy_pftrace *writer)
{
	const struct kwhy_recording *recording = writer->recording;
	const struct kwhy_host_ranges *rows = &recording->host_ranges;
	uint32_t described = KWHY_NONE;

	for (size_t i = 0; i < rows->count; i++) {
		const struct kwhy_thread *thread = &recording->threads[rows->thread[i]];
		const struct slice slice = {.start_ns = rows->start_ns[i],
			.end_ns = rows->end_ns[i],
			.name = rows->name[i],
			.category = CATEGORY_OPERATOR + rows->kind[i] - KWHY_HOST_OPERATOR,
			.track = operators_uuid(rows->thread[i]),
			.call = SIZE_MAX,
			.thread = rows->thread[i],
			.file = kwhy_host_range_file(rows, i),
			.line = kwhy_host_range_line(rows, i),
			.inputs = kwhy_host_range_shape(rows, i)};

		if (rows->kind[i] < KWHY_HOST_OPERATOR)
			continue;
		if (described != rows->thread[i]) {
			kwhy_text_clear(&writer->label);
			kwhy_text_addf(&writer->label, "operators of thread %" PRId64, thread->tid);
			kwhy_export_names_add_process(&writer->names, thread->process, &writer->label);
			describe(writer, slice.track, kwhy_pftrace_label(writer), NULL);
			described = rows->thread[i];
		}
		write_slice(writer, &slice);
	}
}

static void write_counter(struct kwhy_pftrace *writer, size_t series, int64_t time_ns, double power_w)
{
	struct kwhy_text *out = &writer->sink.text;
	size_t packet = kwhy_pftrace_begin(writer), event;

	kwhy_proto_varint(out, KWHY_PFTRACE_TIMESTAMP, kwhy_pftrace_stamp(writer, time_ns));
	event = kwhy_proto_begin(out, PACKET_TRACK_EVENT);
	kwhy_proto_varint(out, EVENT_TYPE, COUNTER);
	kwhy_proto_varint(out, EVENT_TRACK_UUID, power_uuid(series));
	kwhy_proto_double(out, EVENT_DOUBLE_COUNTER_VALUE, power_w);
	kwhy_proto_end(out, event);
	kwhy_pftrace_end(writer, packet);
}

/*
 * Writes the readings of the host's meters: a power as it is, and at each reading of an energy counter the
 * mean power until its next update. Where that power is unknown because the counter was reset, no value is
 * written.
 */
static void write_host_powers(struct kwhy_pftrace *writer)
{
	for (size_t i = 0; i < writer->recording->power_count; i++) {
		const struct kwhy_power_series *series = &writer->recording->power[i];
		const bool is_counter = kwhy_meter_is_counter(series->meter);

		if (series->device != KWHY_NONE)
			continue;
		for (size_t k = 0; k + is_counter < series->count; k++) {
			double power_w = (double)series->value[k] * 1e-3;

			if (!is_counter || kwhy_counter_power_w(series, k + 1, &power_w))
				write_counter(writer, i, series->time_ns[k], power_w);
		}
	}
}

static enum kwhy_status write_tracks(
	struct kwhy_pftrace *writer, const char *path, bool compress, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_sink_open(&writer->sink, path, compress, error);

	if (status)
		return status;
	write_names(writer);
	describe_host_meters(writer);
	describe(writer, rows_uuid, "rows of the recording", NULL);
	write_device_rows(writer);
	write_process_rows(writer);
	write_thread_rows(writer);
	write_stream_rows(writer);
	kwhy_pftrace_describe_stages(writer);
	kwhy_pftrace_write_stages(writer);
	write_calls(writer);
	write_ranges(writer);
	write_operators(writer);
	write_host_powers(writer);
	kwhy_pftrace_write_gpu_powers(writer);
	return kwhy_sink_close(&writer->sink, error);
}

static enum kwhy_status write_perfetto(
	const struct kwhy_report *report, const char *path, bool compress, struct kwhy_error *error)
{
	const struct kwhy_recording *recording = report->recording;
	size_t tracks = recording->stream_count + 2 * recording->thread_count + 1;
	struct kwhy_pftrace writer = {.report = report, .recording = recording};
	enum kwhy_status status = kwhy_export_names_init(&writer.names, recording, error);

	if (status)
		return status;
	writer.lane_end_ns = malloc(tracks * sizeof(*writer.lane_end_ns));
	for (size_t i = 0; writer.lane_end_ns && i < tracks; i++)
		for (size_t lane = 0; lane < KWHY_PFTRACE_LANES; lane++)
			writer.lane_end_ns[i][lane] = INT64_MIN;
	status = writer.lane_end_ns ? write_tracks(&writer, path, compress, error)
				    : kwhy_fail_memory(error, "the tracks of the export");
	free(writer.lane_end_ns);
	kwhy_text_done(&writer.label);
	kwhy_export_names_done(&writer.names);
	return status;
}

const struct kwhy_exporter kwhy_export_perfetto = {
	.name = "perfetto",
	.extension = ".pftrace",
	.description = "Perfetto's stages of GPUs with the energy of each, power as GPU counters",
	.loses_readings = true,
	.loses_bursts = true,
	.write = write_perfetto,
};
