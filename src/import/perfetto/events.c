/* SPDX-License-Identifier: Apache-2.0 */
#include "base/column.h"
#include "import/perfetto/file.h"

#include <string.h>

/* Values of TrackEvent.type, as in track_event.proto. */
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3 };

enum { SLICES_MAX = 1 << 20 };

/* A track event: the fields that are read. */
struct event {
	uint64_t type, track;
	bool has_track;
	int64_t absolute_us; /* TrackEvent.timestamp_absolute_us, which replaces the packet's time; -1: not
				stated */
	struct kwhy_perfetto_slice slice;
};

/*
 * Sets up a slice of which only the start is known. Entries of value[] stay uninitialised; set_value() writes
 * an entry and sets its bit in `seen`.
 */
static void slice_init(struct kwhy_perfetto_slice *slice, int64_t start_ns)
{
	slice->start_ns = start_ns;
	slice->name = slice->category = slice->outer = KWHY_NONE;
	slice->seen = slice->texts = 0;
}

/* The value of an annotation (a debug annotation of a track event, or an argument of a render stage). */
struct value {
	uint64_t number; /* a number or, for a text, the id of the name in the recording */
	bool known, is_text;
};

/*
 * Reads the value of an annotation. A number is kept if it is an integer of at least 0; a text is kept as a
 * name of the recording.
 */
static enum kwhy_status read_value(struct kwhy_perfetto_file *file, uint64_t sequence,
	const struct kwhy_protobuf_field *field, struct value *value, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	uint32_t name = KWHY_NONE;

	if (field->number == KWHY_ANNOTATION_UINT || field->number == KWHY_ANNOTATION_INT) {
		value->number = field->value;
		value->known = field->number == KWHY_ANNOTATION_UINT || (int64_t)field->value >= 0;
	}
	if (field->number == KWHY_ANNOTATION_TEXT)
		status = kwhy_perfetto_intern(file, field->bytes, &name, error);
	if (field->number == KWHY_ANNOTATION_TEXT_IID)
		name = kwhy_perfetto_interned(file, sequence, KWHY_INTERNED_TEXTS, field->value);
	if (name != KWHY_NONE)
		*value = (struct value){.number = name, .known = true, .is_text = true};
	return status;
}

static void set_value(struct kwhy_perfetto_slice *slice, enum kwhy_perfetto_key key, struct value value)
{
	slice->value[key] = value.number;
	slice->seen |= UINT64_C(1) << key;
	slice->texts = (slice->texts & ~(UINT64_C(1) << key)) | (uint64_t)value.is_text << key;
}

static enum kwhy_status read_annotation(struct kwhy_perfetto_file *file, uint64_t sequence,
	struct kwhy_protobuf_message message, struct kwhy_perfetto_slice *slice, struct kwhy_error *error)
{
	struct kwhy_protobuf_field field;
	enum kwhy_perfetto_key key = KWHY_KEY_COUNT;
	enum kwhy_status status = KWHY_OK;
	uint32_t name = KWHY_NONE;
	struct value value = {0};
	int more = 1;

	while (!status && (more = kwhy_protobuf_next(&message, &field)) > 0) {
		if (field.number == KWHY_ANNOTATION_NAME_IID)
			name = kwhy_perfetto_interned(file, sequence, KWHY_INTERNED_ANNOTATIONS, field.value);
		if (field.number == KWHY_ANNOTATION_NAME)
			status = kwhy_perfetto_intern(file, field.bytes, &name, error);
		if (!status)
			status = read_value(file, sequence, &field, &value, error);
	}
	if (!status && more < 0)
		return kwhy_perfetto_fail_damaged(file, error);
	if (!status && value.known && name != KWHY_NONE)
		status = kwhy_perfetto_key_of(file, name, &key, error);
	if (key < KWHY_KEY_COUNT)
		set_value(slice, key, value);
	return status;
}

static enum kwhy_status read_event_field(struct kwhy_perfetto_file *file, uint64_t sequence,
	const struct kwhy_protobuf_field *field, struct event *event, struct kwhy_error *error)
{
	switch (field->number) {
	case KWHY_EVENT_TYPE:
		event->type = field->value;
		return KWHY_OK;
	case KWHY_EVENT_TRACK:
		event->track = field->value;
		event->has_track = true;
		return KWHY_OK;
	case KWHY_EVENT_ABSOLUTE_US:
		event->absolute_us = field->value < INT64_MAX / 4000 ? (int64_t)field->value : -1;
		return KWHY_OK;
	case KWHY_EVENT_NAME_IID:
		event->slice.name = kwhy_perfetto_interned(file, sequence, KWHY_INTERNED_NAMES, field->value);
		return KWHY_OK;
	case KWHY_EVENT_NAME:
		return kwhy_perfetto_intern(file, field->bytes, &event->slice.name, error);
	case KWHY_EVENT_CATEGORY_IIDS:
		event->slice.category = kwhy_perfetto_interned(
			file, sequence, KWHY_INTERNED_CATEGORIES, field->value);
		return KWHY_OK;
	case KWHY_EVENT_CATEGORIES:
		return kwhy_perfetto_intern(file, field->bytes, &event->slice.category, error);
	case KWHY_EVENT_ANNOTATIONS:
		return read_annotation(file, sequence, field->bytes, &event->slice, error);
	default:
		return KWHY_OK;
	}
}

