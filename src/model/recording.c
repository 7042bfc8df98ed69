/* SPDX-License-Identifier: Apache-2.0 */
#include "model/recording.h"

#include "base/column.h"
#include "model/recording_reserve.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kwhy_status kwhy_recording_new(struct kwhy_recording **out, struct kwhy_error *error)
{
	struct kwhy_recording *recording = calloc(1, sizeof(*recording));
	enum kwhy_status status;

	if (!recording)
		return kwhy_fail_memory(error, "a recording");
	status = kwhy_names_init(&recording->names, error);
	if (status) {
		kwhy_recording_free(recording);
		return status;
	}
	*out = recording;
	return KWHY_OK;
}

static void free_columns(struct kwhy_recording *recording)
{
#define X(type, column) free(recording->activities.column);
	KWHY_ACTIVITY_COLUMNS(X)
#undef X
#define X(type, column) free(recording->calls.column);
	KWHY_CALL_COLUMNS(X)
#undef X
	free(recording->activities.first);
	free(recording->calls.first);
	kwhy_host_ranges_done(&recording->host_ranges);
}

void kwhy_recording_free(struct kwhy_recording *recording)
{
	if (!recording)
		return;
	free_columns(recording);
	for (size_t i = 0; i < recording->power_count; i++) {
		free(recording->power[i].time_ns);
		free(recording->power[i].value);
	}
	free(recording->sources);
	free(recording->devices);
	free(recording->machines);
	free(recording->processes);
	free(recording->threads);
	free(recording->streams);
	free(recording->ranges);
	free(recording->collectives);
	free(recording->memory);
	free(recording->power);
	free(recording->power_files);
	for (size_t i = 0; i < recording->gauge_count; i++) {
		free(recording->gauges[i].time_ns);
		free(recording->gauges[i].value);
	}
	free(recording->gauges);
	free(recording->perf_samples);
	free(recording->counter_windows);
	free(recording->coverage);
	free(recording->selections);
	free(recording->costs);
	free(recording->overheads);
	free(recording->bursts);
	free(recording->unprobed);
	free(recording->work);
	free(recording->notes);
	kwhy_names_done(&recording->names);
	kwhy_arena_done(&recording->arena);
	free(recording);
}

const char *kwhy_recording_copy(struct kwhy_recording *recording, const char *bytes, size_t length)
{
	return kwhy_arena_printf(&recording->arena, "%.*s", (int)length, bytes);
}

bool kwhy_recording_has_times(const struct kwhy_recording *recording)
{
	return recording->activities.count || recording->calls.count || recording->range_count ||
		recording->memory_count || recording->power_count || recording->gauge_count ||
		recording->coverage_count || recording->selection_count;
}

struct kwhy_activity kwhy_activity_unknown(void)
{
	return (struct kwhy_activity){
		.start_ns = KWHY_UNKNOWN_TIME,
		.end_ns = KWHY_UNKNOWN_TIME,
		.bytes = KWHY_UNKNOWN_BYTES,
		.call = KWHY_NONE,
		.blocks = KWHY_UNKNOWN_BLOCKS,
		.shared_bytes = KWHY_NONE,
		.graph_node = KWHY_NONE,
		.threads_per_block = KWHY_UNKNOWN_U16,
		.registers = KWHY_UNKNOWN_U16,
		.peer = KWHY_UNKNOWN_U16,
	};
}

/*
 * Defines the _add function of a table: it reserves a row, copies the item into it, and writes its index to
 * *out_index.
 */
#define DEFINE_ADD(table, item, what)                                                                        \
	enum kwhy_status kwhy_recording_add_##item(struct kwhy_recording *recording,                         \
		const struct kwhy_##item *item, uint32_t *out_index, struct kwhy_error *error)               \
	{                                                                                                    \
		enum kwhy_status status = kwhy_column_reserve((void **)&recording->table,                    \
			&recording->item##_capacity, recording->item##_count + 1, sizeof(*recording->table), \
			what, error);                                                                        \
		if (status)                                                                                  \
			return status;                                                                       \
		recording->table[recording->item##_count] = *item;                                           \
		if (out_index)                                                                               \
			*out_index = (uint32_t)recording->item##_count;                                      \
		recording->item##_count++;                                                                   \
		return KWHY_OK;                                                                              \
	}

DEFINE_ADD(sources, source, "sources")
DEFINE_ADD(devices, device, "devices")
DEFINE_ADD(processes, process, "processes")
DEFINE_ADD(threads, thread, "threads")
DEFINE_ADD(streams, stream, "streams")

#define DEFINE_ADD_PLAIN(table, item, type, count, capacity, what)                                           \
	enum kwhy_status kwhy_recording_add_##item(                                                          \
		struct kwhy_recording *recording, const struct type *item, struct kwhy_error *error)         \
	{                                                                                                    \
		enum kwhy_status status = kwhy_column_reserve((void **)&recording->table,                    \
			&recording->capacity, recording->count + 1, sizeof(*recording->table), what, error); \
		if (status)                                                                                  \
			return status;                                                                       \
		recording->table[recording->count++] = *item;                                                \
		return KWHY_OK;                                                                              \
	}

