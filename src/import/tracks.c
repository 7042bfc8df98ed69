/* SPDX-License-Identifier: Apache-2.0 */
#include "import/tracks.h"

#include "base/text.h"

#include <string.h>
#include <strings.h>

enum { TEXT_BYTES = 1024 };

void kwhy_track_map_done(struct kwhy_track_map *map)
{
	kwhy_map_done(&map->map);
	memset(map->recent, 0, sizeof(map->recent));
}

static bool same(const struct kwhy_track_key *x, const struct kwhy_track_key *y)
{
	return x->a == y->a && x->b == y->b && x->c == y->c;
}

/*
 * The slot of a key in map->recent. The numbers of a trace's objects mostly differ in their low bits, so
 * these choose the slot.
 */
static struct kwhy_track_recent *recent_of(struct kwhy_track_map *map, const struct kwhy_track_key *key)
{
	uint64_t mixed = (uint64_t)key->a + 5 * (uint64_t)key->b + 11 * (uint64_t)key->c;

	return &map->recent[(mixed ^ mixed >> 32 ^ mixed >> 12) % KWHY_TRACK_RECENT];
}

bool kwhy_track_map_find(struct kwhy_track_map *map, struct kwhy_track_key key, uint32_t *out_value)
{
	struct kwhy_track_recent *recent = recent_of(map, &key);
	const struct kwhy_map_slot *slot;

	if (!recent->known || !same(&recent->key, &key)) {
		slot = kwhy_map_find_bytes(&map->map, &key, sizeof(key));
		if (!slot)
			return false;
		*recent = (struct kwhy_track_recent){key, slot->value, true};
	}
	*out_value = recent->value;
	return true;
}

enum kwhy_status kwhy_track_map_put(
	struct kwhy_track_map *map, struct kwhy_track_key key, uint32_t value, struct kwhy_error *error)
{
	struct kwhy_map_slot *slot;
	enum kwhy_status status = kwhy_map_add_bytes(&map->map, &key, sizeof(key), value, &slot, error);

	if (status)
		return status;
	slot->value = value;
	*recent_of(map, &key) = (struct kwhy_track_recent){key, value, true};
	return KWHY_OK;
}

enum kwhy_status kwhy_trace_begin(struct kwhy_recording *recording, const char *path,
	struct kwhy_source source, struct kwhy_trace_begun *out, struct kwhy_error *error)
{
	struct kwhy_process process = {.pid = -1, .rank = KWHY_NONE, .machine = KWHY_NONE};
	enum kwhy_status status;

	out->path = source.path = kwhy_recording_copy(recording, path, strlen(path));
	if (!out->path)
		return kwhy_fail_memory(error, "reading a trace");
	status = kwhy_recording_add_source(recording, &source, &out->source, error);
	process.source = out->source;
	return status ? status : kwhy_recording_add_process(recording, &process, &out->process, error);
}

void kwhy_tracks_done(struct kwhy_tracks *tracks)
{
	kwhy_track_map_done(&tracks->devices);
	kwhy_track_map_done(&tracks->processes);
	kwhy_track_map_done(&tracks->threads);
	kwhy_track_map_done(&tracks->streams);
}

static enum kwhy_status check_space(const struct kwhy_tracks *tracks, const struct kwhy_track_map *map,
	const char *what, struct kwhy_error *error)
{
	if (map->map.count < KWHY_TRACKS_MAX)
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s names more than %d %s: its columns are mixed up or damaged; export it again",
		tracks->path, KWHY_TRACKS_MAX, what);
}

const char *kwhy_tracks_text(struct kwhy_tracks *tracks, const char *bytes, size_t length)
{
	char clean[3 * TEXT_BYTES + 1];

	length = kwhy_text_sanitize(clean, bytes, length < TEXT_BYTES ? length : TEXT_BYTES);
	return kwhy_recording_copy(tracks->recording, clean, length);
}

struct kwhy_device kwhy_device_unknown(int32_t index, uint32_t rank)
{
	return (struct kwhy_device){.index = index,
		.rank = rank,
		.machine = KWHY_NONE,
		.limit_mw = -1,
		.context_idle_mw = -1,
		.clean_idle_mw = -1};
}

/*
 * The recording's device with the wanted index, rank and machine; KWHY_NONE: there is none. Without a wanted
 * machine the first device of any machine is found. If no machine is equal, a device of an unknown machine is
 * found and gets the wanted machine.
 */
