/* SPDX-License-Identifier: Apache-2.0 */
#include "base/column.h"
#include "import/perfetto/file.h"
#include "model/recording_reserve.h"

#include <stdlib.h>
#include <string.h>

/*
 * Numbers of built-in clocks (protos/perfetto/common/builtin_clock.proto). A clock from 64 on is defined for
 * one sequence only.
 */
enum { CLOCK_REALTIME_ID = 1, CLOCK_BOOTTIME_ID = 6, CLOCK_SEQUENCE_FIRST = 64 };

enum { TRACKS_MAX = 1 << 20 };

enum kwhy_status kwhy_perfetto_fail_damaged(const struct kwhy_perfetto_file *file, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s is damaged: its packet %llu cannot be decoded; record the trace again, or leave the "
		"packet out with --partial",
		file->path, (unsigned long long)file->counts.packets);
}

struct kwhy_perfetto_track *kwhy_perfetto_track_find(struct kwhy_perfetto_file *file, uint64_t uuid)
{
	uint32_t row;

	if (!kwhy_track_map_find(&file->by_uuid, (struct kwhy_track_key){.a = (int64_t)uuid}, &row))
		return NULL;
	return &file->items[row];
}

enum kwhy_status kwhy_perfetto_track_add(struct kwhy_perfetto_file *file, uint64_t uuid,
	struct kwhy_perfetto_track **out, struct kwhy_error *error)
{
	struct kwhy_perfetto_track track = {
		.uuid = uuid, .name = KWHY_NONE, .pid = -1, .tid = -1, .row = KWHY_NONE, .open = KWHY_NONE};
	enum kwhy_status status;

	*out = kwhy_perfetto_track_find(file, uuid);
	if (*out)
		return KWHY_OK;
	if (file->item_count >= TRACKS_MAX)
		return kwhy_fail(error, KWHY_E_INPUT, "%s has more than %d tracks: it is damaged", file->path,
			TRACKS_MAX);
	status = kwhy_column_reserve((void **)&file->items, &file->item_capacity, file->item_count + 1,
		sizeof(*file->items), "the tracks of a trace", error);
	if (!status)
		status = kwhy_track_map_put(&file->by_uuid, (struct kwhy_track_key){.a = (int64_t)uuid},
			(uint32_t)file->item_count, error);
	if (status)
		return status;
	*out = &file->items[file->item_count++];
	**out = track;
	return KWHY_OK;
}

enum kwhy_status kwhy_perfetto_intern(struct kwhy_perfetto_file *file, struct kwhy_protobuf_message text,
	uint32_t *out, struct kwhy_error *error)
{
	return kwhy_names_intern(&file->recording->names, text.at ? (const char *)text.at : "",
		kwhy_protobuf_length(text), out, error);
}

static void read_thread(struct kwhy_protobuf_message message, struct kwhy_perfetto_track *track)
{
	struct kwhy_protobuf_field field;

	while (kwhy_protobuf_next(&message, &field) > 0) {
		if (field.number == KWHY_TRACK_THREAD_PID)
			track->pid = (int32_t)field.value;
		if (field.number == KWHY_TRACK_THREAD_TID)
			track->tid = (int64_t)field.value;
	}
}

static void read_process(struct kwhy_protobuf_message message, struct kwhy_perfetto_track *track)
{
	struct kwhy_protobuf_field field;

	while (kwhy_protobuf_next(&message, &field) > 0)
		if (field.number == KWHY_TRACK_PROCESS_PID)
			track->pid = (int32_t)field.value;
}

static enum kwhy_status add_track(
	struct kwhy_perfetto_file *file, struct kwhy_protobuf_message message, struct kwhy_error *error)
{
	struct kwhy_protobuf_message rest = message;
	struct kwhy_perfetto_track *track;
	struct kwhy_protobuf_field field;
	enum kwhy_status status;
	uint64_t uuid = 0;
	int more;

