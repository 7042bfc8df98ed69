/* SPDX-License-Identifier: Apache-2.0 */
#include "model/counter.h"
#include "report/export/export.h"
#include "report/export/export_names.h"
#include "report/export/proto.h"
#include "report/export/sink.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/*
 * Perfetto's track events. Field numbers from its protos/perfetto/trace/ (trace_packet, track_descriptor,
 * track_event, debug_annotation, interned_data): they never change.
 */
enum {
	TRACE_PACKET = 1,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_TRACK_DESCRIPTOR = 60,
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PARENT_UUID = 5,
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
	ANNOTATION_DOUBLE = 5,
	ANNOTATION_STRING = 6,
	SLICE_BEGIN = 1,
	SLICE_END = 2,
	INSTANT = 3,
	COUNTER = 4,
	SEQUENCE = 1,
	STATE_CLEARED = 1,
	NEEDS_STATE = 2,
	LANES = 8, /* slices of a track must nest, so overlapping ones go to further lanes */
};

/*
 * Arguments of slices, and of the instants that describe the recording's devices, processes, threads and
 * streams, by row, so that kwhy reads an export back as it was (import/perfetto/).
 */
#define NOTES(X)                                \
	X(ENERGY, "energy_nj")                  \
	X(BYTES, "bytes")                       \
	X(BLOCKS, "blocks")                     \
	X(THREADS, "threads_per_block")         \
	X(REGISTERS, "registers")               \
	X(SHARED, "shared_bytes")               \
	X(GRAPH_NODE, "graph_node")             \
	X(CORRELATION, "correlation")           \
	X(COPY_KIND, "copy_kind")               \
	X(SOURCE, "src_memory")                 \
	X(TARGET, "dst_memory")                 \
	X(PEER, "peer")                         \
	X(DEVICE_ROW, "device_row")             \
	X(PROCESS_ROW, "process_row")           \
	X(THREAD_ROW, "thread_row")             \
	X(STREAM_ROW, "stream_row")             \
	X(DEVICE, "device")                     \
	X(NAME, "name")                         \
	X(RANK, "rank")                         \
	X(WORLD_SIZE, "world_size")             \
	X(PID, "pid")                           \
	X(TID, "tid")                           \
	X(STREAM, "stream")                     \
	X(CONTEXT, "context")                   \
	X(SMS, "sms")                           \
	X(THREADS_PER_SM, "threads_per_sm")     \
	X(REGISTERS_PER_SM, "registers_per_sm") \
	X(SHARED_PER_SM, "shared_bytes_per_sm") \
	X(COMPUTE, "compute_capability") /* 900 for 9.0 */

enum annotation {
	NOTE_NONE,
#define X(name, text) NOTE_##name,
	NOTES(X)
#undef X
		NOTE_COUNT
};

static const char *const annotation_names[NOTE_COUNT] = {
#define X(name, text) [NOTE_##name] = (text),
	NOTES(X)
#undef X
};

enum { CATEGORY_CALL = KWHY_ACTIVITY_KIND_COUNT + 1, CATEGORY_RANGE, CATEGORY_ROW, CATEGORY_END };

static const char *const category_names[CATEGORY_END] = {
	[KWHY_ACTIVITY_KERNEL + 1] = "kernel",
	[KWHY_ACTIVITY_COLLECTIVE + 1] = "collective",
	[KWHY_ACTIVITY_GRAPH + 1] = "graph",
	[KWHY_ACTIVITY_COPY + 1] = "copy",
	[KWHY_ACTIVITY_MEMSET + 1] = "memset",
	[CATEGORY_CALL] = "api",
	[CATEGORY_RANGE] = "range",
	[CATEGORY_ROW] = "kwhy.row",
};

/* Tracks by uuid: devices, streams and their lanes, threads' calls and ranges, power counters. */
struct writer {
	const struct kwhy_report *report;
	const struct kwhy_recording *recording;
	struct kwhy_export_names names;
	struct kwhy_sink sink;
	struct kwhy_text label;	       /* name of the current track; viewers merge tracks of one name */
	int64_t (*lane_end_ns)[LANES]; /* [track] of streams, then calls, then ranges */
};

