/* SPDX-License-Identifier: Apache-2.0 */
#include "import/nsys/nsys.h"

#include <stdio.h>
#include <string.h>

/*
 * Kinds of copies by the value of CUpti_ActivityMemcpyKind; only newer exports have a table of their names.
 * "A" is a CUDA array, which is memory of the device.
 */
static const struct {
	uint8_t kind;
	const char *name;
} copy_kinds[] = {
	[0] = {KWHY_COPY_UNKNOWN, "unknown"},
	[1] = {KWHY_COPY_H2D, "HtoD"},
	[2] = {KWHY_COPY_D2H, "DtoH"},
	[3] = {KWHY_COPY_H2D, "HtoA"},
	[4] = {KWHY_COPY_D2H, "AtoH"},
	[5] = {KWHY_COPY_D2D, "AtoA"},
	[6] = {KWHY_COPY_D2D, "AtoD"},
	[7] = {KWHY_COPY_D2D, "DtoA"},
	[8] = {KWHY_COPY_D2D, "DtoD"},
	[9] = {KWHY_COPY_H2H, "HtoH"},
	[10] = {KWHY_COPY_P2P, "PtoP"},
	[11] = {KWHY_COPY_H2D, "UVM HtoD"},
	[12] = {KWHY_COPY_D2H, "UVM DtoH"},
	[13] = {KWHY_COPY_D2D, "UVM DtoD"},
};

/* Kinds of memory by the value in the export's table ENUM_CUDA_MEM_KIND. */
static const struct {
	uint8_t kind;
	const char *name;
} memory_kinds[] = {
	[0] = {KWHY_MEMORY_PAGEABLE, "Pageable"},
	[1] = {KWHY_MEMORY_PINNED, "Pinned"},
	[2] = {KWHY_MEMORY_DEVICE, "Device"},
	[3] = {KWHY_MEMORY_ARRAY, "Array"},
	[4] = {KWHY_MEMORY_MANAGED, "Managed"},
	[5] = {KWHY_MEMORY_DEVICE_STATIC, "Device Static"},
	[6] = {KWHY_MEMORY_MANAGED_STATIC, "Managed Static"},
	[7] = {KWHY_MEMORY_UNKNOWN, "Unknown"},
};

enum {
	COPY_KIND_COUNT = sizeof(copy_kinds) / sizeof(copy_kinds[0]),
	MEMORY_KIND_COUNT = sizeof(memory_kinds) / sizeof(memory_kinds[0]),
	MEMORY_UNKNOWN = 7
};

/* The row's number in `column` if it is from 0 to `count` - 1, otherwise `otherwise`. */
static size_t index_below(const struct kwhy_sqlite_rows *rows, size_t column, size_t count, size_t otherwise)
{
	int64_t value;

	return kwhy_sqlite_integer(rows, column, &value) && value >= 0 && value < (int64_t)count
		? (size_t)value
		: otherwise;
}

static void set_bytes(struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows, size_t column,
	struct kwhy_activity *activity)
{
	int64_t bytes;

	if (kwhy_sqlite_integer(rows, column, &bytes) && bytes >= 0)
		activity->bytes = (uint64_t)bytes;
	else
		nsys->recording->lost.unknown_bytes++;
}

static void set_node(const struct kwhy_sqlite_rows *rows, size_t column, struct kwhy_activity *activity)
{
	int64_t node;

	if (kwhy_sqlite_integer(rows, column, &node) && node != 0)
		activity->graph_node = (uint32_t)node == KWHY_NONE ? 0 : (uint32_t)node;
}

enum copy_column {
	COPY_BYTES = KWHY_NSYS_GPU_COLUMNS,
	COPY_KIND,
	COPY_SRC_KIND,
	COPY_DST_KIND,
	COPY_SRC_DEVICE,
	COPY_DST_DEVICE,
	COPY_NODE,
	COPY_COLUMN_COUNT
};

static const struct kwhy_sqlite_column copy_columns[COPY_COLUMN_COUNT] = {
	KWHY_NSYS_GPU_COLUMN_NAMES,
	[COPY_BYTES] = {"bytes", NULL},
	[COPY_KIND] = {"copyKind", NULL},
	[COPY_SRC_KIND] = {"srcKind", NULL},
	[COPY_DST_KIND] = {"dstKind", NULL},
	[COPY_SRC_DEVICE] = {"srcDeviceId", NULL},
	[COPY_DST_DEVICE] = {"dstDeviceId", NULL},
	[COPY_NODE] = {"graphNodeId", NULL},
};

