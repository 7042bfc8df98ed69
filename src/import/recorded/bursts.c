/* SPDX-License-Identifier: Apache-2.0 */
#include "import/recorded/recorded.h"

#include "base/column.h"
#include "base/sort.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beginning of the names of kernels of `kwhy probe` itself (inject/probe). */
#define OWN_KERNELS "kwhy_probe_"

/*
 * Name given to the copies that restore the memory of a kernel between its repeats. It contains the kernel's
 * name, its number of blocks and its threads per block.
 */
#define COPIES_NAME "d2d device->device for %s [%" PRIu32 " x %" PRIu16 "]"

/* kwhy probe repeats only copies of at least this size, in bytes (inject/probe/copies.h). */
enum { COPY_BYTES_MIN = 65536 };

/*
 * Sets the start and end of the launch that the program itself made, in ns from the start of the burst. Both
 * stay 0 if the record has them out of order or after the end of the burst.
 */
static void place_launch(struct kwhy_recorded_burst *row, const struct kwhy_wire_burst *burst)
{
	if (burst->launch_ns > burst->launched_ns ||
		burst->launched_ns > row->burst.end_ns - row->burst.start_ns)
		return;
	row->launch_ns = burst->launch_ns;
	row->launched_ns = burst->launched_ns;
}

enum kwhy_status kwhy_recorded_burst_keep(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_burst *burst, struct kwhy_error *error)
{
	struct kwhy_recorded_burst row = {.writer = writer,
		.correlation = burst->correlation,
		.tid = burst->thread,
		.context = burst->context,
		.stream = KWHY_NONE,
		.copies = KWHY_NONE,
		.first_ns = INT64_MAX,
		.burst = {.start_ns = kwhy_recorded_time(recorded, writer, burst->start_mono_ns),
			.end_ns = kwhy_recorded_time(recorded, writer, burst->end_mono_ns),
			.saved_bytes = burst->saved_bytes,
			.repeated_ns = burst->repeated_ns,
			.name = kwhy_recorded_name(recorded, writer, burst->name),
			.stream = KWHY_NONE,
			.blocks = burst->blocks,
			.repeats = burst->repeats,
			.threads_per_block = burst->threads_per_block,
			.form = burst->form < KWHY_BURST_FORM_COUNT ? burst->form : KWHY_BURST_PUT_BACK,
			.check = burst->check < KWHY_BURST_CHECK_COUNT ? burst->check
								       : KWHY_BURST_UNCHECKED}};
	enum kwhy_status status;

	if (row.burst.start_ns == KWHY_UNKNOWN_TIME || row.burst.end_ns < row.burst.start_ns) {
		recorded->recording->lost.skipped_events++;
		return KWHY_OK;
	}
	place_launch(&row, burst);
	status = kwhy_column_reserve((void **)&recorded->bursts, &recorded->burst_capacity,
		recorded->burst_count + 1, sizeof(*recorded->bursts), "bursts of repeats", error);
	if (!status)
		recorded->bursts[recorded->burst_count++] = row;
	return status;
}

enum kwhy_status kwhy_recorded_unprobed_keep(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_unprobed *unprobed, struct kwhy_error *error)
{
	struct kwhy_recording *recording = recorded->recording;
	const struct kwhy_unprobed row = {.launches = unprobed->launches,
		.name = kwhy_recorded_name(recorded, writer, unprobed->name),
		.process = recorded->writers[writer].process,
		.blocks = unprobed->blocks,
		.threads_per_block = unprobed->threads_per_block,
		.reason = kwhy_names_get(
			&recording->names, kwhy_recorded_name(recorded, writer, unprobed->reason))};

	return kwhy_recording_add_unprobed(recording, &row, error);
}

static int compare(const void *context, uint32_t a, uint32_t b)
{
	const struct kwhy_recorded_burst *bursts = context;

	if (bursts[a].burst.process != bursts[b].burst.process)
		return bursts[a].burst.process < bursts[b].burst.process ? -1 : 1;
	return (bursts[a].burst.start_ns > bursts[b].burst.start_ns) -
		(bursts[a].burst.start_ns < bursts[b].burst.start_ns);
}

enum kwhy_status kwhy_recorded_bursts_sort(struct kwhy_recorded *recorded, struct kwhy_error *error)
{
	enum kwhy_status status;
	uint32_t *order;

