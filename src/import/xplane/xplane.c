/* SPDX-License-Identifier: Apache-2.0 */
#include "base/plural.h"
#include "import/ranks.h"
#include "import/reader.h"
#include "import/trace_clock.h"
#include "import/trace_end.h"
#include "import/xplane/file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static enum kwhy_status read_pass(struct kwhy_xplane_file *file, const char *path,
	enum kwhy_status (*read)(
		struct kwhy_xplane_file *, struct kwhy_protobuf_stream *, struct kwhy_error *),
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

/* The earliest timestamp_ns of a line with events; INT64_MAX: no line has events. */
static int64_t first_time(const struct kwhy_xplane_file *file)
{
	int64_t first_ns = INT64_MAX;

	for (size_t i = 0; i < file->line_count; i++)
		if (file->lines[i].events > 0 && file->lines[i].timestamp_ns < first_ns)
			first_ns = file->lines[i].timestamp_ns;
	return first_ns;
}

/*
 * Sets shift_ns, which converts the file's times to the recording's clock, and the clock if it is not set
 * yet. A finished profile counts times from its start, which one of its planes states in Unix time; a profile
 * that was not post-processed has Unix times.
 */
static enum kwhy_status set_clock(struct kwhy_xplane_file *file, struct kwhy_error *error)
{
	struct kwhy_recording *recording = file->recording;
	int64_t first_ns = first_time(file);
	int64_t base_ns = first_ns < KWHY_FIRST_UNIX_NS ? file->start_unix_ns : 0;
	struct kwhy_trace_clock clock = {.path = file->path,
		.is_first = !kwhy_recording_has_times(recording),
		.is_unix = base_ns > 0 || first_ns >= KWHY_FIRST_UNIX_NS,
		.origin_unix_ns = base_ns};

	if (first_ns == INT64_MAX)
		return KWHY_OK;
	if (clock.is_unix && base_ns == 0)
		clock.origin_unix_ns = first_ns - first_ns % INT64_C(1000000000);
	if (clock.is_first)
		file->shift_ns = base_ns - clock.origin_unix_ns;
	else
		file->shift_ns = base_ns - recording->origin_unix_ns;
	return kwhy_trace_clock_take(recording, &clock, error);
}

static enum kwhy_status begin(struct kwhy_xplane_file *file, const char *path, struct kwhy_error *error)
{
	const struct kwhy_source source = {
		.format = KWHY_FORMAT_XPLANE, .producer = "XLA's profiler (JAX, TensorFlow)"};
	struct kwhy_trace_begun begun = {0};
	enum kwhy_status status = kwhy_trace_begin(file->recording, path, source, &begun, error);

	file->path = begun.path;
	file->process = begun.process;
	file->tracks = (struct kwhy_tracks){
		.recording = file->recording, .path = begun.path, .source = begun.source};
	return status;
}

static enum kwhy_status check_work(
	const struct kwhy_xplane_file *file, size_t first_activity, struct kwhy_error *error)
{
	if (file->recording->activities.count > first_activity || file->counts.unknown == 0)
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s holds no device work that is understood: it is a profile of XLA without work of a GPU, "
		"and %" PRIu64 " of its %" PRIu64 " events %s (%s)%s; " KWHY_TRACE_CURE,
		file->path, file->counts.unknown, file->counts.events,
		kwhy_plural(file->counts.unknown, "is of a device of an unknown kind",
			"are of devices of unknown kinds"),
		kwhy_names_get(&file->recording->names, file->unknown_plane),
		file->cut ? ", and it ends early or is damaged" : "");
}

static enum kwhy_status add_notes(const struct kwhy_xplane_file *file, struct kwhy_error *error)
{
	const struct kwhy_xplane_counts *counts = &file->counts;
	enum kwhy_status status = KWHY_OK;

