/* SPDX-License-Identifier: Apache-2.0 */
#include "import/kineto/escape.h"
#include "import/rocprof/fields.h"
#include "import/rocprof/rocpd.h"

#include <string.h>

/* The tables that are looked up by id. */

enum { EVENT_CORRELATION, EVENT_EXTRA, EVENT_COLUMN_COUNT };
enum { SYMBOL_DISPLAY, SYMBOL_NAME, SYMBOL_ARCH, SYMBOL_ACCUM, SYMBOL_COLUMN_COUNT };
enum { TRACK_THREAD, TRACK_AGENT, TRACK_QUEUE, TRACK_STREAM, TRACK_COLUMN_COUNT };

static const struct kwhy_sqlite_column string_columns[] = {{"string", NULL}};
static const struct kwhy_sqlite_column thread_columns[] = {{"tid", NULL}};

/*
 * "stack_id" is the correlation id that ROCm gives a call and the device work that it launched; the column
 * "correlation_id" is another, which the user may set.
 */
static const struct kwhy_sqlite_column event_columns[EVENT_COLUMN_COUNT] = {
	[EVENT_CORRELATION] = {"stack_id", NULL},
	[EVENT_EXTRA] = {"extdata", NULL},
};
static const struct kwhy_sqlite_column symbol_columns[SYMBOL_COLUMN_COUNT] = {
	[SYMBOL_DISPLAY] = {"display_name", NULL},
	[SYMBOL_NAME] = {"kernel_name", NULL},
	[SYMBOL_ARCH] = {"arch_vgpr_count", NULL},
	[SYMBOL_ACCUM] = {"accum_vgpr_count", NULL},
};
static const struct kwhy_sqlite_column track_columns[TRACK_COLUMN_COUNT] = {
	[TRACK_THREAD] = {"tid", NULL},
	[TRACK_AGENT] = {"agent_id", NULL},
	[TRACK_QUEUE] = {"queue_id", NULL},
	[TRACK_STREAM] = {"stream_id", NULL},
};

static enum kwhy_status open_lookup(struct kwhy_rocpd *rocpd, struct kwhy_rocpd_lookup *lookup,
	struct kwhy_sqlite_table table, struct kwhy_error *error)
{
	enum kwhy_status status;
	bool is_key = false;

	memcpy(lookup->table, kwhy_rocpd_table(rocpd, table.name), sizeof(lookup->table));
	table.name = lookup->table;
	status = kwhy_sqlite_has(rocpd->db, table.name, &lookup->exists, error);
	if (!status && lookup->exists)
		status = kwhy_sqlite_is_key(rocpd->db, table.name, "id", &is_key, error);
	if (status || !lookup->exists)
		return status;
	if (!is_key)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s: column id of table %s is not a primary key, as rocprofv3 makes it; record again",
			rocpd->rocprof.tracks.path, table.name);
	return kwhy_sqlite_rows_open_by(rocpd->db, &table, "id", &lookup->rows, error);
}

enum kwhy_status kwhy_rocpd_lookups_open(struct kwhy_rocpd *rocpd, struct kwhy_error *error)
{
	const struct {
		struct kwhy_rocpd_lookup *lookup;
		struct kwhy_sqlite_table table;
	} lookups[] = {
		{&rocpd->strings, {"rocpd_string", string_columns, 1}},
		{&rocpd->threads, {"rocpd_info_thread", thread_columns, 1}},
		{&rocpd->events, {"rocpd_event", event_columns, EVENT_COLUMN_COUNT}},
		{&rocpd->symbols, {"rocpd_info_kernel_symbol", symbol_columns, SYMBOL_COLUMN_COUNT}},
		{&rocpd->tracks, {"rocpd_track", track_columns, TRACK_COLUMN_COUNT}},
	};
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < sizeof(lookups) / sizeof(lookups[0]); i++)
		status = open_lookup(rocpd, lookups[i].lookup, lookups[i].table, error);
	return status;
}

