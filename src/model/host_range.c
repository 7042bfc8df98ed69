/* SPDX-License-Identifier: Apache-2.0 */
#include "model/host_range.h"

#include "base/column.h"
#include "base/large.h"
#include "base/sort.h"
#include "model/held_cause.h"
#include "model/recording.h"

#include <inttypes.h>
#include <stdlib.h>

_Static_assert((int)KWHY_HOST_NVTX == (int)KWHY_RANGE_NVTX && (int)KWHY_HOST_USER == (int)KWHY_RANGE_USER &&
		(int)KWHY_HOST_STEP == (int)KWHY_RANGE_STEP &&
		(int)KWHY_HOST_OPERATOR == KWHY_RANGE_KIND_COUNT,
	"kinds of ranges are kinds of host ranges");

/*
 * Makes the capacity of a column at least rows->count + 1. If the column's new capacity is below *least, it
 * is written to *least.
 */
static enum kwhy_status grow_column(const struct kwhy_host_ranges *rows, void **column, size_t item_bytes,
	size_t *least, struct kwhy_error *error)
{
	size_t capacity = rows->capacity;
	enum kwhy_status status = kwhy_column_reserve(
		column, &capacity, rows->count + 1, item_bytes, "host ranges", error);

	*least = capacity < *least ? capacity : *least;
	return status;
}

static enum kwhy_status grow(struct kwhy_host_ranges *rows, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	size_t least = SIZE_MAX;

#define X(type, column) \
	if (!status)    \
		status = grow_column(rows, (void **)&rows->column, sizeof(type), &least, error);
	KWHY_HOST_RANGE_COLUMNS(X)
#undef X
#define X(type, column)              \
	if (!status && rows->column) \
		status = grow_column(rows, (void **)&rows->column, sizeof(type), &least, error);
	KWHY_HOST_RANGE_RARE_COLUMNS(X)
#undef X
	if (!status)
		rows->capacity = least; /* the smallest capacity of any column: columns of larger items are
					   given fewer spare rows */
	return status;
}

/* Allocates a column that many traces lack, with 0 in all rows. */
static enum kwhy_status make_column(
	const struct kwhy_host_ranges *rows, void **column, size_t item_bytes, struct kwhy_error *error)
{
	*column = kwhy_large(calloc(rows->capacity, item_bytes), rows->capacity * item_bytes);
	return *column ? KWHY_OK : kwhy_fail_memory(error, "host ranges");
}

enum kwhy_status kwhy_recording_add_host_range(
	struct kwhy_recording *recording, const struct kwhy_host_range *range, struct kwhy_error *error)
{
	struct kwhy_host_ranges *rows = &recording->host_ranges;
	enum kwhy_status status = KWHY_OK;

	if (rows->count == rows->capacity)
		status = grow(rows, error);
#define X(type, column)                                \
	if (!status && range->column && !rows->column) \
		status = make_column(rows, (void **)&rows->column, sizeof(type), error);
	KWHY_HOST_RANGE_RARE_COLUMNS(X)
#undef X
	if (status)
		return status;
#define X(type, column) rows->column[rows->count] = range->column;
	KWHY_HOST_RANGE_COLUMNS(X)
#undef X
#define X(type, column)   \
	if (rows->column) \
		rows->column[rows->count] = range->column;
	KWHY_HOST_RANGE_RARE_COLUMNS(X)
#undef X
	rows->count++;
	return KWHY_OK;
}

/*
 * Largest number of API calls that are searched backwards in time for one that has ended. Calls that enclose
 * a moment have not ended then; they nest, for example a driver call in a runtime call in a call of a
 * library.
 */
enum { CALL_DEPTH_MAX = 16 };

/* End of the thread's last call that ended at or before time_ns; time_ns if there is no such call. */
static int64_t last_call_end_ns(const struct kwhy_calls *calls, uint32_t thread, int64_t time_ns)
{
	size_t first = calls->first[thread], low = first, high = calls->first[thread + 1];

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (calls->start_ns[middle] < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = 0; i < CALL_DEPTH_MAX && low - i > first; i++)
		if (calls->end_ns[low - i - 1] <= time_ns)
			return calls->end_ns[low - i - 1];
	return time_ns;
}

