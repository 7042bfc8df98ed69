/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sort.h"
#include "model/recording_checks.h"
#include "model/recording_meters.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* kwhy_recording_finish(): checks, sorts, links and classifies the tables of a recording. */

static enum kwhy_status check_activities(const struct kwhy_recording *recording, struct kwhy_error *error)
{
	const struct kwhy_activities *rows = &recording->activities;

	for (size_t i = 0; i < rows->count; i++)
		if (rows->start_ns[i] == KWHY_UNKNOWN_TIME || rows->end_ns[i] < rows->start_ns[i] ||
			rows->end_ns[i] > INT64_MAX / 4 || rows->start_ns[i] < INT64_MIN / 4)
			return kwhy_fail(error, KWHY_E_INPUT,
				"activity %zu (\"%.80s\") has impossible times: start %" PRId64
				" ns, end %" PRId64 " ns; skip it with --partial",
				i, kwhy_names_get(&recording->names, rows->name[i]), rows->start_ns[i],
				rows->end_ns[i]);
	return KWHY_OK;
}

static enum kwhy_status check_calls(const struct kwhy_recording *recording, struct kwhy_error *error)
{
	const struct kwhy_calls *rows = &recording->calls;

	for (size_t i = 0; i < rows->count; i++)
		if (rows->end_ns[i] < rows->start_ns[i] || rows->end_ns[i] > INT64_MAX / 4 ||
			rows->start_ns[i] < INT64_MIN / 4)
			return kwhy_fail(error, KWHY_E_INPUT,
				"API call %zu (\"%.80s\") has impossible times: start %" PRId64
				" ns, end %" PRId64 " ns; skip it with --partial",
				i, kwhy_names_get(&recording->names, rows->name[i]), rows->start_ns[i],
				rows->end_ns[i]);
	return KWHY_OK;
}

static bool is_possible(int64_t start_ns, int64_t end_ns)
{
	return start_ns >= INT64_MIN / 4 && start_ns <= end_ns && end_ns <= INT64_MAX / 4;
}

static enum kwhy_status fail_impossible(
	struct kwhy_error *error, const char *what, int64_t start_ns, int64_t end_ns)
{
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s has impossible times: start %" PRId64 " ns, end %" PRId64 " ns; skip it with --partial",
		what, start_ns, end_ns);
}

static enum kwhy_status check_tables(const struct kwhy_recording *recording, struct kwhy_error *error)
{
	for (size_t i = 0; i < recording->range_count; i++) {
		const struct kwhy_range *range = &recording->ranges[i];

		if (!is_possible(range->start_ns, range->end_ns))
			return fail_impossible(error, "a range", range->start_ns, range->end_ns);
	}
	for (size_t i = 0; i < recording->coverage_count; i++) {
		const struct kwhy_coverage *coverage = &recording->coverage[i];

		if (!is_possible(coverage->start_ns, coverage->end_ns))
			return fail_impossible(
				error, "a stated coverage", coverage->start_ns, coverage->end_ns);
	}
	for (size_t i = 0; i < recording->selection_count; i++) {
		const struct kwhy_selection *selection = &recording->selections[i];

		if (!is_possible(selection->start_ns, selection->end_ns))
			return fail_impossible(error, "a selection", selection->start_ns, selection->end_ns);
	}
	for (size_t i = 0; i < recording->burst_count; i++)
		if (!is_possible(recording->bursts[i].start_ns, recording->bursts[i].end_ns))
			return fail_impossible(error, "a burst of repeats", recording->bursts[i].start_ns,
				recording->bursts[i].end_ns);
	return KWHY_OK;
}

/* Checks the times of the first and the last reading only, since the readings are sorted. */
static enum kwhy_status check_readings(const struct kwhy_recording *recording, struct kwhy_error *error)
{
	for (size_t i = 0; i < recording->power_count; i++) {
		const struct kwhy_power_series *series = &recording->power[i];
		int64_t first_ns = series->time_ns[0], last_ns = series->time_ns[series->count - 1];

		if (!is_possible(first_ns, last_ns))
			return fail_impossible(error, "a series of power readings", first_ns, last_ns);
	}
	return KWHY_OK;
}