void kwhy_rocpd_lookups_close(struct kwhy_rocpd *rocpd)
{
	kwhy_sqlite_rows_close(&rocpd->strings.rows);
	kwhy_sqlite_rows_close(&rocpd->threads.rows);
	kwhy_sqlite_rows_close(&rocpd->events.rows);
	kwhy_sqlite_rows_close(&rocpd->symbols.rows);
	kwhy_sqlite_rows_close(&rocpd->tracks.rows);
	kwhy_track_map_done(&rocpd->symbol_names);
	kwhy_track_map_done(&rocpd->symbol_registers);
}

/* Makes the row with that id the current one of the lookup. *out_found false: there is no such row. */
static enum kwhy_status look_up(
	struct kwhy_rocpd_lookup *lookup, int64_t id, bool *out_found, struct kwhy_error *error)
{
	*out_found = lookup->exists && id != KWHY_ROCPROF_UNKNOWN;
	if (!*out_found)
		return KWHY_OK;
	kwhy_sqlite_rows_bind(&lookup->rows, id);
	return kwhy_sqlite_rows_next(&lookup->rows, out_found, error);
}

/*
 * Sets *out_tid to the number of a thread. Rows refer to threads by id in the table of threads; without that
 * table, the id is the number, as in files that were not merged.
 */
static enum kwhy_status thread_of(
	struct kwhy_rocpd *rocpd, int64_t id, int64_t *out_tid, struct kwhy_error *error)
{
	bool found;
	enum kwhy_status status = look_up(&rocpd->threads, id, &found, error);

	*out_tid = id;
	if (!status && found)
		*out_tid = kwhy_rocpd_integer(&rocpd->threads.rows, 0);
	return status;
}

/*
 * Makes an event the current one of rocpd->events and sets *out to its correlation id; KWHY_ROCPROF_UNKNOWN:
 * there is no event, or its id is 0.
 */
static enum kwhy_status correlation_of(
	struct kwhy_rocpd *rocpd, int64_t event, bool *out_found, int64_t *out, struct kwhy_error *error)
{
	enum kwhy_status status = look_up(&rocpd->events, event, out_found, error);

	*out = KWHY_ROCPROF_UNKNOWN;
	if (!status && *out_found)
		*out = kwhy_rocpd_integer(&rocpd->events.rows, EVENT_CORRELATION);
	if (*out == 0)
		*out = KWHY_ROCPROF_UNKNOWN;
	return status;
}

/* Columns of the table of calls and markers. */

enum region_column {
	REGION_START,
	REGION_END,
	REGION_THREAD,
	REGION_TRACK,
	REGION_NAME,
	REGION_EVENT,
	REGION_COLUMN_COUNT
};

static const struct kwhy_sqlite_column region_columns[REGION_COLUMN_COUNT] = {
	[REGION_START] = {"start", NULL},
	[REGION_END] = {"end", NULL},
	[REGION_THREAD] = {"tid", NULL},
	[REGION_TRACK] = {"track_id", NULL}, /* since schema 4, instead of tid */
	[REGION_NAME] = {"name_id", NULL},
	[REGION_EVENT] = {"event_id", NULL},
};

/*
 * Adds a roctx range under the message that the user gave it. In schema 3 the message is in the event, and
 * the range's own name is that of the roctx function.
 */
static enum kwhy_status add_range(struct kwhy_rocpd *rocpd, const struct kwhy_rocprof_host *range,
	bool has_event, struct kwhy_error *error)
{
	static const struct kwhy_rocprof_field field = {"", "message"};
	struct kwhy_rocprof_value message = {.text = {"", 0}};
	struct kwhy_rocprof_host named = *range;
	char plain[KWHY_NAME_MAX_BYTES + 8];
	enum kwhy_status status = KWHY_OK;

	if (has_event)
		status = kwhy_rocprof_fields_read(
			kwhy_rocpd_text(&rocpd->events.rows, EVENT_EXTRA), &field, 1, &message, error);
	if (message.text.length > 0)
		named.name = (struct kwhy_span){
			plain, kwhy_kineto_unescape(message.text.bytes, message.text.length, plain)};
	return status ? status : kwhy_rocprof_range_add(&rocpd->rocprof, &named, error);
}

