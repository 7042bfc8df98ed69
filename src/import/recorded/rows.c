/* SPDX-License-Identifier: Apache-2.0 */
#include "import/recorded/recorded.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * KWHY_ACTIVITY_COLLECTIVE or KWHY_ACTIVITY_KERNEL, by the kernel's name. The result is kept in
 * recorded->kinds (1: kernel, 2: collective), so that each name is matched once.
 */
static uint8_t kind_of(struct kwhy_recorded *recorded, uint32_t name)
{
	uint8_t *known = name < recorded->kind_count ? &recorded->kinds[name] : NULL;
	bool is_collective;

	if (known && *known)
		return *known == 2 ? KWHY_ACTIVITY_COLLECTIVE : KWHY_ACTIVITY_KERNEL;
	is_collective = kwhy_collectives_match(
		recorded->collectives, kwhy_names_get(&recorded->recording->names, name));
	if (known)
		*known = is_collective ? 2 : 1;
	return is_collective ? KWHY_ACTIVITY_COLLECTIVE : KWHY_ACTIVITY_KERNEL;
}

static enum kwhy_status stream_of(struct kwhy_recorded *recorded, uint32_t writer, uint16_t device,
	uint32_t context, uint32_t stream, uint32_t *out, struct kwhy_error *error)
{
	struct kwhy_stream row = {
		.process = recorded->writers[writer].process, .context = context, .id = stream};
	enum kwhy_status status = kwhy_recorded_device(recorded, writer, device, &row.device, error);

	return status ? status : kwhy_tracks_stream(&recorded->tracks, &row, out, error);
}

/*
 * Converts start and end of a row to the recording's clock. False: a time is out of range, or the end is
 * before the start.
 */
static bool place(struct kwhy_recorded *recorded, uint32_t writer, int64_t start_mono_ns, int64_t end_mono_ns,
	struct kwhy_activity *out)
{
	out->start_ns = kwhy_recorded_time(recorded, writer, start_mono_ns);
	out->end_ns = kwhy_recorded_time(recorded, writer, end_mono_ns);
	return out->start_ns != KWHY_UNKNOWN_TIME && out->end_ns >= out->start_ns;
}

/*
 * Whether an activity overlaps the run that the launcher recorded, or that run is unknown; other activities
 * are left out.
 */
static bool is_wanted(const struct kwhy_recorded *recorded, const struct kwhy_activity *row)
{
	return recorded->run_start_ns > recorded->run_end_ns ||
		(row->end_ns >= recorded->run_start_ns && row->start_ns <= recorded->run_end_ns);
}

static enum kwhy_status refuse(
	struct kwhy_recorded *recorded, const char *what, uint32_t correlation, struct kwhy_error *error)
{
	if (recorded->options->partial) {
		recorded->recording->lost.skipped_events++;
		return KWHY_OK;
	}
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s: %s with correlation %u ends before it starts; skip such rows with --partial",
		recorded->tracks.path, what, correlation);
}

static enum kwhy_status add_kernel(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_kernel *kernel, struct kwhy_error *error)
{
	struct kwhy_activity row = kwhy_activity_unknown();
	enum kwhy_status status;

	if (!place(recorded, writer, kernel->start_mono_ns, kernel->end_mono_ns, &row))
		return refuse(recorded, "a kernel", kernel->correlation, error);
	if (!is_wanted(recorded, &row))
		return KWHY_OK;
	row.name = kwhy_recorded_name(recorded, writer, kernel->name);
	row.kind = kernel->is_graph ? KWHY_ACTIVITY_GRAPH : kind_of(recorded, row.name);
	row.call = kernel->correlation;
	row.blocks = kernel->blocks;
	row.shared_bytes = kernel->shared_bytes;
	row.threads_per_block = kernel->threads_per_block;
	row.registers = kernel->registers;
	if (kernel->graph_node)
		row.graph_node = (uint32_t)kernel->graph_node;
	status = stream_of(
		recorded, writer, kernel->device, kernel->context, kernel->stream, &row.stream, error);
	return status ? status : kwhy_recording_add_activity(recorded->recording, &row, error);
}

static enum kwhy_status add_copy(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_copy *copy, struct kwhy_error *error)
{
	struct kwhy_activity row = kwhy_activity_unknown();
	enum kwhy_status status;