	while ((more = kwhy_protobuf_next(&rest, &field)) > 0)
		if (field.number == KWHY_TRACK_UUID)
			uuid = field.value;
	if (more < 0)
		return kwhy_perfetto_fail_damaged(file, error);
	status = kwhy_perfetto_track_add(file, uuid, &track, error);
	while (!status && kwhy_protobuf_next(&message, &field) > 0) {
		if (field.number == KWHY_TRACK_NAME || field.number == KWHY_TRACK_STATIC_NAME)
			status = kwhy_perfetto_intern(file, field.bytes, &track->name, error);
		if (field.number == KWHY_TRACK_PARENT)
			track->parent = field.value;
		if (field.number == KWHY_TRACK_THREAD)
			read_thread(field.bytes, track);
		if (field.number == KWHY_TRACK_PROCESS)
			read_process(field.bytes, track);
		track->is_counter |= field.number == KWHY_TRACK_COUNTER;
	}
	return status;
}

/*
 * Reads the fields of a packet. With tracks_only, reading stops at a track event or render stage, because a
 * packet with a track event or render stage states no track.
 */
static enum kwhy_status read_packet(struct kwhy_perfetto_file *file, struct kwhy_protobuf_message message,
	bool tracks_only, struct kwhy_perfetto_packet *out, struct kwhy_error *error)
{
	struct kwhy_protobuf_field field;
	int more;

	*out = (struct kwhy_perfetto_packet){0};
	file->counts.packets++;
	while ((more = kwhy_protobuf_next(&message, &field)) > 0) {
		switch (field.number) {
		case KWHY_PACKET_TIMESTAMP:
			out->has_time = field.value <= INT64_MAX;
			out->time = (int64_t)field.value;
			break;
		case KWHY_PACKET_SEQUENCE:
			out->sequence = field.value;
			break;
		case KWHY_PACKET_CLOCK:
			out->has_clock = true;
			out->clock = field.value;
			break;
		case KWHY_PACKET_CLOCK_SNAPSHOT:
			out->snapshot = field.bytes;
			break;
		case KWHY_PACKET_TRACK_EVENT:
			out->event = field.bytes;
			break;
		case KWHY_PACKET_INTERNED:
			out->interned = field.bytes;
			break;
		case KWHY_PACKET_RENDER_STAGE:
			out->stage = field.bytes;
			break;
		case KWHY_PACKET_DEFAULTS:
			out->defaults = field.bytes;
			break;
		case KWHY_PACKET_TRACK:
			out->track = field.bytes;
			break;
		default:
			break;
		}
		if (tracks_only && (out->event.at || out->stage.at))
			return KWHY_OK;
	}
	return more < 0 ? kwhy_perfetto_fail_damaged(file, error) : KWHY_OK;
}

/* The time of one clock in a snapshot, and the unit of the clock, `multiplier` ns. */
struct reading {
	uint64_t id, time, multiplier;
	bool incremental;
};

static struct reading read_clock(struct kwhy_protobuf_message message)
{
	struct reading reading = {.multiplier = 1};
	struct kwhy_protobuf_field field;

	while (kwhy_protobuf_next(&message, &field) > 0) {
		if (field.number == KWHY_CLOCK_ID)
			reading.id = field.value;
		if (field.number == KWHY_CLOCK_TIME)
			reading.time = field.value;
		if (field.number == KWHY_CLOCK_INCREMENTAL)
			reading.incremental = field.value != 0;
		if (field.number == KWHY_CLOCK_MULTIPLIER && field.value > 0 && field.value < 1000000000)
			reading.multiplier = field.value;
	}
	return reading;
}

/*
 * The clock with this number: a built-in clock or, from 64 on, a clock of the sequence; NULL: no snapshot so
 * far has stated it.
 */
static struct kwhy_perfetto_clock *find_clock(struct kwhy_perfetto_file *file, uint64_t sequence, uint64_t id)
{
	struct kwhy_track_key key = {id < CLOCK_SEQUENCE_FIRST ? 0 : (int64_t)sequence, (int64_t)id, 0};
	uint32_t row;

	return kwhy_track_map_find(&file->by_clock, key, &row) ? &file->clocks[row] : NULL;
}

