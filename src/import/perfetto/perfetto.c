/* SPDX-License-Identifier: Apache-2.0 */
#include "import/perfetto/file.h"
#include "import/ranks.h"
#include "import/reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* 2000-01-01 in Unix time; earlier times are relative to the machine's start */
#define FIRST_UNIX_NS (INT64_C(946684800) * 1000000000)

static enum kwhy_status read_pass(struct kwhy_perfetto_file *file, const char *path,
	enum kwhy_status (*read)(
		struct kwhy_perfetto_file *, struct kwhy_protobuf_stream *, struct kwhy_error *),
	struct kwhy_error *error)
{
	struct kwhy_protobuf_stream stream;
	enum kwhy_status status = kwhy_protobuf_stream_open(&stream, path, error);

	if (status)
		return status;
	status = read(file, &stream, error);
	kwhy_protobuf_stream_close(&stream);
	return status;
}

static enum kwhy_status begin(struct kwhy_perfetto_file *file, const char *path, struct kwhy_error *error)
{
	struct kwhy_recording *recording = file->recording;
	struct kwhy_source source = {.format = KWHY_FORMAT_PERFETTO};
	struct kwhy_process process = {.pid = -1, .rank = KWHY_NONE, .machine = KWHY_NONE};
	enum kwhy_status status;

	file->path = source.path = kwhy_recording_copy(recording, path, strlen(path));
	if (!file->path)
		return kwhy_fail_memory(error, "reading a trace");
	file->chooses_clock = !kwhy_recording_has_times(recording);
	status = kwhy_recording_add_source(recording, &source, &file->tracks.source, error);
	process.source = file->tracks.source;
	if (!status)
		status = kwhy_recording_add_process(recording, &process, &file->process, error);
	file->tracks.recording = recording;
	file->tracks.path = file->path;
	return status;
}

/* Numbers of rows before this file was read; later rows are of this file. */
struct rows {
	size_t activities, calls, ranges, host_ranges, devices;
};

static struct rows rows_of(const struct kwhy_recording *recording)
{
	return (struct rows){recording->activities.count, recording->calls.count, recording->range_count,
		recording->host_ranges.count, recording->device_count};
}

static int64_t first_time(const struct kwhy_recording *recording, const struct rows *first)
{
	int64_t first_ns = INT64_MAX;

	for (size_t i = first->activities; i < recording->activities.count; i++)
		if (recording->activities.start_ns[i] < first_ns)
			first_ns = recording->activities.start_ns[i];
	for (size_t i = first->calls; i < recording->calls.count; i++)
		if (recording->calls.start_ns[i] < first_ns)
			first_ns = recording->calls.start_ns[i];
	for (size_t i = first->ranges; i < recording->range_count; i++)
		if (recording->ranges[i].start_ns < first_ns)
			first_ns = recording->ranges[i].start_ns;
	return first_ns;
}

static void shift(struct kwhy_recording *recording, const struct rows *first, int64_t by_ns)
{
	for (size_t i = first->activities; i < recording->activities.count; i++) {
		recording->activities.start_ns[i] += by_ns;
		recording->activities.end_ns[i] += by_ns;
	}
	for (size_t i = first->calls; i < recording->calls.count; i++) {
		recording->calls.start_ns[i] += by_ns;
		recording->calls.end_ns[i] += by_ns;
	}
	for (size_t i = first->ranges; i < recording->range_count; i++) {
		recording->ranges[i].start_ns += by_ns;
		recording->ranges[i].end_ns += by_ns;
	}
	for (size_t i = first->host_ranges; i < recording->host_ranges.count; i++) {
		recording->host_ranges.start_ns[i] += by_ns;
		recording->host_ranges.end_ns[i] += by_ns;
	}
}

/*
 * Converts the file's times to the recording's clock. The trace's clock is the time since the machine's
 * start, and a snapshot relates it to Unix time. Traces of kwhy export have Unix times.
 */
static enum kwhy_status set_clock(
	struct kwhy_perfetto_file *file, const struct rows *first, struct kwhy_error *error)
{
	struct kwhy_recording *recording = file->recording;
	int64_t first_ns = first_time(recording, first);
	int64_t to_unix_ns = first_ns < FIRST_UNIX_NS ? file->unix_less_trace_ns : 0;
	bool unix_clock = first_ns >= FIRST_UNIX_NS || to_unix_ns > 0;

	if (first_ns == INT64_MAX)
		return KWHY_OK;
	first_ns += to_unix_ns;
	if (file->chooses_clock) {
		recording->unix_clock = unix_clock;
		recording->clock_name = NULL;
		recording->origin_unix_ns = unix_clock ? first_ns - first_ns % INT64_C(1000000000) : 0;
	}
	if (unix_clock != recording->unix_clock)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s has %s: they cannot be put on one clock; report each trace alone", file->path,
			unix_clock ? "Unix times and the traces before it have none"
				   : "no Unix times and those before it have");
	shift(recording, first, to_unix_ns - recording->origin_unix_ns);
	if (unix_clock)
		return KWHY_OK;
	return kwhy_recording_add_note(recording, KWHY_NOTE_WARNING, "no-unix-clock", error,
		"%s: its times are no Unix times, so its times cannot be laid beside power readings or other "
		"traces.",
		file->path);
}

