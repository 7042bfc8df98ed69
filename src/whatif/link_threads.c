/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sort.h"
#include "whatif/parts.h"

#include <stdlib.h>

/*
 * Makes the CROSS links of calls: threads that hand work to each other, as a program and its backward pass
 * do. A call after a pause of its thread of PAUSE_NS or more is linked to a call of another thread of the
 * process that started and ended during the pause; of several, to the one that ended last. Recordings do not
 * state which thread waited for which, so the links keep the recorded order.
 */

enum { PAUSE_NS = 20000 };

static uint32_t process_of(const struct kwhy_recording *recording, size_t call)
{
	return recording->threads[recording->calls.thread[call]].process;
}

static int by_process_and_start(const void *context, uint32_t a, uint32_t b)
{
	const struct kwhy_recording *recording = context;
	const int64_t *start_ns = recording->calls.start_ns;
	uint32_t left = process_of(recording, a), right = process_of(recording, b);

	if (left != right)
		return left < right ? -1 : 1;
	return kwhy_sort_by(start_ns[a], start_ns[b]);
}

/* The process whose calls are visited, and the one of its calls so far that ended last. */
struct latest {
	uint32_t process, call;
};

static void note(struct latest *latest, const struct kwhy_calls *calls, uint32_t call)
{
	if (latest->call == KWHY_NONE || calls->end_ns[call] >= calls->end_ns[latest->call])
		latest->call = call;
}

/*
 * Links a call to latest->call, if that started and ended during the pause before the call. It is then of
 * another thread, since the call's own thread made no call in the pause.
 */
static void link_call(struct kwhy_whatif_graph *graph, const struct latest *latest, uint32_t call)
{
	const struct kwhy_calls *calls = &graph->recording->calls;
	struct kwhy_whatif_node *node = &graph->nodes[kwhy_whatif_call_node(graph, call)];
	uint32_t before = node->from[KWHY_LINK_ORDER], from = latest->call;
	int64_t paused_ns = before == KWHY_NONE ? INT64_MIN : kwhy_whatif_recorded_end(graph, before);

	if (from == KWHY_NONE || calls->end_ns[from] >= calls->start_ns[call] ||
		calls->start_ns[from] <= paused_ns || paused_ns > calls->start_ns[call] - PAUSE_NS)
		return;
	node->from[KWHY_LINK_CROSS] = kwhy_whatif_call_node(graph, from);
}

enum kwhy_status kwhy_whatif_link_threads(struct kwhy_whatif_graph *graph, struct kwhy_error *error)
{
	const struct kwhy_recording *recording = graph->recording;
	struct latest latest = {KWHY_NONE, KWHY_NONE};
	uint32_t *order = NULL;
	enum kwhy_status status = kwhy_sort_order(
		graph->call_count, by_process_and_start, recording, &order, error);

	for (size_t i = 0; !status && i < graph->call_count; i++) {
		uint32_t call = order ? order[i] : (uint32_t)i, process = process_of(recording, call);

		/* Calls of class OTHER, such as queries whether work has ended, hand over no work. */
		if (graph->outer[call] != call || recording->calls.class[call] == KWHY_CALL_OTHER)
			continue;
		if (process != latest.process)
			latest = (struct latest){process, KWHY_NONE};
		link_call(graph, &latest, call);
		note(&latest, &recording->calls, call);
	}
	free(order);
	return status;
}
