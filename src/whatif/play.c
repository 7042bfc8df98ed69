/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/parts.h"

#include <string.h>

/*
 * Every start is a vertex, and so is every end that a link bounds; other ends are known with their start.
 * Vertices are computed in the order of the unchanged graph; where an edit made one follow a later one, that
 * one is computed first, from a stack.
 */

enum vertex_state { UNKNOWN, VISITED, KNOWN };

enum { AHEAD = 16 /* nodes that are fetched before they are computed */ };

static uint32_t start_of(uint32_t node)
{
	return node * 2;
}

static uint32_t end_of(const struct kwhy_whatif_graph *graph, uint32_t node)
{
	const struct kwhy_whatif_node *at = &graph->nodes[node];

	return node * 2 + (at->from[KWHY_LINK_JOIN] != KWHY_NONE && !(at->flags & KWHY_NODE_DROPPED));
}

/*
 * A dropped activity keeps its place behind the one before it and follows nothing else, if there is one; a
 * dropped call still comes when its thread is handed the work.
 */
static bool has_link(const struct kwhy_whatif_node *node, size_t link)
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

static int64_t reached_ns(
	const struct kwhy_whatif_graph *graph, const struct kwhy_whatif_node *node, size_t link)
{
	uint32_t from = node->from[link];

	return kwhy_whatif_follows_start(node, link) ? graph->start_ns[from] : graph->end_ns[from];
}

/* What the caller reads off a played graph without looking at every node again. */
static void note_activity(struct kwhy_whatif_graph *graph, uint32_t at, const struct kwhy_whatif_node *node)
{
	if (node->flags & (KWHY_NODE_DROPPED | KWHY_NODE_CHANGED))
		graph->changed[graph->changed_count++] = at;
	if (!(node->flags & KWHY_NODE_DROPPED) && graph->end_ns[at] > graph->last_ns)
		graph->last_ns = graph->end_ns[at];
}

static void set_end(struct kwhy_whatif_graph *graph, uint32_t at, const struct kwhy_whatif_node *node)
{
	int64_t end_ns = reached_ns(graph, node, KWHY_LINK_JOIN) + node->lag_ns[KWHY_LINK_JOIN];

	if (end_ns <= graph->end_ns[at])
		return;
	graph->end_ns[at] = end_ns;
	if (node->kind == KWHY_NODE_ACTIVITY && !(node->flags & KWHY_NODE_DROPPED) && end_ns > graph->last_ns)
		graph->last_ns = end_ns;
}

static void set_start(
	struct kwhy_whatif_graph *graph, uint32_t at, const struct kwhy_whatif_node *node, int64_t latest_ns)
{
	graph->start_ns[at] = latest_ns == INT64_MIN ? node->lag_ns[KWHY_LINK_ORDER] : latest_ns;
	graph->end_ns[at] = graph->start_ns[at] + node->own_ns;
	if (node->kind == KWHY_NODE_ACTIVITY)
		note_activity(graph, at, node);
}

/* Computes a vertex, unless what it follows is not known: gives that link, else KWHY_LINK_COUNT. */
static size_t compute(struct kwhy_whatif_graph *graph, uint32_t vertex)
{
	uint32_t at = vertex / 2;
	const struct kwhy_whatif_node *node = &graph->nodes[at];
	int64_t latest_ns = INT64_MIN;

	if (vertex & 1) {
		if (node->from[KWHY_LINK_JOIN] != KWHY_NONE) {
			if (graph->state[followed(graph, node, KWHY_LINK_JOIN)] != KNOWN)
				return KWHY_LINK_JOIN;
			set_end(graph, at, node);
		}
		graph->state[vertex] = KNOWN;
		return KWHY_LINK_COUNT;
	}
	for (size_t link = 0; link < KWHY_LINK_JOIN; link++) {
		int64_t time_ns;

		if (!has_link(node, link))
			continue;
		if (graph->state[followed(graph, node, link)] != KNOWN)
			return link;
		time_ns = reached_ns(graph, node, link) + node->lag_ns[link];
		latest_ns = time_ns > latest_ns ? time_ns : latest_ns;
	}
	set_start(graph, at, node, latest_ns);
	graph->state[vertex] = KNOWN;
	return KWHY_LINK_COUNT;
}

static enum kwhy_status fail_circle(struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_INPUT,
		"these changes cannot be made together: they would make an activity wait for itself; leave "
		"one "
		"of them out");
}

/* What a vertex waits for goes onto the stack; a circle is cut while the graph is made, else an error. */
static enum kwhy_status descend(
	struct kwhy_whatif_graph *graph, size_t link, bool making, struct kwhy_error *error)
{
	uint32_t top = graph->stack[graph->stack_depth - 1];
	struct kwhy_whatif_node *node = &graph->nodes[top / 2];
	uint32_t next = followed(graph, node, link);

	/* an end that is not yet asked for, but whose start waits below */
	if (graph->state[next] == VISITED || (next & 1 && graph->state[next - 1] == VISITED)) {
		if (!making)
			return fail_circle(error);
		node->from[link] = KWHY_NONE;
		return KWHY_OK;
	}
	graph->state[next] = VISITED;
	graph->stack[graph->stack_depth++] = next;
	return KWHY_OK;
}

/* Everything that the vertex follows, then the vertex. */
static enum kwhy_status reach(
	struct kwhy_whatif_graph *graph, uint32_t vertex, bool making, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	graph->state[vertex] = VISITED;
	graph->stack[0] = vertex;
	graph->stack_depth = 1;
	while (!status && graph->stack_depth) {
		uint32_t top = graph->stack[graph->stack_depth - 1];
		bool start_first = top & 1 && graph->state[top - 1] == UNKNOWN;
		size_t link;

		if (start_first) {
			graph->state[top - 1] = VISITED;
			graph->stack[graph->stack_depth++] = top - 1;
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
	memset(graph->state, UNKNOWN, 2 * graph->node_count);
	graph->changed_count = 0;
	graph->last_ns = INT64_MIN;
}

enum kwhy_status kwhy_whatif_find_order(struct kwhy_whatif_graph *graph, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	forget(graph);
	graph->order_count = 0;
	for (uint32_t i = 0; !status && i < graph->node_count; i++)
		if (graph->nodes[i].kind != KWHY_NODE_INNER && graph->state[end_of(graph, i)] == UNKNOWN)
			status = reach(graph, end_of(graph, i), true, error);
	return status;
}

enum kwhy_status kwhy_whatif_play(struct kwhy_whatif_graph *graph, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	forget(graph);
	for (size_t i = 0; !status && i < graph->order_count; i++) {
		uint32_t vertex = graph->order[i];

		if (i + AHEAD < graph->order_count)
			__builtin_prefetch(&graph->nodes[graph->order[i + AHEAD] / 2]);
		/* the order holds the ends that a link bounded when it was made; some are bounded no longer
		 */
		if (graph->state[vertex] == KNOWN || (vertex & 1 && end_of(graph, vertex / 2) != vertex))
			continue;
		if ((vertex & 1 && graph->state[vertex - 1] != KNOWN) ||
			compute(graph, vertex) != KWHY_LINK_COUNT)
			status = reach(graph, vertex, false, error);
	}
	return status;
}
