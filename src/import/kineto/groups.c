/* SPDX-License-Identifier: Apache-2.0 */
#include "base/column.h"
#include "import/kineto/file.h"
#include "import/kineto/number.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS_MAX = 65536 };

/*
 * Values of member `a` of a group's key, which say what member `b` is. BY_LABEL: the hash of a label;
 * BY_RANK: a rank.
 */
enum { BY_LABEL, BY_RANK };

void kwhy_kineto_groups_done(struct kwhy_kineto_groups *groups)
{
	kwhy_track_map_done(&groups->by_key);
	kwhy_track_map_done(&groups->by_pid);
	free(groups->items);
	*groups = (struct kwhy_kineto_groups){0};
}

/* The 64-bit hash FNV-1a. Two texts with the same hash would count as the same process, thread or label. */
int64_t kwhy_kineto_text_key(const char *bytes, size_t length)
{
	uint64_t hash = 0xCBF29CE484222325u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001B3u;
	return (int64_t)hash;
}

/*
 * The rank that a label states: the only number in it, as in "[TP03]" and "rank 3". A label with several
 * numbers, such as "[TP00-DP01]", states positions in several dimensions of parallelism and no rank.
 */
static uint32_t rank_of_label(const char *label, size_t length)
{
	uint32_t rank = KWHY_NONE;
	unsigned numbers = 0;

	for (size_t i = 0; i < length;) {
		size_t first = i;
		int64_t value;

		while (i < length && isdigit((unsigned char)label[i]))
			i++;
		if (i == first) {
			i++;
			continue;
		}
		numbers++;
		if (kwhy_kineto_number_integer(label + first, i - first, &value) && value < KWHY_NONE)
			rank = (uint32_t)value;
	}
	return numbers == 1 ? rank : KWHY_NONE;
}

/*
 * Adds a group with a new process; the first group gets the process that was added when the file was opened.
 */
static enum kwhy_status add(
	struct kwhy_kineto_file *file, uint32_t rank, uint32_t *out, struct kwhy_error *error)
{
	struct kwhy_kineto_groups *groups = &file->groups;
	struct kwhy_process process = {.pid = -1, .rank = rank, .machine = KWHY_NONE, .source = file->source};
	struct kwhy_kineto_group group = {.process = file->process, .rank = rank};
	enum kwhy_status status = kwhy_column_reserve((void **)&groups->items, &groups->capacity,
		groups->count + 1, sizeof(*groups->items), "ranks of a trace", error);

	if (!status && groups->count >= GROUPS_MAX)
		status = kwhy_fail(error, KWHY_E_INPUT,
			"%s names more than %d ranks: its \"pid\" are mixed up or damaged; export it again",
			file->path, GROUPS_MAX);
	if (!status && groups->count > 0)
		status = kwhy_recording_add_process(file->recording, &process, &group.process, error);
	if (status)
		return status;
	*out = (uint32_t)groups->count;
	groups->items[groups->count++] = group;
	return KWHY_OK;
}

static enum kwhy_status find(struct kwhy_kineto_file *file, struct kwhy_track_key key, uint32_t rank,
	uint32_t *out, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (kwhy_track_map_find(&file->groups.by_key, key, out))
		return KWHY_OK;
	status = add(file, rank, out, error);
	return status ? status : kwhy_track_map_put(&file->groups.by_key, key, *out, error);
}

/*
 * Splits "[TP00] 1000" into the label and the number. False: the text does not end in a space and a number.
 */
static bool split(const char *text, size_t length, size_t *out_label, int64_t *out_number)
{
	size_t first = length;

	while (first > 0 && isdigit((unsigned char)text[first - 1]))
		first--;
	if (first == length || first < 2 || text[first - 1] != ' ')
		return false;
	*out_label = first - 1;
	return kwhy_kineto_number_integer(text + first, length - first, out_number);
}

/*
 * Sets place->group by the event's "rank" in "args". An event without a rank gets the group of the last event
 * of its process that had one, or group 0.
 */
