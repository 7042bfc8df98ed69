/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/parts.h"

/*
 * Sets the lags of all links: least times from the start or end of the node to which a link leads. With them
 * the unchanged graph gives the recorded times. Of the links that bound a node's start, one decides it, and
 * its lag is such that the recorded start results. The other links get the usual delay, or the recorded one
 * if that is shorter. If a change removes the deciding link or makes it shorter, another link decides, so
 * that the node then starts with a usual delay.
 */

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t recorded_from(
	const struct kwhy_whatif_graph *graph, const struct kwhy_whatif_node *node, size_t link)
{
	return kwhy_whatif_follows_start(node, link) ? kwhy_whatif_recorded_start(graph, node->from[link])
						     : kwhy_whatif_recorded_end(graph, node->from[link]);
}

static int64_t usual_ns(const struct kwhy_whatif_graph *graph, uint32_t at, size_t link)
{
	const struct kwhy_whatif_node *node = &graph->nodes[at];

	if (node->kind == KWHY_NODE_JOINT)
		return 0;
	if (node->kind == KWHY_NODE_CALL)
		return link == KWHY_LINK_ORDER && node->from[KWHY_LINK_CROSS] == KWHY_NONE ? INT64_MAX : 0;
	if (kwhy_whatif_follows_start(node, link) && link != KWHY_LINK_ISSUE)
		return INT64_MAX;
	if (link == KWHY_LINK_ISSUE)
		return kwhy_whatif_issue_ns(graph, at);
	return kwhy_whatif_queued_ns(graph, node->from[link], at);
}

/*
 * If an activity started in an idle stream more than KWHY_WHATIF_STALL_NS after its call had returned,
 * something stalled the device, and would do so as well if a change delayed several launches together. So
 * that delay is kept as the lag from the end of the activity before it in the stream.
 */
static void keep_stall(struct kwhy_whatif_graph *graph, uint32_t at)
{
	struct kwhy_whatif_node *node = &graph->nodes[at];
	const uint32_t call = node->from[KWHY_LINK_ISSUE], before = node->from[KWHY_LINK_ORDER];
	int64_t returned_ns, stall_ns;

	if (node->kind != KWHY_NODE_ACTIVITY || call == KWHY_NONE || before == KWHY_NONE ||
		node->flags & KWHY_NODE_OVERLAPS)
		return;
	returned_ns = kwhy_whatif_recorded_end(graph, call);
	stall_ns = kwhy_whatif_recorded_start(graph, at) - returned_ns;
	if (stall_ns > KWHY_WHATIF_STALL_NS && kwhy_whatif_recorded_end(graph, before) <= returned_ns)
		kwhy_whatif_set_lag(graph, node, KWHY_LINK_ORDER, stall_ns);
}

static void set_start_lags(struct kwhy_whatif_graph *graph, uint32_t at)
{
	struct kwhy_whatif_node *node = &graph->nodes[at];
	int64_t start_ns = kwhy_whatif_recorded_start(graph, at), latest_ns = INT64_MIN;
	size_t decides = KWHY_LINK_COUNT;

	for (size_t link = 0; link < KWHY_LINK_JOIN; link++) {
		int64_t from_ns, lag_ns;

		if (node->from[link] == KWHY_NONE)
			continue;
		from_ns = recorded_from(graph, node, link);
		lag_ns = least(start_ns - from_ns, usual_ns(graph, at, link));
		kwhy_whatif_set_lag(graph, node, link, lag_ns);
		if (from_ns + lag_ns > latest_ns) {
			latest_ns = from_ns + lag_ns;
			decides = link;
		}
	}
	if (decides == KWHY_LINK_COUNT)
		kwhy_whatif_set_lag(graph, node, KWHY_LINK_ORDER, start_ns);
	else if (start_ns != latest_ns)
		kwhy_whatif_set_lag(graph, node, decides,
			kwhy_whatif_lag_ns(graph, node, decides) + start_ns - latest_ns);
	if (decides == KWHY_LINK_ISSUE)
		keep_stall(graph, at);
}

/*
 * Time in ns that a node takes without its wait: its recorded length own_ns, but at most the time from
 * from_ns, when the work that it waited for ended, to its own end end_ns; 0 if it ended before that work.
 */
