/* SPDX-License-Identifier: Apache-2.0 */
#include "import/xla/event.h"
#include "import/xplane/file.h"

#include <string.h>

/* An event (XEvent): what is read of it. */
struct event {
	int64_t start_ns, end_ns;
	uint32_t name;
	bool aggregated; /* the event stands for several occurrences; it has no times and is left out */
	bool is_step;
	uint32_t correlation;
	/* The event's values by enum kwhy_xplane_stat; details[i] is valid if bit i of `seen` is set. */
	struct kwhy_xplane_value details[KWHY_XPLANE_STAT_COUNT];
	uint32_t seen;
};

struct reader {
	struct kwhy_xplane_file *file;
	struct kwhy_protobuf_stream *stream;
	struct kwhy_xplane_plane *plane;
	const struct kwhy_xplane_line *line;
	int64_t stream_id; /* number of the stream that the current line of a GPU shows; -1: the line shows no
			      stream. Such a line of a GPU is not read, because it shows the work of streams a
			      second time */
	uint32_t track;	   /* the recording's stream or thread; KWHY_NONE: not added yet */
	size_t next_plane, next_line;
};

/*
 * Converts picoseconds to nanoseconds, rounded to nearest, halves away from zero, as XLA rounds the times in
 * its JSON.
 */
static int64_t ns_of_ps(int64_t ps)
{
	return ps < 0 ? -((500 - ps) / 1000) : (ps + 500) / 1000;
}

static bool is_possible(const struct reader *reader, int64_t offset_ps, int64_t duration_ps)
{
	int64_t at_ns = reader->line->timestamp_ns;

	return at_ns >= 0 && at_ns < INT64_MAX / 8 && duration_ps >= 0 && offset_ps > INT64_MIN / 8 &&
		offset_ps < INT64_MAX / 8 && duration_ps < INT64_MAX / 8;
}

static void take_value(struct event *event, const struct kwhy_xplane_value *value)
{
	if (value->stat == KWHY_XPLANE_STAT_COUNT)
		return;
	event->details[value->stat] = *value;
	event->seen |= UINT32_C(1) << value->stat;
	if (value->stat == KWHY_XPLANE_STAT_CORRELATION && value->number > 0 && value->number < KWHY_NONE)
		event->correlation = (uint32_t)value->number;
	event->is_step |= value->stat == KWHY_XPLANE_STAT_STEP;
}

static enum kwhy_status fail_event(const struct reader *reader, const char *why, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s: an event of %s %s, before byte %llu; record the trace again", reader->file->path,
		kwhy_names_get(&reader->file->recording->names, reader->plane->name), why,
		(unsigned long long)reader->stream->offset);
}

static enum kwhy_status read_event(struct reader *reader, struct kwhy_protobuf_message message,
	struct event *event, struct kwhy_error *error)
{
	int64_t id = 0, offset_ps = 0, duration_ps = 0;
	struct kwhy_xplane_value value;
	struct kwhy_protobuf_field field;
	int more;

	*event = (struct event){.correlation = KWHY_NONE};
	while ((more = kwhy_protobuf_next(&message, &field)) > 0) {
		if (field.number == KWHY_XEVENT_METADATA_ID)
			id = (int64_t)field.value;
		if (field.number == KWHY_XEVENT_OFFSET_PS)
			offset_ps = (int64_t)field.value;
		if (field.number == KWHY_XEVENT_DURATION_PS)
			duration_ps = (int64_t)field.value;
		event->aggregated |= field.number == KWHY_XEVENT_OCCURRENCES && field.value > 0;
		if (field.number != KWHY_XEVENT_VALUES)
			continue;
		if (!kwhy_xplane_value_read(reader->file, reader->plane, field.bytes, &value))
			return fail_event(reader, "has a damaged value", error);
		take_value(event, &value);
	}
	if (more < 0)
		return fail_event(reader, "is damaged", error);
	if (!is_possible(reader, offset_ps, duration_ps))
		return fail_event(reader, "has impossible times", error);
	if (!kwhy_track_map_find(&reader->plane->names, (struct kwhy_track_key){.a = id}, &event->name))
		event->name = KWHY_NONE;
	event->start_ns = reader->line->timestamp_ns + ns_of_ps(offset_ps) + reader->file->shift_ns;
	event->end_ns = event->start_ns + ns_of_ps(duration_ps);
	return KWHY_OK;
}

static enum kwhy_status find_device(struct reader *reader, struct kwhy_error *error)
{
	struct kwhy_device device = reader->plane->facts;

	if (reader->plane->device != KWHY_NONE)
		return KWHY_OK;
	device.index = reader->plane->gpu;
	return kwhy_recording_add_device(reader->file->recording, &device, &reader->plane->device, error);
}

