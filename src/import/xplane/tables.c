/* SPDX-License-Identifier: Apache-2.0 */
#include "base/column.h"
#include "import/xla/event.h"
#include "import/xplane/file.h"

#include <string.h>

static const char *const stat_texts[KWHY_XPLANE_STAT_COUNT] = {
#define X(name, text) [KWHY_XPLANE_STAT_##name] = (text),
	KWHY_XPLANE_STATS(X)
#undef X
};

static enum kwhy_status fail_damaged(const struct kwhy_xplane_file *file, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s is damaged: a table of a plane cannot be decoded; record the trace again", file->path);
}

static enum kwhy_xplane_stat stat_of(struct kwhy_protobuf_message text)
{
	size_t length = kwhy_protobuf_length(text), i = 0;

	while (i < KWHY_XPLANE_STAT_COUNT &&
		(strlen(stat_texts[i]) != length || memcmp(stat_texts[i], text.at, length) != 0))
		i++;
	return (enum kwhy_xplane_stat)i;
}

/* Reads an entry of a plane's table, an id and a message with a name. False: it is damaged. */
static bool read_entry(
	struct kwhy_protobuf_message entry, int64_t *out_id, struct kwhy_protobuf_message *out_name)
{
	struct kwhy_protobuf_message value = {0};
	struct kwhy_protobuf_field field;
	int more;

	*out_name = (struct kwhy_protobuf_message){0};
	*out_id = 0;
	while ((more = kwhy_protobuf_next(&entry, &field)) > 0) {
		if (field.number == KWHY_MAP_KEY)
			*out_id = (int64_t)field.value;
		if (field.number == KWHY_MAP_VALUE)
			value = field.bytes;
	}
	if (more < 0)
		return false;
	while ((more = kwhy_protobuf_next(&value, &field)) > 0) {
		if (field.number == KWHY_XMETADATA_ID)
			*out_id = (int64_t)field.value;
		if (field.number == KWHY_XMETADATA_NAME)
			*out_name = field.bytes;
	}
	return more == 0;
}

static enum kwhy_status intern(struct kwhy_xplane_file *file, struct kwhy_protobuf_message text,
	uint32_t *out, struct kwhy_error *error)
{
	return kwhy_names_intern(
		&file->recording->names, (const char *)text.at, kwhy_protobuf_length(text), out, error);
}

static enum kwhy_status add_name(struct kwhy_xplane_file *file, struct kwhy_xplane_plane *plane,
	struct kwhy_protobuf_message entry, struct kwhy_error *error)
{
	struct kwhy_protobuf_message text;
	enum kwhy_status status;
	uint32_t name;
	int64_t id;

	if (!read_entry(entry, &id, &text))
		return fail_damaged(file, error);
	status = intern(file, text, &name, error);
	return status ? status
		      : kwhy_track_map_put(&plane->names, (struct kwhy_track_key){.a = id}, name, error);
}

static enum kwhy_status add_text(struct kwhy_xplane_file *file, struct kwhy_xplane_plane *plane,
	struct kwhy_protobuf_message entry, struct kwhy_error *error)
{
	struct kwhy_xplane_text row = {0};
	struct kwhy_protobuf_message text;
	enum kwhy_status status;
	int64_t id;

	if (!read_entry(entry, &id, &text))
		return fail_damaged(file, error);
	row.stat = stat_of(text);
	row.text = kwhy_recording_copy(
		file->recording, text.at ? (const char *)text.at : "", kwhy_protobuf_length(text));
	if (!row.text)
		return kwhy_fail_memory(error, "the names of a trace");
	status = kwhy_column_reserve((void **)&file->texts, &file->text_capacity, file->text_count + 1,
		sizeof(*file->texts), "the names of a trace", error);
	if (!status)
		status = kwhy_track_map_put(
			&plane->texts, (struct kwhy_track_key){.a = id}, (uint32_t)file->text_count, error);
	if (!status)
		file->texts[file->text_count++] = row;
	return status;
}

static const struct kwhy_xplane_text *find_text(
	struct kwhy_xplane_file *file, struct kwhy_xplane_plane *plane, uint64_t id)
{
	uint32_t row;

	if (!kwhy_track_map_find(&plane->texts, (struct kwhy_track_key){.a = (int64_t)id}, &row))
		return NULL;
	return &file->texts[row];
}

bool kwhy_xplane_value_read(struct kwhy_xplane_file *file, struct kwhy_xplane_plane *plane,
	struct kwhy_protobuf_message message, struct kwhy_xplane_value *out)
{
	const struct kwhy_xplane_text *text = NULL;
	struct kwhy_protobuf_field field;
	int more;