DEFINE_ADD_PLAIN(ranges, range, kwhy_range, range_count, range_capacity, "ranges")
DEFINE_ADD_PLAIN(
	collectives, collective, kwhy_collective, collective_count, collective_capacity, "collectives")
DEFINE_ADD_PLAIN(memory, memory, kwhy_memory_point, memory_count, memory_capacity, "memory events")
DEFINE_ADD_PLAIN(
	power_files, power_file, kwhy_power_file, power_file_count, power_file_capacity, "power files")
DEFINE_ADD_PLAIN(perf_samples, perf_sample, kwhy_perf_sample, perf_sample_count, perf_sample_capacity,
	"samples of performance counters")
DEFINE_ADD_PLAIN(counter_windows, counter_window, kwhy_counter_window, counter_window_count,
	counter_window_capacity, "times in which performance counters were enabled")
DEFINE_ADD_PLAIN(coverage, coverage, kwhy_coverage, coverage_count, coverage_capacity, "coverage")
DEFINE_ADD_PLAIN(
	selections, selection, kwhy_selection, selection_count, selection_capacity, "selections of a run")
DEFINE_ADD_PLAIN(costs, cost, kwhy_cost, cost_count, cost_capacity, "costs of the recording")
DEFINE_ADD_PLAIN(
	overheads, overhead, kwhy_overhead, overhead_count, overhead_capacity, "overheads of the profiler")
DEFINE_ADD_PLAIN(bursts, burst, kwhy_burst, burst_count, burst_capacity, "bursts of repeated kernels")
DEFINE_ADD_PLAIN(
	unprobed, unprobed, kwhy_unprobed, unprobed_count, unprobed_capacity, "kernels that were not probed")

static enum kwhy_status grow_activities(struct kwhy_activities *table, size_t need, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	size_t least = SIZE_MAX;

#define X(type, column)                                                                               \
	if (!status) {                                                                                \
		size_t capacity = table->capacity;                                                    \
                                                                                                      \
		status = kwhy_column_reserve(                                                         \
			(void **)&table->column, &capacity, need, sizeof(type), "activities", error); \
		least = capacity < least ? capacity : least;                                          \
	}
	KWHY_ACTIVITY_COLUMNS(X)
#undef X
	if (!status)
		table->capacity = least; /* the smallest capacity of any column: columns of larger items are
					    given fewer spare rows */
	return status;
}

enum kwhy_status kwhy_recording_add_activity(
	struct kwhy_recording *recording, const struct kwhy_activity *activity, struct kwhy_error *error)
{
	struct kwhy_activities *table = &recording->activities;

	if (table->count == table->capacity) {
		enum kwhy_status status = grow_activities(table, table->count + 1, error);

		if (status)
			return status;
	}
#define X(type, column) table->column[table->count] = activity->column;
	KWHY_ACTIVITY_COLUMNS(X)
#undef X
	table->count++;
	return KWHY_OK;
}

static enum kwhy_status grow_calls(struct kwhy_calls *table, size_t need, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	size_t least = SIZE_MAX;

#define X(type, column)                                                                              \
	if (!status) {                                                                               \
		size_t capacity = table->capacity;                                                   \
                                                                                                     \
		status = kwhy_column_reserve(                                                        \
			(void **)&table->column, &capacity, need, sizeof(type), "API calls", error); \
		least = capacity < least ? capacity : least;                                         \
	}
	KWHY_CALL_COLUMNS(X)
#undef X
	if (!status)
		table->capacity = least; /* the smallest capacity of any column, as for activities */
	return status;
}