static void place_frames(struct kwhy_recording *recording)
{
	struct kwhy_host_ranges *rows = &recording->host_ranges;

	for (size_t i = 0; i < rows->count; i++)
		if (rows->start_ns[i] == KWHY_UNKNOWN_TIME)
			rows->start_ns[i] = last_call_end_ns(
				&recording->calls, rows->thread[i], rows->end_ns[i]);
}

static enum kwhy_status check(const struct kwhy_recording *recording, struct kwhy_error *error)
{
	const struct kwhy_host_ranges *rows = &recording->host_ranges;

	for (size_t i = 0; i < rows->count; i++)
		if (rows->end_ns[i] < rows->start_ns[i] || rows->end_ns[i] > INT64_MAX / 4 ||
			rows->start_ns[i] < INT64_MIN / 4)
			return kwhy_fail(error, KWHY_E_INPUT,
				"the host range \"%.80s\" has impossible times: start %" PRId64
				" ns, end %" PRId64 " ns; skip it with --partial",
				kwhy_names_get(&recording->names, rows->name[i]), rows->start_ns[i],
				rows->end_ns[i]);
	return KWHY_OK;
}

static enum kwhy_status enlarge_column(const struct kwhy_host_ranges *rows, void **column, size_t item_bytes,
	size_t need, struct kwhy_error *error)
{
	void *grown = kwhy_large_grow(*column, rows->count * item_bytes, need * item_bytes);

	if (!grown)
		return kwhy_fail_memory(error, "host ranges");
	*column = grown;
	return KWHY_OK;
}

/*
 * Makes the capacity of all columns exactly count + `more` rows. No rows are added after these, so the usual
 * doubling of the capacity would only waste memory.
 */
static enum kwhy_status make_room(struct kwhy_host_ranges *rows, size_t more, struct kwhy_error *error)
{
	const size_t need = rows->count + more;
	enum kwhy_status status = KWHY_OK;

	if (need <= rows->capacity)
		return KWHY_OK;
#define X(type, column) \
	if (!status)    \
		status = enlarge_column(rows, (void **)&rows->column, sizeof(type), need, error);
	KWHY_HOST_RANGE_COLUMNS(X)
#undef X
#define X(type, column)              \
	if (!status && rows->column) \
		status = enlarge_column(rows, (void **)&rows->column, sizeof(type), need, error);
	KWHY_HOST_RANGE_RARE_COLUMNS(X)
#undef X
	if (!status)
		rows->capacity = need;
	return status;
}

static size_t ranges_with_threads(const struct kwhy_recording *recording)
{
	size_t count = 0;

	for (size_t i = 0; i < recording->range_count; i++)
		count += recording->ranges[i].thread != KWHY_NONE;
	return count;
}

static enum kwhy_status take_ranges(struct kwhy_recording *recording, struct kwhy_error *error)
{
	enum kwhy_status status = make_room(&recording->host_ranges, ranges_with_threads(recording), error);

	for (size_t i = 0; !status && i < recording->range_count; i++) {
		const struct kwhy_range *range = &recording->ranges[i];
		struct kwhy_host_range row = {.start_ns = range->start_ns,
			.end_ns = range->end_ns,
			.name = range->name,
			.thread = range->thread,
			.kind = (uint8_t)range->kind};

		if (range->thread != KWHY_NONE)
			status = kwhy_recording_add_host_range(recording, &row, error);
	}
	return status;
}

static int compare(const void *context, uint32_t a, uint32_t b)
{
	const struct kwhy_host_ranges *rows = context;
	int order = kwhy_sort_by(rows->thread[a], rows->thread[b]);

	if (!order)
		order = kwhy_sort_by(rows->start_ns[a], rows->start_ns[b]);
	return order ? order : kwhy_sort_by(rows->end_ns[b], rows->end_ns[a]);
}

static enum kwhy_status sort(struct kwhy_host_ranges *rows, size_t thread_count, struct kwhy_error *error)
{
	enum kwhy_status status;
	uint32_t *order;

