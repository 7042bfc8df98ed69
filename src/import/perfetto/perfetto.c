/* SPDX-License-Identifier: Apache-2.0 */
#include "base/plural.h"
#include "import/perfetto/file.h"
#include "import/ranks.h"
#include "import/reader.h"
#include "import/row_counts.h"
#include "import/trace_clock.h"
#include "import/trace_end.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PACKET_FIELD_END = 1024 }; /* upper bound of the field numbers of TracePacket */

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
	struct kwhy_trace_begun begun = {0};
	enum kwhy_status status;

	file->chooses_clock = !kwhy_recording_has_times(file->recording);
	status = kwhy_trace_begin(
		file->recording, path, (struct kwhy_source){.format = KWHY_FORMAT_PERFETTO}, &begun, error);
	file->path = begun.path;
	file->process = begun.process;
	file->tracks = (struct kwhy_tracks){
		.recording = file->recording, .path = begun.path, .source = begun.source};
	return status;
}

/*
 * Converts the file's times to the recording's clock. The trace's clock, BOOTTIME, becomes Unix time if a
 * snapshot states both; traces that kwhy export wrote already have Unix times.
 */
static enum kwhy_status set_clock(
	struct kwhy_perfetto_file *file, const struct kwhy_row_counts *first, struct kwhy_error *error)
{
	struct kwhy_recording *recording = file->recording;
	int64_t first_ns = kwhy_row_counts_first_time(recording, first);
	int64_t to_unix_ns = first_ns < KWHY_FIRST_UNIX_NS ? file->unix_less_trace_ns : 0;
	struct kwhy_trace_clock clock = {.path = file->path,
		.is_first = file->chooses_clock,
		.is_unix = first_ns >= KWHY_FIRST_UNIX_NS || to_unix_ns > 0};
	enum kwhy_status status;

	if (first_ns == INT64_MAX)
		return KWHY_OK;
	first_ns += to_unix_ns;
	clock.origin_unix_ns = clock.is_unix ? first_ns - first_ns % INT64_C(1000000000) : 0;
	status = kwhy_trace_clock_take(recording, &clock, error);
	if (!status)
		kwhy_row_counts_shift(recording, first, to_unix_ns - recording->origin_unix_ns);
	return status;
}

static const char *unknown_name(const struct kwhy_perfetto_file *file)
{
	return file->unknown_category == KWHY_NONE
		? "no category"
		: kwhy_names_get(&file->recording->names, file->unknown_category);
}

static enum kwhy_status check_work(
	const struct kwhy_perfetto_file *file, const struct kwhy_row_counts *first, struct kwhy_error *error)
{
	if (file->recording->activities.count > first->activities ||
		file->counts.unknown + file->counts.clockless == 0)
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s holds no device work that is understood: it is a Perfetto trace without kernels or "
		"copies of a known kind, and of its %" PRIu64 " events %" PRIu64
		" are of unknown kinds (%.60s) and %" PRIu64
		" on clocks that it does not relate to its own%s; " KWHY_TRACE_CURE,
		file->path, file->counts.events, file->counts.unknown, unknown_name(file),
		file->counts.clockless, file->cut ? ", and it ends early or is damaged" : "");
}

static enum kwhy_status add_notes(struct kwhy_perfetto_file *file, struct kwhy_error *error)
{
	struct kwhy_recording *recording = file->recording;
	const struct kwhy_perfetto_counts *counts = &file->counts;
	enum kwhy_status status = KWHY_OK;

	if (counts->unknown > 0)
		status = kwhy_recording_add_note(recording, KWHY_NOTE_COMPLETENESS, "events-unknown", error,
			"%s: %" PRIu64 " %s left out, the last of category %.60s.", file->path,
			counts->unknown,
			kwhy_plural(counts->unknown, "slice of an unknown kind was",
				"slices of unknown kinds were"),
			unknown_name(file));
	if (!status && counts->clockless > 0)
		status = kwhy_recording_add_note(recording, KWHY_NOTE_WARNING, "events-skipped", error,
			"%s: %" PRIu64 " %s left out.", file->path, counts->clockless,
			kwhy_plural(counts->clockless,
				"event on a clock that the trace does not relate to its own was",
				"events on clocks that the trace does not relate to its own were"));
	if (!status && counts->unpaired > 0)
		status = kwhy_recording_add_note(recording, KWHY_NOTE_WARNING, "slices-unpaired", error,
			"%s: %" PRIu64 " %s left out.", file->path, counts->unpaired,
			kwhy_plural(counts->unpaired, "slice with a begin or an end alone was",
				"slices with a begin or an end alone were"));
	if (!status && file->cut)
		status = kwhy_trace_end_note(recording, file->path, error);
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
	struct kwhy_row_counts first = kwhy_row_counts_of(recording);
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

/*
 * Whether the bytes begin with the key of a field that a packet may have. True also if the key is cut off by
 * the end of the bytes.
 */
static bool begins_field(struct kwhy_protobuf_message bytes)
{
	struct kwhy_protobuf_field field;
	uint64_t key;

	return !kwhy_protobuf_varint(&bytes, &key) ||
		(kwhy_protobuf_key(key, &field) &&
			(field.number == KWHY_PACKET_TRUSTED_UID ||
				field.number >= KWHY_PACKET_CLOCK_SNAPSHOT) &&
			field.number < PACKET_FIELD_END);
}

/*
 * Whether the bytes are a sequence of fields that a packet may have. If not is_whole, the bytes are only the
 * start of a packet, and their last field may be cut off.
 */
static bool are_fields(struct kwhy_protobuf_message bytes, bool is_whole)
{
	struct kwhy_protobuf_field field;
	int more = 1;

	while (more > 0 && bytes.at < bytes.end) {
		if (!begins_field(bytes))
			return false;
		more = kwhy_protobuf_next(&bytes, &field);
	}
	return more > 0 || !is_whole;
}

/* Recognises the format by its beginning: a trace begins with a packet. */
static bool perfetto_probe(const char *path, const unsigned char *head, size_t length)
{
	struct kwhy_protobuf_message bytes = {head, head + length};
	uint64_t key, size;
	bool is_whole;

	(void)path;
	if (!kwhy_protobuf_varint(&bytes, &key) || key != (KWHY_PERFETTO_PACKET << 3 | KWHY_PROTOBUF_BYTES) ||
		!kwhy_protobuf_varint(&bytes, &size) || size < 2)
		return false;
	is_whole = size <= kwhy_protobuf_length(bytes);
	if (is_whole)
		bytes.end = bytes.at + size;
	return are_fields(bytes, is_whole);
}

const struct kwhy_trace_reader kwhy_reader_perfetto = {.probe = perfetto_probe, .read = perfetto_read};