static enum kwhy_status set_clock(struct kwhy_perfetto_file *file, uint64_t sequence,
	const struct reading *reading, int64_t trace_ns, struct kwhy_error *error)
{
	struct kwhy_track_key key = {
		reading->id < CLOCK_SEQUENCE_FIRST ? 0 : (int64_t)sequence, (int64_t)reading->id, 0};
	struct kwhy_perfetto_clock clock = {.at = (int64_t)reading->time,
		.trace_ns = trace_ns,
		.multiplier = (int64_t)reading->multiplier,
		.now = (int64_t)reading->time,
		.incremental = reading->incremental};
	struct kwhy_perfetto_clock *known = find_clock(file, sequence, reading->id);
	enum kwhy_status status;

	if (known) {
		if (reading->id >= CLOCK_SEQUENCE_FIRST)
			*known = clock;
		return KWHY_OK;
	}
	status = kwhy_column_reserve((void **)&file->clocks, &file->clock_capacity, file->clock_count + 1,
		sizeof(*file->clocks), "the clocks of a trace", error);
	if (!status)
		status = kwhy_track_map_put(&file->by_clock, key, (uint32_t)file->clock_count, error);
	if (!status)
		file->clocks[file->clock_count++] = clock;
	return status;
}

/* The time of clock `id` in a snapshot; 0: the snapshot does not state it. */
static uint64_t time_in(struct kwhy_protobuf_message snapshot, uint64_t id)
{
	struct kwhy_protobuf_field field;
	uint64_t time = 0;

	while (kwhy_protobuf_next(&snapshot, &field) > 0)
		if (field.number == KWHY_SNAPSHOT_CLOCK && read_clock(field.bytes).id == id)
			time = read_clock(field.bytes).time;
	return time;
}

/*
 * For each clock in a snapshot, stores its relation to the trace's clock, BOOTTIME, the time since the
 * machine's start. Without a time of BOOTTIME the snapshot is ignored.
 */
static enum kwhy_status add_snapshot(
	struct kwhy_perfetto_file *file, const struct kwhy_perfetto_packet *packet, struct kwhy_error *error)
{
	uint64_t boot = time_in(packet->snapshot, CLOCK_BOOTTIME_ID);
	uint64_t unix_time = time_in(packet->snapshot, CLOCK_REALTIME_ID);
	struct kwhy_protobuf_message rest = packet->snapshot;
	struct kwhy_protobuf_field field;
	enum kwhy_status status = KWHY_OK;

	if (boot == 0 || boot > INT64_MAX / 4)
		return KWHY_OK;
	if (unix_time > boot && unix_time < INT64_MAX / 4 && file->unix_less_trace_ns == 0)
		file->unix_less_trace_ns = (int64_t)(unix_time - boot);
	while (!status && kwhy_protobuf_next(&rest, &field) > 0) {
		struct reading reading = {0};

		if (field.number == KWHY_SNAPSHOT_CLOCK)
			reading = read_clock(field.bytes);
		if (reading.id && reading.id != CLOCK_BOOTTIME_ID && reading.time < INT64_MAX / 4)
			status = set_clock(file, packet->sequence, &reading, (int64_t)boot, error);
	}
	return status;
}

uint32_t kwhy_perfetto_interned(
	struct kwhy_perfetto_file *file, uint64_t sequence, unsigned table, uint64_t iid)
{
	struct kwhy_track_key key = {(int64_t)sequence, (int64_t)iid, table};
	uint32_t name;

	return kwhy_track_map_find(&file->interned, key, &name) ? name : KWHY_NONE;
}

static enum kwhy_status add_interned_one(struct kwhy_perfetto_file *file, uint64_t sequence,
	const struct kwhy_protobuf_field *entry, struct kwhy_error *error)
{
	struct kwhy_track_key key = {.a = (int64_t)sequence, .c = entry->number};
	struct kwhy_protobuf_message message = entry->bytes, text = {0};
	struct kwhy_protobuf_field field;
	enum kwhy_status status;
	uint32_t name;
	int more;

	while ((more = kwhy_protobuf_next(&message, &field)) > 0) {
		if (field.number == KWHY_INTERNED_IID)
			key.b = (int64_t)field.value;
		if (field.number == KWHY_INTERNED_TEXT)
			text = field.bytes;
	}
	if (more < 0)
		return kwhy_perfetto_fail_damaged(file, error);
	status = kwhy_perfetto_intern(file, text, &name, error);
	return status ? status : kwhy_track_map_put(&file->interned, key, name, error);
}

