/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sort.h"
#include "whatif/parts.h"

#include <stdlib.h>

/*
 * Makes the JOIN links of calls: finds the work that each waiting call waited for, which recordings seldom
 * state. If the call itself issued work, it waited for that. Otherwise, a wait for a stream (StreamSync) is
 * taken to be for the thread's last work, and any other wait for the work that had been issued before the
 * call and was the last to end before the call returned.
 */

enum {
	/*
	 * number of activities, latest ends first, among which the work waited for is searched: activities of
	 * other processes, or issued later, may end at about the same time
	 */
	LOOK_BACK = 64,
	/*
	 * A launch call that takes at least LONG_LAUNCH_NS, and LONG_LAUNCHES times the median launch call,
	 * waited for space in the launch queue.
	 */
	LONG_LAUNCH_NS = 50000,
	LONG_LAUNCHES = 10,
	/*
	 * In bytes. In CUDA, calls for copies of pageable memory to the device of up to this size return
	 * before the copy begins; calls for larger ones block.
	 */
	STAGED_BYTES = 65536
};

static int by_end(const void *context, uint32_t a, uint32_t b)
{
	const struct kwhy_recording *recording = context;
	const struct kwhy_activities *rows = &recording->activities;
	uint32_t left = kwhy_recording_device_of(recording, a),
		 right = kwhy_recording_device_of(recording, b);

	if (left != right)
		return left < right ? -1 : 1;
	return kwhy_sort_by(rows->end_ns[a], rows->end_ns[b]);
}

