/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/critical.h"

#include "whatif/parts.h"

/*
 * State of a walk along the critical path of a simulation, backwards from the end of the last work: node by
 * node along the links that decided their times. at_start: the walk is at the start of `node`, not at its
 * end. host_ns: host time found so far.
 */
struct walk {
	const struct kwhy_whatif_graph *graph;
	uint32_t node;
	bool at_start;
	int64_t host_ns;
};

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Adds length_ns of host time that begins at start_ns, without the part before the first start of work. */
static void add_host(struct walk *walk, int64_t start_ns, int64_t length_ns)
{
	const int64_t before_ns = walk->graph->first_ns - start_ns;

	length_ns -= before_ns > 0 ? before_ns : 0;
	walk->host_ns += length_ns > 0 ? length_ns : 0;
}

static int64_t time_followed(
	const struct kwhy_whatif_graph *graph, const struct kwhy_whatif_node *node, size_t link)
{
	return kwhy_whatif_follows_start(node, link) ? graph->start_ns[node->from[link]]
						     : graph->end_ns[node->from[link]];
}

/* The link that decided when a node started; KWHY_LINK_JOIN: none did. */
static size_t link_of_start(const struct kwhy_whatif_graph *graph, uint32_t at)
{
	const struct kwhy_whatif_node *node = &graph->nodes[at];
	size_t link = 0;

	while (link < KWHY_LINK_JOIN &&
		(!kwhy_whatif_has_link(node, link) ||
			time_followed(graph, node, link) + kwhy_whatif_lag_ns(graph, node, link) !=
				graph->start_ns[at]))
		link++;
	return link;
}

/*
 * Goes from the start of walk->node to the node whose time decided that start. Adds the pause before a call;
 * before work, the part of its call until it started. False: no node decided the start.
 */
static bool leave_start(struct walk *walk)
{
	const struct kwhy_whatif_graph *graph = walk->graph;
	const struct kwhy_whatif_node *node = &graph->nodes[walk->node];
	const size_t link = link_of_start(graph, walk->node);
	int64_t lag_ns;

	if (link == KWHY_LINK_JOIN)
		return false;
	lag_ns = kwhy_whatif_lag_ns(graph, node, link);
	if (node->kind == KWHY_NODE_CALL && lag_ns <= KWHY_WHATIF_PAUSE_MAX_NS)
		add_host(walk, time_followed(graph, node, link), lag_ns);
	else if (link == KWHY_LINK_ISSUE) /* the host's part ends with the call */
		add_host(walk, graph->start_ns[node->from[link]],
			smaller(kwhy_whatif_own_ns(graph, &graph->nodes[node->from[link]]), lag_ns));
	walk->at_start = kwhy_whatif_follows_start(node, link);
	walk->node = node->from[link];
	return true;
}

/*
 * Goes on from the end of walk->node. If the node ended when the work that it waited for had ended, goes to
 * that work. Otherwise goes to the node's own start and, if the node is a call, adds its time.
 */
static void leave_end(struct walk *walk)
{
	const struct kwhy_whatif_graph *graph = walk->graph;
	const struct kwhy_whatif_node *node = &graph->nodes[walk->node];

	if (graph->end_ns[walk->node] > graph->start_ns[walk->node] + kwhy_whatif_own_ns(graph, node)) {
		walk->at_start = kwhy_whatif_follows_start(node, KWHY_LINK_JOIN);
		walk->node = node->from[KWHY_LINK_JOIN];
		return;
	}
	if (node->kind == KWHY_NODE_CALL)
		add_host(walk, graph->start_ns[walk->node], kwhy_whatif_own_ns(graph, node));
	walk->at_start = true;
}

static uint32_t last_node(const struct kwhy_whatif_graph *graph)
{
	for (uint32_t i = (uint32_t)graph->activity_count; i-- > 0;)
		if (!graph->dropped[i] && graph->end_ns[i] == graph->last_ns)
			return i;
	return KWHY_NONE;
}

int64_t kwhy_whatif_host_limited_ns(const struct kwhy_whatif_graph *graph)
{
	struct walk walk = {.graph = graph, .node = last_node(graph)};

	while (walk.node != KWHY_NONE && graph->end_ns[walk.node] > graph->first_ns) {
		if (!walk.at_start)
			leave_end(&walk);
		else if (!leave_start(&walk))
			break;
	}
	return walk.host_ns;
}