static enum kwhy_status read_event(struct kwhy_perfetto_file *file, const struct kwhy_perfetto_packet *packet,
	struct event *event, struct kwhy_error *error)
{
	struct kwhy_protobuf_message message = packet->event;
	struct kwhy_protobuf_field field;
	enum kwhy_status status = KWHY_OK;
	int more = 1;

	event->type = 0;
	event->has_track = false;
	event->absolute_us = -1;
	slice_init(&event->slice, packet->time);
	while (!status && (more = kwhy_protobuf_next(&message, &field)) > 0)
		status = read_event_field(file, packet->sequence, &field, event, error);
	if (!event->has_track)
		event->track = kwhy_perfetto_default_track(file, packet->sequence);
	if (event->absolute_us >= 0)
		event->slice.start_ns = event->absolute_us * 1000;
	return !status && more < 0 ? kwhy_perfetto_fail_damaged(file, error) : status;
}

static enum kwhy_status begin(struct kwhy_perfetto_file *file, struct kwhy_perfetto_track *track,
	const struct kwhy_perfetto_slice *slice, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	uint32_t place = file->free_slice;

	if (place != KWHY_NONE) {
		file->free_slice = file->slices[place].outer;
	} else {
		place = (uint32_t)file->slice_count;
		if (file->slice_count >= SLICES_MAX)
			return kwhy_fail(error, KWHY_E_INPUT,
				"%s: %d slices have begun and none of them ends; the ends are missing, so "
				"record the trace again",
				file->path, SLICES_MAX);
		status = kwhy_column_reserve((void **)&file->slices, &file->slice_capacity,
			file->slice_count + 1, sizeof(*file->slices), "the slices of a trace", error);
		file->slice_count += !status;
	}
	if (status)
		return status;
	file->slices[place] = *slice;
	file->slices[place].outer = track->open;
	track->open = place;
	return KWHY_OK;
}

static enum kwhy_status end(struct kwhy_perfetto_file *file, struct kwhy_perfetto_track *track,
	int64_t end_ns, struct kwhy_error *error)
{
	struct kwhy_perfetto_slice *slice;
	uint32_t place = track->open;

	if (place == KWHY_NONE) {
		file->counts.unpaired++;
		return KWHY_OK;
	}
	slice = &file->slices[place];
	track->open = slice->outer;
	slice->outer = file->free_slice;
	file->free_slice = place;
	return kwhy_perfetto_slice_add(file, slice, track->uuid, end_ns, error);
}

enum kwhy_status kwhy_perfetto_event_add(
	struct kwhy_perfetto_file *file, const struct kwhy_perfetto_packet *packet, struct kwhy_error *error)
{
	struct kwhy_perfetto_track *track;
	struct event event;
	enum kwhy_status status = read_event(file, packet, &event, error);

	if (!status && event.type == TYPE_INSTANT)
		return kwhy_perfetto_row_add(file, &event.slice, error);
	if (!status && event.type != TYPE_BEGIN && event.type != TYPE_END)
		return KWHY_OK;
	if (!status)
		status = kwhy_perfetto_track_add(file, event.track, &track, error);
	if (status)
		return status;
	return event.type == TYPE_BEGIN ? begin(file, track, &event.slice, error)
					: end(file, track, event.slice.start_ns, error);
}

/*
 * Sets *name from a field of a render stage (GpuRenderStageEvent): the name that the stage states or, if it
 * states none, the name of its kind of stage.
 */
static enum kwhy_status name_stage(struct kwhy_perfetto_file *file, uint64_t sequence,
	const struct kwhy_protobuf_field *field, uint32_t *name, struct kwhy_error *error)
{
	if (field->number == KWHY_STAGE_NAME)
		return kwhy_perfetto_intern(file, field->bytes, name, error);
	if (field->number == KWHY_STAGE_NAME_IID)
		*name = kwhy_perfetto_interned(file, sequence, KWHY_INTERNED_NAMES, field->value);
	if (field->number == KWHY_STAGE_IID && *name == KWHY_NONE)
		*name = kwhy_perfetto_interned(file, sequence, KWHY_INTERNED_STAGES, field->value);
	return KWHY_OK;
}

/* Reads a text of 1 to 19 digits as a number. False: the text has another form. */
static bool read_number(struct kwhy_protobuf_message text, uint64_t *out)
{
	size_t length = kwhy_protobuf_length(text);

	*out = 0;
	for (size_t i = 0; i < length && i < 19; i++) {
		if (text.at[i] < '0' || text.at[i] > '9')
			return false;
		*out = *out * 10 + (uint64_t)(text.at[i] - '0');
	}
	return length > 0 && length <= 19;
}

