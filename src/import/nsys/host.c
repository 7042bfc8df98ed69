/* SPDX-License-Identifier: Apache-2.0 */
#include "import/nsys/nsys.h"

#include <string.h>

/*
 * This file reads what the host did: API calls, NVTX ranges, system calls, and the overhead of the profiler
 * itself.
 */

enum call_column {
	CALL_START,
	CALL_END,
	CALL_CLASS,
	CALL_THREAD,
	CALL_CORRELATION,
	CALL_NAME,
	CALL_COLUMN_COUNT
};

static const struct kwhy_sqlite_column call_columns[CALL_COLUMN_COUNT] = {
	[CALL_START] = {"start", NULL},
	[CALL_END] = {"end", NULL},
	[CALL_CLASS] = {"eventClass", NULL},
	[CALL_THREAD] = {"globalTid", NULL},
	[CALL_CORRELATION] = {"correlationId", NULL},
	[CALL_NAME] = {"nameId", NULL},
};

/*
 * If backtraces of CUDA calls were recorded, a call has two rows. The second has this event class and is left
 * out.
 */
enum { CLASS_BACKTRACE = 67 };

static enum kwhy_status read_call(
	struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	int64_t start_ns, end_ns, class, id;
	uint32_t thread, name = 0;
	enum kwhy_status status;

	if (kwhy_sqlite_integer(rows, CALL_CLASS, &class) && class == CLASS_BACKTRACE) {
		nsys->tally.backtraces++;
		return KWHY_OK;
	}
	status = kwhy_nsys_times(nsys, rows, CALL_START, &start_ns, &end_ns, error);
	if (!status)
		status = kwhy_nsys_thread(nsys, rows, CALL_THREAD, &thread, error);
	if (!status && kwhy_sqlite_integer(rows, CALL_NAME, &id))
		status = kwhy_nsys_call_name(nsys, id, &name, error);
	if (!status && name == 0) {
		nsys->tally.unnamed++;
		status = kwhy_names_intern(&nsys->recording->names, "unnamed call", 12, &name, error);
	}
	if (status)
		return status;
	nsys->tally.calls++;
	return kwhy_recording_add_call(
		nsys->recording, start_ns, end_ns, name, thread, kwhy_nsys_id(rows, CALL_CORRELATION), error);
}

const struct kwhy_nsys_reader kwhy_nsys_calls = {
	{"CUPTI_ACTIVITY_KIND_RUNTIME", call_columns, CALL_COLUMN_COUNT}, read_call, true};

enum range_column {
	RANGE_START,
	RANGE_END,
	RANGE_TYPE,
	RANGE_THREAD,
	RANGE_TEXT,
	RANGE_TEXT_ID,
	RANGE_COLUMN_COUNT
};

static const struct kwhy_sqlite_column range_columns[RANGE_COLUMN_COUNT] = {
	[RANGE_START] = {"start", NULL},
	[RANGE_END] = {"end", NULL},
	[RANGE_TYPE] = {"eventType", NULL},
	[RANGE_THREAD] = {"globalTid", NULL},
	[RANGE_TEXT] = {"text", NULL},
	[RANGE_TEXT_ID] = {"textId", NULL},
};

/*
 * Whether a value of ENUM_NSYS_EVENT_TYPE is a range: 59 NvtxPushPopRange, 60 NvtxStartEndRange, and 70 and
 * 71, the same of imported traces.
 */
static bool is_range(int64_t type)
{
	return type == 59 || type == 60 || type == 70 || type == 71;
}

/*
 * Length of a range's name without ", op_id = N" or ", seq = N", which PyTorch appends, so that all ranges of
 * an operator share a name: "aten::to, op_id = 990347".
 */
static size_t without_number(const char *bytes, size_t length)
{
	static const char *const tails[] = {", op_id = ", ", seq = "};
	const char *end = bytes + length;

	for (const char *at = bytes; (at = memchr(at, ',', (size_t)(end - at))); at++)
		for (size_t i = 0; at > bytes && i < sizeof(tails) / sizeof(tails[0]); i++) {
			size_t tail = strlen(tails[i]);

			if ((size_t)(end - at) >= tail && !memcmp(at, tails[i], tail))
				return (size_t)(at - bytes);
		}
	return length;
}

static enum kwhy_status range_name(struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows,
	uint32_t *out_name, struct kwhy_error *error)
{
	struct kwhy_names *names = &nsys->recording->names;
	const char *bytes;
	size_t length;
	int64_t id;

	if (kwhy_sqlite_text(rows, RANGE_TEXT, &bytes, &length))
		return kwhy_names_intern(names, bytes, without_number(bytes, length), out_name, error);
	if (kwhy_sqlite_integer(rows, RANGE_TEXT_ID, &id)) {
		enum kwhy_status status = kwhy_nsys_string(nsys, id, out_name, error);

		if (status || *out_name != 0)
			return status;
	}
	return kwhy_names_intern(names, "unnamed range", 13, out_name, error);
}