static enum kwhy_status region_thread(struct kwhy_rocpd *rocpd, const struct kwhy_sqlite_rows *rows,
	int64_t *out_tid, struct kwhy_error *error)
{
	int64_t id = kwhy_rocpd_integer(rows, REGION_THREAD);
	enum kwhy_status status = KWHY_OK;
	bool found = false;

	if (id == KWHY_ROCPROF_UNKNOWN)
		status = look_up(&rocpd->tracks, kwhy_rocpd_integer(rows, REGION_TRACK), &found, error);
	if (found)
		id = kwhy_rocpd_integer(&rocpd->tracks.rows, TRACK_THREAD);
	return status ? status : thread_of(rocpd, id, out_tid, error);
}

static enum kwhy_status read_region(
	struct kwhy_rocpd *rocpd, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	struct kwhy_rocprof_host host = {.start_ns = kwhy_rocpd_integer(rows, REGION_START),
		.end_ns = kwhy_rocpd_integer(rows, REGION_END)};
	enum kwhy_status status = region_thread(rocpd, rows, &host.thread, error);
	bool has_event = false, found = false;

	if (!status)
		status = correlation_of(
			rocpd, kwhy_rocpd_integer(rows, REGION_EVENT), &has_event, &host.correlation, error);
	if (!status)
		status = look_up(&rocpd->strings, kwhy_rocpd_integer(rows, REGION_NAME), &found, error);
	if (status)
		return status;
	host.name = found ? kwhy_rocpd_text(&rocpd->strings.rows, 0) : (struct kwhy_span){"", 0};
	if (kwhy_rocprof_is_call(host.name))
		return kwhy_rocprof_call_add(&rocpd->rocprof, &host, error);
	return add_range(rocpd, &host, has_event, error);
}

const struct kwhy_rocpd_reader kwhy_rocpd_regions = {
	"rocpd_region", region_columns, REGION_COLUMN_COUNT, read_region, true};

/* Columns of the table of kernels. */

enum kernel_column {
	KERNEL_START,
	KERNEL_END,
	KERNEL_AGENT,
	KERNEL_QUEUE,
	KERNEL_STREAM,
	KERNEL_TRACK,
	KERNEL_SYMBOL,
	KERNEL_SHARED,
	KERNEL_WORKGROUP_X,
	KERNEL_WORKGROUP_Y,
	KERNEL_WORKGROUP_Z,
	KERNEL_GRID_X,
	KERNEL_GRID_Y,
	KERNEL_GRID_Z,
	KERNEL_NODE,
	KERNEL_EVENT,
	KERNEL_COLUMN_COUNT
};

static const struct kwhy_sqlite_column kernel_columns[KERNEL_COLUMN_COUNT] = {
	[KERNEL_START] = {"start", NULL},
	[KERNEL_END] = {"end", NULL},
	[KERNEL_AGENT] = {"agent_id", NULL},
	[KERNEL_QUEUE] = {"queue_id", NULL},
	[KERNEL_STREAM] = {"stream_id", NULL},
	[KERNEL_TRACK] = {"track_id", NULL}, /* since schema 4, instead of agent, queue and stream */
	[KERNEL_SYMBOL] = {"kernel_id", NULL},
	[KERNEL_SHARED] = {"group_segment_size", NULL},
	[KERNEL_WORKGROUP_X] = {"workgroup_size_x", NULL},
	[KERNEL_WORKGROUP_Y] = {"workgroup_size_y", NULL},
	[KERNEL_WORKGROUP_Z] = {"workgroup_size_z", NULL},
	[KERNEL_GRID_X] = {"grid_size_x", NULL},
	[KERNEL_GRID_Y] = {"grid_size_y", NULL},
	[KERNEL_GRID_Z] = {"grid_size_z", NULL},
	[KERNEL_NODE] = {"graph_node_id", NULL}, /* since schema 3.0.2 */
	[KERNEL_EVENT] = {"event_id", NULL},
};