/*
 * Finds the key of a render stage's argument by its name. Stages list their arguments in the same order, so
 * the name is first compared with file->extras[place], the argument at the same place of an earlier stage.
 */
static enum kwhy_status key_of_extra(struct kwhy_perfetto_file *file, size_t place,
	struct kwhy_protobuf_message name, enum kwhy_perfetto_key *out, struct kwhy_error *error)
{
	struct kwhy_perfetto_extra *extra = &file->extras[place % KWHY_PERFETTO_EXTRAS];
	const size_t length = kwhy_protobuf_length(name);
	enum kwhy_status status;
	uint32_t id;

	if (extra->length == length && length && !memcmp(extra->name, name.at, length)) {
		*out = extra->key;
		return KWHY_OK;
	}
	status = kwhy_perfetto_intern(file, name, &id, error);
	if (!status)
		status = kwhy_perfetto_key_of(file, id, out, error);
	if (status || length > sizeof(extra->name))
		return status;
	extra->key = *out;
	extra->length = length;
	if (length)
		memcpy(extra->name, name.at, length);
	return KWHY_OK;
}

/*
 * Reads argument number `place` of a render stage, a name and a value that are both texts. A value of digits
 * becomes a number. Arguments with unknown names are ignored.
 */
static enum kwhy_status read_extra(struct kwhy_perfetto_file *file, struct kwhy_protobuf_message message,
	size_t place, struct kwhy_perfetto_slice *slice, struct kwhy_error *error)
{
	struct kwhy_protobuf_message text = {0};
	enum kwhy_perfetto_key key = KWHY_KEY_COUNT;
	struct kwhy_protobuf_field field;
	enum kwhy_status status = KWHY_OK;
	struct value value = {0};
	uint32_t name;
	int more = 1;

	while (!status && (more = kwhy_protobuf_next(&message, &field)) > 0) {
		if (field.number == KWHY_EXTRA_VALUE)
			text = field.bytes;
		if (field.number == KWHY_EXTRA_NAME)
			status = key_of_extra(file, place, field.bytes, &key, error);
	}
	if (!status && more < 0)
		return kwhy_perfetto_fail_damaged(file, error);
	if (status || key == KWHY_KEY_COUNT)
		return status;
	value.is_text = !read_number(text, &value.number);
	if (value.is_text) {
		status = kwhy_perfetto_intern(file, text, &name, error);
		value.number = name;
	}
	if (!status)
		set_value(slice, key, value);
	return status;
}

/*
 * If kwhy export wrote the stage, which its argument for KWHY_KEY_STREAM_ROW shows, sets the slice's category
 * to the stage's argument "kind". Stages of kernels have no "kind"; their category stays as it is.
 */
static void set_kind(struct kwhy_perfetto_slice *slice)
{
	if (slice->seen >> KWHY_KEY_STREAM_ROW & 1 && slice->texts >> KWHY_KEY_KIND & 1)
		slice->category = (uint32_t)slice->value[KWHY_KEY_KIND];
}

enum kwhy_status kwhy_perfetto_stage_add(
	struct kwhy_perfetto_file *file, const struct kwhy_perfetto_packet *packet, struct kwhy_error *error)
{
	struct kwhy_perfetto_slice slice;
	struct kwhy_protobuf_message message = packet->stage;
	struct kwhy_protobuf_field field;
	enum kwhy_status status = KWHY_OK;
	uint64_t duration_ns = UINT64_MAX; /* stays UINT64_MAX if the stage states no duration; it is then a
					      point in time, and left out */
	size_t extras = 0;
	int more = 1;

	slice_init(&slice, packet->time);
	set_value(&slice, KWHY_KEY_DEVICE, (struct value){0});
	set_value(&slice, KWHY_KEY_STREAM, (struct value){0});
	while (!status && (more = kwhy_protobuf_next(&message, &field)) > 0) {
		if (field.number == KWHY_STAGE_DURATION)
			duration_ns = field.value;
		if (field.number == KWHY_STAGE_GPU)
			slice.value[KWHY_KEY_DEVICE] = field.value;
		if (field.number == KWHY_STAGE_QUEUE_IID)
			slice.value[KWHY_KEY_STREAM] = field.value;
		status = field.number == KWHY_STAGE_EXTRA
			? read_extra(file, field.bytes, extras++, &slice, error)
			: name_stage(file, packet->sequence, &field, &slice.name, error);
	}
	if (!status && more < 0)
		return kwhy_perfetto_fail_damaged(file, error);
	set_kind(&slice);
	if (!status && duration_ns < INT64_MAX / 8)
		status = kwhy_perfetto_slice_add(file, &slice, 0, packet->time + (int64_t)duration_ns, error);
	return status;
}