static const char *unknown_name(const struct kwhy_perfetto_file *file)
{
	return file->unknown_category == KWHY_NONE
		? "no category"
		: kwhy_names_get(&file->recording->names, file->unknown_category);
}

static enum kwhy_status check_work(
	const struct kwhy_perfetto_file *file, const struct rows *first, struct kwhy_error *error)
{
	if (file->recording->activities.count > first->activities || file->partial ||
		file->counts.unknown + file->counts.clockless == 0)
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s is not readable: it is a Perfetto trace without kernels or copies of a known kind, and "
		"of its %" PRIu64 " events %" PRIu64 " are of unknown kinds (%.60s) and %" PRIu64
		" on clocks that it does not relate to its own; " KWHY_TRACE_CURE,
		file->path, file->counts.events, file->counts.unknown, unknown_name(file),
		file->counts.clockless);
}

static enum kwhy_status add_notes(struct kwhy_perfetto_file *file, struct kwhy_error *error)
{
	struct kwhy_recording *recording = file->recording;
	const struct kwhy_perfetto_counts *counts = &file->counts;
	enum kwhy_status status = KWHY_OK;

	if (counts->unknown > 0)
		status = kwhy_recording_add_note(recording, KWHY_NOTE_COMPLETENESS, "events-unknown", error,
			"%s: %" PRIu64
			" slices are of kinds that are not known here and are left out, the last "
			"of them of %.60s.",
			file->path, counts->unknown, unknown_name(file));
	if (!status && counts->clockless > 0)
		status = kwhy_recording_add_note(recording, KWHY_NOTE_WARNING, "events-skipped", error,
			"%s: %" PRIu64 " events are on clocks that the trace does not relate to its own, and "
			"are left out.",
			file->path, counts->clockless);
	if (!status && counts->unpaired > 0)
		status = kwhy_recording_add_note(recording, KWHY_NOTE_WARNING, "slices-unpaired", error,
			"%s: %" PRIu64
			" slices have a begin without an end or an end without a begin, and are "
			"left out.",
			file->path, counts->unpaired);
	if (!status && file->cut) {
		recording->lost.truncated = true;
		status = kwhy_recording_add_note(recording, KWHY_NOTE_WARNING, "truncated", error,
			"%s: the file ends early; what stands before its end is read, the rest is missing.",
			file->path);
	}
	return status;
}

static void count_open(struct kwhy_perfetto_file *file)
{
	for (size_t i = 0; i < file->item_count; i++)
		for (uint32_t at = file->items[i].open; at != KWHY_NONE; at = file->slices[at].outer)
			file->counts.unpaired++;
}

static enum kwhy_status read_file(struct kwhy_perfetto_file *file, const char *path, struct kwhy_error *error)
{
	struct kwhy_recording *recording = file->recording;
	struct rows first = rows_of(recording);
	enum kwhy_status status = begin(file, path, error);

	if (!status)
		status = read_pass(file, path, kwhy_perfetto_read_tracks, error);
	if (!status)
		status = read_pass(file, path, kwhy_perfetto_read_events, error);
	count_open(file);
	if (!status)
		status = check_work(file, &first, error);
	if (!status)
		status = set_clock(file, &first, error);
	if (!status)
		status = kwhy_ranks_separate(recording, file->path, first.devices, error);
	if (!status)
		status = add_notes(file, error);
	if (!status)
		recording->sources[file->tracks.source].events = file->counts.events;
	return status;
}

static void file_done(struct kwhy_perfetto_file *file)
{
	kwhy_track_map_done(&file->by_uuid);
	kwhy_track_map_done(&file->by_clock);
	kwhy_track_map_done(&file->interned);
	kwhy_track_map_done(&file->by_row);
	kwhy_track_map_done(&file->devices);
	kwhy_track_map_done(&file->defaults);
	kwhy_collectives_free(file->collectives);
	kwhy_tracks_done(&file->tracks);
	free(file->items);
	free(file->slices);
	free(file->clocks);
	free(file->roles);
	free(file->keys);
}

static enum kwhy_status perfetto_read(struct kwhy_recording *recording, const char *path,
	const struct kwhy_import_options *options, struct kwhy_error *error)
{
	struct kwhy_perfetto_file file = {.recording = recording,
		.partial = options->partial,
		.free_slice = KWHY_NONE,
		.unknown_category = KWHY_NONE};
	enum kwhy_status status = kwhy_collectives_new(options->collectives_path, &file.collectives, error);

	if (!status)
		status = read_file(&file, path, error);
	file_done(&file);
	return status;
}

/* Recognises the format: a trace begins with a packet, which begins with a field of packets. */
static bool perfetto_probe(const char *path, const unsigned char *head, size_t length)
{
	struct kwhy_protobuf_message bytes = {head, head + length};
	struct kwhy_protobuf_field field;
	uint64_t key, size;

	(void)path;
	return kwhy_protobuf_varint(&bytes, &key) &&
		key == (KWHY_PERFETTO_PACKET << 3 | KWHY_PROTOBUF_BYTES) &&
		kwhy_protobuf_varint(&bytes, &size) && size > 1 && kwhy_protobuf_varint(&bytes, &key) &&
		kwhy_protobuf_key(key, &field) && field.number >= KWHY_PACKET_CLOCK_SNAPSHOT &&
		field.number < 1024;
}

const struct kwhy_trace_reader kwhy_reader_perfetto = {.probe = perfetto_probe, .read = perfetto_read};
