/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_PARTS_H
#define KWHY_WHATIF_PARTS_H

#include "whatif/graph.h"

/* Largest difference in ns between the clocks of host and device that is expected in recordings. */
enum { KWHY_WHATIF_CLOCKS_NS = 2000 };

/*
 * The functions that kwhy_whatif_graph_new() calls, up to kwhy_whatif_set_lags(), in this order; and what
 * they share.
 */

/*
 * Makes the nodes of activities and calls, and the ORDER and ISSUE links: order in streams and on threads,
 * issuing calls.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_link_order(
	struct kwhy_whatif_graph *graph, struct kwhy_error *error);

/* Finds graph->delays. Needs the links of kwhy_whatif_link_order(). */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_find_delays(
	struct kwhy_whatif_graph *graph, struct kwhy_error *error);
/*
 * Usual delays in ns. kwhy_whatif_queued_ns(): from the end of `before` to the start of `after` in its
 * stream, if `after` is launched before `before` ends. kwhy_whatif_issue_ns(): from the start of its call to
 * the start of an activity in an idle stream. 0: unknown.
 */
int64_t kwhy_whatif_queued_ns(const struct kwhy_whatif_graph *graph, uint32_t before, uint32_t after);
int64_t kwhy_whatif_issue_ns(const struct kwhy_whatif_graph *graph, uint32_t row);

/* Makes the JOIN links of calls, from each waiting call to the work that it waited for. */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_link_waits(
	struct kwhy_whatif_graph *graph, struct kwhy_error *error);

/*
 * Makes the CROSS links, from one stream or thread to another, where the order within the stream or thread
 * does not explain a start.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_link_streams(
	struct kwhy_whatif_graph *graph, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_whatif_link_threads(
	struct kwhy_whatif_graph *graph, struct kwhy_error *error);

/* Makes the joints of collectives (nodes at which all ranks have started). */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_link_collectives(
	struct kwhy_whatif_graph *graph, struct kwhy_error *error);

/*
 * Finds an order in which the nodes can be computed. Links between equal times can form a cycle, of which one
 * link is then removed.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_find_order(
	struct kwhy_whatif_graph *graph, struct kwhy_error *error);

/*
 * Whether the start or end to which a link of a node leads comes before the node's own start in graph->order.
 * Call it only for links that bound the node's start (not for JOIN links).
 */
bool kwhy_whatif_is_in_order(
	const struct kwhy_whatif_graph *graph, uint32_t node, enum kwhy_whatif_link link);

/* Sets the lags of all links, so that the unchanged graph gives the recorded times (lags.c). */
void kwhy_whatif_set_lags(struct kwhy_whatif_graph *graph);

/*
 * Position in graph->by_end after all activities of the device that ended at or before time_ns. If there are
 * any, the one before that position ended last. kwhy_whatif_row_by_end(): activity at a position.
 */
size_t kwhy_whatif_ended_before(const struct kwhy_whatif_graph *graph, uint32_t device, int64_t time_ns);
static inline uint32_t kwhy_whatif_row_by_end(const struct kwhy_whatif_graph *graph, size_t place)
{
	return graph->by_end ? graph->by_end[place] : (uint32_t)place;
}
/* Whether a call waits for the device before it returns, judged by its class and name. */
bool kwhy_whatif_is_wait(const struct kwhy_whatif_graph *graph, uint32_t call);

/*
 * The recorded start and end of a node; for a joint both are the latest start of the nodes that it follows.
 */
int64_t kwhy_whatif_recorded_start(const struct kwhy_whatif_graph *graph, uint32_t node);
int64_t kwhy_whatif_recorded_end(const struct kwhy_whatif_graph *graph, uint32_t node);

/* Whether a link of a node leads to the start, not to the end, of the node that it follows. */
static inline bool kwhy_whatif_follows_start(const struct kwhy_whatif_node *node, size_t link)
{
	switch (node->kind) {
	case KWHY_NODE_JOINT:
		return true;
	case KWHY_NODE_ACTIVITY:
		return link == KWHY_LINK_ISSUE ||
			(link == KWHY_LINK_ORDER && node->flags & KWHY_NODE_OVERLAPS) ||
			(link == KWHY_LINK_CROSS && node->flags & KWHY_NODE_FOLLOWS_START);
	default:
		return false;
	}
}

/*
 * Whether a link that bounds the start of a node counts in a simulation. A removed activity follows only the
 * node before it in its stream; if there is none, its other links count. All links of a removed call count:
 * it still waits until another thread hands over its work.
 */
bool kwhy_whatif_has_link(const struct kwhy_whatif_node *node, size_t link);

#endif
