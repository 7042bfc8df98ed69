/* SPDX-License-Identifier: Apache-2.0 */
#include "import/nsys/nsys.h"

#include "base/column.h"
#include "base/sort.h"

#include <stdlib.h>

enum memory_column {
	MEMORY_TIME,
	MEMORY_PROCESS,
	MEMORY_DEVICE,
	MEMORY_BYTES,
	MEMORY_KIND,
	MEMORY_OPERATION,
	MEMORY_COLUMN_COUNT
};

static const struct kwhy_sqlite_column memory_columns[MEMORY_COLUMN_COUNT] = {
	[MEMORY_TIME] = {"start", "timestamp"},
	[MEMORY_PROCESS] = {"globalPid", NULL},
	[MEMORY_DEVICE] = {"deviceId", NULL},
	[MEMORY_BYTES] = {"bytes", NULL},
	[MEMORY_KIND] = {"memKind", NULL},
	[MEMORY_OPERATION] = {"memoryOperationType", NULL},
};

/*
 * Whether memory of this kind stays on the device: in ENUM_CUDA_MEM_KIND 2 is device memory, 3 a CUDA array
 * and 5 static device memory.
 */
static bool is_on_device(int64_t kind)
{
	return kind == 2 || kind == 3 || kind == 5;
}

/*
 * Sets *out_change to the number of bytes that a row allocates from the driver (operation 0 in
 * ENUM_CUDA_DEV_MEM_EVENT_OPER), or to minus the number that it frees (operation 1). False: another
 * operation, memory that may leave the device, or a missing value.
 */
static bool read_change(const struct kwhy_sqlite_rows *rows, int64_t *out_change)
{
	int64_t kind, operation, bytes;

	if (!kwhy_sqlite_integer(rows, MEMORY_KIND, &kind) || !is_on_device(kind))
		return false;
	if (!kwhy_sqlite_integer(rows, MEMORY_OPERATION, &operation) || operation < 0 || operation > 1)
		return false;
	if (!kwhy_sqlite_integer(rows, MEMORY_BYTES, &bytes) || bytes < 0)
		return false;
	*out_change = operation == 0 ? bytes : -bytes;
	return true;
}

static enum kwhy_status read_event(
	struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	struct kwhy_memory_point point = {.allocated_bytes = KWHY_UNKNOWN_BYTES};
	enum kwhy_status status;
	int64_t change, ordinal;

	if (!read_change(rows, &change) || !kwhy_sqlite_integer(rows, MEMORY_DEVICE, &ordinal) ||
		!kwhy_sqlite_integer(rows, MEMORY_TIME, &point.time_ns) ||
		point.time_ns < -KWHY_NSYS_YEAR_NS || point.time_ns > KWHY_NSYS_YEAR_NS)
		return KWHY_OK;
	point.time_ns += nsys->shift_ns;
	point.reserved_bytes = (uint64_t)change;
	status = kwhy_nsys_process(nsys, rows, MEMORY_PROCESS, &point.process, error);
	if (!status)
		status = kwhy_nsys_device(nsys, rows, point.process, ordinal, &point.device, error);
	if (!status)
		status = kwhy_column_reserve((void **)&nsys->memory, &nsys->memory_capacity,
			nsys->memory_count + 1, sizeof(*nsys->memory), "memory events", error);
	if (!status)
		nsys->memory[nsys->memory_count++] = point;
	return status;
}

const struct kwhy_nsys_reader kwhy_nsys_memory = {
	{"CUDA_GPU_MEMORY_USAGE_EVENTS", memory_columns, MEMORY_COLUMN_COUNT}, read_event, false};

static int compare_times(const void *context, uint32_t a, uint32_t b)
{
	const struct kwhy_memory_point *points = context;

	return (points[a].time_ns > points[b].time_ns) - (points[a].time_ns < points[b].time_ns);
}

/*
 * The bytes in use after a change. Never below 0: a program may free memory that it allocated before the
 * session.
 */
static uint64_t changed(uint64_t in_use, int64_t change)
{
	if (change < 0)
		return in_use > (uint64_t)-change ? in_use - (uint64_t)-change : 0;
	return in_use > INT64_MAX - (uint64_t)change ? INT64_MAX : in_use + (uint64_t)change;
}

enum kwhy_status kwhy_nsys_memory_finish(struct kwhy_nsys *nsys, struct kwhy_error *error)
{
	uint64_t *in_use = calloc(nsys->recording->device_count + 1, sizeof(*in_use));
	uint32_t *order = NULL;
	enum kwhy_status status;

	if (!in_use)
		return kwhy_fail_memory(error, "memory events");
	status = kwhy_sort_order(nsys->memory_count, compare_times, nsys->memory, &order, error);
	for (size_t i = 0; !status && i < nsys->memory_count; i++) {
		struct kwhy_memory_point point = nsys->memory[order ? order[i] : i];

		in_use[point.device] = changed(in_use[point.device], (int64_t)point.reserved_bytes);
		point.reserved_bytes = in_use[point.device];
		status = kwhy_recording_add_memory(nsys->recording, &point, error);
	}
	free(order);
	free(in_use);
	return status;
}