static enum kwhy_status find_stream(struct reader *reader, struct kwhy_error *error)
{
	struct kwhy_stream stream = {
		.process = reader->file->process, .context = -1, .id = reader->stream_id};
	enum kwhy_status status = KWHY_OK;

	if (reader->track != KWHY_NONE)
		return KWHY_OK;
	status = find_device(reader, error);
	stream.device = reader->plane->device;
	return status ? status : kwhy_tracks_stream(&reader->file->tracks, &stream, &reader->track, error);
}

static struct kwhy_span details_of(const struct event *event, enum kwhy_xplane_stat stat)
{
	return (struct kwhy_span){event->details[stat].text, event->details[stat].length};
}

static void read_details(const struct event *event, struct kwhy_activity *row)
{
	const struct kwhy_xla_details details = {details_of(event, KWHY_XPLANE_STAT_KERNEL_DETAILS),
		details_of(event, KWHY_XPLANE_STAT_COPY_DETAILS),
		details_of(event, KWHY_XPLANE_STAT_SET_DETAILS)};

	kwhy_xla_details_read(&details, row);
}

static enum kwhy_status add_activity(
	struct reader *reader, const struct event *event, struct kwhy_error *error)
{
	struct kwhy_xplane_file *file = reader->file;
	struct kwhy_activity row = kwhy_activity_unknown();
	const char *name = kwhy_names_get(&file->recording->names, event->name);
	enum kwhy_status status;
	bool unsized;

	row.start_ns = event->start_ns;
	row.end_ns = event->end_ns;
	row.name = event->name;
	row.call = event->correlation;
	if (!kwhy_xla_activity_read(name, &row)) {
		file->counts.derived++;
		return KWHY_OK;
	}
	if (row.kind == KWHY_ACTIVITY_KERNEL && kwhy_collectives_match(file->collectives, name))
		row.kind = KWHY_ACTIVITY_COLLECTIVE;
	read_details(event, &row);
	unsized = row.bytes == KWHY_UNKNOWN_BYTES &&
		(row.kind == KWHY_ACTIVITY_COPY || row.kind == KWHY_ACTIVITY_MEMSET);
	file->recording->lost.unknown_bytes += unsized;
	file->counts.copies_without_bytes += unsized;
	status = find_stream(reader, error);
	row.stream = reader->track;
	return status ? status : kwhy_recording_add_activity(file->recording, &row, error);
}

static enum kwhy_status find_thread(struct reader *reader, struct kwhy_error *error)
{
	struct kwhy_thread thread = {.process = reader->file->process, .tid = reader->line->id};

	if (reader->track != KWHY_NONE)
		return KWHY_OK;
	return kwhy_tracks_thread(&reader->file->tracks, &thread, &reader->track, error);
}

static enum kwhy_status add_python(
	struct reader *reader, const struct event *event, const char *name, struct kwhy_error *error)
{
	struct kwhy_names *names = &reader->file->recording->names;
	struct kwhy_xla_frame frame = kwhy_xla_frame_read(name, strlen(name));
	struct kwhy_host_range row = {.start_ns = event->start_ns,
		.end_ns = event->end_ns,
		.thread = reader->track,
		.kind = KWHY_HOST_PYTHON,
		.line = frame.line};
	char file[KWHY_NAME_MAX_BYTES], function[KWHY_NAME_MAX_BYTES];
	enum kwhy_status status = KWHY_OK;

	/*
	 * file and function point into the recording's names, which may move in memory when a name is added
	 */
	memcpy(file, frame.file, frame.file_length);
	memcpy(function, frame.function, frame.function_length);
	if (frame.file_length)
		status = kwhy_names_intern(names, file, frame.file_length, &row.file, error);
	if (!status)
		status = kwhy_names_intern(names, function, frame.function_length, &row.name, error);
	return status ? status : kwhy_recording_add_host_range(reader->file->recording, &row, error);
}

static enum kwhy_status add_range(struct reader *reader, const struct event *event, struct kwhy_error *error)
{
	struct kwhy_recording *recording = reader->file->recording;
	struct kwhy_range row = {.start_ns = event->start_ns,
		.end_ns = event->end_ns,
		.name = event->name,
		.thread = reader->track,
		.kind = KWHY_RANGE_STEP};

	return kwhy_recording_add_range(recording, &row, error);
}

static enum kwhy_status add_host(struct reader *reader, const struct event *event, struct kwhy_error *error)
{
	struct kwhy_recording *recording = reader->file->recording;
	const char *name = kwhy_names_get(&recording->names, event->name);
	enum kwhy_xla_host_kind kind = kwhy_xla_host_kind(name, strlen(name));
	struct kwhy_host_range row = {.start_ns = event->start_ns,
		.end_ns = event->end_ns,
		.name = event->name,
		.kind = KWHY_HOST_OPERATOR};
	enum kwhy_status status = find_thread(reader, error);