	if (!place(recorded, writer, copy->start_mono_ns, copy->end_mono_ns, &row))
		return refuse(recorded, "a copy", copy->correlation, error);
	if (!is_wanted(recorded, &row))
		return KWHY_OK;
	row.kind = KWHY_ACTIVITY_COPY;
	row.name = 0;
	row.call = copy->correlation;
	row.bytes = copy->bytes;
	row.copy_kind = copy->copy_kind < KWHY_COPY_KIND_COUNT ? copy->copy_kind : KWHY_COPY_UNKNOWN;
	row.src_memory = copy->src_memory < KWHY_MEMORY_KIND_COUNT ? copy->src_memory : KWHY_MEMORY_UNKNOWN;
	row.dst_memory = copy->dst_memory < KWHY_MEMORY_KIND_COUNT ? copy->dst_memory : KWHY_MEMORY_UNKNOWN;
	row.peer = copy->device == copy->src_device ? copy->dst_device : copy->src_device;
	if (copy->graph_node)
		row.graph_node = (uint32_t)copy->graph_node;
	status = stream_of(recorded, writer, copy->device, copy->context, copy->stream, &row.stream, error);
	return status ? status : kwhy_recording_add_activity(recorded->recording, &row, error);
}

static enum kwhy_status add_memset(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_memset *set, struct kwhy_error *error)
{
	struct kwhy_activity row = kwhy_activity_unknown();
	enum kwhy_status status;

	if (!place(recorded, writer, set->start_mono_ns, set->end_mono_ns, &row))
		return refuse(recorded, "a memset", set->correlation, error);
	if (!is_wanted(recorded, &row))
		return KWHY_OK;
	row.kind = KWHY_ACTIVITY_MEMSET;
	row.name = 0;
	row.call = set->correlation;
	row.bytes = set->bytes;
	row.dst_memory = set->memory < KWHY_MEMORY_KIND_COUNT ? set->memory : KWHY_MEMORY_UNKNOWN;
	if (set->graph_node)
		row.graph_node = (uint32_t)set->graph_node;
	status = stream_of(recorded, writer, set->device, set->context, set->stream, &row.stream, error);
	return status ? status : kwhy_recording_add_activity(recorded->recording, &row, error);
}

enum kwhy_status kwhy_recorded_thread(struct kwhy_recorded *recorded, uint32_t writer, uint32_t tid,
	uint32_t *out, struct kwhy_error *error)
{
	const struct kwhy_thread thread = {.process = recorded->writers[writer].process, .tid = tid};

	return kwhy_tracks_thread(&recorded->tracks, &thread, out, error);
}

static enum kwhy_status add_call(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_call *call, struct kwhy_error *error)
{
	struct kwhy_activity times;
	enum kwhy_status status;
	uint32_t thread;

	if (!place(recorded, writer, call->start_mono_ns, call->end_mono_ns, &times))
		return refuse(recorded, "a call", call->correlation, error);
	if (!kwhy_recorded_call_of_program(recorded, writer, call->thread, &times.start_ns, &times.end_ns))
		return KWHY_OK;
	status = kwhy_recorded_thread(recorded, writer, call->thread, &thread, error);
	return status
		? status
		: kwhy_recording_add_call(recorded->recording, times.start_ns, times.end_ns,
			  kwhy_recorded_name(recorded, writer, call->name), thread, call->correlation, error);
}

static enum kwhy_status add_range(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_range *range, struct kwhy_error *error)
{
	struct kwhy_range row = {.thread = KWHY_NONE};
	struct kwhy_activity times;
	enum kwhy_status status = KWHY_OK;

	/* Skips a range without valid times, such as one that had not ended when its program was killed. */
	if (!place(recorded, writer, range->start_mono_ns, range->end_mono_ns, &times)) {
		recorded->recording->lost.skipped_events++;
		return KWHY_OK;
	}
	row.start_ns = times.start_ns;
	row.end_ns = times.end_ns;
	row.name = kwhy_recorded_name(recorded, writer, range->name);
	row.kind = kwhy_range_kind_of(kwhy_names_get(&recorded->recording->names, row.name),
		range->kind < KWHY_RANGE_KIND_COUNT ? (enum kwhy_range_kind)range->kind : KWHY_RANGE_USER);
	if (range->thread != KWHY_WIRE_UNKNOWN_U32)
		status = kwhy_recorded_thread(recorded, writer, range->thread, &row.thread, error);
	return status ? status : kwhy_recording_add_range(recorded->recording, &row, error);
}

/*
 * Adds a reading of a gauge. A reading before or after the run is left out, because gauges show the state of
 * a device during the run.
 */
static enum kwhy_status add_gauge(struct kwhy_recorded *recorded, const struct kwhy_recorded_meter *meter,
	int64_t time_ns, int64_t value, struct kwhy_error *error)
{
	bool is_of_run = recorded->run_start_ns > recorded->run_end_ns ||
		(time_ns >= recorded->run_start_ns && time_ns <= recorded->run_end_ns);

	return is_of_run ? kwhy_recording_add_gauge(recorded->recording, meter->gauge, meter->source.device,
				   time_ns, value, error)
			 : KWHY_OK;
}

static enum kwhy_status add_reading(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_reading *reading, struct kwhy_error *error)
{
	const struct kwhy_track_key key = {writer, reading->source, 0};
	const int64_t time_ns = kwhy_recorded_time(recorded, writer, reading->time_mono_ns);
	const struct kwhy_recorded_meter *meter;
	uint32_t index;