static bool is_read(uint32_t table)
{
	return table <= KWHY_INTERNED_ANNOTATIONS || table == KWHY_INTERNED_STAGES ||
		table == KWHY_INTERNED_TEXTS;
}

static enum kwhy_status add_interned(
	struct kwhy_perfetto_file *file, const struct kwhy_perfetto_packet *packet, struct kwhy_error *error)
{
	struct kwhy_protobuf_message message = packet->interned;
	struct kwhy_protobuf_field field;
	enum kwhy_status status = KWHY_OK;
	int more = 1;

	while (!status && (more = kwhy_protobuf_next(&message, &field)) > 0)
		if (field.wire == KWHY_PROTOBUF_BYTES && is_read(field.number))
			status = add_interned_one(file, packet->sequence, &field, error);
	return !status && more < 0 ? kwhy_perfetto_fail_damaged(file, error) : status;
}

static enum kwhy_status add_default_track(struct kwhy_perfetto_file *file, struct kwhy_track_key key,
	struct kwhy_protobuf_message message, struct kwhy_error *error)
{
	struct kwhy_perfetto_track *track;
	struct kwhy_protobuf_field field;
	enum kwhy_status status = KWHY_OK;

	while (!status && kwhy_protobuf_next(&message, &field) > 0) {
		if (field.number != KWHY_TRACK_EVENT_DEFAULTS_TRACK)
			continue;
		status = kwhy_perfetto_track_add(file, field.value, &track, error);
		if (!status)
			status = kwhy_track_map_put(
				&file->defaults, key, (uint32_t)(track - file->items), error);
	}
	return status;
}

uint64_t kwhy_perfetto_default_track(struct kwhy_perfetto_file *file, uint64_t sequence)
{
	const struct kwhy_track_key key = {(int64_t)sequence, KWHY_DEFAULTS_TRACK_EVENT, 0};
	uint32_t row;

	return kwhy_track_map_find(&file->defaults, key, &row) ? file->items[row].uuid : ~sequence;
}

/*
 * Stores the default clock and track that a packet states for its sequence; they apply to later packets of
 * the sequence that state none.
 */
static enum kwhy_status add_defaults(
	struct kwhy_perfetto_file *file, const struct kwhy_perfetto_packet *packet, struct kwhy_error *error)
{
	struct kwhy_protobuf_message message = packet->defaults;
	struct kwhy_protobuf_field field;
	enum kwhy_status status = KWHY_OK;

	while (!status && kwhy_protobuf_next(&message, &field) > 0) {
		struct kwhy_track_key key = {(int64_t)packet->sequence, field.number, 0};

		if (field.number == KWHY_DEFAULTS_CLOCK && field.value < KWHY_NONE)
			status = kwhy_track_map_put(&file->defaults, key, (uint32_t)field.value, error);
		if (field.number == KWHY_DEFAULTS_TRACK_EVENT)
			status = add_default_track(file, key, field.bytes, error);
	}
	return status;
}

/*
 * Converts the packet's time to the trace's clock, BOOTTIME. False: no snapshot relates the packet's clock to
 * it, or the result is out of range.
 */
static bool convert_time(struct kwhy_perfetto_file *file, struct kwhy_perfetto_packet *packet)
{
	struct kwhy_track_key key = {(int64_t)packet->sequence, KWHY_DEFAULTS_CLOCK, 0};
	struct kwhy_perfetto_clock *clock;
	uint32_t id;

	if (!packet->has_clock && kwhy_track_map_find(&file->defaults, key, &id)) {
		packet->has_clock = true;
		packet->clock = id;
	}
	if (!packet->has_clock || packet->clock == CLOCK_BOOTTIME_ID || !packet->has_time)
		return true;
	clock = find_clock(file, packet->sequence, packet->clock);
	if (!clock || packet->time > INT64_MAX / 8 / clock->multiplier)
		return false;
	if (clock->incremental && clock->now > INT64_MAX / 8 / clock->multiplier)
		return false;
	if (clock->incremental)
		packet->time = clock->now += packet->time;
	packet->time = clock->trace_ns + (packet->time - clock->at) * clock->multiplier;
	return packet->time >= 0 && packet->time < INT64_MAX / 4;
}

