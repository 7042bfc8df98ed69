/* SPDX-License-Identifier: Apache-2.0 */
#include "import/nsys/nsys.h"

#include "base/column.h"

#include <stdio.h>
#include <string.h>

enum kwhy_status kwhy_nsys_gpu_row(struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows,
	struct kwhy_activity *activity, uint32_t *out_process, struct kwhy_error *error)
{
	struct kwhy_stream stream = {.context = -1, .id = -1};
	enum kwhy_status status;
	int64_t ordinal;

	*activity = kwhy_activity_unknown();
	status = kwhy_nsys_times(nsys, rows, KWHY_NSYS_START, &activity->start_ns, &activity->end_ns, error);
	if (!status && !kwhy_sqlite_integer(rows, KWHY_NSYS_DEVICE, &ordinal))
		return kwhy_sqlite_row_fail(rows, error, "it names no device; skip such rows with --partial");
	if (!status)
		status = kwhy_nsys_process(nsys, rows, KWHY_NSYS_PROCESS, &stream.process, error);
	if (!status)
		status = kwhy_nsys_device(nsys, rows, stream.process, ordinal, &stream.device, error);
	if (status)
		return status;
	if (!kwhy_sqlite_integer(rows, KWHY_NSYS_CONTEXT, &stream.context))
		stream.context = -1;
	if (!kwhy_sqlite_integer(rows, KWHY_NSYS_STREAM, &stream.id))
		stream.id = -1;
	*out_process = stream.process;
	activity->call = kwhy_nsys_id(rows, KWHY_NSYS_CORRELATION);
	return kwhy_tracks_stream(&nsys->tracks, &stream, &activity->stream, error);
}

enum kernel_column {
	KERNEL_NAME = KWHY_NSYS_GPU_COLUMNS,
	KERNEL_SHORT_NAME,
	KERNEL_GRID_X,
	KERNEL_GRID_Y,
	KERNEL_GRID_Z,
	KERNEL_BLOCK_X,
	KERNEL_BLOCK_Y,
	KERNEL_BLOCK_Z,
	KERNEL_REGISTERS,
	KERNEL_STATIC,
	KERNEL_DYNAMIC,
	KERNEL_NODE,
	KERNEL_COLUMN_COUNT
};

static const struct kwhy_sqlite_column kernel_columns[KERNEL_COLUMN_COUNT] = {
	KWHY_NSYS_GPU_COLUMN_NAMES,
	[KERNEL_NAME] = {"demangledName", "mangledName"},
	[KERNEL_SHORT_NAME] = {"shortName", NULL},
	[KERNEL_GRID_X] = {"gridX", NULL},
	[KERNEL_GRID_Y] = {"gridY", NULL},
	[KERNEL_GRID_Z] = {"gridZ", NULL},
	[KERNEL_BLOCK_X] = {"blockX", NULL},
	[KERNEL_BLOCK_Y] = {"blockY", NULL},
	[KERNEL_BLOCK_Z] = {"blockZ", NULL},
	[KERNEL_REGISTERS] = {"registersPerThread", NULL},
	[KERNEL_STATIC] = {"staticSharedMemory", NULL},
	[KERNEL_DYNAMIC] = {"dynamicSharedMemory", NULL},
	[KERNEL_NODE] = {"graphNodeId", NULL},
};

/*
 * Product of three successive columns, the sizes of a grid or block in x, y and z; `unknown` if a size is
 * missing or not above 0, or if the product is at least `unknown`.
 */
static uint32_t volume(const struct kwhy_sqlite_rows *rows, size_t first, uint32_t unknown)
{
	uint64_t product = 1;

	for (size_t i = first; i < first + 3; i++) {
		int64_t size;

		if (!kwhy_sqlite_integer(rows, i, &size) || size <= 0 || size >= unknown)
			return unknown;
		product *= (uint64_t)size;
		if (product >= unknown)
			return unknown;
	}
	return (uint32_t)product;
}

/* The number in a column if it is from 0 to `unknown` - 1; otherwise `unknown`. */
static uint32_t size_below(const struct kwhy_sqlite_rows *rows, size_t column, uint32_t unknown)
{
	int64_t size;

	return kwhy_sqlite_integer(rows, column, &size) && size >= 0 && size < unknown ? (uint32_t)size
										       : unknown;
}

static enum kwhy_status kernel_name(struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows,
	uint32_t *out_name, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	int64_t id;

	*out_name = 0;
	for (size_t column = KERNEL_NAME; !status && *out_name == 0 && column <= KERNEL_SHORT_NAME; column++)
		if (kwhy_sqlite_integer(rows, column, &id))
			status = kwhy_nsys_string(nsys, id, out_name, error);
	if (!status && *out_name == 0) {
		nsys->tally.unnamed++;
		status = kwhy_names_intern(&nsys->recording->names, "unnamed kernel", 14, out_name, error);
	}
	return status;
}