static enum kwhy_status find_by_rank(struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event,
	struct kwhy_kineto_place *place, struct kwhy_error *error)
{
	struct kwhy_track_key pid = {.a = place->number};
	enum kwhy_status status;
	int64_t rank;

	if (!kwhy_kineto_event_integer(event, KWHY_KINETO_FIELD_RANK, &rank) || rank < 0 ||
		rank >= KWHY_NONE) {
		kwhy_track_map_find(&file->groups.by_pid, pid, &place->group);
		return KWHY_OK;
	}
	status = find(file, (struct kwhy_track_key){BY_RANK, rank, 0}, (uint32_t)rank, &place->group, error);
	return status ? status : kwhy_track_map_put(&file->groups.by_pid, pid, place->group, error);
}

enum kwhy_status kwhy_kineto_place_read(struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event,
	enum kwhy_kineto_field field, struct kwhy_kineto_place *out, struct kwhy_error *error)
{
	struct kwhy_kineto_span pid = kwhy_kineto_event_text(event, field);
	const char *text = event->text + pid.at;
	struct kwhy_track_key key = {.a = BY_LABEL};
	size_t label;

	*out = (struct kwhy_kineto_place){.number = -1};
	out->numbered = kwhy_kineto_event_integer(event, field, &out->number);
	if (out->numbered && !kwhy_kineto_event_has(event, KWHY_KINETO_FIELD_RANK) && !file->groups.count)
		return KWHY_OK;
	if (out->numbered)
		return find_by_rank(file, event, out, error);
	if (!split(text, pid.length, &label, &out->number))
		return KWHY_OK;
	out->numbered = true;
	key.b = kwhy_kineto_text_key(text, label);
	return find(file, key, rank_of_label(text, label), &out->group, error);
}

uint32_t kwhy_kineto_group_process(const struct kwhy_kineto_file *file, uint32_t group)
{
	return group < file->groups.count ? file->groups.items[group].process : file->process;
}

uint32_t kwhy_kineto_group_of(const struct kwhy_kineto_file *file, uint32_t process)
{
	for (uint32_t i = 0; i < file->groups.count; i++)
		if (file->groups.items[i].process == process)
			return i;
	return 0;
}

/* Whether each group states a rank and all these ranks differ. */
static bool are_ranked(const struct kwhy_kineto_groups *groups)
{
	struct kwhy_track_map seen = {0};
	struct kwhy_error ignored;
	bool ranked = true;

	for (size_t i = 0; ranked && i < groups->count; i++) {
		struct kwhy_track_key key = {.a = groups->items[i].rank};
		uint32_t before;

		ranked = groups->items[i].rank != KWHY_NONE && !kwhy_track_map_find(&seen, key, &before) &&
			!kwhy_track_map_put(&seen, key, 0, &ignored);
	}
	kwhy_track_map_done(&seen);
	return ranked;
}

enum kwhy_status kwhy_kineto_groups_finish(struct kwhy_kineto_file *file, struct kwhy_error *error)
{
	struct kwhy_recording *recording = file->recording;
	struct kwhy_kineto_groups *groups = &file->groups;
	bool ranked = are_ranked(groups);

	for (uint32_t i = 0; i < groups->count; i++) {
		struct kwhy_process *process = &recording->processes[groups->items[i].process];

		process->rank = ranked ? groups->items[i].rank : i;
		process->rank_by_order = !ranked;
		process->world_size = file->meta.world_size;
	}
	for (size_t i = file->first.streams; groups->count && i < recording->stream_count; i++) {
		const struct kwhy_stream *stream = &recording->streams[i];

		recording->devices[stream->device].rank = recording->processes[stream->process].rank;
	}
	if (ranked || groups->count < 2)
		return KWHY_OK;
	return kwhy_recording_add_note(recording, KWHY_NOTE_WARNING, "rank-by-order", error,
		"%s: it holds %zu ranks without a number of its own for each: ranks are counted in the order "
		"in which they appear.",
		file->path, groups->count);
}
