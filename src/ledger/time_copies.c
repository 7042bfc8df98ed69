/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/time_copies.h"

#include "ledger/saturate.h"

#include <stdlib.h>

/*
 * A place for every combination of kind, memories and size class, so that a row costs one addition; the
 * few that occur are listed in the order of their places.
 */
enum {
	SIZE_CLASSES = 65, /* 64 powers of two, and unknown */
	KINDS = KWHY_COPY_KIND_COUNT * KWHY_MEMORY_KIND_COUNT * KWHY_MEMORY_KIND_COUNT,
	PLACES = KINDS * SIZE_CLASSES,
};

static size_t place_of(const struct kwhy_activities *rows, size_t row)
{
	uint32_t size_class = kwhy_size_class_of(rows->bytes[row]);
	size_t kind = ((size_t)rows->copy_kind[row] * KWHY_MEMORY_KIND_COUNT + rows->src_memory[row]) *
			KWHY_MEMORY_KIND_COUNT +
		rows->dst_memory[row];

	return kind * SIZE_CLASSES + (size_class == KWHY_NONE ? SIZE_CLASSES - 1 : size_class);
}

static void add_row(struct kwhy_copy_class_sum *sum, const struct kwhy_activities *rows, size_t row)
{
	uint32_t size_class = kwhy_size_class_of(rows->bytes[row]);

	sum->kind = rows->copy_kind[row];
	sum->src_memory = rows->src_memory[row];
	sum->dst_memory = rows->dst_memory[row];
	sum->size_class = size_class;
	sum->count++;
	if (size_class != KWHY_NONE)
		sum->bytes = kwhy_saturate_add_unsigned(sum->bytes, rows->bytes[row]);
	sum->total_ns = kwhy_saturate_add(sum->total_ns, rows->end_ns[row] - rows->start_ns[row]);
}

static size_t count_used(const struct kwhy_copy_class_sum *places)
{
	size_t used = 0;

	for (size_t i = 0; i < PLACES; i++)
		used += places[i].count > 0;
	return used;
}

static bool same_kind(const struct kwhy_copy_sum *copy, const struct kwhy_copy_class_sum *item)
{
	return copy->kind == item->kind && copy->src_memory == item->src_memory &&
		copy->dst_memory == item->dst_memory;
}

/* One row a kind and pair of memories from the rows by class, which come in that order. */
static void pool_classes(struct kwhy_device_time *time)
{
	for (size_t i = 0; i < time->copy_class_count; i++) {
		const struct kwhy_copy_class_sum *item = &time->copy_classes[i];
		struct kwhy_copy_sum *copy = time->copies + time->copy_sum_count - 1;

		if (time->copy_sum_count == 0 || !same_kind(copy, item)) {
			copy = &time->copies[time->copy_sum_count++];
			copy->kind = item->kind;
			copy->src_memory = item->src_memory;
			copy->dst_memory = item->dst_memory;
		}
		copy->count += item->count;
		copy->bytes = kwhy_saturate_add_unsigned(copy->bytes, item->bytes);
		copy->unknown_bytes += item->size_class == KWHY_NONE ? item->count : 0;
		copy->total_ns = kwhy_saturate_add(copy->total_ns, item->total_ns);
	}
}

static enum kwhy_status keep_used(struct kwhy_ledger *ledger, struct kwhy_device_time *time,
	const struct kwhy_copy_class_sum *places, struct kwhy_error *error)
{
	size_t used = count_used(places);

	time->copy_classes = kwhy_arena_alloc(&ledger->arena, used, sizeof(*time->copy_classes));
	time->copies = kwhy_arena_alloc(&ledger->arena, used, sizeof(*time->copies));
	if (!time->copy_classes || !time->copies)
		return kwhy_fail_memory(error, "sums of copies");
	for (size_t i = 0; i < PLACES; i++)
		if (places[i].count > 0)
			time->copy_classes[time->copy_class_count++] = places[i];
	pool_classes(time);
	return KWHY_OK;
}

enum kwhy_status kwhy_ledger_time_copies(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	uint32_t device, struct kwhy_error *error)
{
	const struct kwhy_activities *rows = &recording->activities;
	struct kwhy_device_time *time = &ledger->devices[device].time;
	struct kwhy_copy_class_sum *places;
	enum kwhy_status status;

	if (time->copy_count == 0)
		return KWHY_OK;
	places = calloc(PLACES, sizeof(*places));
	if (!places)
		return kwhy_fail_memory(error, "sums of copies");
	for (size_t i = rows->first[device]; i < rows->first[device + 1]; i++)
		if (rows->kind[i] == KWHY_ACTIVITY_COPY)
			add_row(&places[place_of(rows, i)], rows, i);
	status = keep_used(ledger, time, places, error);
	free(places);
	return status;
}