/*
 * Adds the name that Kineto gives to a copy of this direction and these kinds of memory, such as "Memcpy HtoD
 * (Pageable -> Device)", and sets *out_name to its index.
 */
static enum kwhy_status copy_name(struct kwhy_nsys *nsys, size_t kind, size_t src, size_t dst,
	uint32_t *out_name, struct kwhy_error *error)
{
	char name[64];
	int length = snprintf(name, sizeof(name), "Memcpy %s (%s -> %s)", copy_kinds[kind].name,
		memory_kinds[src].name, memory_kinds[dst].name);

	return kwhy_names_intern(&nsys->recording->names, name, (size_t)length, out_name, error);
}

/*
 * Sets copy->peer, for a copy between two devices, to the one of its source and destination that is not the
 * device of the row.
 */
static void set_peer(struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows, uint32_t process,
	struct kwhy_activity *copy)
{
	int32_t own = nsys->recording->devices[nsys->recording->streams[copy->stream].device].index;

	for (size_t column = COPY_SRC_DEVICE; column <= COPY_DST_DEVICE; column++) {
		int64_t ordinal, index;

		if (!kwhy_sqlite_integer(rows, column, &ordinal))
			continue;
		index = kwhy_nsys_physical(nsys, process, ordinal);
		if (index != own && index >= 0 && index < KWHY_NSYS_DEVICES_MAX)
			copy->peer = (uint16_t)index;
	}
}

static enum kwhy_status read_copy(
	struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	size_t kind = index_below(rows, COPY_KIND, COPY_KIND_COUNT, 0);
	size_t src = index_below(rows, COPY_SRC_KIND, MEMORY_KIND_COUNT, MEMORY_UNKNOWN);
	size_t dst = index_below(rows, COPY_DST_KIND, MEMORY_KIND_COUNT, MEMORY_UNKNOWN);
	struct kwhy_activity copy;
	enum kwhy_status status;
	uint32_t process;

	status = kwhy_nsys_gpu_row(nsys, rows, &copy, &process, error);
	if (!status)
		status = copy_name(nsys, kind, src, dst, &copy.name, error);
	if (status)
		return status;
	copy.kind = KWHY_ACTIVITY_COPY;
	copy.copy_kind = copy_kinds[kind].kind;
	copy.src_memory = memory_kinds[src].kind;
	copy.dst_memory = memory_kinds[dst].kind;
	set_bytes(nsys, rows, COPY_BYTES, &copy);
	set_node(rows, COPY_NODE, &copy);
	if (copy.copy_kind == KWHY_COPY_P2P)
		set_peer(nsys, rows, process, &copy);
	return kwhy_recording_add_activity(nsys->recording, &copy, error);
}

const struct kwhy_nsys_reader kwhy_nsys_copies = {
	{"CUPTI_ACTIVITY_KIND_MEMCPY", copy_columns, COPY_COLUMN_COUNT}, read_copy, true};

enum { MEMSET_BYTES = KWHY_NSYS_GPU_COLUMNS, MEMSET_KIND, MEMSET_NODE, MEMSET_COLUMN_COUNT };

static const struct kwhy_sqlite_column memset_columns[MEMSET_COLUMN_COUNT] = {
	KWHY_NSYS_GPU_COLUMN_NAMES,
	[MEMSET_BYTES] = {"bytes", NULL},
	[MEMSET_KIND] = {"memKind", NULL},
	[MEMSET_NODE] = {"graphNodeId", NULL},
};

static enum kwhy_status read_memset(
	struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	size_t memory = index_below(rows, MEMSET_KIND, MEMORY_KIND_COUNT, MEMORY_UNKNOWN);
	struct kwhy_activity activity;
	enum kwhy_status status;
	uint32_t process;
	char name[32];

	status = kwhy_nsys_gpu_row(nsys, rows, &activity, &process, error);
	if (status)
		return status;
	activity.kind = KWHY_ACTIVITY_MEMSET;
	activity.dst_memory = memory_kinds[memory].kind;
	set_bytes(nsys, rows, MEMSET_BYTES, &activity);
	set_node(rows, MEMSET_NODE, &activity);
	snprintf(name, sizeof(name), "Memset (%s)", memory_kinds[memory].name);
	status = kwhy_names_intern(&nsys->recording->names, name, strlen(name), &activity.name, error);
	return status ? status : kwhy_recording_add_activity(nsys->recording, &activity, error);
}

const struct kwhy_nsys_reader kwhy_nsys_memsets = {
	{"CUPTI_ACTIVITY_KIND_MEMSET", memset_columns, MEMSET_COLUMN_COUNT}, read_memset, true};