size_t kwhy_whatif_ended_before(const struct kwhy_whatif_graph *graph, uint32_t device, int64_t time_ns)
{
	const struct kwhy_activities *rows = &graph->recording->activities;
	size_t low = rows->first[device], high = rows->first[device + 1];

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (rows->end_ns[kwhy_whatif_row_by_end(graph, middle)] <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool kwhy_whatif_is_wait(const struct kwhy_whatif_graph *graph, uint32_t call)
{
	const struct kwhy_calls *calls = &graph->recording->calls;

	switch (calls->class[call]) {
	case KWHY_CALL_SYNC:
	case KWHY_CALL_COPY:
		return true;
	case KWHY_CALL_FREE: /* waits, unless it is stream-ordered */
		return !kwhy_whatif_call_is(graph, call, KWHY_MARK_ASYNC);
	default:
		return false;
	}
}

/* State of a walk over the calls of one thread. call: the current one; process: that of the thread. */
struct walk {
	struct kwhy_whatif_graph *graph;
	/*
	 * [call_count] for each outermost call, the activity issued by it that ended last; KWHY_NONE: it
	 * issued none
	 */
	const uint32_t *issued;
	uint32_t call, process;
	uint32_t last; /* of the activities issued by the thread's latest call that issued any, the activity
			  that ended last; KWHY_NONE: the thread has issued nothing yet */
};

static bool was_issued_before(const struct walk *walk, uint32_t row)
{
	const struct kwhy_recording *recording = walk->graph->recording;
	uint32_t call = recording->activities.call[row];

	if (recording->streams[recording->activities.stream[row]].process != walk->process)
		return false;
	return call == KWHY_NONE
		? recording->activities.start_ns[row] <= recording->calls.start_ns[walk->call]
		: recording->calls.start_ns[walk->graph->outer[call]] < recording->calls.start_ns[walk->call];
}

/*
 * The device of the thread's last work, else that of the first stream of its process; KWHY_NONE: the process
 * has no stream.
 */
static uint32_t device_of(const struct walk *walk)
{
	const struct kwhy_recording *recording = walk->graph->recording;

	if (walk->last != KWHY_NONE)
		return kwhy_recording_device_of(recording, walk->last);
	for (size_t s = 0; s < recording->stream_count; s++)
		if (recording->streams[s].process == walk->process)
			return recording->streams[s].device;
	return KWHY_NONE;
}

static uint32_t ended_last(const struct walk *walk, int64_t until_ns)
{
	uint32_t device = device_of(walk);
	size_t first, place;

	if (device == KWHY_NONE)
		return KWHY_NONE;
	first = walk->graph->recording->activities.first[device];
	place = kwhy_whatif_ended_before(walk->graph, device, until_ns);
	for (size_t back = 0; back < LOOK_BACK && place > first; back++) {
		uint32_t row = kwhy_whatif_row_by_end(walk->graph, --place);

		if (was_issued_before(walk, row))
			return row;
	}
	return KWHY_NONE;
}

static bool has_ended(const struct walk *walk, uint32_t row)
{
	const struct kwhy_recording *recording = walk->graph->recording;

	return row != KWHY_NONE &&
		recording->activities.end_ns[row] <=
		recording->calls.end_ns[walk->call] + KWHY_WHATIF_CLOCKS_NS;
}

/* Whether an activity is a copy from or to pageable memory, which blocks even in an asynchronous call. */
static bool blocks(const struct walk *walk, uint32_t row)
{
	const struct kwhy_activities *rows = &walk->graph->recording->activities;

	return rows->kind[row] == KWHY_ACTIVITY_COPY &&
		(rows->src_memory[row] == KWHY_MEMORY_PAGEABLE ||
			rows->dst_memory[row] == KWHY_MEMORY_PAGEABLE);
}

/*
 * Whether an activity is a copy of more than STAGED_BYTES from pageable memory that had begun when its call
 * returned. Such a call returns when the host has filled the last staging buffer, shortly before the copy
 * ends on the device; so it waited for the copy, although it returned earlier.
 */
static bool is_being_filled(const struct walk *walk, uint32_t row)
{
	const struct kwhy_activities *rows = &walk->graph->recording->activities;

	return rows->kind[row] == KWHY_ACTIVITY_COPY && rows->copy_kind[row] == KWHY_COPY_H2D &&
		rows->src_memory[row] == KWHY_MEMORY_PAGEABLE && rows->bytes[row] != KWHY_UNKNOWN_BYTES &&
		rows->bytes[row] > STAGED_BYTES &&
		rows->start_ns[row] < walk->graph->recording->calls.end_ns[walk->call];
}

static uint32_t waited_for(const struct walk *walk)
{
	const struct kwhy_recording *recording = walk->graph->recording;
	const struct kwhy_calls *calls = &recording->calls;
	int64_t start_ns = calls->start_ns[walk->call], end_ns = calls->end_ns[walk->call];
	uint32_t own = walk->issued[walk->call], row;
	bool waits = kwhy_whatif_is_wait(walk->graph, walk->call);

	if (own != KWHY_NONE && (waits || blocks(walk, own)))
		return has_ended(walk, own) || is_being_filled(walk, own) ? own : KWHY_NONE;
	if (waits && kwhy_whatif_call_is(walk->graph, walk->call, KWHY_MARK_STREAM_SYNC) &&
		has_ended(walk, walk->last))
		return walk->last;
	if (waits)
		return ended_last(walk, end_ns + KWHY_WHATIF_CLOCKS_NS);
	if (calls->class[walk->call] != KWHY_CALL_LAUNCH || end_ns - start_ns < LONG_LAUNCH_NS ||
		end_ns - start_ns < LONG_LAUNCHES * walk->graph->delays.launch_call_ns)
		return KWHY_NONE;
	row = ended_last(walk, end_ns);
	return row != KWHY_NONE && recording->activities.end_ns[row] > start_ns ? row : KWHY_NONE;
}

static void link_thread(struct walk *walk, size_t thread)
{
	const struct kwhy_calls *calls = &walk->graph->recording->calls;

	walk->process = walk->graph->recording->threads[thread].process;
	walk->last = KWHY_NONE;
	for (size_t i = calls->first[thread]; i < calls->first[thread + 1]; i++) {
		uint32_t node = kwhy_whatif_call_node(walk->graph, (uint32_t)i);

		if (walk->graph->outer[i] != i)
			continue;
		walk->call = (uint32_t)i;
		walk->graph->nodes[node].from[KWHY_LINK_JOIN] = waited_for(walk);
		if (walk->issued[i] != KWHY_NONE)
			walk->last = walk->issued[i];
	}
}

static void find_issued(const struct kwhy_whatif_graph *graph, uint32_t *issued)
{
	const struct kwhy_activities *rows = &graph->recording->activities;

	for (size_t i = 0; i < graph->call_count; i++)
		issued[i] = KWHY_NONE;
	for (size_t i = 0; i < rows->count; i++) {
		uint32_t *row = rows->call[i] == KWHY_NONE ? NULL : &issued[graph->outer[rows->call[i]]];

		if (row && (*row == KWHY_NONE || rows->end_ns[i] >= rows->end_ns[*row]))
			*row = (uint32_t)i;
	}
}

enum kwhy_status kwhy_whatif_link_waits(struct kwhy_whatif_graph *graph, struct kwhy_error *error)
{
	uint32_t *issued = malloc((graph->call_count + 1) * sizeof(*issued));
	struct walk walk = {.graph = graph, .issued = issued};
	enum kwhy_status status;

	if (!issued)
		return kwhy_fail_memory(error, "what calls issued");
	find_issued(graph, issued);
	status = kwhy_sort_order(graph->activity_count, by_end, graph->recording, &graph->by_end, error);
	for (size_t t = 0; !status && t < graph->recording->thread_count; t++)
		link_thread(&walk, t);
	free(issued);
	return status;
}
