/* SPDX-License-Identifier: Apache-2.0 */
#include "base/column.h"
#include "base/map.h"
#include "base/quantity.h"
#include "base/text.h"
#include "detect/families.h"
#include "detect/tally.h"
#include "model/host_time.h"

#include <stdlib.h>
#include <string.h>

/*
 * Detector of caches that grow by concatenation, such as those of keys and values in a loop that generates
 * tokens: each aten::cat copies the whole cache to append a little. The recorded shapes of its first two
 * inputs show this: they differ in one size only, and from one call to the next this size of the first input,
 * the cache, grows by that of the second.
 */

enum { DIMS_MAX = 8, INPUTS = 2 };

/* Shapes of the first two inputs of a concatenation: the cache, and what is appended. */
struct joined {
	int64_t sizes[INPUTS][DIMS_MAX];
	int dims, along; /* number of sizes of each input; index of the size in which they differ */
};

/*
 * All concatenations with the same key (write_key()): on one thread, with equal shapes apart from the size of
 * the cache that grows.
 */
struct cache {
	int64_t last,
		/*
		 * last: growing size of the cache at the latest call; 0: no call yet. grown: number of calls
		 * at which it exceeded that of the call before by exactly the size of what is appended
		 */
		grown;
};

struct finder {
	const struct kwhy_detect_context *context;
	struct kwhy_map keys;
	struct cache *caches;
	size_t count, capacity;
	uint32_t name; /* id of the name "aten::cat"; 0: the recording has no such name */
};

/*
 * Reads the sizes of the next input, such as "[1, 8, 100, 64]", and moves *at behind them. Returns their
 * number; 0: before `end` there is no further input with sizes, or it has more than DIMS_MAX or is damaged.
 */
static int read_sizes(const char **at, const char *end, int64_t sizes[DIMS_MAX])
{
	int count = 0;

	while (*at < end && !(**at == '[' && (*at)[1] >= '0' && (*at)[1] <= '9'))
		++*at;
	while (*at < end && **at != ']') {
		char *after;

		if (count == DIMS_MAX)
			return 0;
		++*at;
		sizes[count++] = strtoll(*at, &after, 10);
		if (after == *at)
			return 0;
		*at = after;
	}
	return count;
}

/*
 * Reads the shapes of the first two inputs of a concatenation. False: they do not differ in exactly one size,
 * or that of the second input is not smaller.
 */
static bool read_joined(const char *shape, struct joined *out)
{
	const char *at = shape, *end = shape + strcspn(shape, ";");
	int differ = 0;

	out->dims = read_sizes(&at, end, out->sizes[0]);
	if (!out->dims || read_sizes(&at, end, out->sizes[1]) != out->dims)
		return false;
	for (int i = 0; i < out->dims; i++) {
		if (out->sizes[0][i] == out->sizes[1][i])
			continue;
		out->along = i;
		differ++;
	}
	return differ == 1 && out->sizes[1][out->along] > 0 &&
		out->sizes[1][out->along] < out->sizes[0][out->along];
}

/*
 * Writes the key of a cache: the thread, the dimension along which it grows, and the shape of what is
 * appended.
 */
static void write_key(const struct joined *joined, uint32_t thread, int64_t key[DIMS_MAX + 3])
{
	memset(key, 0, (DIMS_MAX + 3) * sizeof(*key));
	key[0] = thread;
	key[1] = joined->along;
	key[2] = joined->dims;
	memcpy(&key[3], joined->sizes[1], (size_t)joined->dims * sizeof(*key));
}

/*
 * Reads the shapes of the concatenation that a host range records. False: the range is no concatenation, or
 * read_joined() refuses its shapes.
 */
static bool joined_of(const struct finder *finder, uint32_t range, struct joined *out)
{
	const struct kwhy_recording *recording = finder->context->recording;

	return recording->host_ranges.name[range] == finder->name &&
		read_joined(kwhy_names_get(
				    &recording->names, kwhy_host_range_shape(&recording->host_ranges, range)),
			out);
}

static enum kwhy_status note(struct finder *finder, uint32_t range)
{
	int64_t key[DIMS_MAX + 3], size;
	struct joined joined;
	struct kwhy_map_slot *slot;
	struct cache *cache;
	enum kwhy_status status;

