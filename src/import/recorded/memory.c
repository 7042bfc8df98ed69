/* SPDX-License-Identifier: Apache-2.0 */
#include "base/column.h"
#include "base/sort.h"
#include "import/recorded/recorded.h"

#include <stdlib.h>

/* Whether memory of this kind occupies the device while it is allocated. */
static bool is_on_device(uint8_t memory)
{
	return memory == KWHY_MEMORY_DEVICE || memory == KWHY_MEMORY_ARRAY ||
		memory == KWHY_MEMORY_DEVICE_STATIC;
}

/*
 * Whether all allocations of a writer's process are recorded. If the user's selection limits the recording to
 * windows, allocations before and between the windows are not recorded.
 */
static bool is_followed(const struct kwhy_recorded *recorded, uint32_t writer)
{
	return !recorded->writers[writer].selection.is_stated;
}

enum kwhy_status kwhy_recorded_memory_keep(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_memory *memory, struct kwhy_error *error)
{
	struct kwhy_recorded_memory row = {
		.time_ns = kwhy_recorded_time(recorded, writer, memory->time_mono_ns),
		.process = recorded->writers[writer].process};
	enum kwhy_status status;

	if (!is_on_device(memory->memory) || !is_followed(recorded, writer))
		return KWHY_OK;
	if (row.time_ns == KWHY_UNKNOWN_TIME || memory->bytes > INT64_MAX) {
		recorded->recording->lost.skipped_events++;
		return KWHY_OK;
	}
	row.change_bytes = memory->is_free ? -(int64_t)memory->bytes : (int64_t)memory->bytes;
	status = kwhy_recorded_device(recorded, writer, memory->device, &row.device, error);
	if (!status)
		status = kwhy_column_reserve((void **)&recorded->memory, &recorded->memory_capacity,
			recorded->memory_count + 1, sizeof(*recorded->memory), "memory events", error);
	if (!status)
		recorded->memory[recorded->memory_count++] = row;
	return status;
}

static int compare_times(const void *context, uint32_t a, uint32_t b)
{
	const struct kwhy_recorded_memory *rows = context;

	return (rows[a].time_ns > rows[b].time_ns) - (rows[a].time_ns < rows[b].time_ns);
}

/*
 * Bytes that a process has allocated after a change. The result is at least 0, because a process may free
 * memory that it allocated before the recording began.
 */
static uint64_t changed(uint64_t held, int64_t change)
{
	if (change < 0)
		return held > (uint64_t)-change ? held - (uint64_t)-change : 0;
	return held > INT64_MAX - (uint64_t)change ? INT64_MAX : held + (uint64_t)change;
}

static enum kwhy_status add_points(struct kwhy_recorded *recorded, struct kwhy_track_map *holders,
	const uint32_t *order, uint64_t *held, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < recorded->memory_count; i++) {
		const struct kwhy_recorded_memory *row = &recorded->memory[order ? order[i] : i];
		const struct kwhy_track_key key = {row->device, row->process, 0};
		struct kwhy_memory_point point = {.time_ns = row->time_ns,
			.device = row->device,
			.process = row->process,
			.allocated_bytes = KWHY_UNKNOWN_BYTES};
		uint32_t holder;

		if (!kwhy_track_map_find(holders, key, &holder)) {
			holder = (uint32_t)holders->map.count;
			status = kwhy_track_map_put(holders, key, holder, error);
		}
		if (status)
			break;
		point.reserved_bytes = held[holder] = changed(held[holder], row->change_bytes);
		status = kwhy_recording_add_memory(recorded->recording, &point, error);
	}
	return status;
}

enum kwhy_status kwhy_recorded_memory_apply(struct kwhy_recorded *recorded, struct kwhy_error *error)
{
	struct kwhy_track_map holders = {0}; /* from (device, process) to the index in `held` of the bytes
						that the process holds there */
	uint64_t *held = calloc(recorded->memory_count + 1, sizeof(*held));
	uint32_t *order = NULL;
	enum kwhy_status status;

	if (held)
		status = kwhy_sort_order(
			recorded->memory_count, compare_times, recorded->memory, &order, error);
	else
		status = kwhy_fail_memory(error, "memory events");
	if (!status)
		status = add_points(recorded, &holders, order, held, error);
	kwhy_track_map_done(&holders);
	free(order);
	free(held);
	return status;
}