static int compare_activities(const void *context, uint32_t a, uint32_t b)
{
	const struct kwhy_recording *recording = context;
	const struct kwhy_activities *rows = &recording->activities;
	int order = kwhy_sort_by(
		kwhy_recording_device_of(recording, a), kwhy_recording_device_of(recording, b));

	if (!order)
		order = kwhy_sort_by(rows->start_ns[a], rows->start_ns[b]);
	if (!order)
		order = kwhy_sort_by(rows->end_ns[a], rows->end_ns[b]);
	if (!order)
		order = kwhy_sort_by(rows->stream[a], rows->stream[b]);
	if (order || rows->name[a] == rows->name[b])
		return order;
	/* texts are compared and not ids, since the ids of names depend on the order of events in the file */
	return strcmp(kwhy_names_get(&recording->names, rows->name[a]),
		kwhy_names_get(&recording->names, rows->name[b]));
}

static int compare_calls(const void *context, uint32_t a, uint32_t b)
{
	const struct kwhy_calls *rows = context;
	int order = kwhy_sort_by(rows->thread[a], rows->thread[b]);

	if (!order)
		order = kwhy_sort_by(rows->start_ns[a], rows->start_ns[b]);
	return order ? order
		     : kwhy_sort_by(rows->end_ns[b], rows->end_ns[a]); /* the outer call sorts first */
}

static int compare_ranges(const void *context, uint32_t a, uint32_t b)
{
	const struct kwhy_range *ranges = context;
	int order = kwhy_sort_by(ranges[a].start_ns, ranges[b].start_ns);

	return order ? order : kwhy_sort_by(ranges[b].end_ns, ranges[a].end_ns);
}

static int compare_overheads(const void *context, uint32_t a, uint32_t b)
{
	const struct kwhy_overhead *overheads = context;

	return kwhy_sort_by(overheads[a].start_ns, overheads[b].start_ns);
}

static int compare_bursts(const void *context, uint32_t a, uint32_t b)
{
	const struct kwhy_burst *bursts = context;

	return kwhy_sort_by(bursts[a].start_ns, bursts[b].start_ns);
}

static int compare_memory(const void *context, uint32_t a, uint32_t b)
{
	const struct kwhy_memory_point *points = context;

	return kwhy_sort_by(points[a].time_ns, points[b].time_ns);
}

static int compare_collectives(const void *context, uint32_t a, uint32_t b)
{
	const struct kwhy_collective *collectives = context;

	return kwhy_sort_by(collectives[a].activity, collectives[b].activity);
}

static int compare_readings(const void *context, uint32_t a, uint32_t b)
{
	const int64_t *time_ns = context;

	return kwhy_sort_by(time_ns[a], time_ns[b]);
}

/* Updates the activity rows of collectives after the activities were sorted. */
static enum kwhy_status remap_collectives(
	struct kwhy_recording *recording, const uint32_t *order, struct kwhy_error *error)
{
	size_t count = recording->activities.count;
	uint32_t *place;

	if (!order || recording->collective_count == 0)
		return KWHY_OK;
	place = malloc(count * sizeof(*place));
	if (!place)
		return kwhy_fail_memory(error, "sorting");
	for (size_t i = 0; i < count; i++)
		place[order[i]] = (uint32_t)i;
	for (size_t i = 0; i < recording->collective_count; i++)
		recording->collectives[i].activity = place[recording->collectives[i].activity];
	free(place);
	return KWHY_OK;
}

static enum kwhy_status sort_activities(struct kwhy_recording *recording, struct kwhy_error *error)
{
	struct kwhy_activities *rows = &recording->activities;
	enum kwhy_status status;
	uint32_t *order;

	status = kwhy_sort_order(rows->count, compare_activities, recording, &order, error);
	if (!status)
		status = remap_collectives(recording, order, error);
#define X(type, column) \
	if (!status)    \
		status = kwhy_sort_apply((void **)&rows->column, sizeof(type), rows->count, order, error);
	KWHY_ACTIVITY_COLUMNS(X)
#undef X
	rows->capacity = rows->count;
	free(order);
	return status ? status : kwhy_recording_cut_impossible(recording, error);
}