static uint64_t device_uuid(uint32_t device)
{
	return 1 + device;
}

static uint64_t lane_uuid(size_t track, size_t lane)
{
	return (uint64_t)1 << 32 | (uint64_t)track << 8 | lane;
}

static uint64_t power_uuid(size_t series)
{
	return (uint64_t)2 << 32 | series;
}

static const uint64_t rows_uuid = (uint64_t)3 << 32; /* of the instants that describe rows */

/* Absolute time; a recording without Unix time keeps its own clock. Perfetto's time stamps are unsigned. */
static uint64_t stamp(const struct writer *writer, int64_t time_ns)
{
	int64_t absolute = time_ns + writer->recording->origin_unix_ns;

	return absolute < 0 ? 0 : (uint64_t)absolute;
}

static size_t packet_begin(struct writer *writer)
{
	return kwhy_proto_begin(&writer->sink.text, TRACE_PACKET);
}

static void packet_end(struct writer *writer, size_t begun)
{
	kwhy_proto_varint(&writer->sink.text, PACKET_SEQUENCE_ID, SEQUENCE);
	kwhy_proto_end(&writer->sink.text, begun);
	kwhy_sink_drain(&writer->sink, KWHY_SINK_PIECE_BYTES);
}

static void describe(
	struct writer *writer, uint64_t uuid, uint64_t parent, const char *name, const char *unit)
{
	struct kwhy_text *out = &writer->sink.text;
	size_t packet = packet_begin(writer);
	size_t track = kwhy_proto_begin(out, PACKET_TRACK_DESCRIPTOR);

	kwhy_proto_varint(out, TRACK_UUID, uuid);
	kwhy_proto_string(out, TRACK_NAME, name);
	if (parent)
		kwhy_proto_varint(out, TRACK_PARENT_UUID, parent);
	if (unit) {
		size_t counter = kwhy_proto_begin(out, TRACK_COUNTER);

		kwhy_proto_string(out, COUNTER_UNIT_NAME, unit);
		kwhy_proto_end(out, counter);
	}
	kwhy_proto_end(out, track);
	packet_end(writer, packet);
}