void kwhy_recording_reserve(struct kwhy_recording *recording, const struct kwhy_recording_rows *rows)
{
	struct kwhy_activities *activities = &recording->activities;
	struct kwhy_calls *calls = &recording->calls;
	struct kwhy_error error; /* ignored: if memory is exhausted, the call that later adds a row fails */

	if (activities->count + rows->activities > activities->capacity)
		(void)!grow_activities(activities, activities->count + rows->activities, &error);
	if (calls->count + rows->calls > calls->capacity)
		(void)!grow_calls(calls, calls->count + rows->calls, &error);
	(void)!kwhy_column_reserve((void **)&recording->ranges, &recording->range_capacity,
		recording->range_count + rows->ranges, sizeof(*recording->ranges), "ranges", &error);
}

enum kwhy_status kwhy_recording_add_call(struct kwhy_recording *recording, int64_t start_ns, int64_t end_ns,
	uint32_t name, uint32_t thread, uint32_t correlation, struct kwhy_error *error)
{
	struct kwhy_calls *table = &recording->calls;

	if (table->count == table->capacity) {
		enum kwhy_status status = grow_calls(table, table->count + 1, error);

		if (status)
			return status;
	}
	table->start_ns[table->count] = start_ns;
	table->end_ns[table->count] = end_ns;
	table->name[table->count] = name;
	table->thread[table->count] = thread;
	table->correlation[table->count] = correlation;
	table->class[table->count] = KWHY_CALL_OTHER;
	table->count++;
	return KWHY_OK;
}

enum kwhy_status kwhy_recording_add_call_of_class(struct kwhy_recording *recording, int64_t start_ns,
	int64_t end_ns, uint32_t name, uint32_t thread, enum kwhy_call_class class, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_recording_add_call(
		recording, start_ns, end_ns, name, thread, KWHY_NONE, error);

	if (!status)
		recording->calls.class[recording->calls.count - 1] = (uint8_t) class;
	return status;
}

static struct kwhy_power_series *series_of(
	struct kwhy_recording *recording, const struct kwhy_power_source *source)
{
	for (size_t i = recording->power_count; i-- > 0;) {
		struct kwhy_power_series *series = &recording->power[i];

		if (series->meter == source->meter && series->device == source->device &&
			series->domain == source->domain && series->machine == source->machine)
			return series;
	}
	return NULL;
}

static enum kwhy_status add_series(struct kwhy_recording *recording, const struct kwhy_power_source *source,
	struct kwhy_power_series **out, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_column_reserve((void **)&recording->power, &recording->power_capacity,
		recording->power_count + 1, sizeof(*recording->power), "power series", error);

	if (status)
		return status;
	*out = &recording->power[recording->power_count++];
	**out = (struct kwhy_power_series){.meter = source->meter,
		.device = source->device,
		.domain = source->domain,
		.machine = source->machine};
	return KWHY_OK;
}

enum kwhy_status kwhy_recording_add_power(struct kwhy_recording *recording,
	const struct kwhy_power_source *source, int64_t time_ns, int64_t value, struct kwhy_error *error)
{
	struct kwhy_power_series *series = series_of(recording, source);
	enum kwhy_status status = KWHY_OK;

	if (!series)
		status = add_series(recording, source, &series, error);
	if (!status)
		status = kwhy_column_reserve((void **)&series->time_ns, &series->capacity, series->count + 1,
			sizeof(*series->time_ns), "power readings", error);
	if (!status)
		status = kwhy_column_reserve((void **)&series->value, &series->value_capacity,
			series->count + 1, sizeof(*series->value), "power readings", error);
	if (status)
		return status;
	if (!series->wrap)
		series->wrap = source->wrap;
	series->time_ns[series->count] = time_ns;
	series->value[series->count] = value;
	series->count++;
	return KWHY_OK;
}

void kwhy_recording_drop_power(
	struct kwhy_recording *recording, enum kwhy_meter meter, uint32_t device, size_t count)
{
	const struct kwhy_power_source source = {.meter = meter, .device = device, .machine = KWHY_NONE};
	struct kwhy_power_series *series = series_of(recording, &source);

	series->count -= count;
	if (series->count > 0)
		return;
	free(series->time_ns);
	free(series->value);
	*series = recording->power[--recording->power_count];
}

enum kwhy_status kwhy_recording_add_reading(struct kwhy_recording *recording, enum kwhy_meter meter,
	uint32_t device, uint32_t domain, int64_t time_ns, int64_t value, struct kwhy_error *error)
{
	const struct kwhy_power_source source = {
		.meter = meter, .device = device, .domain = domain, .machine = KWHY_NONE};

	return kwhy_recording_add_power(recording, &source, time_ns, value, error);
}