	if (!joined_of(finder, range, &joined))
		return KWHY_OK;
	write_key(&joined, finder->context->recording->host_ranges.thread[range], key);
	status = kwhy_map_add_bytes(
		&finder->keys, key, sizeof(key), (uint32_t)finder->count, &slot, finder->context->error);
	if (!status)
		status = kwhy_column_reserve((void **)&finder->caches, &finder->capacity, finder->count + 1,
			sizeof(*finder->caches), "growing caches", finder->context->error);
	if (status)
		return status;
	if (slot->value == finder->count)
		finder->caches[finder->count++] = (struct cache){0};
	cache = &finder->caches[slot->value];
	size = joined.sizes[0][joined.along];
	cache->grown += cache->last && size == cache->last + joined.sizes[1][joined.along];
	cache->last = size;
	return KWHY_OK;
}

static enum kwhy_status note_all(struct finder *finder)
{
	const struct kwhy_recording *recording = finder->context->recording;
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < recording->host_ranges.count; i++)
		status = note(finder, i);
	return status;
}

/*
 * Whether the kernel in `row` was launched inside a concatenation whose cache grew at min_count calls or
 * more. Sets *out to the shapes of that concatenation.
 */
static bool grows(const struct finder *finder, size_t row, double min_count, struct joined *out)
{
	const struct kwhy_recording *recording = finder->context->recording;
	int64_t key[DIMS_MAX + 3];
	const struct kwhy_map_slot *slot;
	uint32_t range = finder->context->view->range_of_launch[row];

	while (range != KWHY_NONE && recording->host_ranges.name[range] != finder->name)
		range = recording->host_ranges.parent[range];
	if (range == KWHY_NONE || !joined_of(finder, range, out))
		return false;
	write_key(out, recording->host_ranges.thread[range], key);
	slot = kwhy_map_find_bytes(&finder->keys, key, sizeof(key));
	return slot && (double)finder->caches[slot->value].grown >= min_count;
}

/*
 * Marks the kernels of concatenations that grow a cache. With the cure, a kernel takes only the share of its
 * time in which it writes the appended part: appended size over the size of the result.
 */
static void mark_all(struct finder *finder, struct kwhy_tally *tally)
{
	const struct kwhy_activities *rows = &finder->context->recording->activities;
	const struct kwhy_device_view *seen = &finder->context->view->devices[tally->device];
	const double min_count = kwhy_tally_threshold(tally, "min_count");

	for (size_t i = seen->begin; i < seen->end; i++) {
		struct kwhy_occurrence occurrence = kwhy_occurrence_at(rows->start_ns[i], rows->end_ns[i]);
		double length_ns = (double)(rows->end_ns[i] - rows->start_ns[i]);
		double old, appended;
		struct joined joined;

		if (!grows(finder, i, min_count, &joined))
			continue;
		old = (double)joined.sizes[0][joined.along];
		appended = (double)joined.sizes[1][joined.along];
		kwhy_tally_mark(tally, i, length_ns * appended / (old + appended));
		occurrence.row = (uint32_t)i;
		kwhy_tally_add_occurrence(tally, occurrence);
		tally->count++;
	}
}

enum kwhy_status kwhy_detect_growing_caches(const struct kwhy_detect_context *context)
{
	struct finder finder = {.context = context};
	struct kwhy_finding_terms terms = kwhy_finding_terms_default();
	char count[KWHY_QUANTITY_BYTES];
	struct kwhy_tally tally;

	for (uint32_t i = 1; i < context->recording->names.count && !finder.name; i++)
		if (!strcmp(kwhy_names_get(&context->recording->names, i), "aten::cat"))
			finder.name = i;
	if (!finder.name)
		return KWHY_OK;
	kwhy_tally_init(&tally, context);
	tally.status = note_all(&finder);
	if (!tally.status && finder.count)
		mark_all(&finder, &tally);
	terms.title = kwhy_tally_words(&tally,
		"Growing caches: %s a cache was copied whole to append to it (aten::cat)",
		kwhy_quantity_times(count, tally.count));
	terms.assumption = "the cache has its full length from the start: only what is appended is written";
	kwhy_map_done(&finder.keys);
	free(finder.caches);
	return kwhy_tally_finish(&tally, terms);
}