	*out = (struct kwhy_xplane_value){.stat = KWHY_XPLANE_STAT_COUNT, .text = ""};
	while ((more = kwhy_protobuf_next(&message, &field)) > 0) {
		if (field.number == KWHY_XSTAT_METADATA_ID)
			text = find_text(file, plane, field.value);
		if (field.number == KWHY_XSTAT_UINT64 || field.number == KWHY_XSTAT_INT64)
			out->number = field.value;
		if (field.number == KWHY_XSTAT_TEXT && field.bytes.at) {
			out->text = (const char *)field.bytes.at;
			out->length = kwhy_protobuf_length(field.bytes);
		}
		if (field.number == KWHY_XSTAT_REFERENCE) {
			const struct kwhy_xplane_text *value = find_text(file, plane, field.value);

			out->text = value ? value->text : "";
			out->length = strlen(out->text);
		}
	}
	if (text)
		out->stat = text->stat;
	return more == 0;
}

static uint32_t fact_below(const struct kwhy_xplane_value *value, uint32_t limit)
{
	return value->number < limit ? (uint32_t)value->number : 0;
}

static void set_number(
	struct kwhy_xplane_file *file, struct kwhy_device *facts, const struct kwhy_xplane_value *value)
{
	if (value->stat == KWHY_XPLANE_STAT_START_TIME && value->number < INT64_MAX / 4)
		file->start_unix_ns = (int64_t)value->number;
	if (value->stat == KWHY_XPLANE_STAT_CORES)
		facts->sm_count = fact_below(value, UINT32_MAX);
	if (value->stat == KWHY_XPLANE_STAT_MEMORY_RATE)
		facts->memory_rate_bytes_per_s = (double)value->number;
	if (value->stat == KWHY_XPLANE_STAT_MEMORY_SIZE)
		facts->memory_bytes = value->number;
	if (value->stat == KWHY_XPLANE_STAT_MAJOR)
		facts->compute_major = fact_below(value, 1000);
	if (value->stat == KWHY_XPLANE_STAT_MINOR)
		facts->compute_minor = fact_below(value, 1000);
}

/* Reads one value that a plane states about its device or about the profile. A number of 0 means unknown. */
static enum kwhy_status add_fact(struct kwhy_xplane_file *file, struct kwhy_xplane_plane *plane,
	struct kwhy_protobuf_message message, struct kwhy_error *error)
{
	struct kwhy_device *facts = &plane->facts;
	struct kwhy_xplane_value value;

	if (!kwhy_xplane_value_read(file, plane, message, &value))
		return fail_damaged(file, error);
	set_number(file, facts, &value);
	if (value.stat == KWHY_XPLANE_STAT_DEVICE_TYPE ||
		(value.stat == KWHY_XPLANE_STAT_VENDOR && !facts->name)) {
		facts->name = kwhy_tracks_text(&file->tracks, value.text, value.length);
		if (!facts->name)
			return kwhy_fail_memory(error, "the devices of a trace");
	}
	return KWHY_OK;
}

static void classify(struct kwhy_xplane_file *file, struct kwhy_xplane_plane *plane)
{
	const char *name = kwhy_names_get(&file->recording->names, plane->name);

	plane->gpu = kwhy_xla_gpu(name);
	if (plane->gpu >= 0)
		plane->kind = KWHY_XPLANE_GPU;
	else if (kwhy_xla_is_host(name))
		plane->kind = KWHY_XPLANE_HOST;
	else if (!strncmp(name, "/device:", 8) && strncmp(name, "/device:CUSTOM:", 15) != 0)
		plane->kind = KWHY_XPLANE_UNKNOWN;
	else
		plane->kind = KWHY_XPLANE_OTHER;
}

static enum kwhy_status read_line_field(struct kwhy_xplane_file *file, struct kwhy_protobuf_stream *stream,
	const struct kwhy_protobuf_field *field, struct kwhy_xplane_line *line, struct kwhy_error *error)
{
	struct kwhy_protobuf_message text;
	enum kwhy_status status;

	if (field->number == KWHY_XLINE_ID)
		line->id = (int64_t)field->value;
	if (field->number == KWHY_XLINE_TIMESTAMP_NS)
		line->timestamp_ns = (int64_t)field->value;
	line->events += field->number == KWHY_XLINE_EVENTS;
	if (field->number != KWHY_XLINE_NAME)
		return kwhy_protobuf_stream_skip(stream, field, error);
	status = kwhy_protobuf_stream_take(stream, field, &text, error);
	return status ? status : intern(file, text, &line->name, error);
}