static enum kwhy_status sort_calls(struct kwhy_recording *recording, struct kwhy_error *error)
{
	struct kwhy_calls *rows = &recording->calls;
	enum kwhy_status status;
	uint32_t *order;

	status = kwhy_sort_order_in_groups(
		rows->count, rows->thread, recording->thread_count, compare_calls, rows, &order, error);
#define X(type, column) \
	if (!status)    \
		status = kwhy_sort_apply((void **)&rows->column, sizeof(type), rows->count, order, error);
	KWHY_CALL_COLUMNS(X)
#undef X
	rows->capacity = rows->count;
	free(order);
	return status;
}

static enum kwhy_status sort_table(void **items, size_t item_bytes, size_t count, size_t *capacity,
	kwhy_sort_compare *compare, struct kwhy_error *error)
{
	enum kwhy_status status;
	uint32_t *order;

	status = kwhy_sort_order(count, compare, *items, &order, error);
	if (!status && order) {
		status = kwhy_sort_apply(items, item_bytes, count, order, error);
		*capacity = count;
	}
	free(order);
	return status;
}

static enum kwhy_status sort_tables(struct kwhy_recording *r, struct kwhy_error *error)
{
	enum kwhy_status status;

	status = sort_table((void **)&r->ranges, sizeof(*r->ranges), r->range_count, &r->range_capacity,
		compare_ranges, error);
	if (!status)
		status = sort_table((void **)&r->overheads, sizeof(*r->overheads), r->overhead_count,
			&r->overhead_capacity, compare_overheads, error);
	if (!status)
		status = sort_table((void **)&r->bursts, sizeof(*r->bursts), r->burst_count,
			&r->burst_capacity, compare_bursts, error);
	if (!status)
		status = sort_table((void **)&r->memory, sizeof(*r->memory), r->memory_count,
			&r->memory_capacity, compare_memory, error);
	if (!status)
		status = sort_table((void **)&r->collectives, sizeof(*r->collectives), r->collective_count,
			&r->collective_capacity, compare_collectives, error);
	return status;
}

/*
 * Of successive readings with the same time stamp keeps only the last one. Returns the number of readings
 * left.
 */
static size_t drop_repeated_times(int64_t *time_ns, int64_t *value, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (kept && time_ns[kept - 1] == time_ns[i])
			kept--;
		time_ns[kept] = time_ns[i];
		value[kept] = value[i];
		kept++;
	}
	return kept;
}

static enum kwhy_status sort_readings(
	int64_t **time_ns, int64_t **value, size_t *count, struct kwhy_error *error)
{
	enum kwhy_status status;
	uint32_t *order;

	status = kwhy_sort_order(*count, compare_readings, *time_ns, &order, error);
	if (!status)
		status = kwhy_sort_apply((void **)time_ns, sizeof(**time_ns), *count, order, error);
	if (!status)
		status = kwhy_sort_apply((void **)value, sizeof(**value), *count, order, error);
	free(order);
	if (!status)
		*count = drop_repeated_times(*time_ns, *value, *count);
	return status;
}

static enum kwhy_status sort_series(struct kwhy_recording *recording, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < recording->power_count; i++) {
		struct kwhy_power_series *series = &recording->power[i];

		series->capacity = series->value_capacity = series->count;
		status = sort_readings(&series->time_ns, &series->value, &series->count, error);
	}
	for (size_t i = 0; !status && i < recording->gauge_count; i++) {
		struct kwhy_gauge_series *series = &recording->gauges[i];

		series->capacity = series->value_capacity = series->count;
		status = sort_readings(&series->time_ns, &series->value, &series->count, error);
	}
	return status;
}

static enum kwhy_status index_activities(struct kwhy_recording *recording, struct kwhy_error *error)
{
	struct kwhy_activities *rows = &recording->activities;