static int64_t alone_ns(int64_t own_ns, int64_t end_ns, int64_t from_ns)
{
	int64_t rest_ns = end_ns - from_ns;

	return rest_ns < 0 ? 0 : least(own_ns, rest_ns);
}

static void set_end_lag(struct kwhy_whatif_graph *graph, uint32_t at)
{
	struct kwhy_whatif_node *node = &graph->nodes[at];
	int64_t end_ns = kwhy_whatif_recorded_end(graph, at);
	int64_t from_ns = recorded_from(graph, node, KWHY_LINK_JOIN);
	int64_t lag_ns = end_ns - from_ns;

	if (node->kind == KWHY_NODE_ACTIVITY || from_ns > kwhy_whatif_recorded_start(graph, at))
		kwhy_whatif_set_own(graph, node, alone_ns(kwhy_whatif_own_ns(graph, node), end_ns, from_ns));
	else
		lag_ns = least(lag_ns,
			graph->delays.return_ns[graph->recording->calls.class[at - graph->activity_count]]);
	kwhy_whatif_set_lag(graph, node, KWHY_LINK_JOIN, lag_ns);
}

enum {
	/* in bytes; a call that waits for a larger copy may return well after the copy ended on the device */
	SMALL_BYTES = 65536
};

static bool is_large_copy(const struct kwhy_activities *rows, uint32_t row)
{
	return rows->kind[row] == KWHY_ACTIVITY_COPY && rows->bytes[row] > SMALL_BYTES;
}

/*
 * Time in ns from the end of the work that a call waited for to the return of the call; INT64_MAX: it waited
 * for nothing, or the work did not end during the call.
 */
static int64_t return_of(const struct kwhy_whatif_graph *graph, size_t call)
{
	const struct kwhy_calls *calls = &graph->recording->calls;
	const struct kwhy_whatif_node *node = &graph->nodes[graph->activity_count + call];
	uint32_t from = node->from[KWHY_LINK_JOIN];
	int64_t done_ns;

	if (node->kind != KWHY_NODE_CALL || from == KWHY_NONE)
		return INT64_MAX;
	done_ns = kwhy_whatif_recorded_end(graph, from);
	return done_ns <= calls->start_ns[call] || done_ns > calls->end_ns[call]
		? INT64_MAX
		: calls->end_ns[call] - done_ns;
}

/*
 * Finds delays.return_ns: for each class of calls, the shortest time from the end of the work to the return
 * of a call that waited for it. A class whose calls never waited gets the shortest time of all classes,
 * without calls that waited for copies above SMALL_BYTES. If no call waited, it gets the length of its own
 * shortest call.
 */
static void find_returns(struct kwhy_whatif_graph *graph)
{
	const struct kwhy_calls *calls = &graph->recording->calls;
	int64_t *least_ns = graph->delays.return_ns, any_ns = INT64_MAX;

	for (size_t class = 0; class < KWHY_CALL_CLASS_COUNT; class ++)
		least_ns[class] = INT64_MAX;
	for (size_t i = 0; i < graph->call_count; i++) {
		int64_t return_ns = return_of(graph, i);

		least_ns[calls->class[i]] = least(least_ns[calls->class[i]], return_ns);
		if (return_ns < any_ns &&
			!is_large_copy(&graph->recording->activities,
				graph->nodes[graph->activity_count + i].from[KWHY_LINK_JOIN]))
			any_ns = return_ns;
	}
	for (size_t class = 0; class < KWHY_CALL_CLASS_COUNT; class ++)
		if (least_ns[class] == INT64_MAX)
			least_ns[class] = any_ns == INT64_MAX ? graph->delays.least_call_ns[class] : any_ns;
}

void kwhy_whatif_set_lags(struct kwhy_whatif_graph *graph)
{
	find_returns(graph);
	for (uint32_t i = 0; i < graph->node_count; i++) {
		if (graph->nodes[i].kind == KWHY_NODE_INNER)
			continue;
		set_start_lags(graph, i);
		if (graph->nodes[i].from[KWHY_LINK_JOIN] != KWHY_NONE)
			set_end_lag(graph, i);
	}
}
