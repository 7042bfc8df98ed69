/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_PARTS_H
#define KWHY_WHATIF_PARTS_H

#include "whatif/graph.h"

/* Largest disagreement of the clocks of host and device. */
enum { KWHY_WHATIF_CLOCKS_NS = 2000 };

/* The steps of kwhy_whatif_graph_new(), in order. */

/* Makes the nodes and the links that the recording states: streams, issuing calls, threads. */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_link_order(
	struct kwhy_whatif_graph *graph, struct kwhy_error *error);

/* Finds the usual delays; needs the links above. */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_find_delays(
	struct kwhy_whatif_graph *graph, struct kwhy_error *error);
/*
 * Usual delays in nanoseconds: between `before` and `after` queued after it, and from the call to the start
 * of a row in an idle stream. 0: the recording shows none.
 */
int64_t kwhy_whatif_queued_ns(const struct kwhy_whatif_graph *graph, uint32_t before, uint32_t after);
int64_t kwhy_whatif_issue_ns(const struct kwhy_whatif_graph *graph, uint32_t row);

/* Links that the recording shows: from waiting calls to the work that they waited for. */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_link_waits(
	struct kwhy_whatif_graph *graph, struct kwhy_error *error);

/*
 * Links across streams and across threads, where the order within a stream or thread does not explain a
 * start.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_link_streams(
	struct kwhy_whatif_graph *graph, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_whatif_link_threads(
	struct kwhy_whatif_graph *graph, struct kwhy_error *error);

/* Joints of the collectives that several devices ran together. */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_link_collectives(
	struct kwhy_whatif_graph *graph, struct kwhy_error *error);

/* Finds an order to play in. Where links form a cycle (equal times), one of them is removed. */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_find_order(
	struct kwhy_whatif_graph *graph, struct kwhy_error *error);

/* Whether the target of a node's link came before the node when the order was found. */
bool kwhy_whatif_is_in_order(
	const struct kwhy_whatif_graph *graph, uint32_t node, enum kwhy_whatif_link link);

/* Sets the lags: the usual delay where the link did not decide the time, the recorded lag where it did. */
void kwhy_whatif_set_lags(struct kwhy_whatif_graph *graph);

/*
 * Index in `by_end` after the last row of the device that ended by time_ns; the row before that index ended
 * last.
 */
size_t kwhy_whatif_ended_before(const struct kwhy_whatif_graph *graph, uint32_t device, int64_t time_ns);
static inline uint32_t kwhy_whatif_row_by_end(const struct kwhy_whatif_graph *graph, size_t place)
{
	return graph->by_end ? graph->by_end[place] : (uint32_t)place;
}
/* Whether a call returns only when the device has reached some point, by its class and name. */
bool kwhy_whatif_is_wait(const struct kwhy_whatif_graph *graph, uint32_t call);

/* The recorded start and end of a node; for a joint, the latest start of the nodes that it follows. */
int64_t kwhy_whatif_recorded_start(const struct kwhy_whatif_graph *graph, uint32_t node);
int64_t kwhy_whatif_recorded_end(const struct kwhy_whatif_graph *graph, uint32_t node);

/* Whether a node's link is to the start of the node that it follows, not to the end. */
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

#endif