static uint32_t find_device(struct kwhy_recording *recording, const struct kwhy_track_device *wanted)
{
	uint32_t found = KWHY_NONE;

	for (uint32_t i = 0; i < recording->device_count; i++) {
		const struct kwhy_device *device = &recording->devices[i];

		if (device->index != wanted->index || device->rank != wanted->rank)
			continue;
		if (device->machine == wanted->machine || wanted->machine == KWHY_NONE)
			return i;
		if (device->machine == KWHY_NONE && found == KWHY_NONE)
			found = i;
	}
	if (found != KWHY_NONE)
		recording->devices[found].machine = wanted->machine;
	return found;
}

static enum kwhy_status add_device(struct kwhy_recording *recording, const struct kwhy_track_device *wanted,
	uint32_t *out, struct kwhy_error *error)
{
	struct kwhy_device device = kwhy_device_unknown(wanted->index, wanted->rank);

	device.machine = wanted->machine;
	return kwhy_recording_add_device(recording, &device, out, error);
}

enum kwhy_status kwhy_tracks_device(struct kwhy_tracks *tracks, const struct kwhy_track_device *device,
	uint32_t *out, struct kwhy_error *error)
{
	const struct kwhy_track_key key = {
		device->index, device->rank, device->machine == KWHY_NONE ? 0 : (int64_t)device->machine + 1};
	enum kwhy_status status;
	uint32_t added;

	if (kwhy_track_map_find(&tracks->devices, key, out))
		return KWHY_OK;
	status = check_space(tracks, &tracks->devices, "devices", error);
	added = find_device(tracks->recording, device);
	if (!status && added == KWHY_NONE)
		status = add_device(tracks->recording, device, &added, error);
	if (!status)
		status = kwhy_track_map_put(&tracks->devices, key, added, error);
	if (!status)
		*out = added;
	return status;
}

enum kwhy_status kwhy_tracks_process(
	struct kwhy_tracks *tracks, int64_t key, int64_t pid, uint32_t *out, struct kwhy_error *error)
{
	struct kwhy_track_key track = {.a = key};
	struct kwhy_process process = {
		.pid = pid, .rank = KWHY_NONE, .machine = KWHY_NONE, .source = tracks->source};
	enum kwhy_status status;
	uint32_t added;

	if (kwhy_track_map_find(&tracks->processes, track, out))
		return KWHY_OK;
	status = check_space(tracks, &tracks->processes, "processes", error);
	if (!status)
		status = kwhy_recording_add_process(tracks->recording, &process, &added, error);
	if (!status)
		status = kwhy_track_map_put(&tracks->processes, track, added, error);
	if (!status)
		*out = added;
	return status;
}

enum kwhy_status kwhy_tracks_thread(
	struct kwhy_tracks *tracks, const struct kwhy_thread *thread, uint32_t *out, struct kwhy_error *error)
{
	struct kwhy_track_key key = {.a = thread->process, .b = thread->tid};
	enum kwhy_status status;
	uint32_t added;

	if (kwhy_track_map_find(&tracks->threads, key, out))
		return KWHY_OK;
	status = check_space(tracks, &tracks->threads, "threads", error);
	if (!status)
		status = kwhy_recording_add_thread(tracks->recording, thread, &added, error);
	if (!status)
		status = kwhy_track_map_put(&tracks->threads, key, added, error);
	if (!status)
		*out = added;
	return status;
}

enum kwhy_status kwhy_tracks_stream(
	struct kwhy_tracks *tracks, const struct kwhy_stream *stream, uint32_t *out, struct kwhy_error *error)
{
	struct kwhy_track_key key = {.a = (int64_t)((uint64_t)stream->device << 32 | stream->process),
		.b = stream->context,
		.c = stream->id};
	enum kwhy_status status;
	uint32_t added;

	if (kwhy_track_map_find(&tracks->streams, key, out))
		return KWHY_OK;
	status = check_space(tracks, &tracks->streams, "streams", error);
	if (!status)
		status = kwhy_recording_add_stream(tracks->recording, stream, &added, error);
	if (!status)
		status = kwhy_track_map_put(&tracks->streams, key, added, error);
	if (!status)
		*out = added;
	return status;
}

enum kwhy_range_kind kwhy_range_kind_of(const char *name, enum kwhy_range_kind otherwise)
{
	static const char *const words[] = {"ProfilerStep", "step"};

	if (!strchr("PpSs", *name)) /* quick test that nearly all names fail */
		return otherwise;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t length = strlen(words[i]);
		const char *number = name + length;

		if (strncasecmp(name, words[i], length) != 0)
			continue;
		number += strspn(number, "#_-: ");
		if (number[strspn(number, "0123456789")] == '\0')
			return KWHY_RANGE_STEP;
	}
	return otherwise;
}