	rows->first = calloc(recording->device_count + 1, sizeof(*rows->first));
	if (!rows->first)
		return kwhy_fail_memory(error, "the device index");
	for (size_t i = 0; i < rows->count; i++)
		rows->first[kwhy_recording_device_of(recording, i) + 1]++;
	for (size_t d = 0; d < recording->device_count; d++)
		rows->first[d + 1] += rows->first[d];
	return KWHY_OK;
}

static enum kwhy_status index_calls(struct kwhy_recording *recording, struct kwhy_error *error)
{
	struct kwhy_calls *rows = &recording->calls;

	rows->first = calloc(recording->thread_count + 1, sizeof(*rows->first));
	if (!rows->first)
		return kwhy_fail_memory(error, "the thread index");
	for (size_t i = 0; i < rows->count; i++)
		rows->first[rows->thread[i] + 1]++;
	for (size_t t = 0; t < recording->thread_count; t++)
		rows->first[t + 1] += rows->first[t];
	return KWHY_OK;
}

static enum kwhy_status classify_calls(struct kwhy_recording *recording, struct kwhy_error *error)
{
	struct kwhy_calls *rows = &recording->calls;
	unsigned char *class_of_name = malloc(recording->names.count);

	if (!class_of_name)
		return kwhy_fail_memory(error, "call classes");
	for (size_t name = 0; name < recording->names.count; name++)
		class_of_name[name] = (unsigned char)kwhy_call_class_of(recording->names.strings[name]);
	for (size_t i = 0; i < rows->count; i++)
		if (rows->class[i] == KWHY_CALL_OTHER) /* any other class was stated by the trace */
			rows->class[i] = class_of_name[rows->name[i]];
	free(class_of_name);
	return KWHY_OK;
}

/*
 * Hash table with open addressing from (process, correlation id) to the row of a call. A slot holds the row +
 * 1, and 0 if it is empty; the key is read from the columns of that row. struct kwhy_map has slots four times
 * as large: with it the report of 185 thousand kernels took 5 % longer.
 */
struct call_index {
	const struct kwhy_recording *recording;
	uint32_t *slots;
	size_t mask;
};

static uint32_t *find_slot(const struct call_index *index, uint32_t process, uint32_t correlation)
{
	const struct kwhy_calls *calls = &index->recording->calls;
	uint64_t hash = ((uint64_t)process << 32 | correlation) * 0x9E3779B97F4A7C15u;

	for (size_t i = hash >> 20 & index->mask;; i = (i + 1) & index->mask) {
		uint32_t row = index->slots[i];

		if (row == 0 ||
			(calls->correlation[row - 1] == correlation &&
				index->recording->threads[calls->thread[row - 1]].process == process))
			return &index->slots[i];
	}
}

/*
 * Maps correlation ids to calls. If several calls of a process have one id (a runtime call and the driver
 * call inside it), the first one whose class is not KWHY_CALL_OTHER is taken, or the first one if all are of
 * that class.
 */
static void fill_index(const struct call_index *index)
{
	const struct kwhy_recording *recording = index->recording;
	const struct kwhy_calls *calls = &recording->calls;

	for (size_t i = 0; i < calls->count; i++) {
		uint32_t *slot;

		if (calls->correlation[i] == KWHY_NONE)
			continue;
		slot = find_slot(index, recording->threads[calls->thread[i]].process, calls->correlation[i]);
		if (*slot == 0 ||
			(calls->class[*slot - 1] == KWHY_CALL_OTHER && calls->class[i] != KWHY_CALL_OTHER))
			*slot = (uint32_t)i + 1;
	}
}

static void link_activities(struct kwhy_recording *recording, const struct call_index *index)
{
	struct kwhy_activities *rows = &recording->activities;

	for (size_t i = 0; i < rows->count; i++) {
		uint32_t row = 0;

		if (rows->call[i] != KWHY_NONE)
			row = *find_slot(index, recording->streams[rows->stream[i]].process, rows->call[i]);
		rows->call[i] = row ? row - 1 : KWHY_NONE;
		recording->lost.unlinked_activities += row == 0 && rows->origin[i] == KWHY_ORIGIN_PROGRAM;
	}
}

static enum kwhy_status link_calls(struct kwhy_recording *recording, struct kwhy_error *error)
{
	struct call_index index = {.recording = recording, .mask = 1023};

