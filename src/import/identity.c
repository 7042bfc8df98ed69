/* SPDX-License-Identifier: Apache-2.0 */
#include "import/identity.h"

#include <string.h>

/*
 * Combines one value at a time by multiplication and XOR, then applies the last steps of splitmix64, which
 * spread each bit over the whole hash, so that sums of hashes are well distributed, too.
 */
uint64_t kwhy_identity_digest(const uint64_t *values, size_t count)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < count; i++) {
		hash = (hash ^ values[i]) * 0x9E3779B97F4A7C15u;
		hash ^= hash >> 32;
	}
	hash = (hash ^ hash >> 30) * 0xBF58476D1CE4E5B9u;
	hash = (hash ^ hash >> 27) * 0x94D049BB133111EBu;
	return hash ^ hash >> 31;
}

/*
 * The rank of the stream's device; KWHY_NONE: unknown, or not stated by a trace but numbered in the order in
 * which the files were read.
 */
static uint32_t stated_rank(const struct kwhy_recording *recording, const struct kwhy_stream *stream)
{
	return recording->processes[stream->process].rank_by_order ? KWHY_NONE
								   : recording->devices[stream->device].rank;
}

/*
 * The kind of an activity and the direction of a copy as one number, reduced to what every format can state,
 * so that a trace equals its conversion to another format: in a Chrome trace a graph is a kernel.
 */
static uint32_t kind_of(const struct kwhy_activities *rows, size_t row)
{
	if (rows->kind[row] == KWHY_ACTIVITY_COPY)
		return (uint32_t)rows->copy_kind[row] << 8 | KWHY_ACTIVITY_COPY;
	return rows->kind[row] == KWHY_ACTIVITY_GRAPH ? KWHY_ACTIVITY_KERNEL : rows->kind[row];
}

/* Whether the row is a copy or memset. Their names are not compared, because only some formats have them. */
static bool is_transfer(const struct kwhy_activities *rows, size_t row)
{
	return rows->kind[row] == KWHY_ACTIVITY_COPY || rows->kind[row] == KWHY_ACTIVITY_MEMSET;
}

static uint64_t digest_row(const struct kwhy_recording *recording, size_t row)
{
	const struct kwhy_activities *rows = &recording->activities;
	const struct kwhy_stream *stream = &recording->streams[rows->stream[row]];
	const uint64_t values[] = {
		(uint64_t)rows->start_ns[row],
		(uint64_t)rows->end_ns[row],
		kind_of(rows, row),
		is_transfer(rows, row) ? rows->bytes[row] : rows->name[row],
		(uint64_t)(uint32_t)recording->devices[stream->device].index << 32 |
			stated_rank(recording, stream),
		(uint64_t)stream->id,
	};

	return kwhy_identity_digest(values, sizeof(values) / sizeof(values[0]));
}

/*
 * The digest of a source's activities, the first of which is row `first`. It is computed once and then stored
 * in source->digest, where 0 means "not computed"; a digest of 0 is therefore stored as 1.
 */
static uint64_t digest_of(struct kwhy_recording *recording, struct kwhy_source *source, size_t first)
{
	if (source->digest)
		return source->digest;
	for (size_t i = 0; i < source->activities; i++)
		source->digest += digest_row(recording, first + i);
	source->digest += !source->digest;
	return source->digest;
}

/*
 * Whether both sources are recordings of kwhy. Recordings of kwhy are compared by the processes that wrote
 * them, not by their activities.
 */
static bool are_recordings(const struct kwhy_source *a, const struct kwhy_source *b)
{
	return a->format == KWHY_FORMAT_KWHY && b->format == KWHY_FORMAT_KWHY;
}

enum kwhy_status kwhy_identity_check_trace(struct kwhy_recording *recording, size_t activities_before,
	const char *path, struct kwhy_error *error)
{
	struct kwhy_source *source = &recording->sources[recording->source_count - 1], *earlier;
	size_t count = source->activities = recording->activities.count - activities_before;

	for (size_t i = 0, first = 0; count && i + 1 < recording->source_count; i++) {
		earlier = &recording->sources[i];
		if (earlier->activities == count && !are_recordings(earlier, source) &&
			digest_of(recording, earlier, first) ==
				digest_of(recording, source, activities_before))
			return kwhy_fail(error, KWHY_E_INPUT,
				"%s holds the same work as %s: a copy, or the same trace written anew, would "
				"count twice; give each trace once, or, if they are two ranks, state each "
				"one's rank (# device 0 rank=1, distributedInfo)",
				path, earlier->path);
		first += earlier->activities;
	}
	return KWHY_OK;
}

static enum kwhy_status keep(
	struct kwhy_recording *recording, struct kwhy_power_file file, struct kwhy_error *error)
{
	file.path = kwhy_recording_copy(recording, file.path, strlen(file.path));
	if (!file.path)
		return kwhy_fail_memory(error, "the name of a power file");
	return kwhy_recording_add_power_file(recording, &file, error);
}

enum kwhy_status kwhy_identity_check_power(
	struct kwhy_recording *recording, const struct kwhy_power_file *file, struct kwhy_error *error)
{
	for (size_t i = 0; i < recording->power_file_count; i++) {
		const struct kwhy_power_file *earlier = &recording->power_files[i];

		if (earlier->readings != file->readings || earlier->digest != file->digest)
			continue;
		if (!strcmp(earlier->path, file->path))
			return kwhy_fail(error, KWHY_E_INPUT, "%s is given twice; give each power file once",
				file->path);
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s holds the same readings as %s; give each power file once", file->path,
			earlier->path);
	}
	return keep(recording, *file, error);
}
