/* SPDX-License-Identifier: Apache-2.0 */
#include "import/nsys/nsys.h"

static bool within_a_year(int64_t time_ns)
{
	return time_ns >= -KWHY_NSYS_YEAR_NS && time_ns <= KWHY_NSYS_YEAR_NS;
}

enum kwhy_status kwhy_nsys_times(struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows,
	size_t start_column, int64_t *out_start_ns, int64_t *out_end_ns, struct kwhy_error *error)
{
	int64_t start_ns, end_ns;

	if (!kwhy_sqlite_integer(rows, start_column, &start_ns) ||
		!kwhy_sqlite_integer(rows, start_column + 1, &end_ns))
		return kwhy_sqlite_row_fail(
			rows, error, "its start or end is not a time; skip such rows with --partial");
	if (!within_a_year(start_ns) || !within_a_year(end_ns))
		return kwhy_sqlite_row_fail(rows, error,
			"its start or end is more than a year from the session's; skip such rows with "
			"--partial");
	if (end_ns < start_ns)
		return kwhy_sqlite_row_fail(rows, error,
			"it ends before it starts; skip such rows with --partial, or export the report "
			"again");
	nsys->tally.negative_starts += start_ns < 0;
	*out_start_ns = start_ns + nsys->shift_ns;
	*out_end_ns = end_ns + nsys->shift_ns;
	return KWHY_OK;
}

/*
 * A globalPid or globalTid combines numbers: the lowest 24 bits are the thread, the next 24 the process,
 * those above the machine. Processes are kept apart by all bits above the thread.
 */
enum kwhy_status kwhy_nsys_process(struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows, size_t column,
	uint32_t *out_process, struct kwhy_error *error)
{
	int64_t id;

	if (kwhy_sqlite_integer(rows, column, &id))
		return kwhy_tracks_process(&nsys->tracks, (int64_t)((uint64_t)id >> 24),
			(int64_t)((uint64_t)id >> 24 & 0xFFFFFF), out_process, error);
	if (nsys->tracks.processes.map.count == 1) {
		*out_process = nsys->first_process;
		return KWHY_OK;
	}
	return kwhy_tracks_process(&nsys->tracks, -1, -1, out_process, error);
}

enum kwhy_status kwhy_nsys_thread(struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows, size_t column,
	uint32_t *out_thread, struct kwhy_error *error)
{
	struct kwhy_thread thread = {.tid = -1};
	int64_t id;
	bool known = kwhy_sqlite_integer(rows, column, &id);
	enum kwhy_status status;

	if (known && nsys->has_last_thread && id == nsys->last_thread_id) {
		*out_thread = nsys->last_thread;
		return KWHY_OK;
	}
	status = kwhy_nsys_process(nsys, rows, column, &thread.process, error);
	if (known)
		thread.tid = id & 0xFFFFFF;
	if (!status)
		status = kwhy_tracks_thread(&nsys->tracks, &thread, out_thread, error);
	if (!status && known) {
		nsys->last_thread_id = id;
		nsys->last_thread = *out_thread;
		nsys->has_last_thread = true;
	}
	return status;
}

uint32_t kwhy_nsys_id(const struct kwhy_sqlite_rows *rows, size_t column)
{
	int64_t id;

	return kwhy_sqlite_integer(rows, column, &id) && id > 0 && id < KWHY_NONE ? (uint32_t)id : KWHY_NONE;
}