	row.thread = reader->track;
	if (status)
		return status;
	if (kind == KWHY_XLA_CALL)
		return kwhy_recording_add_call(recording, event->start_ns, event->end_ns, event->name,
			reader->track, event->correlation, error);
	if (kind == KWHY_XLA_PYTHON)
		return add_python(reader, event, name, error);
	return event->is_step ? add_range(reader, event, error)
			      : kwhy_recording_add_host_range(recording, &row, error);
}

static enum kwhy_status add_event(
	struct reader *reader, struct kwhy_protobuf_message message, struct kwhy_error *error)
{
	struct event event;
	enum kwhy_status status;

	if (reader->plane->kind == KWHY_XPLANE_GPU && reader->stream_id < 0) {
		reader->file->counts.derived++;
		return KWHY_OK;
	}
	status = read_event(reader, message, &event, error);
	if (status == KWHY_E_INPUT && reader->file->partial) {
		reader->file->recording->lost.skipped_events++;
		return KWHY_OK;
	}
	if (status)
		return status;
	if (event.name == KWHY_NONE || event.aggregated) {
		reader->file->counts.unnamed++;
		return KWHY_OK;
	}
	return reader->plane->kind == KWHY_XPLANE_GPU ? add_activity(reader, &event, error)
						      : add_host(reader, &event, error);
}

static void begin_line(struct reader *reader)
{
	const struct kwhy_names *names = &reader->file->recording->names;

	reader->line = &reader->file->lines[reader->plane->first_line + reader->next_line++];
	reader->track = KWHY_NONE;
	reader->stream_id = reader->line->name == KWHY_NONE
		? -1
		: kwhy_xla_stream(kwhy_names_get(names, reader->line->name));
}

static enum kwhy_status read_line(struct reader *reader, uint64_t end, struct kwhy_error *error)
{
	struct kwhy_protobuf_message message;
	struct kwhy_protobuf_field field;
	enum kwhy_status status = KWHY_OK;
	bool more = true;

	begin_line(reader);
	while (!status && more) {
		status = kwhy_protobuf_stream_next(reader->stream, end, &field, &more, error);
		if (status || !more)
			break;
		if (field.number != KWHY_XLINE_EVENTS) {
			status = kwhy_protobuf_stream_skip(reader->stream, &field, error);
			continue;
		}
		status = kwhy_protobuf_stream_take(reader->stream, &field, &message, error);
		if (!status)
			status = add_event(reader, message, error);
	}
	return status;
}

static enum kwhy_status read_plane(struct reader *reader, uint64_t end, struct kwhy_error *error)
{
	struct kwhy_protobuf_field field;
	enum kwhy_status status = KWHY_OK;
	bool more = true;

	reader->next_line = 0;
	while (!status && more) {
		status = kwhy_protobuf_stream_next(reader->stream, end, &field, &more, error);
		if (status || !more)
			break;
		if (field.number == KWHY_XPLANE_LINES && reader->next_line < reader->plane->line_count)
			status = read_line(reader, kwhy_protobuf_stream_end(reader->stream, &field), error);
		else
			status = kwhy_protobuf_stream_skip(reader->stream, &field, error);
	}
	return status;
}

static bool is_read(const struct kwhy_xplane_plane *plane)
{
	return plane->kind == KWHY_XPLANE_GPU || plane->kind == KWHY_XPLANE_HOST;
}

/*
 * Handles a field of the XSpace: reads the events of the next plane, or skips the field if it is no plane or
 * a plane that is not needed.
 */
static enum kwhy_status read_space_field(
	struct reader *reader, const struct kwhy_protobuf_field *field, struct kwhy_error *error)
{
	if (field->number != KWHY_XSPACE_PLANES || field->wire != KWHY_PROTOBUF_BYTES ||
		reader->next_plane >= reader->file->plane_count)
		return kwhy_protobuf_stream_skip(reader->stream, field, error);
	reader->plane = &reader->file->planes[reader->next_plane++];
	if (!is_read(reader->plane))
		return kwhy_protobuf_stream_skip(reader->stream, field, error);
	return read_plane(reader, kwhy_protobuf_stream_end(reader->stream, field), error);
}

enum kwhy_status kwhy_xplane_read_rows(
	struct kwhy_xplane_file *file, struct kwhy_protobuf_stream *stream, struct kwhy_error *error)
{
	struct reader reader = {.file = file, .stream = stream};
	struct kwhy_protobuf_field field;
	enum kwhy_status status = KWHY_OK;
	bool more = true;

	while (!status && more) {
		status = kwhy_protobuf_stream_next(stream, KWHY_PROTOBUF_FILE_END, &field, &more, error);
		if (!status && more)
			status = read_space_field(&reader, &field, error);
	}
	if (status == KWHY_E_INPUT && file->cut)
		return KWHY_OK;
	return status;
}