	status = kwhy_sort_order_in_groups(
		rows->count, rows->thread, thread_count, compare, rows, &order, error);
	if (!status && order)
		rows->capacity = rows->count;
#define X(type, column) \
	if (!status)    \
		status = kwhy_sort_apply((void **)&rows->column, sizeof(type), rows->count, order, error);
	KWHY_HOST_RANGE_COLUMNS(X)
#undef X
#define X(type, column)              \
	if (!status && rows->column) \
		status = kwhy_sort_apply((void **)&rows->column, sizeof(type), rows->count, order, error);
	KWHY_HOST_RANGE_RARE_COLUMNS(X)
#undef X
	free(order);
	return status;
}

/*
 * Drops system calls inside of API calls, since the class of the API call already shows what the host did.
 */
static void drop_system_calls(struct kwhy_host_ranges *rows, const struct kwhy_calls *calls)
{
	size_t kept = 0, call = 0;
	int64_t reach_ns = INT64_MIN;

	for (size_t i = 0; i < rows->count; i++) {
		if (i == 0 || rows->thread[i] != rows->thread[i - 1]) {
			call = calls->first[rows->thread[i]];
			reach_ns = INT64_MIN;
		}
		for (; call < calls->first[rows->thread[i] + 1] && calls->start_ns[call] <= rows->start_ns[i];
			call++)
			reach_ns = calls->end_ns[call] > reach_ns ? calls->end_ns[call] : reach_ns;
		if (rows->kind[i] == KWHY_HOST_SYSTEM && rows->end_ns[i] <= reach_ns)
			continue;
#define X(type, column) rows->column[kept] = rows->column[i];
		KWHY_HOST_RANGE_COLUMNS(X)
#undef X
#define X(type, column)   \
	if (rows->column) \
		rows->column[kept] = rows->column[i];
		KWHY_HOST_RANGE_RARE_COLUMNS(X)
#undef X
		kept++;
	}
	rows->count = kept;
}

static enum kwhy_status index_threads(struct kwhy_recording *recording, struct kwhy_error *error)
{
	struct kwhy_host_ranges *rows = &recording->host_ranges;

	rows->first = calloc(recording->thread_count + 1, sizeof(*rows->first));
	if (!rows->first)
		return kwhy_fail_memory(error, "the thread index");
	for (size_t i = 0; i < rows->count; i++)
		rows->first[rows->thread[i] + 1]++;
	for (size_t t = 0; t < recording->thread_count; t++)
		rows->first[t + 1] += rows->first[t];
	return KWHY_OK;
}

/*
 * Links each row to the innermost row that encloses all of it. A row that begins earlier but also ends
 * earlier does not enclose it.
 */
static void link_parents(struct kwhy_host_ranges *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		uint32_t around = i > 0 && rows->thread[i - 1] == rows->thread[i] ? (uint32_t)i - 1
										  : KWHY_NONE;

		while (around != KWHY_NONE && rows->end_ns[around] < rows->end_ns[i])
			around = rows->parent[around];
		rows->parent[i] = around;
	}
}

enum kwhy_status kwhy_host_ranges_finish(struct kwhy_recording *recording, struct kwhy_error *error)
{
	struct kwhy_host_ranges *rows = &recording->host_ranges;
	enum kwhy_status status;

	place_frames(recording);
	status = check(recording, error);
	if (!status)
		status = take_ranges(recording, error);
	if (!status)
		status = sort(rows, recording->thread_count, error);
	if (status)
		return status;
	drop_system_calls(rows, &recording->calls);
	link_parents(rows);
	status = kwhy_held_mark_names(recording, error);
	return status ? status : index_threads(recording, error);
}

void kwhy_host_ranges_done(struct kwhy_host_ranges *rows)
{
#define X(type, column) free(rows->column);
	KWHY_HOST_RANGE_COLUMNS(X)
	KWHY_HOST_RANGE_RARE_COLUMNS(X)
#undef X
	free(rows->first);
	free(rows->marks);
}
