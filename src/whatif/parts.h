/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_PARTS_H
#define KWHY_WHATIF_PARTS_H

#include "whatif/graph.h"

/* By which the clocks of host and device may disagree. */
enum { KWHY_WHATIF_CLOCKS_NS = 2000 };

/* The named steps of kwhy_whatif_graph_new(), in order. */

/* Nodes, and the links that the recording states: streams, issuing calls, threads. */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_link_order(
	struct kwhy_whatif_graph *graph, struct kwhy_error *error);

/* Usual delays; needs the order. */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_find_delays(
	struct kwhy_whatif_graph *graph, struct kwhy_error *error);
/* 0 where the recording shows none. */
int64_t kwhy_whatif_queued_ns(const struct kwhy_whatif_graph *graph, uint32_t before, uint32_t after);
int64_t kwhy_whatif_issue_ns(const struct kwhy_whatif_graph *graph, uint32_t row);

/* Links that it shows: what waiting calls waited for. */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_link_waits(
	struct kwhy_whatif_graph *graph, struct kwhy_error *error);

/* Links across streams and across threads, where the order of a stream or thread does not explain a start. */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_link_streams(
	struct kwhy_whatif_graph *graph, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_whatif_link_threads(
	struct kwhy_whatif_graph *graph, struct kwhy_error *error);

/* Joints of the collectives that several devices ran together. */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_link_collectives(
	struct kwhy_whatif_graph *graph, struct kwhy_error *error);

/* An order to play in; of links that run in a circle (equal times) one is cut. */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_find_order(
	struct kwhy_whatif_graph *graph, struct kwhy_error *error);

/* Whether what the link of a node leads to came before it when the order was found. */
bool kwhy_whatif_is_in_order(
	const struct kwhy_whatif_graph *graph, uint32_t node, enum kwhy_whatif_link link);

/* Lags: the usual delay where the link did not decide, the recorded one where it did. */
void kwhy_whatif_set_lags(struct kwhy_whatif_graph *graph);

/* How many places of `by_end` up to the device's end by time_ns: the last of them ended last. */
size_t kwhy_whatif_ended_before(const struct kwhy_whatif_graph *graph, uint32_t device, int64_t time_ns);
static inline uint32_t kwhy_whatif_row_by_end(const struct kwhy_whatif_graph *graph, size_t place)
{
	return graph->by_end ? graph->by_end[place] : (uint32_t)place;
}
/* Whether a call of the class and name returns when the device got somewhere. */
bool kwhy_whatif_is_wait(const struct kwhy_whatif_graph *graph, uint32_t call);

/* The recorded start and end of a node; of a joint the latest start of what it follows. */
int64_t kwhy_whatif_recorded_start(const struct kwhy_whatif_graph *graph, uint32_t node);
int64_t kwhy_whatif_recorded_end(const struct kwhy_whatif_graph *graph, uint32_t node);

/* Whether the link of a node is to the start of what it follows, not to its end. */
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