	if (counts->unknown > 0)
		status = kwhy_recording_add_note(file->recording, KWHY_NOTE_COMPLETENESS, "events-unknown",
			error, "%s: %" PRIu64 " %s left out: %s.", file->path, counts->unknown,
			kwhy_plural(counts->unknown, "event of a device of an unknown kind was",
				"events of devices of unknown kinds were"),
			kwhy_names_get(&file->recording->names, file->unknown_plane));
	if (!status && counts->unnamed > 0)
		status = kwhy_recording_add_note(file->recording, KWHY_NOTE_WARNING, "events-skipped", error,
			"%s: %" PRIu64 " %s left out.", file->path, counts->unnamed,
			kwhy_plural(counts->unnamed,
				"event without a name, or for several events without times, was",
				"events without a name, or for several events without times, were"));
	if (!status && counts->copies_without_bytes > 0)
		status = kwhy_recording_add_note(file->recording, KWHY_NOTE_COMPLETENESS,
			"copies-without-bytes", error, "%s: %" PRIu64 " %s how many bytes %s moved.",
			file->path, counts->copies_without_bytes,
			kwhy_plural(counts->copies_without_bytes, "copy does not say", "copies do not say"),
			kwhy_plural(counts->copies_without_bytes, "it", "they"));
	if (!status && file->cut)
		status = kwhy_trace_end_note(file->recording, file->path, error);
	return status;
}

static enum kwhy_status read_file(struct kwhy_xplane_file *file, const char *path, struct kwhy_error *error)
{
	struct kwhy_recording *recording = file->recording;
	size_t first_activity = recording->activities.count, first_device = recording->device_count;
	enum kwhy_status status = begin(file, path, error);

	if (!status)
		status = read_pass(file, path, kwhy_xplane_read_tables, error);
	if (!status)
		status = set_clock(file, error);
	if (!status)
		status = read_pass(file, path, kwhy_xplane_read_rows, error);
	if (!status)
		status = check_work(file, first_activity, error);
	if (!status)
		status = kwhy_ranks_separate(recording, file->path, first_device, error);
	if (!status)
		status = add_notes(file, error);
	if (!status)
		recording->sources[file->tracks.source].events = file->counts.events;
	return status;
}

static void file_done(struct kwhy_xplane_file *file)
{
	for (size_t i = 0; i < file->plane_count; i++) {
		kwhy_track_map_done(&file->planes[i].names);
		kwhy_track_map_done(&file->planes[i].texts);
	}
	kwhy_collectives_free(file->collectives);
	kwhy_tracks_done(&file->tracks);
	free(file->planes);
	free(file->lines);
	free(file->texts);
}

static enum kwhy_status xplane_read(struct kwhy_recording *recording, const char *path,
	const struct kwhy_import_options *options, struct kwhy_error *error)
{
	struct kwhy_xplane_file file = {
		.recording = recording, .partial = options->partial, .unknown_plane = KWHY_NONE};
	enum kwhy_status status = kwhy_collectives_new(options->collectives_path, &file.collectives, error);

	if (!status)
		status = read_file(&file, path, error);
	file_done(&file);
	return status;
}

/*
 * Whether the bytes are a length and the start of a text that looks like a plane's name, such as
 * "/device:GPU:0" or "Task Environment".
 */
static bool begins_name(struct kwhy_protobuf_message bytes)
{
	uint64_t length;

	if (!kwhy_protobuf_varint(&bytes, &length) || length == 0 || length > 255 || bytes.at == bytes.end)
		return false;
	return *bytes.at == '/' || *bytes.at == '#' || (*bytes.at >= 'A' && *bytes.at <= 'Z');
}

/* Recognises an XSpace by its start: a plane, which begins with its id, unless that is 0, and its name. */
static bool xplane_probe(const char *path, const unsigned char *head, size_t length)
{
	struct kwhy_protobuf_message bytes = {head, head + length};
	uint64_t key, value;

	(void)path;
	if (!kwhy_protobuf_varint(&bytes, &key) || key != (KWHY_XSPACE_PLANES << 3 | KWHY_PROTOBUF_BYTES) ||
		!kwhy_protobuf_varint(&bytes, &value) || !kwhy_protobuf_varint(&bytes, &key))
		return false;
	if (key == KWHY_XPLANE_ID << 3 &&
		(!kwhy_protobuf_varint(&bytes, &value) || !kwhy_protobuf_varint(&bytes, &key)))
		return false;
	return key == (KWHY_XPLANE_NAME << 3 | KWHY_PROTOBUF_BYTES) && begins_name(bytes);
}

const struct kwhy_trace_reader kwhy_reader_xplane = {.probe = xplane_probe, .read = xplane_read};