static enum kwhy_status take_event(
	struct kwhy_perfetto_file *file, struct kwhy_perfetto_packet *packet, struct kwhy_error *error)
{
	bool clocked = convert_time(file, packet);

	if (!packet->event.at && !packet->stage.at)
		return KWHY_OK;
	file->counts.events++;
	if (!clocked || !packet->has_time || packet->time >= INT64_MAX / 4) {
		file->counts.clockless++;
		return KWHY_OK;
	}
	return packet->event.at ? kwhy_perfetto_event_add(file, packet, error)
				: kwhy_perfetto_stage_add(file, packet, error);
}

static enum kwhy_status take_packet(
	struct kwhy_perfetto_file *file, struct kwhy_perfetto_packet *packet, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	if (packet->snapshot.at)
		status = add_snapshot(file, packet, error);
	if (!status && packet->interned.at)
		status = add_interned(file, packet, error);
	if (!status && packet->defaults.at)
		status = add_defaults(file, packet, error);
	return status ? status : take_event(file, packet, error);
}

static enum kwhy_status take_tracks(
	struct kwhy_perfetto_file *file, struct kwhy_perfetto_packet *packet, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	file->slice_events += packet->event.at != NULL;
	file->stages += packet->stage.at != NULL;
	if (packet->snapshot.at)
		status = add_snapshot(file, packet, error);
	return !status && packet->track.at ? add_track(file, packet->track, error) : status;
}

static enum kwhy_status read_all(struct kwhy_perfetto_file *file, struct kwhy_protobuf_stream *stream,
	enum kwhy_status (*take)(
		struct kwhy_perfetto_file *, struct kwhy_perfetto_packet *, struct kwhy_error *),
	struct kwhy_error *error)
{
	struct kwhy_perfetto_packet packet;
	struct kwhy_protobuf_message bytes;
	struct kwhy_protobuf_field field;
	enum kwhy_status status = KWHY_OK;
	bool more = true;

	file->counts.packets = 0;
	while (!status) {
		status = kwhy_protobuf_stream_next(stream, KWHY_PROTOBUF_FILE_END, &field, &more, error);
		if (status || !more)
			break;
		if (field.number != KWHY_PERFETTO_PACKET || field.wire != KWHY_PROTOBUF_BYTES) {
			status = kwhy_protobuf_stream_skip(stream, &field, error);
			continue;
		}
		status = kwhy_protobuf_stream_take(stream, &field, &bytes, error);
		if (status)
			break;
		status = read_packet(file, bytes, take == take_tracks, &packet, error);
		if (!status)
			status = take(file, &packet, error);
		if (status == KWHY_E_INPUT && file->partial) {
			file->recording->lost.skipped_events += take == take_packet;
			status = KWHY_OK;
		}
	}
	if (status == KWHY_E_INPUT && file->partial) {
		file->cut = true;
		return KWHY_OK;
	}
	return status;
}

enum kwhy_status kwhy_perfetto_read_tracks(
	struct kwhy_perfetto_file *file, struct kwhy_protobuf_stream *stream, struct kwhy_error *error)
{
	return read_all(file, stream, take_tracks, error);
}

enum kwhy_status kwhy_perfetto_read_events(
	struct kwhy_perfetto_file *file, struct kwhy_protobuf_stream *stream, struct kwhy_error *error)
{
	/*
	 * memory for the rows that will be added: one activity for each stage; one call for two events, since
	 * a slice has two events and most slices are API calls
	 */
	const struct kwhy_recording_rows rows = {.activities = file->stages, .calls = file->slice_events / 2};

	kwhy_recording_reserve(file->recording, &rows);
	return read_all(file, stream, take_packet, error);
}