	while (index.mask < recording->calls.count * 2)
		index.mask = index.mask * 2 + 1;
	index.slots = calloc(index.mask + 1, sizeof(*index.slots));
	if (!index.slots)
		return kwhy_fail_memory(error, "linking calls to activities");
	fill_index(&index);
	link_activities(recording, &index);
	free(index.slots);
	free(recording->calls.correlation);
	recording->calls.correlation = NULL;
	return kwhy_recording_count_unmatched(recording, error);
}

static void widen(struct kwhy_recording *recording, bool *any, int64_t start_ns, int64_t end_ns)
{
	if (!*any || start_ns < recording->start_ns)
		recording->start_ns = start_ns;
	if (!*any || end_ns > recording->end_ns)
		recording->end_ns = end_ns;
	*any = true;
}

static void set_window(struct kwhy_recording *recording)
{
	bool any = false;

	for (size_t i = 0; i < recording->activities.count; i++)
		widen(recording, &any, recording->activities.start_ns[i], recording->activities.end_ns[i]);
	for (size_t i = 0; i < recording->calls.count; i++)
		widen(recording, &any, recording->calls.start_ns[i], recording->calls.end_ns[i]);
}

/*
 * Calls that copy at most this many bytes of pageable memory to the device may return before the copy begins
 * (CUDA, API synchronization behavior).
 */
enum { STAGED_BYTES = 65536 };

/*
 * Whether the activity at `row` is a copy from or to pageable memory whose call blocked. A call that returned
 * before the copy began did not block. Neither does a copy of at most STAGED_BYTES, or of an unknown number
 * of bytes, from pageable memory count, since its call need not block.
 */
static bool blocked(const struct kwhy_recording *recording, size_t row)
{
	const struct kwhy_activities *rows = &recording->activities;

	if (rows->kind[row] != KWHY_ACTIVITY_COPY || rows->call[row] == KWHY_NONE ||
		recording->calls.end_ns[rows->call[row]] <= rows->start_ns[row])
		return false;
	return rows->dst_memory[row] == KWHY_MEMORY_PAGEABLE ||
		(rows->src_memory[row] == KWHY_MEMORY_PAGEABLE && rows->bytes[row] != KWHY_UNKNOWN_BYTES &&
			rows->bytes[row] > STAGED_BYTES);
}

/*
 * Changes the class of calls that queue an asynchronous copy from KWHY_CALL_LAUNCH to KWHY_CALL_COPY if they
 * blocked: the driver copies pageable memory through its own pinned buffers, and the call fills or empties
 * these.
 */
static void classify_pageable_copies(struct kwhy_recording *recording)
{
	const struct kwhy_activities *rows = &recording->activities;

	for (size_t i = 0; i < rows->count; i++)
		if (blocked(recording, i) && recording->calls.class[rows->call[i]] == KWHY_CALL_LAUNCH)
			recording->calls.class[rows->call[i]] = KWHY_CALL_COPY;
}

enum kwhy_status kwhy_recording_finish(struct kwhy_recording *recording, struct kwhy_error *error)
{
	enum kwhy_status status = check_activities(recording, error);

	if (!status)
		status = check_calls(recording, error);
	if (!status)
		status = check_tables(recording, error);
	if (!status)
		status = sort_activities(recording, error);
	if (!status)
		status = sort_calls(recording, error);
	if (!status)
		status = sort_tables(recording, error);
	if (!status)
		status = sort_series(recording, error);
	if (!status)
		status = check_readings(recording, error);
	if (!status)
		status = index_activities(recording, error);
	if (!status)
		status = kwhy_recording_check_meters(recording, error);
	if (!status)
		status = index_calls(recording, error);
	if (!status)
		status = kwhy_host_ranges_finish(recording, error);
	if (!status)
		status = classify_calls(recording, error);
	if (!status)
		status = link_calls(recording, error);
	if (status)
		return status;
	classify_pageable_copies(recording);
	recording->has_calls = recording->calls.count > 0;
	set_window(recording);
	recording->finished = true;
	return KWHY_OK;
}