static enum kwhy_status read_range(
	struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	struct kwhy_range range = {0};
	enum kwhy_status status;
	int64_t type;

	if (!kwhy_sqlite_integer(rows, RANGE_TYPE, &type) || !is_range(type))
		return KWHY_OK;
	if (!kwhy_sqlite_integer(rows, RANGE_END, &range.end_ns)) {
		nsys->tally.open_ranges++;
		return KWHY_OK;
	}
	status = kwhy_nsys_times(nsys, rows, RANGE_START, &range.start_ns, &range.end_ns, error);
	if (!status)
		status = kwhy_nsys_thread(nsys, rows, RANGE_THREAD, &range.thread, error);
	if (!status)
		status = range_name(nsys, rows, &range.name, error);
	if (status)
		return status;
	range.kind = kwhy_range_kind_of(kwhy_names_get(&nsys->recording->names, range.name), KWHY_RANGE_NVTX);
	return kwhy_recording_add_range(nsys->recording, &range, error);
}

const struct kwhy_nsys_reader kwhy_nsys_ranges = {
	{"NVTX_EVENTS", range_columns, RANGE_COLUMN_COUNT}, read_range, false};

enum system_column { SYSTEM_START, SYSTEM_END, SYSTEM_THREAD, SYSTEM_NAME, SYSTEM_COLUMN_COUNT };

static const struct kwhy_sqlite_column system_columns[SYSTEM_COLUMN_COUNT] = {
	[SYSTEM_START] = {"start", NULL},
	[SYSTEM_END] = {"end", NULL},
	[SYSTEM_THREAD] = {"globalTid", NULL},
	[SYSTEM_NAME] = {"nameId", NULL},
};

/*
 * Finds the thread whose globalTid is in `column`. False: the recording does not have this thread. It has the
 * threads that called CUDA or had NVTX ranges; system calls of other threads are not needed, because they do
 * not delay a device.
 */
static bool find_thread(
	struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows, size_t column, uint32_t *out_thread)
{
	struct kwhy_track_key key = {0};
	uint32_t process;
	int64_t id;

	if (!kwhy_sqlite_integer(rows, column, &id))
		return false;
	key.a = (int64_t)((uint64_t)id >> 24);
	if (!kwhy_track_map_find(&nsys->tracks.processes, key, &process))
		return false;
	key = (struct kwhy_track_key){.a = process, .b = id & 0xFFFFFF};
	return kwhy_track_map_find(&nsys->tracks.threads, key, out_thread);
}

/*
 * Reads a system call. A row without usable times, name or known thread is left out and is no error, because
 * the activities of devices are complete without it.
 */
static enum kwhy_status read_system_call(
	struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	struct kwhy_host_range range = {.kind = KWHY_HOST_SYSTEM};
	uint64_t negative = nsys->tally.negative_starts;
	enum kwhy_status status;
	int64_t id;

	if (!find_thread(nsys, rows, SYSTEM_THREAD, &range.thread) ||
		!kwhy_sqlite_integer(rows, SYSTEM_NAME, &id))
		return KWHY_OK;
	status = kwhy_nsys_times(nsys, rows, SYSTEM_START, &range.start_ns, &range.end_ns, error);
	nsys->tally.negative_starts =
		negative; /* system calls are left out of this count of rows that start before the session (at
			     a negative time), because a system call may well begin before the session */
	if (status)
		return status == KWHY_E_INPUT ? KWHY_OK : status;
	status = kwhy_nsys_string(nsys, id, &range.name, error);
	return status ? status : kwhy_recording_add_host_range(nsys->recording, &range, error);
}

const struct kwhy_nsys_reader kwhy_nsys_system_calls = {
	{"OSRT_API", system_columns, SYSTEM_COLUMN_COUNT}, read_system_call, false};

static const struct kwhy_sqlite_column overhead_columns[] = {{"start", NULL}, {"end", NULL}};

static enum kwhy_status read_overhead(
	struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	uint64_t negative = nsys->tally.negative_starts;
	int64_t start_ns, end_ns;
	enum kwhy_status status = kwhy_nsys_times(nsys, rows, 0, &start_ns, &end_ns, error);

	nsys->tally.negative_starts = negative; /* the profiler's own overhead is left out of this count of
						   rows that start before the session (at a negative time),
						   because the profiler may start before the session */
	if (status)
		return status;
	nsys->tally.overhead_count++;
	if (__builtin_add_overflow(nsys->tally.overhead_ns, end_ns - start_ns, &nsys->tally.overhead_ns))
		nsys->tally.overhead_ns = INT64_MAX;
	return KWHY_OK;
}

const struct kwhy_nsys_reader kwhy_nsys_overheads[2] = {
	{{"PROFILER_OVERHEAD", overhead_columns, 2}, read_overhead, false},
	{{"CUPTI_ACTIVITY_KIND_OVERHEAD", overhead_columns, 2}, read_overhead, false},
};