/*
 * Sets *out_kind to KWHY_ACTIVITY_COLLECTIVE or KWHY_ACTIVITY_KERNEL by the kernel's name. Each distinct name
 * is matched once.
 */
static enum kwhy_status find_kind(
	struct kwhy_nsys *nsys, uint32_t name, uint8_t *out_kind, struct kwhy_error *error)
{
	enum { NOT_ASKED, NO, YES };
	const char *text = kwhy_names_get(&nsys->recording->names, name);
	size_t before = nsys->name_capacity;
	enum kwhy_status status = kwhy_column_reserve((void **)&nsys->name_is_collective,
		&nsys->name_capacity, (size_t)name + 1, 1, "names of kernels", error);

	if (status)
		return status;
	if (nsys->name_capacity > before)
		memset(nsys->name_is_collective + before, NOT_ASKED, nsys->name_capacity - before);
	if (nsys->name_is_collective[name] == NOT_ASKED)
		nsys->name_is_collective[name] = kwhy_collectives_match(nsys->collectives, text) ? YES : NO;
	*out_kind = nsys->name_is_collective[name] == YES ? KWHY_ACTIVITY_COLLECTIVE : KWHY_ACTIVITY_KERNEL;
	return KWHY_OK;
}

static void kernel_shape(const struct kwhy_sqlite_rows *rows, struct kwhy_activity *kernel)
{
	uint32_t fixed = size_below(rows, KERNEL_STATIC, KWHY_NONE / 2);
	uint32_t dynamic = size_below(rows, KERNEL_DYNAMIC, KWHY_NONE / 2);
	int64_t node;

	kernel->blocks = volume(rows, KERNEL_GRID_X, KWHY_UNKNOWN_BLOCKS);
	kernel->threads_per_block = (uint16_t)volume(rows, KERNEL_BLOCK_X, KWHY_UNKNOWN_U16);
	kernel->registers = (uint16_t)size_below(rows, KERNEL_REGISTERS, KWHY_UNKNOWN_U16);
	if (fixed < KWHY_NONE / 2 && dynamic < KWHY_NONE / 2)
		kernel->shared_bytes = fixed + dynamic;
	if (kwhy_sqlite_integer(rows, KERNEL_NODE, &node) && node != 0)
		kernel->graph_node = (uint32_t)node == KWHY_NONE ? 0 : (uint32_t)node;
}

static enum kwhy_status read_kernel(
	struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	struct kwhy_activity kernel;
	enum kwhy_status status;
	uint32_t process;

	status = kwhy_nsys_gpu_row(nsys, rows, &kernel, &process, error);
	if (!status)
		status = kernel_name(nsys, rows, &kernel.name, error);
	if (!status)
		status = find_kind(nsys, kernel.name, &kernel.kind, error);
	if (status)
		return status;
	kernel_shape(rows, &kernel);
	nsys->tally.kernels++;
	return kwhy_recording_add_activity(nsys->recording, &kernel, error);
}

const struct kwhy_nsys_reader kwhy_nsys_kernels = {
	{"CUPTI_ACTIVITY_KIND_KERNEL", kernel_columns, KERNEL_COLUMN_COUNT}, read_kernel, true};

enum { GRAPH_ID = KWHY_NSYS_GPU_COLUMNS, GRAPH_EXEC_ID, GRAPH_COLUMN_COUNT };

static const struct kwhy_sqlite_column graph_columns[GRAPH_COLUMN_COUNT] = {
	KWHY_NSYS_GPU_COLUMN_NAMES,
	[GRAPH_ID] = {"graphId", NULL},
	[GRAPH_EXEC_ID] = {"graphExecId", NULL},
};

static enum kwhy_status read_graph(
	struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	struct kwhy_activity graph;
	enum kwhy_status status;
	int64_t end_ns, id = -1;
	uint32_t process;
	char name[48];

	if (!kwhy_sqlite_integer(rows, KWHY_NSYS_END, &end_ns) || end_ns == 0) {
		nsys->tally.unfinished_graphs++;
		nsys->recording->lost.skipped_events++;
		return KWHY_OK;
	}
	status = kwhy_nsys_gpu_row(nsys, rows, &graph, &process, error);
	if (status)
		return status;
	if (!kwhy_sqlite_integer(rows, GRAPH_ID, &id) && !kwhy_sqlite_integer(rows, GRAPH_EXEC_ID, &id))
		id = -1;
	if (id < 0)
		strcpy(name, "CUDA graph");
	else
		snprintf(name, sizeof(name), "CUDA graph %lld", (long long)id);
	graph.kind = KWHY_ACTIVITY_GRAPH;
	nsys->tally.graphs++;
	status = kwhy_names_intern(&nsys->recording->names, name, strlen(name), &graph.name, error);
	return status ? status : kwhy_recording_add_activity(nsys->recording, &graph, error);
}

const struct kwhy_nsys_reader kwhy_nsys_graphs = {
	{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", graph_columns, GRAPH_COLUMN_COUNT}, read_graph, true};
