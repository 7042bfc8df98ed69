/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/parts.h"

#include "base/column.h"
#include "base/large.h"

#include <stdlib.h>
#include <string.h>

/*
 * Simulates a graph. Every start of a node is a vertex, and so is every end that a JOIN link bounds; other
 * ends are computed together with their start. Vertices are computed in the order of the unchanged graph
 * (graph->order), in which each comes after those that it follows. Once an edit has made a node follow a
 * later one, that order is no longer right: a simulation then marks the computed vertices, and uses a stack
 * to compute first what a vertex follows.
 */

/*
 * States of a node's start, as bits of graph->state[node]. Those of its end are shifted left by one. VISITED:
 * its computation has begun; KNOWN: its time is computed.
 */
enum vertex_state { UNKNOWN = 0, VISITED = 1, KNOWN = 4 };

enum { AHEAD = KWHY_WHATIF_AHEAD };

static uint32_t start_of(uint32_t node)
{
	return node * 2;
}

static bool is(const struct kwhy_whatif_graph *graph, uint32_t vertex, enum vertex_state state)
{
	return graph->state[vertex / 2] & (unsigned)state << (vertex & 1);
}

static void set(struct kwhy_whatif_graph *graph, uint32_t vertex, enum vertex_state state)
{
	graph->state[vertex / 2] |= (uint8_t)((unsigned)state << (vertex & 1));
}

static bool has_bound_end(const struct kwhy_whatif_node *node)
{
	return node->from[KWHY_LINK_JOIN] != KWHY_NONE && !(node->flags & KWHY_NODE_DROPPED);
}

static uint32_t end_of(const struct kwhy_whatif_graph *graph, uint32_t node)
{
	return node * 2 + has_bound_end(&graph->nodes[node]);
}

bool kwhy_whatif_has_link(const struct kwhy_whatif_node *node, size_t link)
{
	if (node->from[link] == KWHY_NONE || !(node->flags & KWHY_NODE_DROPPED))
		return node->from[link] != KWHY_NONE;
	return link == KWHY_LINK_ORDER || node->kind == KWHY_NODE_CALL ||
		node->from[KWHY_LINK_ORDER] == KWHY_NONE;
}

static uint32_t followed(
	const struct kwhy_whatif_graph *graph, const struct kwhy_whatif_node *node, size_t link)
{
	return kwhy_whatif_follows_start(node, link) ? start_of(node->from[link])
						     : end_of(graph, node->from[link]);
}

/*
 * Whether the time to which a link leads is computed. The bit of an end that no link bounds is set together
 * with that of its start.
 */
static bool is_reached(
	const struct kwhy_whatif_graph *graph, const struct kwhy_whatif_node *node, size_t link)
{
	return is(graph, node->from[link] * 2 + !kwhy_whatif_follows_start(node, link), KNOWN);
}

static inline int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static inline int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/*
 * Earliest time that a link allows: times_ns (starts or ends) of the node followed, plus the lag; INT64_MIN:
 * there is no such link.
 */
static inline int64_t reached(const struct kwhy_whatif_graph *graph, const int64_t *times_ns,
	const struct kwhy_whatif_node *node, size_t link)
{
	return node->from[link] == KWHY_NONE
		? INT64_MIN
		: times_ns[node->from[link]] + kwhy_whatif_lag_ns(graph, node, link);
}

/*
 * Collects changed, first_ns and last_ns of the graph while activities are computed, so that callers need not
 * read all nodes again.
 */
static inline void note_activity(
	struct kwhy_whatif_graph *graph, uint32_t at, const struct kwhy_whatif_node *node)
{
	if (node->flags & (KWHY_NODE_DROPPED | KWHY_NODE_CHANGED))
		graph->changed[graph->changed_count++] = at;
	if (node->flags & KWHY_NODE_DROPPED)
		return;
	graph->first_ns = earlier(graph->first_ns, graph->start_ns[at]);
	graph->last_ns = later(graph->last_ns, graph->end_ns[at]);
}

static inline void set_end(struct kwhy_whatif_graph *graph, uint32_t at, const struct kwhy_whatif_node *node)
{
	const int64_t end_ns = reached(graph, graph->end_ns, node, KWHY_LINK_JOIN);

	if (end_ns <= graph->end_ns[at])
		return;
	graph->end_ns[at] = end_ns;
	if (node->kind == KWHY_NODE_ACTIVITY && !(node->flags & KWHY_NODE_DROPPED))
		graph->last_ns = later(graph->last_ns, end_ns);
}

static inline void set_start(
	struct kwhy_whatif_graph *graph, uint32_t at, const struct kwhy_whatif_node *node, int64_t latest_ns)
{
	graph->start_ns[at] = latest_ns == INT64_MIN ? kwhy_whatif_lag_ns(graph, node, KWHY_LINK_ORDER)
						     : latest_ns;
	graph->end_ns[at] = graph->start_ns[at] + kwhy_whatif_own_ns(graph, node);
	if (node->kind == KWHY_NODE_ACTIVITY)
		note_activity(graph, at, node);
}