	if (!kwhy_track_map_find(&recorded->sources, key, &index) || time_ns == KWHY_UNKNOWN_TIME ||
		reading->value < 0 || reading->value > INT64_MAX / 4) {
		recorded->recording->lost.skipped_events++;
		return KWHY_OK;
	}
	meter = &recorded->meters[index];
	if (meter->gauge != KWHY_GAUGE_COUNT)
		return add_gauge(recorded, meter, time_ns, reading->value, error);
	if (meter->source.meter == KWHY_METER_COUNT)
		return KWHY_OK;
	if (time_ns < recorded->first_reading_ns)
		recorded->first_reading_ns = time_ns;
	if (time_ns > recorded->last_reading_ns)
		recorded->last_reading_ns = time_ns;
	return kwhy_recording_add_power(recorded->recording, &meter->source, time_ns, reading->value, error);
}

_Static_assert(KWHY_PERF_COUNTER_COUNT == sizeof(((struct kwhy_wire_counters *)NULL)->counts) / sizeof(float),
	"recordings have the counters of perf_counters.def");

/* Whether the counts of all performance counters in a sample are possible: finite and not negative. */
static bool are_counts(const float *counts)
{
	for (size_t i = 0; i < KWHY_PERF_COUNTER_COUNT; i++)
		if (!(counts[i] >= 0) || isinf(counts[i]))
			return false;
	return true;
}

static enum kwhy_status add_counters(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_counters *counters, struct kwhy_error *error)
{
	const struct kwhy_track_key device = {writer, counters->device, 0};
	struct kwhy_perf_sample sample = {
		.start_ns = kwhy_recorded_time(recorded, writer, counters->start_mono_ns),
		.length_ns = counters->length_ns};

	if (sample.start_ns == KWHY_UNKNOWN_TIME || !sample.length_ns || !are_counts(counters->counts) ||
		!kwhy_track_map_find(&recorded->devices, device, &sample.device)) {
		recorded->recording->lost.skipped_events++;
		return KWHY_OK;
	}
	memcpy(sample.counts, counters->counts, sizeof(sample.counts));
	return kwhy_recording_add_perf_sample(recorded->recording, &sample, error);
}

static enum kwhy_status add_counter_window(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_counter_window *window, struct kwhy_error *error)
{
	const struct kwhy_track_key device = {writer, window->device, 0};
	struct kwhy_counter_window row = {
		.start_ns = kwhy_recorded_time(recorded, writer, window->start_mono_ns),
		.end_ns = kwhy_recorded_time(recorded, writer, window->end_mono_ns)};

	if (row.start_ns == KWHY_UNKNOWN_TIME || row.end_ns == KWHY_UNKNOWN_TIME ||
		row.end_ns <= row.start_ns || !kwhy_track_map_find(&recorded->devices, device, &row.device)) {
		recorded->recording->lost.skipped_events++;
		return KWHY_OK;
	}
	return kwhy_recording_add_counter_window(recorded->recording, &row, error);
}

static enum kwhy_status add_row(struct kwhy_recorded *recorded, uint32_t writer, unsigned kind,
	const void *record, struct kwhy_error *error)
{
	switch (kind) {
	case KWHY_WIRE_KERNEL:
		return add_kernel(recorded, writer, record, error);
	case KWHY_WIRE_COPY:
		return add_copy(recorded, writer, record, error);
	case KWHY_WIRE_MEMSET:
		return add_memset(recorded, writer, record, error);
	case KWHY_WIRE_CALL:
		return add_call(recorded, writer, record, error);
	case KWHY_WIRE_RANGE:
		return add_range(recorded, writer, record, error);
	case KWHY_WIRE_READING:
		return add_reading(recorded, writer, record, error);
	case KWHY_WIRE_COUNTERS:
		return add_counters(recorded, writer, record, error);
	case KWHY_WIRE_COUNTER_WINDOW:
		return add_counter_window(recorded, writer, record, error);
	case KWHY_WIRE_MEMORY:
		return kwhy_recorded_memory_keep(recorded, writer, record, error);
	case KWHY_WIRE_OVERHEAD:
		return kwhy_recorded_overhead_add(recorded, writer, record, error);
	default:
		return KWHY_OK;
	}
}

enum kwhy_status kwhy_recorded_rows_add(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_block *block, struct kwhy_error *error)
{
	const size_t known_bytes = kwhy_wire_record_bytes(block->kind);
	enum kwhy_status status = KWHY_OK;
	uint64_t scratch[8]; /* memory for one record; the largest record has 64 bytes */

	if (!known_bytes)
		return KWHY_OK;
	for (size_t i = 0; !status && i < block->record_count; i++)
		status = add_row(recorded, writer, block->kind,
			kwhy_block_record(block, i, scratch, known_bytes), error);
	recorded->rows += block->record_count;
	return status;
}
