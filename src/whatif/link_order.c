/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/parts.h"

#include <stdlib.h>

/*
 * Makes the nodes, and the links that the recording states directly: the ORDER links along streams and
 * threads, and the ISSUE links from activities to their calls.
 */

static struct kwhy_whatif_node fresh_node(
	struct kwhy_whatif_graph *graph, enum kwhy_whatif_kind kind, int64_t own_ns)
{
	struct kwhy_whatif_node node = {.own = kwhy_whatif_code(graph, own_ns), .kind = (uint8_t)kind};

	for (size_t link = 0; link < KWHY_LINK_COUNT; link++)
		node.from[link] = KWHY_NONE;
	return node;
}

/*
 * Makes the nodes of calls, and finds the outermost call around each. Calls of a thread are sorted by start,
 * and of calls with one start the outer one comes first. A call is thus inside the latest outermost call
 * unless it starts or ends after the end of that call; then it is the next outermost call.
 */
static void find_outer_calls(struct kwhy_whatif_graph *graph)
{
	const struct kwhy_calls *calls = &graph->recording->calls;
	size_t outer = 0;

	for (size_t i = 0; i < calls->count; i++) {
		bool opens = i == 0 || calls->thread[i] != calls->thread[outer] ||
			calls->start_ns[i] >= calls->end_ns[outer] || calls->end_ns[i] > calls->end_ns[outer];
		struct kwhy_whatif_node *node = &graph->nodes[graph->activity_count + i];

		*node = fresh_node(graph, opens ? KWHY_NODE_CALL : KWHY_NODE_INNER,
			calls->end_ns[i] - calls->start_ns[i]);
		if (opens && i && calls->thread[i] == calls->thread[outer])
			node->from[KWHY_LINK_ORDER] = kwhy_whatif_call_node(graph, (uint32_t)outer);
		outer = opens ? i : outer;
		graph->outer[i] = (uint32_t)outer;
	}
}

static void link_activity(struct kwhy_whatif_graph *graph, size_t row, uint32_t before)
{
	const struct kwhy_activities *rows = &graph->recording->activities;
	struct kwhy_whatif_node *node = &graph->nodes[row];
	uint32_t call = rows->call[row];

	*node = fresh_node(graph, KWHY_NODE_ACTIVITY, rows->end_ns[row] - rows->start_ns[row]);
	node->from[KWHY_LINK_ORDER] = before;
	if (before != KWHY_NONE && rows->end_ns[before] > rows->start_ns[row])
		node->flags |= KWHY_NODE_OVERLAPS;
	if (call == KWHY_NONE)
		return;
	call = graph->outer[call];
	/*
	 * If an activity starts before its call, the clocks of host and device disagree, and a link to the
	 * call would be wrong.
	 */
	if (graph->recording->calls.start_ns[call] <= rows->start_ns[row])
		node->from[KWHY_LINK_ISSUE] = kwhy_whatif_call_node(graph, call);
}

enum kwhy_status kwhy_whatif_link_order(struct kwhy_whatif_graph *graph, struct kwhy_error *error)
{
	const struct kwhy_activities *rows = &graph->recording->activities;
	size_t streams = graph->recording->stream_count;
	uint32_t *last = malloc((streams + 1) * sizeof(*last));

	if (!last)
		return kwhy_fail_memory(error, "the order of streams");
	find_outer_calls(graph);
	for (size_t s = 0; s < streams; s++)
		last[s] = KWHY_NONE;
	for (size_t i = 0; i < rows->count; i++) {
		link_activity(graph, i, last[rows->stream[i]]);
		last[rows->stream[i]] = (uint32_t)i;
	}
	free(last);
	return KWHY_OK;
}
