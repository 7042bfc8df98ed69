/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/parts.h"

#include <stdlib.h>

/*
 * Makes the CROSS links of activities: waits of one stream for another. If a thread called StreamWaitEvent
 * before it issued an activity, that call states the wait. Elsewhere, if neither stream nor call explains why
 * an activity starts as late as it does, it is linked to the activity of another stream that ended last
 * before it. This keeps the recorded order.
 */

enum { UNEXPLAINED_NS = 2000, LOOK_BACK = 8 };

/*
 * Writes the first activity that each outermost call issued to issued[call_count]; KWHY_NONE: it issued none.
 */
static void find_first_issued(const struct kwhy_whatif_graph *graph, uint32_t *issued)
{
	const struct kwhy_activities *rows = &graph->recording->activities;

	for (size_t i = 0; i < graph->call_count; i++)
		issued[i] = KWHY_NONE;
	for (size_t i = rows->count; i-- > 0;)
		if (rows->call[i] != KWHY_NONE)
			issued[graph->outer[rows->call[i]]] = (uint32_t)i;
}

/*
 * What a thread has issued so far. last: the last activity; other: the last activity in a stream other than
 * that of `last`.
 */
struct trail {
	uint32_t last, other;
	bool reported; /* whether the thread has called StreamWaitEvent since it issued `last` */
};

static void follow(struct kwhy_whatif_graph *graph, struct trail *trail, uint32_t row)
{
	const struct kwhy_activities *rows = &graph->recording->activities;
	bool changes = trail->last != KWHY_NONE && rows->stream[trail->last] != rows->stream[row];
	uint32_t before = changes ? trail->last : trail->other;

	if (trail->reported && before != KWHY_NONE && before < row &&
		rows->end_ns[before] <= rows->start_ns[row] && rows->stream[before] != rows->stream[row])
		graph->nodes[row].from[KWHY_LINK_CROSS] = before;
	trail->other = changes ? trail->last : trail->other;
	trail->last = row;
	trail->reported = false;
}

static void link_reported(struct kwhy_whatif_graph *graph, const uint32_t *issued, size_t thread)
{
	const struct kwhy_calls *calls = &graph->recording->calls;
	struct trail trail = {KWHY_NONE, KWHY_NONE, false};

	for (size_t i = calls->first[thread]; i < calls->first[thread + 1]; i++) {
		trail.reported |= kwhy_whatif_call_is(graph, i, KWHY_MARK_STREAM_WAIT);
		if (graph->outer[i] == i && issued[i] != KWHY_NONE)
			follow(graph, &trail, issued[i]);
	}
}

/*
 * Time in ns at which an activity would have started if it had waited only for its stream and its call;
 * INT64_MIN: both are unknown; INT64_MAX: it overlapped the previous activity of its stream, so no link is
 * made.
 */
static int64_t explained_ns(const struct kwhy_whatif_graph *graph, uint32_t row)
{
	const struct kwhy_whatif_node *node = &graph->nodes[row];
	uint32_t before = node->from[KWHY_LINK_ORDER], issue = node->from[KWHY_LINK_ISSUE];
	int64_t time_ns = INT64_MIN;

	if (before != KWHY_NONE && node->flags & KWHY_NODE_OVERLAPS)
		return INT64_MAX;
	if (before != KWHY_NONE)
		time_ns = kwhy_whatif_recorded_end(graph, before) + kwhy_whatif_queued_ns(graph, before, row);
	if (issue != KWHY_NONE) {
		int64_t issue_ns = kwhy_whatif_recorded_start(graph, issue) +
			kwhy_whatif_issue_ns(graph, row);

		time_ns = issue_ns > time_ns ? issue_ns : time_ns;
	}
	return time_ns;
}

static void link_seen(struct kwhy_whatif_graph *graph, uint32_t row, uint32_t device)
{
	const struct kwhy_activities *rows = &graph->recording->activities;
	int64_t start_ns = rows->start_ns[row], time_ns = explained_ns(graph, row);
	size_t place, first = rows->first[device];

	if (graph->nodes[row].from[KWHY_LINK_CROSS] != KWHY_NONE || time_ns > start_ns - UNEXPLAINED_NS)
		return;
	place = kwhy_whatif_ended_before(graph, device, start_ns);
	for (size_t back = 0; back < LOOK_BACK && place > first; back++) {
		uint32_t before = kwhy_whatif_row_by_end(graph, --place);

		if (rows->end_ns[before] <= time_ns)
			return;
		if (before < row && rows->stream[before] != rows->stream[row]) {
			graph->nodes[row].from[KWHY_LINK_CROSS] = before;
			return;
		}
	}
}

enum kwhy_status kwhy_whatif_link_streams(struct kwhy_whatif_graph *graph, struct kwhy_error *error)
{
	const struct kwhy_recording *recording = graph->recording;
	uint32_t *issued = malloc((graph->call_count + 1) * sizeof(*issued));

	if (!issued)
		return kwhy_fail_memory(error, "what calls issued");
	find_first_issued(graph, issued);
	for (size_t t = 0; t < recording->thread_count; t++)
		link_reported(graph, issued, t);
	free(issued);
	for (uint32_t d = 0; d < recording->device_count; d++)
		for (size_t i = recording->activities.first[d]; i < recording->activities.first[d + 1]; i++)
			link_seen(graph, (uint32_t)i, d);
	return KWHY_OK;
}