/*
 * Indices of the columns that the tables of kernels and copies have in common; KWHY_SQLITE_COLUMNS_MAX: the
 * table lacks the column.
 */
struct work_columns {
	size_t agent, queue, stream, track, node, event;
};

/* The number of the HIP stream; if streams were not recorded, that of the HSA queue. */
static int64_t stream_of(int64_t stream, int64_t queue)
{
	return stream != KWHY_ROCPROF_UNKNOWN ? stream : queue;
}

static enum kwhy_status read_work(struct kwhy_rocpd *rocpd, const struct kwhy_sqlite_rows *rows,
	const struct work_columns *columns, struct kwhy_rocprof_work *out, struct kwhy_error *error)
{
	int64_t track = kwhy_rocpd_integer(rows, columns->track);
	enum kwhy_status status;
	bool found;

	*out = (struct kwhy_rocprof_work){.start_ns = kwhy_rocpd_integer(rows, 0),
		.end_ns = kwhy_rocpd_integer(rows, 1),
		.agent = kwhy_rocpd_integer(rows, columns->agent),
		.stream = stream_of(
			kwhy_rocpd_integer(rows, columns->stream), kwhy_rocpd_integer(rows, columns->queue)),
		.graph_node = kwhy_rocpd_integer(rows, columns->node)};
	status = look_up(&rocpd->tracks, track, &found, error);
	if (!status && found) {
		out->agent = kwhy_rocpd_integer(&rocpd->tracks.rows, TRACK_AGENT);
		out->stream = stream_of(kwhy_rocpd_integer(&rocpd->tracks.rows, TRACK_STREAM),
			kwhy_rocpd_integer(&rocpd->tracks.rows, TRACK_QUEUE));
	}
	if (!status)
		status = correlation_of(
			rocpd, kwhy_rocpd_integer(rows, columns->event), &found, &out->correlation, error);
	return status;
}

static int64_t register_count(const struct kwhy_sqlite_rows *symbol)
{
	int64_t arch = kwhy_rocpd_integer(symbol, SYMBOL_ARCH),
		accum = kwhy_rocpd_integer(symbol, SYMBOL_ACCUM);

	if (arch < 0 || arch >= KWHY_UNKNOWN_U16)
		return KWHY_ROCPROF_UNKNOWN;
	return accum > 0 && accum < KWHY_UNKNOWN_U16 ? arch + accum : arch;
}

/* Sets name and registers of a kernel from its symbol; each symbol is read once. */
static enum kwhy_status read_symbol(
	struct kwhy_rocpd *rocpd, int64_t id, struct kwhy_rocprof_kernel *kernel, struct kwhy_error *error)
{
	const struct kwhy_track_key key = {.a = id};
	struct kwhy_span name = {"", 0};
	enum kwhy_status status;
	uint32_t registers;
	bool found;

	if (kwhy_track_map_find(&rocpd->symbol_names, key, &kernel->name) &&
		kwhy_track_map_find(&rocpd->symbol_registers, key, &registers)) {
		kernel->registers = registers == KWHY_NONE ? KWHY_ROCPROF_UNKNOWN : (int64_t)registers;
		return KWHY_OK;
	}
	kernel->registers = KWHY_ROCPROF_UNKNOWN;
	status = look_up(&rocpd->symbols, id, &found, error);
	if (!status && found) {
		name = kwhy_rocpd_text(&rocpd->symbols.rows, SYMBOL_DISPLAY);
		if (name.length == 0)
			name = kwhy_rocpd_text(&rocpd->symbols.rows, SYMBOL_NAME);
		kernel->registers = register_count(&rocpd->symbols.rows);
	}
	registers = kernel->registers < 0 ? KWHY_NONE : (uint32_t)kernel->registers;
	if (!status)
		status = kwhy_rocprof_name(&rocpd->rocprof, name, &kernel->name, error);
	if (!status)
		status = kwhy_track_map_put(&rocpd->symbol_names, key, kernel->name, error);
	return status ? status : kwhy_track_map_put(&rocpd->symbol_registers, key, registers, error);
}

