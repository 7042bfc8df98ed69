/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/time/time_copies.h"

#include "base/column.h"
#include "base/map.h"
#include "ledger/saturate.h"

#include <stdlib.h>
#include <string.h>

/*
 * Sums over the copies of one device, one for each kind, pair of memory kinds and size class, in the order of
 * their first occurrence.
 */
struct classes {
	struct kwhy_map keys;
	struct kwhy_copy_class_sum *items;
	size_t count, capacity;
};

/* Key of a sum: kind, memory kinds and size class. The rows are sorted by it. */
static uint64_t key_of(uint32_t kind, uint32_t src_memory, uint32_t dst_memory, uint32_t size_class)
{
	return (uint64_t)(kind << 16 | src_memory << 8 | dst_memory) << 32 | size_class;
}

static enum kwhy_status find(struct classes *classes, const struct kwhy_activities *rows, size_t row,
	struct kwhy_copy_class_sum **out, struct kwhy_error *error)
{
	struct kwhy_copy_class_sum sum = {
		.kind = rows->copy_kind[row],
		.src_memory = rows->src_memory[row],
		.dst_memory = rows->dst_memory[row],
		.size_class = kwhy_size_class_of(rows->bytes[row]),
	};
	uint64_t key = key_of(sum.kind, sum.src_memory, sum.dst_memory, sum.size_class);
	uint32_t number;
	enum kwhy_status status = kwhy_map_number(&classes->keys, key, &number, error);

	if (!status)
		status = kwhy_column_reserve((void **)&classes->items, &classes->capacity, (size_t)number + 1,
			sizeof(*classes->items), "sums of copies", error);
	if (status)
		return status;
	if (number == classes->count)
		classes->items[classes->count++] = sum;
	*out = &classes->items[number];
	return KWHY_OK;
}

static enum kwhy_status add_row(
	struct classes *classes, const struct kwhy_activities *rows, size_t row, struct kwhy_error *error)
{
	struct kwhy_copy_class_sum *sum;
	enum kwhy_status status = find(classes, rows, row, &sum, error);

	if (status)
		return status;
	sum->count++;
	if (sum->size_class != KWHY_NONE)
		sum->bytes = kwhy_saturate_add_unsigned(sum->bytes, rows->bytes[row]);
	sum->total_ns = kwhy_saturate_add(sum->total_ns, rows->end_ns[row] - rows->start_ns[row]);
	return KWHY_OK;
}

static int compare_sums(const void *a, const void *b)
{
	const struct kwhy_copy_class_sum *x = a, *y = b;
	uint64_t left = key_of(x->kind, x->src_memory, x->dst_memory, x->size_class);
	uint64_t right = key_of(y->kind, y->src_memory, y->dst_memory, y->size_class);

	return (left > right) - (left < right);
}

static bool same_kind(const struct kwhy_copy_sum *copy, const struct kwhy_copy_class_sum *item)
{
	return copy->kind == item->kind && copy->src_memory == item->src_memory &&
		copy->dst_memory == item->dst_memory;
}

/*
 * Adds up the rows of all size classes, which are sorted, to one row for each kind and pair of memory kinds.
 */
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

static enum kwhy_status keep(struct kwhy_ledger *ledger, struct kwhy_device_time *time,
	const struct classes *classes, struct kwhy_error *error)
{
	time->copy_classes = kwhy_arena_alloc(&ledger->arena, classes->count, sizeof(*time->copy_classes));
	time->copies = kwhy_arena_alloc(&ledger->arena, classes->count, sizeof(*time->copies));
	if (!time->copy_classes || !time->copies)
		return kwhy_fail_memory(error, "sums of copies");
	time->copy_class_count = classes->count;
	if (classes->count == 0)
		return KWHY_OK;
	qsort(classes->items, classes->count, sizeof(*classes->items), compare_sums);
	memcpy(time->copy_classes, classes->items, classes->count * sizeof(*classes->items));
	pool_classes(time);
	return KWHY_OK;
}

enum kwhy_status kwhy_ledger_time_copies(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	uint32_t device, struct kwhy_error *error)
{
	const struct kwhy_activities *rows = &recording->activities;
	struct classes classes = {0};
	enum kwhy_status status = KWHY_OK;

	for (size_t i = rows->first[device]; !status && i < rows->first[device + 1]; i++)
		if (rows->origin[i] == KWHY_ORIGIN_PROGRAM && rows->kind[i] == KWHY_ACTIVITY_COPY)
			status = add_row(&classes, rows, i, error);
	if (!status)
		status = keep(ledger, &ledger->devices[device].time, &classes, error);
	kwhy_map_done(&classes.keys);
	free(classes.items);
	return status;
}