/*
 * Latest of the times that the links that bound a node's start allow; INT64_MIN: it has none. The result is
 * that of a loop over the links with kwhy_whatif_has_link() and kwhy_whatif_follows_start(); distinguishing
 * kinds of nodes once, not for each link, is faster, and most of a simulation's time is spent here.
 */
static inline int64_t latest_reached(
	const struct kwhy_whatif_graph *graph, const struct kwhy_whatif_node *node)
{
	const int64_t *start_ns = graph->start_ns, *end_ns = graph->end_ns;
	int64_t latest_ns;

	if (node->kind == KWHY_NODE_CALL)
		return later(reached(graph, end_ns, node, KWHY_LINK_ORDER),
			reached(graph, end_ns, node, KWHY_LINK_CROSS));
	latest_ns = reached(graph,
		node->kind == KWHY_NODE_JOINT || node->flags & KWHY_NODE_OVERLAPS ? start_ns : end_ns, node,
		KWHY_LINK_ORDER);
	if (node->flags & KWHY_NODE_DROPPED && node->from[KWHY_LINK_ORDER] != KWHY_NONE)
		return latest_ns;
	latest_ns = later(latest_ns, reached(graph, start_ns, node, KWHY_LINK_ISSUE));
	return later(latest_ns,
		reached(graph,
			node->kind == KWHY_NODE_JOINT || node->flags & KWHY_NODE_FOLLOWS_START ? start_ns
											       : end_ns,
			node, KWHY_LINK_CROSS));
}

/*
 * Computes a vertex and returns KWHY_LINK_COUNT; or, if one of its links leads to a vertex that is not
 * computed yet, that link.
 */
static size_t compute(struct kwhy_whatif_graph *graph, uint32_t vertex)
{
	uint32_t at = vertex / 2;
	const struct kwhy_whatif_node *node = &graph->nodes[at];

	if (vertex & 1) {
		if (node->from[KWHY_LINK_JOIN] != KWHY_NONE) {
			if (!is_reached(graph, node, KWHY_LINK_JOIN))
				return KWHY_LINK_JOIN;
			set_end(graph, at, node);
		}
		set(graph, vertex, KNOWN);
		return KWHY_LINK_COUNT;
	}
	for (size_t link = 0; link < KWHY_LINK_JOIN; link++)
		if (kwhy_whatif_has_link(node, link) && !is_reached(graph, node, link))
			return link;
	set_start(graph, at, node, latest_reached(graph, node));
	set(graph, vertex, KNOWN);
	if (!has_bound_end(node))
		set(graph, vertex + 1, KNOWN);
	return KWHY_LINK_COUNT;
}

static enum kwhy_status fail_circle(struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_INPUT,
		"these changes cannot be made together: they would make an activity wait for itself; leave "
		"one of them out");
}

static enum kwhy_status push(struct kwhy_whatif_graph *graph, uint32_t vertex, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_column_reserve((void **)&graph->stack, &graph->stack_capacity,
		graph->stack_depth + 1, sizeof(*graph->stack), "the graph's order", error);

	if (!status)
		graph->stack[graph->stack_depth++] = vertex;
	return status;
}

/* Whether a vertex is on the stack, so that the vertices that it follows are being computed. */
static bool is_open(const struct kwhy_whatif_graph *graph, uint32_t vertex)
{
	return is(graph, vertex, VISITED) && !is(graph, vertex, KNOWN);
}

/*
 * Pushes the vertex to which a link of the top vertex leads. If that vertex is already being computed, the
 * link closes a cycle: it is removed if `making` (the graph is being made), otherwise KWHY_E_INPUT.
 */
static enum kwhy_status descend(
	struct kwhy_whatif_graph *graph, size_t link, bool making, struct kwhy_error *error)
{
	uint32_t top = graph->stack[graph->stack_depth - 1];
	struct kwhy_whatif_node *node = &graph->nodes[top / 2];
	uint32_t next = followed(graph, node, link);

	/*
	 * The end of a node needs its start, so a link to an end also closes a cycle if that start is on the
	 * stack.
	 */
	if (is_open(graph, next) || (next & 1 && is_open(graph, next - 1))) {
		if (!making)
			return fail_circle(error);
		node->from[link] = KWHY_NONE;
		return KWHY_OK;
	}
	set(graph, next, VISITED);
	return push(graph, next, error);
}

/* Computes everything on which a vertex depends, then the vertex itself. */
static enum kwhy_status reach(
	struct kwhy_whatif_graph *graph, uint32_t vertex, bool making, struct kwhy_error *error)
{
	enum kwhy_status status;