static enum kwhy_status read_line(struct kwhy_xplane_file *file, struct kwhy_protobuf_stream *stream,
	uint64_t end, struct kwhy_error *error)
{
	struct kwhy_xplane_line line = {.name = KWHY_NONE};
	struct kwhy_protobuf_field field;
	enum kwhy_status status;
	bool more = true;
	size_t row = file->line_count;

	status = kwhy_column_reserve((void **)&file->lines, &file->line_capacity, row + 1,
		sizeof(*file->lines), "the lines of a trace", error);
	if (status)
		return status;
	file->line_count++;
	while (!status && more) {
		status = kwhy_protobuf_stream_next(stream, end, &field, &more, error);
		if (!status && more)
			status = read_line_field(file, stream, &field, &line, error);
	}
	file->lines[row] =
		line; /* stored also if the file ends inside the line, so that the events read so far count */
	return status;
}

/*
 * Whether the names of a plane's events are read: if the plane is of a GPU or host, or if its own name, which
 * shows its kind, is not known yet. Other planes' names are not needed; those of "/host:metadata" contain
 * whole programs.
 */
static bool has_names(const struct kwhy_xplane_plane *plane)
{
	return plane->kind == KWHY_XPLANE_GPU || plane->kind == KWHY_XPLANE_HOST || plane->name == KWHY_NONE;
}

static enum kwhy_status read_plane_field(struct kwhy_xplane_file *file, struct kwhy_protobuf_stream *stream,
	const struct kwhy_protobuf_field *field, struct kwhy_xplane_plane *plane, struct kwhy_error *error)
{
	struct kwhy_protobuf_message bytes;
	enum kwhy_status status;

	if (field->number == KWHY_XPLANE_LINES && field->wire == KWHY_PROTOBUF_BYTES) {
		plane->line_count++;
		return read_line(file, stream, kwhy_protobuf_stream_end(stream, field), error);
	}
	if (field->number < KWHY_XPLANE_NAME || field->number > KWHY_XPLANE_VALUES ||
		(field->number == KWHY_XPLANE_EVENT_METADATA && !has_names(plane)))
		return kwhy_protobuf_stream_skip(stream, field, error);
	status = kwhy_protobuf_stream_take(stream, field, &bytes, error);
	if (status)
		return status;
	if (field->number == KWHY_XPLANE_VALUES)
		return add_fact(file, plane, bytes, error);
	if (field->number == KWHY_XPLANE_STAT_METADATA)
		return add_text(file, plane, bytes, error);
	if (field->number == KWHY_XPLANE_EVENT_METADATA)
		return add_name(file, plane, bytes, error);
	status = intern(file, bytes, &plane->name, error);
	if (!status)
		classify(file, plane);
	return status;
}

static enum kwhy_status read_plane(struct kwhy_xplane_file *file, struct kwhy_protobuf_stream *stream,
	uint64_t end, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_column_reserve((void **)&file->planes, &file->plane_capacity,
		file->plane_count + 1, sizeof(*file->planes), "the planes of a trace", error);
	struct kwhy_xplane_plane *plane;
	struct kwhy_protobuf_field field;
	bool more = true;

	if (status)
		return status;
	plane = &file->planes[file->plane_count++];
	*plane = (struct kwhy_xplane_plane){.name = KWHY_NONE,
		.gpu = -1,
		.device = KWHY_NONE,
		.facts = kwhy_device_unknown(0, KWHY_NONE),
		.first_line = file->line_count};
	while (!status && more) {
		status = kwhy_protobuf_stream_next(stream, end, &field, &more, error);
		if (!status && more)
			status = read_plane_field(file, stream, &field, plane, error);
	}
	return status;
}

/* Sets the counts of all events and of events in planes of unknown devices. */
static void count_unknown(struct kwhy_xplane_file *file)
{
	for (size_t i = 0; i < file->plane_count; i++) {
		const struct kwhy_xplane_plane *plane = &file->planes[i];

		for (size_t k = 0; k < plane->line_count; k++) {
			uint64_t events = file->lines[plane->first_line + k].events;

			file->counts.events += events;
			if (plane->kind == KWHY_XPLANE_UNKNOWN && events > 0) {
				file->counts.unknown += events;
				file->unknown_plane = plane->name;
			}
		}
	}
}

enum kwhy_status kwhy_xplane_read_tables(
	struct kwhy_xplane_file *file, struct kwhy_protobuf_stream *stream, struct kwhy_error *error)
{
	struct kwhy_protobuf_field field;
	enum kwhy_status status = KWHY_OK;
	bool more = true;

	while (!status && more) {
		status = kwhy_protobuf_stream_next(stream, KWHY_PROTOBUF_FILE_END, &field, &more, error);
		if (status || !more)
			break;
		if (field.number == KWHY_XSPACE_PLANES && field.wire == KWHY_PROTOBUF_BYTES)
			status = read_plane(file, stream, kwhy_protobuf_stream_end(stream, &field), error);
		else
			status = kwhy_protobuf_stream_skip(stream, &field, error);
	}
	if (status == KWHY_E_INPUT && file->partial) {
		file->cut = true;
		status = KWHY_OK;
	}
	if (!status)
		count_unknown(file);
	return status;
}