	for (size_t i = 0; i < recorded->burst_count; i++)
		recorded->bursts[i].burst.process = recorded->writers[recorded->bursts[i].writer].process;
	status = kwhy_sort_order(recorded->burst_count, compare, recorded->bursts, &order, error);
	if (!status && order) {
		status = kwhy_sort_apply((void **)&recorded->bursts, sizeof(*recorded->bursts),
			recorded->burst_count, order, error);
		recorded->burst_capacity = recorded->burst_count;
	}
	free(order);
	return status;
}

struct interval {
	int64_t start_ns, end_ns;
};

/*
 * Number of bursts at the start of the sorted list that belong to earlier processes, or to this process and
 * start at time_ns or before.
 */
static size_t bursts_until(const struct kwhy_recorded *recorded, uint32_t process, int64_t time_ns)
{
	size_t low = 0, high = recorded->burst_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct kwhy_burst *burst = &recorded->bursts[middle].burst;

		if (burst->process < process || (burst->process == process && burst->start_ns <= time_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * The burst of a process that contains a time, end excluded; NULL: there is none. The bursts of a process do
 * not overlap.
 */
static struct kwhy_recorded_burst *burst_at(
	const struct kwhy_recorded *recorded, uint32_t process, int64_t time_ns)
{
	const size_t until = bursts_until(recorded, process, time_ns);
	struct kwhy_recorded_burst *last = until ? &recorded->bursts[until - 1] : NULL;

	return last && last->burst.process == process && time_ns < last->burst.end_ns ? last : NULL;
}

/*
 * Start and end of the program's own call within a burst: the launch that kwhy probe then repeated. In a
 * burst after a copy or graph the program's call had already returned, so the interval is empty.
 */
static struct interval own_call(const struct kwhy_recorded_burst *burst)
{
	const int64_t start_ns = burst->burst.start_ns;

	return burst->burst.form == KWHY_BURST_AFTER
		? (struct interval){start_ns, start_ns}
		: (struct interval){start_ns + burst->launch_ns, start_ns + burst->launched_ns};
}

/*
 * Shortens a call that lasted until the burst had ended by the time that kwhy probe took. A call of the
 * burst's thread keeps only the program's own launch. A call of another thread waited for the end of the
 * burst, from the program's own launch or from its own start, whichever is later; this wait is removed.
 */
static void take_burst_out(const struct kwhy_recorded_burst *burst, uint32_t tid, struct interval *call)
{
	const struct interval own = own_call(burst);
	int64_t held_ns = burst->burst.start_ns + burst->launch_ns;

	if (call->end_ns < burst->burst.end_ns)
		return;
	if (burst->tid != tid) {
		held_ns = held_ns > call->start_ns ? held_ns : call->start_ns;
		call->end_ns -= burst->burst.end_ns - held_ns;
		return;
	}
	call->start_ns += own.start_ns - burst->burst.start_ns;
	call->end_ns -= burst->burst.end_ns - own.end_ns;
}

/*
 * Whether kwhy probe made a call that began during a burst: the call is on the burst's thread and outside the
 * program's own launch. Only its time tells, because it may have the correlation id of the program's launch.
 */
static bool is_probers(const struct kwhy_recorded_burst *burst, uint32_t tid, int64_t start_ns)
{
	const struct interval own = own_call(burst);

	return burst->tid == tid && (start_ns < own.start_ns || start_ns >= own.end_ns);
}

bool kwhy_recorded_call_of_program(const struct kwhy_recorded *recorded, uint32_t writer, uint32_t tid,
	int64_t *start_ns, int64_t *end_ns)
{
	const uint32_t process = recorded->writers[writer].process;
	const struct kwhy_recorded_burst *during = burst_at(recorded, process, *start_ns);
	const size_t from = bursts_until(recorded, process, *start_ns),
		     until = bursts_until(recorded, process, *end_ns);
	struct interval call = {*start_ns, *end_ns};

	if (during && is_probers(during, tid, *start_ns))
		return false;
	/* backwards, because removing a burst moves the parts of the call after it */
	for (size_t i = until; i-- > from;)
		take_burst_out(&recorded->bursts[i], tid, &call);
	if (during && during->tid != tid)
		take_burst_out(during, tid, &call);
	*start_ns = call.start_ns;
	*end_ns = call.end_ns;
	return true;
}

/* Whether correlation id `correlation` was given after `than`. Ids count up and wrap after 2^32. */
static bool is_later(uint32_t correlation, uint32_t than)
{
	return correlation != KWHY_NONE && (int32_t)(correlation - than) > 0;
}

static bool is_kernel(const struct kwhy_activities *rows, size_t row)
{
	return rows->kind[row] == KWHY_ACTIVITY_KERNEL || rows->kind[row] == KWHY_ACTIVITY_COLLECTIVE;
}

static bool is_own_kernel(const struct kwhy_recording *recording, size_t row)
{
	return !strncmp(kwhy_names_get(&recording->names, recording->activities.name[row]), OWN_KERNELS,
		strlen(OWN_KERNELS));
}

static struct kwhy_recorded_burst *burst_of(const struct kwhy_recorded *recorded, size_t row)
{
	const struct kwhy_recording *recording = recorded->recording;
	const struct kwhy_activities *rows = &recording->activities;

	return burst_at(recorded, recording->streams[rows->stream[row]].process, rows->start_ns[row]);
}

static bool is_of_burst(const struct kwhy_recorded_burst *burst, uint32_t correlation)
{
	return correlation == burst->correlation || is_later(correlation, burst->correlation);
}

/* Whether a burst repeats a copy or memset, which has no grid, instead of a kernel. */
static bool is_of_copies(const struct kwhy_burst *burst)
{
	return burst->blocks == KWHY_WIRE_UNKNOWN_U32 && burst->threads_per_block == KWHY_WIRE_UNKNOWN_U16;
}

/*
 * Whether an activity is the one that the burst repeats, or a repeat of it, by kind, name and size. Other
 * copies that kwhy probe makes are smaller than COPY_BYTES_MIN.
 */
static bool is_repeated(
	const struct kwhy_recorded *recorded, const struct kwhy_recorded_burst *burst, size_t row)
{
	const struct kwhy_activities *rows = &recorded->recording->activities;

	if (burst->burst.form == KWHY_BURST_COPIES)
		return rows->kind[row] == KWHY_ACTIVITY_COPY;
	if (is_of_copies(&burst->burst))
		return !is_kernel(rows, row) && rows->bytes[row] >= COPY_BYTES_MIN;
	return is_kernel(rows, row) && !is_own_kernel(recorded->recording, row) &&
		rows->name[row] == burst->burst.name;
}

/*
 * Whether an activity is the program's because it starts before the first repeat. Only a burst after a graph
 * or copy of the program has such activities: its repeats begin, at launch_ns, when the graph or copy has
 * finished.
 */
static bool is_before_all(const struct kwhy_recorded_burst *burst, int64_t start_ns)
{
	return burst->burst.form == KWHY_BURST_AFTER && start_ns < burst->burst.start_ns + burst->launch_ns;
}

/*
 * Whether kwhy probe delayed a launch but made no repeats, so that all activities are the program's. The
 * program's launch then comes at the end of the burst (launch_ns).
 */
static bool is_attempt(const struct kwhy_recorded_burst *burst)
{
	return !burst->burst.repeats &&
		burst->launch_ns == (uint64_t)(burst->burst.end_ns - burst->burst.start_ns);
}

static bool may_be_probers(
	const struct kwhy_recorded *recorded, const struct kwhy_recorded_burst *burst, size_t row)
{
	const struct kwhy_activities *rows = &recorded->recording->activities;

	return burst && !is_attempt(burst) && is_of_burst(burst, rows->call[row]) &&
		rows->kind[row] != KWHY_ACTIVITY_GRAPH && rows->graph_node[row] == KWHY_NONE &&
		!is_before_all(burst, rows->start_ns[row]);
}

/*
 * If the activity is the program's own launch of its burst, sets from it the burst's stream and the full name
 * of the kernel, which kwhy probe may have truncated. Otherwise, if the activity is the first repeat of its
 * burst, sets burst->stream to its stream. find_stream() uses that if the program's launch is not found: if
 * it had returned before the burst, or if CUPTI lost its record.
 */
static void find_first(const struct kwhy_recorded *recorded, size_t row)
{
	const struct kwhy_recording *recording = recorded->recording;
	const struct kwhy_activities *rows = &recording->activities;
	struct kwhy_recorded_burst *burst = burst_of(recorded, row);

	if (!may_be_probers(recorded, burst, row))
		return;
	if (burst->burst.form != KWHY_BURST_AFTER && rows->call[row] == burst->correlation &&
		is_kernel(rows, row) && !is_own_kernel(recording, row) &&
		rows->start_ns[row] < burst->first_ns) {
		burst->first_ns = rows->start_ns[row];
		burst->burst.stream = rows->stream[row];
		burst->burst.name = rows->name[row];
	} else if (burst->stream == KWHY_NONE && is_repeated(recorded, burst, row) &&
		recording->streams[rows->stream[row]].context == burst->context)
		burst->stream = rows->stream[row];
}

/*
 * If the program's own launch of a burst was not found, the burst gets the stream of the first repeat, and
 * all its matching activities count as repeats.
 */
static void find_stream(struct kwhy_recorded_burst *burst)
{
	if (burst->first_ns != INT64_MAX)
		return;
	burst->first_ns = INT64_MIN;
	burst->burst.stream = burst->stream;
}

static uint8_t origin_of(const struct kwhy_recorded *recorded, size_t row)
{
	const struct kwhy_activities *rows = &recorded->recording->activities;
	const struct kwhy_recorded_burst *burst = burst_of(recorded, row);

	if (!may_be_probers(recorded, burst, row) || rows->stream[row] != burst->burst.stream)
		return KWHY_ORIGIN_PROGRAM;
	if (is_repeated(recorded, burst, row) && rows->start_ns[row] > burst->first_ns)
		return KWHY_ORIGIN_REPEAT;
	if (burst->burst.form != KWHY_BURST_COPIES && is_repeated(recorded, burst, row))
		return KWHY_ORIGIN_PROGRAM;
	return is_kernel(rows, row) && !is_own_kernel(recorded->recording, row) ? KWHY_ORIGIN_PROGRAM
										: KWHY_ORIGIN_PROBER;
}

static bool are_of_one_kernel(const struct kwhy_burst *a, const struct kwhy_burst *b)
{
	return a->name == b->name && a->blocks == b->blocks && a->threads_per_block == b->threads_per_block;
}

static enum kwhy_status make_copies_name(struct kwhy_recorded *recorded, const struct kwhy_burst *burst,
	uint32_t *out, struct kwhy_error *error)
{
	struct kwhy_names *names = &recorded->recording->names;
	char *name;
	const int length = asprintf(&name, COPIES_NAME, kwhy_names_get(names, burst->name), burst->blocks,
		burst->threads_per_block);
	enum kwhy_status status;

	if (length < 0)
		return kwhy_fail_memory(error, "bursts of repeats");
	status = kwhy_names_intern(names, name, (size_t)length, out, error);
	free(name);
	return status;
}

/*
 * Gives the copies that restore a kernel's memory a name of their own if the recording has a burst of these
 * copies alone, from which their power is known. Without it they would share a name with other copies of
 * their size, whose power differs, because they leave the caches in another state.
 */
static enum kwhy_status name_copies(struct kwhy_recorded *recorded, struct kwhy_error *error)
{
	struct kwhy_recorded_burst *bursts = recorded->bursts;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < recorded->burst_count; i++) {
		if (bursts[i].burst.form != KWHY_BURST_COPIES || bursts[i].copies != KWHY_NONE)
			continue;
		status = make_copies_name(recorded, &bursts[i].burst, &bursts[i].copies, error);
		for (size_t k = 0; !status && k < recorded->burst_count; k++)
			if (are_of_one_kernel(&bursts[k].burst, &bursts[i].burst))
				bursts[k].copies = bursts[i].copies;
	}
	return status;
}

/*
 * Sets the origin of an activity that kwhy probe caused: a repeat of work of the program
 * (KWHY_ORIGIN_REPEAT), or other work of kwhy probe (KWHY_ORIGIN_PROBER). Removes the activity's correlation
 * id, so that it is not assigned to a call of the program.
 */
static void assign_origin(const struct kwhy_recorded *recorded, size_t row)
{
	struct kwhy_activities *rows = &recorded->recording->activities;
	const uint8_t origin = rows->origin[row] ? KWHY_ORIGIN_PROGRAM : origin_of(recorded, row);
	const struct kwhy_recorded_burst *burst;

	if (origin == KWHY_ORIGIN_PROGRAM)
		return;
	burst = burst_of(recorded, row);
	if (rows->kind[row] == KWHY_ACTIVITY_COPY && burst->copies != KWHY_NONE)
		rows->name[row] = burst->copies;
	rows->origin[row] = origin;
	rows->call[row] = KWHY_NONE;
}

enum kwhy_status kwhy_recorded_bursts_apply(struct kwhy_recorded *recorded, struct kwhy_error *error)
{
	struct kwhy_activities *rows = &recorded->recording->activities;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; i < rows->count && recorded->burst_count; i++)
		find_first(recorded, i);
	for (size_t i = 0; i < recorded->burst_count; i++)
		find_stream(&recorded->bursts[i]);
	status = name_copies(recorded, error);
	for (size_t i = 0; !status && i < rows->count && recorded->burst_count; i++)
		assign_origin(recorded, i);
	for (size_t i = 0; !status && i < recorded->burst_count; i++)
		status = kwhy_recording_add_burst(recorded->recording, &recorded->bursts[i].burst, error);
	return status;
}