	set(graph, vertex, VISITED);
	graph->stack_depth = 0;
	status = push(graph, vertex, error);
	while (!status && graph->stack_depth) {
		uint32_t top = graph->stack[graph->stack_depth - 1];
		bool start_first = top & 1 && !is(graph, top - 1, VISITED) && !is(graph, top - 1, KNOWN);
		size_t link;

		if (start_first) {
			set(graph, top - 1, VISITED);
			status = push(graph, top - 1, error);
			continue;
		}
		link = compute(graph, top);
		if (link != KWHY_LINK_COUNT) {
			status = descend(graph, link, making, error);
		} else {
			if (making)
				graph->order[graph->order_count++] = top;
			graph->stack_depth--;
		}
	}
	return status;
}

static void forget(struct kwhy_whatif_graph *graph)
{
	memset(graph->state, UNKNOWN, graph->node_count);
	graph->changed_count = 0;
	graph->first_ns = INT64_MAX;
	graph->last_ns = INT64_MIN;
}

/*
 * Writes graph->place: the position in graph->order of every start and end. An end that no link bounds has
 * the position of its start.
 */
static void find_places(struct kwhy_whatif_graph *graph)
{
	for (size_t i = 0; i < graph->order_count; i++) {
		const uint32_t vertex = graph->order[i];

		graph->place[vertex] = (uint32_t)i;
		if (!(vertex & 1))
			graph->place[vertex + 1] = (uint32_t)i;
	}
}

/*
 * Allocates graph->order: one vertex for each node, one more for each bounded end, and AHEAD entries for
 * prefetching.
 */
static enum kwhy_status reserve_order(struct kwhy_whatif_graph *graph, struct kwhy_error *error)
{
	size_t most = graph->node_count + AHEAD;

	for (size_t i = 0; i < graph->node_count; i++)
		most += has_bound_end(&graph->nodes[i]);
	graph->order = kwhy_large(malloc(most * sizeof(*graph->order)), most * sizeof(*graph->order));
	return graph->order ? KWHY_OK : kwhy_fail_memory(error, "the graph's order");
}

enum kwhy_status kwhy_whatif_find_order(struct kwhy_whatif_graph *graph, struct kwhy_error *error)
{
	enum kwhy_status status = reserve_order(graph, error);

	if (status)
		return status;
	forget(graph);
	for (uint32_t i = 0; !status && i < graph->node_count; i++)
		if (graph->nodes[i].kind != KWHY_NODE_INNER && !is(graph, end_of(graph, i), KNOWN))
			status = reach(graph, end_of(graph, i), true, error);
	/* Simulations prefetch AHEAD entries beyond the end: 0 there makes them prefetch the first node. */
	memset(graph->order + graph->order_count, 0, AHEAD * sizeof(*graph->order));
	find_places(graph);
	return status;
}

bool kwhy_whatif_is_in_order(const struct kwhy_whatif_graph *graph, uint32_t at, enum kwhy_whatif_link link)
{
	const struct kwhy_whatif_node *node = &graph->nodes[at];
	/*
	 * For a link to an end, the place of that end counts, even if no link bounds it at present; every end
	 * has a place, which is not before that of its start.
	 */
	const uint32_t from = start_of(node->from[link]) + !kwhy_whatif_follows_start(node, link);

	return graph->place[from] < graph->place[start_of(at)];
}

/* Simulates the graph in graph->order, for a graph in which no edit made a node follow a later one. */
static void play_in_order(struct kwhy_whatif_graph *graph)
{
	for (size_t i = 0; i < graph->order_count; i++) {
		const uint32_t vertex = graph->order[i];
		const struct kwhy_whatif_node *node = &graph->nodes[vertex / 2];

		kwhy_whatif_fetch(graph, graph->order[i + AHEAD] / 2);
		if (!(vertex & 1))
			set_start(graph, vertex / 2, node, latest_reached(graph, node));
		else if (has_bound_end(node))
			set_end(graph, vertex / 2, node);
	}
}

enum kwhy_status kwhy_whatif_play(struct kwhy_whatif_graph *graph, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	if (graph->out_of_memory)
		return kwhy_fail_memory(error, "times of the graph");
	forget(graph);
	if (!graph->unordered) {
		play_in_order(graph);
		return KWHY_OK;
	}
	for (size_t i = 0; !status && i < graph->order_count; i++) {
		uint32_t vertex = graph->order[i];

		kwhy_whatif_fetch(graph, graph->order[i + AHEAD] / 2);
		/*
		 * graph->order has the ends that were bounded when the graph was made. Ends whose link an
		 * edit removed are known together with their starts.
		 */
		if (is(graph, vertex, KNOWN))
			continue;
		if ((vertex & 1 && !is(graph, vertex - 1, KNOWN)) ||
			compute(graph, vertex) != KWHY_LINK_COUNT)
			status = reach(graph, vertex, false, error);
	}
	return status;
}