static enum kwhy_status gauge_of(struct kwhy_recording *recording, enum kwhy_gauge gauge, uint32_t device,
	struct kwhy_gauge_series **out, struct kwhy_error *error)
{
	enum kwhy_status status;

	for (size_t i = recording->gauge_count; i-- > 0;) {
		*out = &recording->gauges[i];
		if ((*out)->gauge == gauge && (*out)->device == device)
			return KWHY_OK;
	}
	status = kwhy_column_reserve((void **)&recording->gauges, &recording->gauge_capacity,
		recording->gauge_count + 1, sizeof(*recording->gauges), "gauges", error);
	if (status)
		return status;
	*out = &recording->gauges[recording->gauge_count++];
	**out = (struct kwhy_gauge_series){.gauge = gauge, .device = device};
	return KWHY_OK;
}

enum kwhy_status kwhy_recording_add_gauge(struct kwhy_recording *recording, enum kwhy_gauge gauge,
	uint32_t device, int64_t time_ns, int64_t value, struct kwhy_error *error)
{
	struct kwhy_gauge_series *series;
	enum kwhy_status status = gauge_of(recording, gauge, device, &series, error);

	if (!status)
		status = kwhy_column_reserve((void **)&series->time_ns, &series->capacity, series->count + 1,
			sizeof(*series->time_ns), "gauges", error);
	if (!status)
		status = kwhy_column_reserve((void **)&series->value, &series->value_capacity,
			series->count + 1, sizeof(*series->value), "gauges", error);
	if (status)
		return status;
	series->time_ns[series->count] = time_ns;
	series->value[series->count++] = value;
	return KWHY_OK;
}

enum kwhy_status kwhy_recording_add_work(
	struct kwhy_recording *recording, const char *unit, double count, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_column_reserve((void **)&recording->work, &recording->work_capacity,
		recording->work_count + 1, sizeof(*recording->work), "work units", error);

	if (status)
		return status;
	unit = kwhy_recording_copy(recording, unit, strlen(unit));
	if (!unit)
		return kwhy_fail_memory(error, "work units");
	recording->work[recording->work_count++] = (struct kwhy_work){.unit = unit, .count = count};
	return KWHY_OK;
}

enum kwhy_status kwhy_recording_set_work(
	struct kwhy_recording *recording, const char *unit, double count, struct kwhy_error *error)
{
	for (size_t i = 0; i < recording->work_count; i++)
		if (strcmp(recording->work[i].unit, unit) == 0) {
			recording->work[i].count = count;
			return KWHY_OK;
		}
	return kwhy_recording_add_work(recording, unit, count, error);
}

enum kwhy_status kwhy_recording_add_note(struct kwhy_recording *recording, enum kwhy_note_kind kind,
	const char *id, struct kwhy_error *error, const char *format, ...)
{
	enum kwhy_status status = kwhy_column_reserve((void **)&recording->notes, &recording->note_capacity,
		recording->note_count + 1, sizeof(*recording->notes), "notes", error);
	struct kwhy_note note = {.kind = kind};
	char text[1024];
	va_list args;

	if (status)
		return status;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	note.id = kwhy_recording_copy(recording, id, strlen(id));
	note.text = kwhy_recording_copy(recording, text, strlen(text));
	if (!note.id || !note.text)
		return kwhy_fail_memory(error, "notes");
	recording->notes[recording->note_count++] = note;
	return KWHY_OK;
}

static bool has_rank(const struct kwhy_recording *recording, uint32_t rank)
{
	for (size_t d = 0; d < recording->device_count; d++)
		if (recording->devices[d].rank == rank)
			return true;
	return false;
}

bool kwhy_recording_shares_devices(const struct kwhy_recording *recording)
{
	if (has_rank(recording, KWHY_NONE))
		return false;
	for (size_t i = 0; i < recording->process_count; i++) {
		const uint32_t rank = recording->processes[i].rank;

		/*
		 * First looks at the device with the process's index, which nearly always has the rank; a
		 * search for each of thousands of ranks would take quadratic time.
		 */
		if (rank != KWHY_NONE &&
			!(i < recording->device_count && recording->devices[i].rank == rank) &&
			!has_rank(recording, rank))
			return true;
	}
	return false;
}

uint32_t kwhy_recording_find_device(const struct kwhy_recording *recording, int32_t index, uint32_t rank)
{
	for (size_t i = 0; i < recording->device_count; i++)
		if (recording->devices[i].index == index && recording->devices[i].rank == rank)
			return (uint32_t)i;
	return KWHY_NONE;
}
