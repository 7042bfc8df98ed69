/* SPDX-License-Identifier: Apache-2.0 */
#include "record/ranges.h"

#include "base/column.h"
#include "recording/block_reader.h"
#include "recording/bundle.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 1 << 24, NAME_BYTES = 512 };

/* State of counting the ranges in one file of the recording. */
struct counting {
	const struct kwhy_record_ranges *ranges;
	uint32_t *matches; /* indexed by the id of a name: bit i is set if pattern i matches the name */
	size_t capacity, name_count;
	uint64_t counts[KWHY_RECORD_RANGES_MAX];
};

static uint32_t match(const struct kwhy_record_ranges *ranges, const char *bytes, size_t length)
{
	char name[NAME_BYTES];
	uint32_t bits = 0;

	if (length >= sizeof(name))
		length = sizeof(name) - 1;
	memcpy(name, bytes, length);
	name[length] = '\0';
	for (size_t i = 0; i < ranges->count; i++)
		if (fnmatch(ranges->patterns[i], name, 0) == 0)
			bits |= UINT32_C(1) << i;
	return bits;
}

/*
 * Stores in counting->matches which patterns each name of a block matches. The array reaches up to the
 * highest id of a name that matches at least one pattern.
 */
static enum kwhy_status take_names(
	struct counting *counting, const struct kwhy_block *block, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	const char *bytes;
	size_t at = 0, length;
	uint32_t number, bits;

	while (!status && kwhy_block_name(block, &at, &number, &bytes, &length)) {
		bits = number < NAMES_MAX ? match(counting->ranges, bytes, length) : 0;
		if (!bits)
			continue;
		status = kwhy_column_reserve((void **)&counting->matches, &counting->capacity,
			(size_t)number + 1, sizeof(*counting->matches), "names of a recording", error);
		if (status)
			break;
		while (counting->name_count <= number)
			counting->matches[counting->name_count++] = 0;
		counting->matches[number] = bits;
	}
	return status;
}

static void take_ranges(struct counting *counting, const struct kwhy_block *block)
{
	const struct kwhy_record_ranges *ranges = counting->ranges;
	struct kwhy_wire_range scratch;

	for (size_t i = 0; i < block->record_count; i++) {
		const struct kwhy_wire_range *range = kwhy_block_record(block, i, &scratch, sizeof(scratch));
		const uint32_t bits = range->name < counting->name_count ? counting->matches[range->name] : 0;

		if (range->end_mono_ns < ranges->start_mono_ns || range->end_mono_ns > ranges->end_mono_ns)
			continue;
		for (size_t p = 0; p < ranges->count; p++)
			counting->counts[p] += bits >> p & 1;
	}
}

/*
 * Reads all blocks of one `kind` in a file. It is called for the blocks of names first and then for those of
 * ranges, because a name may come after its use.
 */
static enum kwhy_status walk(
	struct counting *counting, const char *path, unsigned kind, struct kwhy_error *error)
{
	struct kwhy_block_reader reader;
	struct kwhy_block block;
	enum kwhy_status status = kwhy_block_reader_open(&reader, path, error);
	int item = 0;

	if (status)
		return status;
	while (!status && (item = kwhy_block_reader_next(&reader, &block, error)) == 0) {
		if (block.damage || block.kind != kind)
			continue;
		if (kind == KWHY_WIRE_NAME)
			status = take_names(counting, &block, error);
		else
			take_ranges(counting, &block);
	}
	kwhy_block_reader_close(&reader);
	return item < 0 ? error->status : status;
}

static enum kwhy_status count_file(const struct kwhy_record_ranges *ranges, const char *path,
	uint64_t *out_counts, struct kwhy_error *error)
{
	struct counting counting = {.ranges = ranges};
	enum kwhy_status status = walk(&counting, path, KWHY_WIRE_NAME, error);

	if (!status && counting.name_count)
		status = walk(&counting, path, KWHY_WIRE_RANGE, error);
	for (size_t p = 0; p < ranges->count; p++)
		if (counting.counts[p] > out_counts[p])
			out_counts[p] = counting.counts[p];
	free(counting.matches);
	return status;
}

enum kwhy_status kwhy_record_ranges_count(
	const struct kwhy_record_ranges *ranges, uint64_t *out_counts, struct kwhy_error *error)
{
	struct kwhy_bundle bundle;
	enum kwhy_status status = kwhy_bundle_open(&bundle, ranges->path, error);

	if (status)
		return status;
	memset(out_counts, 0, ranges->count * sizeof(*out_counts));
	for (size_t i = 0; !status && i < bundle.count; i++)
		status = count_file(ranges, bundle.paths[i], out_counts, error);
	kwhy_bundle_done(&bundle);
	return status;
}