static void intern(struct writer *writer, unsigned table, uint64_t iid, const char *text)
{
	struct kwhy_text *out = &writer->sink.text;
	size_t packet = packet_begin(writer);
	size_t data = kwhy_proto_begin(out, PACKET_INTERNED_DATA);
	size_t entry = kwhy_proto_begin(out, table);

	kwhy_proto_varint(out, INTERNED_IID, iid);
	kwhy_proto_string(out, INTERNED_TEXT, text);
	kwhy_proto_end(out, entry);
	kwhy_proto_end(out, data);
	kwhy_proto_varint(out, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
	packet_end(writer, packet);
}

static void write_names(struct writer *writer)
{
	const struct kwhy_names *names = &writer->recording->names;
	size_t packet = packet_begin(writer);

	kwhy_proto_varint(&writer->sink.text, PACKET_SEQUENCE_FLAGS, STATE_CLEARED);
	packet_end(writer, packet);
	for (size_t i = 0; i < names->count; i++)
		intern(writer, INTERNED_NAMES, i + 1, names->strings[i]);
	for (unsigned i = 1; i < CATEGORY_END; i++)
		intern(writer, INTERNED_CATEGORIES, i, category_names[i]);
	for (unsigned i = 1; i < NOTE_COUNT; i++)
		intern(writer, INTERNED_ANNOTATION_NAMES, i, annotation_names[i]);
}

static const char *take_label(struct writer *writer)
{
	writer->sink.failed |= writer->label.failed;
	return writer->label.data && !writer->label.failed ? writer->label.data : "";
}

static void describe_devices(struct writer *writer)
{
	const struct kwhy_recording *recording = writer->recording;

	for (uint32_t d = 0; d < recording->device_count; d++) {
		kwhy_text_clear(&writer->label);
		kwhy_export_names_name_device(&writer->names, d, &writer->label);
		describe(writer, device_uuid(d), 0, take_label(writer), NULL);
	}
	for (size_t i = 0; i < recording->power_count; i++) {
		const struct kwhy_power_series *series = &recording->power[i];
		char source[KWHY_METER_NAME_BYTES];

		kwhy_text_clear(&writer->label);
		kwhy_text_add(&writer->label, kwhy_meter_source(source, series->meter, series->domain));
		kwhy_export_names_add_meter(&writer->names, series, &writer->label);
		describe(writer, power_uuid(i), series->device == KWHY_NONE ? 0 : device_uuid(series->device),
			take_label(writer), "W");
	}
}

/*
 * Takes the first lane whose last slice has ended. A lane is described, with the writer's label, when first
 * used.
 */
static uint64_t take_lane(
	struct writer *writer, size_t track, int64_t start_ns, int64_t end_ns, uint64_t parent)
{
	int64_t *ends = writer->lane_end_ns[track];
	size_t lane = 0;

	while (lane + 1 < LANES && ends[lane] > start_ns)
		lane++;
	if (ends[lane] == INT64_MIN)
		describe(writer, lane_uuid(track, lane), parent, take_label(writer), NULL);
	ends[lane] = end_ns;
	return lane_uuid(track, lane);
}

static void annotate(struct kwhy_text *out, enum annotation name, uint64_t value)
{
	size_t note = kwhy_proto_begin(out, EVENT_DEBUG_ANNOTATIONS);

	kwhy_proto_varint(out, ANNOTATION_NAME_IID, name);
	kwhy_proto_varint(out, ANNOTATION_UINT, value);
	kwhy_proto_end(out, note);
}

static void annotate_text(struct kwhy_text *out, enum annotation name, const char *value)
{
	size_t note = kwhy_proto_begin(out, EVENT_DEBUG_ANNOTATIONS);

	kwhy_proto_varint(out, ANNOTATION_NAME_IID, name);
	kwhy_proto_string(out, ANNOTATION_STRING, value);
	kwhy_proto_end(out, note);
}

/* Adds a number that is not `unknown`. */
static void annotate_known(struct kwhy_text *out, enum annotation name, uint64_t value, uint64_t unknown)
{
	if (value != unknown)
		annotate(out, name, value);
}

static void annotate_energy(struct writer *writer, size_t row)
{
	double energy_nj = kwhy_ledger_activity_nj(writer->report->ledger, writer->recording, row);
	struct kwhy_text *out = &writer->sink.text;
	size_t note;

	if (!isfinite(energy_nj))
		return;
	note = kwhy_proto_begin(out, EVENT_DEBUG_ANNOTATIONS);
	kwhy_proto_varint(out, ANNOTATION_NAME_IID, NOTE_ENERGY);
	kwhy_proto_double(out, ANNOTATION_DOUBLE, energy_nj);
	kwhy_proto_end(out, note);
}

static void annotate_activity(struct writer *writer, size_t row)
{
	const struct kwhy_activities *rows = &writer->recording->activities;
	struct kwhy_text *out = &writer->sink.text;

	annotate_energy(writer, row);
	annotate(out, NOTE_STREAM_ROW, rows->stream[row]);
	if (rows->call[row] != KWHY_NONE)
		annotate(out, NOTE_CORRELATION, (uint64_t)rows->call[row] + 1);
	annotate_known(out, NOTE_BYTES, rows->bytes[row], KWHY_UNKNOWN_BYTES);
	annotate_known(out, NOTE_BLOCKS, rows->blocks[row], KWHY_UNKNOWN_BLOCKS);
	annotate_known(out, NOTE_THREADS, rows->threads_per_block[row], KWHY_UNKNOWN_U16);
	annotate_known(out, NOTE_REGISTERS, rows->registers[row], KWHY_UNKNOWN_U16);
	annotate_known(out, NOTE_SHARED, rows->shared_bytes[row], KWHY_NONE);
	annotate_known(out, NOTE_GRAPH_NODE, rows->graph_node[row], KWHY_NONE);
	annotate_known(out, NOTE_PEER, rows->peer[row], KWHY_UNKNOWN_U16);
	if (rows->kind[row] == KWHY_ACTIVITY_COPY)
		annotate_text(out, NOTE_COPY_KIND, kwhy_copy_kind_name(rows->copy_kind[row]));
	if (rows->src_memory[row])
		annotate_text(out, NOTE_SOURCE, kwhy_memory_kind_name(rows->src_memory[row]));
	if (rows->dst_memory[row])
		annotate_text(out, NOTE_TARGET, kwhy_memory_kind_name(rows->dst_memory[row]));
}

struct slice {
	int64_t start_ns, end_ns;
	uint32_t name;
	unsigned category;
	uint64_t track;
	size_t activity; /* SIZE_MAX: no activity */
	size_t call;	 /* SIZE_MAX: no API call */
	uint32_t thread; /* of calls and ranges; KWHY_NONE: none */
};

struct row {
	size_t packet, event;
};

static struct row row_begin(struct writer *writer)
{
	struct kwhy_text *out = &writer->sink.text;
	struct row row = {.packet = packet_begin(writer)};

	kwhy_proto_varint(out, PACKET_TIMESTAMP, stamp(writer, writer->recording->start_ns));
	row.event = kwhy_proto_begin(out, PACKET_TRACK_EVENT);
	kwhy_proto_varint(out, EVENT_TYPE, INSTANT);
	kwhy_proto_varint(out, EVENT_TRACK_UUID, rows_uuid);
	kwhy_proto_varint(out, EVENT_CATEGORY_IIDS, CATEGORY_ROW);
	return row;
}

static void row_end(struct writer *writer, struct row row)
{
	kwhy_proto_end(&writer->sink.text, row.event);
	kwhy_proto_varint(&writer->sink.text, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
	packet_end(writer, row.packet);
}

static void write_device_rows(struct writer *writer)
{
	struct kwhy_text *out = &writer->sink.text;

	for (uint32_t d = 0; d < writer->recording->device_count; d++) {
		const struct kwhy_device *device = &writer->recording->devices[d];
		struct row row = row_begin(writer);

		annotate(out, NOTE_DEVICE_ROW, d);
		annotate(out, NOTE_DEVICE, (uint64_t)device->index);
		annotate_known(out, NOTE_RANK, device->rank, KWHY_NONE);
		if (device->name)
			annotate_text(out, NOTE_NAME, device->name);
		annotate_known(out, NOTE_SMS, device->sm_count, 0);
		annotate_known(out, NOTE_THREADS_PER_SM, device->threads_per_sm, 0);
		annotate_known(out, NOTE_REGISTERS_PER_SM, device->registers_per_sm, 0);
		annotate_known(out, NOTE_SHARED_PER_SM, device->shared_bytes_per_sm, 0);
		annotate_known(out, NOTE_COMPUTE, device->compute_major * 100 + device->compute_minor, 0);
		row_end(writer, row);
	}
}

static void write_process_rows(struct writer *writer)
{
	struct kwhy_text *out = &writer->sink.text;

	for (uint32_t p = 0; p < writer->recording->process_count; p++) {
		const struct kwhy_process *process = &writer->recording->processes[p];
		struct row row = row_begin(writer);

		annotate(out, NOTE_PROCESS_ROW, p);
		if (process->pid >= 0)
			annotate(out, NOTE_PID, (uint64_t)process->pid);
		annotate_known(out, NOTE_RANK, process->rank, KWHY_NONE);
		annotate_known(out, NOTE_WORLD_SIZE, process->world_size, 0);
		row_end(writer, row);
	}
}

static void write_thread_rows(struct writer *writer)
{
	struct kwhy_text *out = &writer->sink.text;

	for (uint32_t t = 0; t < writer->recording->thread_count; t++) {
		const struct kwhy_thread *thread = &writer->recording->threads[t];
		struct row row = row_begin(writer);

		annotate(out, NOTE_THREAD_ROW, t);
		annotate(out, NOTE_PROCESS_ROW, thread->process);
		if (thread->tid >= 0)
			annotate(out, NOTE_TID, (uint64_t)thread->tid);
		row_end(writer, row);
	}
}

static void write_stream_rows(struct writer *writer)
{
	struct kwhy_text *out = &writer->sink.text;

	for (uint32_t i = 0; i < writer->recording->stream_count; i++) {
		const struct kwhy_stream *stream = &writer->recording->streams[i];
		struct row row = row_begin(writer);

		annotate(out, NOTE_STREAM_ROW, i);
		annotate(out, NOTE_DEVICE_ROW, stream->device);
		annotate(out, NOTE_PROCESS_ROW, stream->process);
		if (stream->id >= 0)
			annotate(out, NOTE_STREAM, (uint64_t)stream->id);
		if (stream->context >= 0)
			annotate(out, NOTE_CONTEXT, (uint64_t)stream->context);
		row_end(writer, row);
	}
}

static void write_slice(struct writer *writer, const struct slice *slice)
{
	struct kwhy_text *out = &writer->sink.text;
	size_t packet = packet_begin(writer), event;

	kwhy_proto_varint(out, PACKET_TIMESTAMP, stamp(writer, slice->start_ns));
	event = kwhy_proto_begin(out, PACKET_TRACK_EVENT);
	kwhy_proto_varint(out, EVENT_TYPE, SLICE_BEGIN);
	kwhy_proto_varint(out, EVENT_TRACK_UUID, slice->track);
	kwhy_proto_varint(out, EVENT_NAME_IID, (uint64_t)slice->name + 1);
	kwhy_proto_varint(out, EVENT_CATEGORY_IIDS, slice->category);
	if (slice->activity != SIZE_MAX)
		annotate_activity(writer, slice->activity);
	else
		annotate(out, NOTE_THREAD_ROW, slice->thread);
	if (slice->call != SIZE_MAX)
		annotate(out, NOTE_CORRELATION, (uint64_t)slice->call + 1);
	kwhy_proto_end(out, event);
	kwhy_proto_varint(out, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
	packet_end(writer, packet);

	packet = packet_begin(writer);
	kwhy_proto_varint(out, PACKET_TIMESTAMP, stamp(writer, slice->end_ns));
	event = kwhy_proto_begin(out, PACKET_TRACK_EVENT);
	kwhy_proto_varint(out, EVENT_TYPE, SLICE_END);
	kwhy_proto_varint(out, EVENT_TRACK_UUID, slice->track);
	kwhy_proto_end(out, event);
	packet_end(writer, packet);
}

static void write_activities(struct writer *writer)
{
	const struct kwhy_recording *recording = writer->recording;
	const struct kwhy_activities *rows = &recording->activities;

	for (size_t i = 0; i < rows->count; i++) {
		const struct kwhy_stream *stream = &recording->streams[rows->stream[i]];
		struct slice slice = {rows->start_ns[i], rows->end_ns[i], rows->name[i], rows->kind[i] + 1u,
			0, i, SIZE_MAX, KWHY_NONE};

		kwhy_text_clear(&writer->label);
		kwhy_text_addf(&writer->label, "stream %" PRId64, stream->id);
		slice.track = take_lane(
			writer, rows->stream[i], slice.start_ns, slice.end_ns, device_uuid(stream->device));
		write_slice(writer, &slice);
	}
}

static void write_calls(struct writer *writer)
{
	const struct kwhy_recording *recording = writer->recording;
	const struct kwhy_calls *rows = &recording->calls;

	for (size_t i = 0; i < rows->count; i++) {
		const struct kwhy_thread *thread = &recording->threads[rows->thread[i]];
		struct slice slice = {rows->start_ns[i], rows->end_ns[i], rows->name[i], CATEGORY_CALL, 0,
			SIZE_MAX, i, rows->thread[i]};

		kwhy_text_clear(&writer->label);
		kwhy_text_addf(&writer->label, "calls of thread %" PRId64, thread->tid);
		kwhy_export_names_add_process(&writer->names, thread->process, &writer->label);
		slice.track = take_lane(
			writer, recording->stream_count + rows->thread[i], slice.start_ns, slice.end_ns, 0);
		write_slice(writer, &slice);
	}
}

static void write_ranges(struct writer *writer)
{
	const struct kwhy_recording *recording = writer->recording;
	size_t first = recording->stream_count + recording->thread_count;

	for (size_t i = 0; i < recording->range_count; i++) {
		const struct kwhy_range *range = &recording->ranges[i];
		size_t track = first + (range->thread == KWHY_NONE ? recording->thread_count : range->thread);
		struct slice slice = {range->start_ns, range->end_ns, range->name, CATEGORY_RANGE, 0,
			SIZE_MAX, SIZE_MAX, range->thread};

		kwhy_text_clear(&writer->label);
		kwhy_text_add(&writer->label, "ranges");
		if (range->thread != KWHY_NONE)
			kwhy_export_names_add_process(
				&writer->names, recording->threads[range->thread].process, &writer->label);
		slice.track = take_lane(writer, track, slice.start_ns, slice.end_ns, 0);
		write_slice(writer, &slice);
	}
}

static void write_counter(struct writer *writer, size_t series, int64_t time_ns, double power_w)
{
	struct kwhy_text *out = &writer->sink.text;
	size_t packet = packet_begin(writer), event;

	kwhy_proto_varint(out, PACKET_TIMESTAMP, stamp(writer, time_ns));
	event = kwhy_proto_begin(out, PACKET_TRACK_EVENT);
	kwhy_proto_varint(out, EVENT_TYPE, COUNTER);
	kwhy_proto_varint(out, EVENT_TRACK_UUID, power_uuid(series));
	kwhy_proto_double(out, EVENT_DOUBLE_COUNTER_VALUE, power_w);
	kwhy_proto_end(out, event);
	packet_end(writer, packet);
}

/*
 * Writes power readings as they are, and counters as the mean power up to the next update. There is no value
 * where a counter was reset to an unknown value.
 */
static void write_power(struct writer *writer)
{
	for (size_t i = 0; i < writer->recording->power_count; i++) {
		const struct kwhy_power_series *series = &writer->recording->power[i];
		const bool is_counter = kwhy_meter_is_counter(series->meter);

		for (size_t k = 0; k + is_counter < series->count; k++) {
			double power_w = (double)series->value[k] * 1e-3;

			if (!is_counter || kwhy_counter_power_w(series, k + 1, &power_w))
				write_counter(writer, i, series->time_ns[k], power_w);
		}
	}
}

static enum kwhy_status write_tracks(
	struct writer *writer, const char *path, bool compress, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_sink_open(&writer->sink, path, compress, error);

	if (status)
		return status;
	write_names(writer);
	describe_devices(writer);
	describe(writer, rows_uuid, 0, "rows of the recording", NULL);
	write_device_rows(writer);
	write_process_rows(writer);
	write_thread_rows(writer);
	write_stream_rows(writer);
	write_activities(writer);
	write_calls(writer);
	write_ranges(writer);
	write_power(writer);
	return kwhy_sink_close(&writer->sink, error);
}

static enum kwhy_status write_perfetto(
	const struct kwhy_report *report, const char *path, bool compress, struct kwhy_error *error)
{
	const struct kwhy_recording *recording = report->recording;
	size_t tracks = recording->stream_count + 2 * recording->thread_count + 1;
	struct writer writer = {.report = report, .recording = recording};
	enum kwhy_status status = kwhy_export_names_init(&writer.names, recording, error);

	if (status)
		return status;
	writer.lane_end_ns = malloc(tracks * sizeof(*writer.lane_end_ns));
	for (size_t i = 0; writer.lane_end_ns && i < tracks; i++)
		for (size_t lane = 0; lane < LANES; lane++)
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
	.description = "Perfetto track events, power as counters, energy in each slice's arguments",
	.write = write_perfetto,
};