static enum kwhy_status read_kernel(
	struct kwhy_rocpd *rocpd, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	static const struct work_columns columns = {.agent = KERNEL_AGENT,
		.queue = KERNEL_QUEUE,
		.stream = KERNEL_STREAM,
		.track = KERNEL_TRACK,
		.node = KERNEL_NODE,
		.event = KERNEL_EVENT};
	struct kwhy_rocprof_kernel kernel = {.shared_bytes = kwhy_rocpd_integer(rows, KERNEL_SHARED)};
	enum kwhy_status status = read_work(rocpd, rows, &columns, &kernel.work, error);

	for (size_t i = 0; i < 3; i++) {
		kernel.workgroup[i] = kwhy_rocpd_integer(rows, KERNEL_WORKGROUP_X + i);
		kernel.grid[i] = kwhy_rocpd_integer(rows, KERNEL_GRID_X + i);
	}
	if (!status)
		status = read_symbol(rocpd, kwhy_rocpd_integer(rows, KERNEL_SYMBOL), &kernel, error);
	return status ? status : kwhy_rocprof_kernel_add(&rocpd->rocprof, &kernel, error);
}

const struct kwhy_rocpd_reader kwhy_rocpd_kernels = {
	"rocpd_kernel_dispatch", kernel_columns, KERNEL_COLUMN_COUNT, read_kernel, true};

/* Columns of the table of copies. */

enum copy_column {
	COPY_START,
	COPY_END,
	COPY_SOURCE,
	COPY_DESTINATION,
	COPY_BYTES,
	COPY_QUEUE,
	COPY_STREAM,
	COPY_TRACK,
	COPY_NAME,
	COPY_NODE,
	COPY_EVENT,
	COPY_COLUMN_COUNT
};

static const struct kwhy_sqlite_column copy_columns[COPY_COLUMN_COUNT] = {
	[COPY_START] = {"start", NULL},
	[COPY_END] = {"end", NULL},
	[COPY_SOURCE] = {"src_agent_id", NULL},
	[COPY_DESTINATION] = {"dst_agent_id", NULL},
	[COPY_BYTES] = {"size", NULL},
	[COPY_QUEUE] = {"queue_id", NULL},
	[COPY_STREAM] = {"stream_id", NULL},
	[COPY_TRACK] = {"track_id", NULL},
	[COPY_NAME] = {"name_id", NULL},
	[COPY_NODE] = {"graph_node_id", NULL},
	[COPY_EVENT] = {"event_id", NULL},
};

static enum kwhy_status read_copy(
	struct kwhy_rocpd *rocpd, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	static const struct work_columns columns = {.agent = COPY_SOURCE,
		.queue = COPY_QUEUE,
		.stream = COPY_STREAM,
		.track = COPY_TRACK,
		.node = COPY_NODE,
		.event = COPY_EVENT};
	struct kwhy_rocprof_copy copy = {.source = kwhy_rocpd_integer(rows, COPY_SOURCE),
		.destination = kwhy_rocpd_integer(rows, COPY_DESTINATION),
		.bytes = kwhy_rocpd_integer(rows, COPY_BYTES),
		.direction = {"", 0}};
	enum kwhy_status status = read_work(rocpd, rows, &columns, &copy.work, error);
	bool found = false;

	if (!status)
		status = look_up(&rocpd->strings, kwhy_rocpd_integer(rows, COPY_NAME), &found, error);
	if (status)
		return status;
	if (found)
		copy.direction = kwhy_rocpd_text(&rocpd->strings.rows, 0);
	return kwhy_rocprof_copy_add(&rocpd->rocprof, &copy, error);
}

const struct kwhy_rocpd_reader kwhy_rocpd_copies = {
	"rocpd_memory_copy", copy_columns, COPY_COLUMN_COUNT, read_copy, true};
