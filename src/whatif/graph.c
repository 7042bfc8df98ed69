/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/graph.h"

#include "base/column.h"
#include "base/large.h"
#include "whatif/parts.h"

#include <stdlib.h>
#include <string.h>

/* Finds the marks of each name, rather than of each call, since there are few names and many calls. */
static void mark_names(struct kwhy_whatif_graph *graph)
{
	static const struct {
		const char *part;
		enum kwhy_whatif_mark mark;
	} parts[] = {{"Async", KWHY_MARK_ASYNC}, {"aunch", KWHY_MARK_LAUNCH},
		{"GraphLaunch", KWHY_MARK_GRAPH}, {"EventRecord", KWHY_MARK_EVENT},
		{"StreamWaitEvent", KWHY_MARK_STREAM_WAIT}, {"StreamSync", KWHY_MARK_STREAM_SYNC},
		{"Host", KWHY_MARK_ELSEWHERE}, {"Array", KWHY_MARK_ELSEWHERE}};
	const struct kwhy_names *names = &graph->recording->names;

	for (uint32_t name = 0; name < names->count; name++)
		for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
			if (strstr(kwhy_names_get(names, name), parts[i].part))
				graph->marks[name] |= (uint8_t)parts[i].mark;
}

/*
 * Upper bound of the number of joints (nodes that start when all ranks of a collective have started). A joint
 * follows up to three nodes, so a collective of more than three ranks gets a chain of joints. Each joint but
 * the first follows the joint before it and two activities, so that n ranks need about n / 2 joints.
 */
static size_t joints_at_most(const struct kwhy_recording *recording)
{
	size_t collectives = 0;

	if (recording->device_count < 2)
		return 0;
	for (size_t i = 0; i < recording->activities.count; i++)
		collectives += recording->activities.kind[i] == KWHY_ACTIVITY_COLLECTIVE;
	return collectives;
}

static void *alloc_items(size_t count, size_t item_bytes)
{
	return kwhy_large(malloc(count * item_bytes), count * item_bytes);
}

static enum kwhy_status reserve(struct kwhy_whatif_graph *graph, struct kwhy_error *error)
{
	const struct kwhy_recording *recording = graph->recording;
	size_t most;

	graph->activity_count = recording->activities.count;
	graph->call_count = recording->calls.count;
	graph->node_count = graph->activity_count + graph->call_count;
	most = graph->node_count + joints_at_most(recording);
	if (most >= KWHY_NONE / 2)
		return kwhy_fail(error, KWHY_E_MEMORY,
			"the recording has %zu activities and calls, more than can be simulated; record "
			"less of the run",
			graph->node_count);
	graph->nodes = alloc_items(most + 1, sizeof(*graph->nodes));
	graph->dropped = calloc(most + 1, sizeof(*graph->dropped));
	graph->outer = alloc_items(graph->call_count + 1, sizeof(*graph->outer));
	graph->start_ns = alloc_items(most + 1, sizeof(*graph->start_ns));
	graph->end_ns = alloc_items(most + 1, sizeof(*graph->end_ns));
	graph->place = alloc_items(2 * most + 1, sizeof(*graph->place));
	graph->state = malloc(most + 1);
	graph->marks = calloc(recording->names.count + 1, sizeof(*graph->marks));
	graph->changed = malloc((graph->activity_count + 1) * sizeof(*graph->changed));
	if (!graph->nodes || !graph->dropped || !graph->marks || !graph->changed || !graph->outer ||
		!graph->start_ns || !graph->end_ns || !graph->place || !graph->state)
		return kwhy_fail_memory(error, "the graph of the recording");
	mark_names(graph);
	return KWHY_OK;
}

enum kwhy_status kwhy_whatif_graph_new(
	const struct kwhy_recording *recording, struct kwhy_whatif_graph **out, struct kwhy_error *error)
{
	struct kwhy_whatif_graph *graph = calloc(1, sizeof(*graph));
	enum kwhy_status status;

	if (!graph)
		return kwhy_fail_memory(error, "the graph of the recording");
	graph->recording = recording;
	status = reserve(graph, error);
	if (!status)
		status = kwhy_whatif_link_order(graph, error);
	if (!status)
		status = kwhy_whatif_find_delays(graph, error);
	if (!status)
		status = kwhy_whatif_link_waits(graph, error);
	if (!status)
		status = kwhy_whatif_link_streams(graph, error);
	if (!status)
		status = kwhy_whatif_link_threads(graph, error);
	if (!status)
		status = kwhy_whatif_link_collectives(graph, error);
	if (!status)
		status = kwhy_whatif_find_order(graph, error);
	if (!status)
		kwhy_whatif_set_lags(graph);
	if (!status)
		status = kwhy_whatif_play(graph, error);
	if (status) {
		kwhy_whatif_graph_free(graph);
		return status;
	}
	graph->far_recorded = graph->far_count;
	*out = graph;
	return KWHY_OK;
}

int32_t kwhy_whatif_far_code(struct kwhy_whatif_graph *graph, int64_t time_ns)
{
	struct kwhy_error error;

	if (graph->far_count >= (size_t)KWHY_WHATIF_NEAR_MIN - KWHY_WHATIF_FAR ||
		kwhy_column_reserve((void **)&graph->far_ns, &graph->far_capacity, graph->far_count + 1,
			sizeof(*graph->far_ns), "times", &error)) {
		graph->out_of_memory = true;
		return 0;
	}
	graph->far_ns[graph->far_count] = time_ns;
	return (int32_t)(KWHY_WHATIF_FAR + (int64_t)graph->far_count++);
}

void kwhy_whatif_graph_free(struct kwhy_whatif_graph *graph)
{
	if (!graph)
		return;
	free(graph->nodes);
	free(graph->far_ns);
	free(graph->dropped);
	free(graph->outer);
	free(graph->by_end);
	free(graph->start_ns);
	free(graph->end_ns);
	free(graph->order);
	free(graph->stack);
	free(graph->place);
	free(graph->state);
	free(graph->marks);
	free(graph->changed);
	free(graph->delays.queued_of_name);
	kwhy_whatif_journal_done(&graph->journal);
	free(graph);
}

void kwhy_whatif_follow(struct kwhy_whatif_graph *graph, uint32_t node, enum kwhy_whatif_link link,
	uint32_t from, int64_t lag_ns)
{
	struct kwhy_whatif_node *changed = &graph->nodes[node];

	changed->from[link] = from;
	kwhy_whatif_set_lag(graph, changed, link, lag_ns);
	if (link == KWHY_LINK_ORDER)
		changed->flags &= (uint8_t)~KWHY_NODE_OVERLAPS;
	if (link == KWHY_LINK_CROSS)
		changed->flags &= (uint8_t)~KWHY_NODE_FOLLOWS_START;
	if (!graph->unordered && !kwhy_whatif_is_in_order(graph, node, link))
		graph->unordered = graph->journal_count;
}

static int64_t latest_recorded_start(
	const struct kwhy_whatif_graph *graph, const struct kwhy_whatif_node *node)
{
	int64_t latest_ns = INT64_MIN;

	for (size_t link = 0; link < KWHY_LINK_JOIN; link++) {
		int64_t start_ns;

		if (node->from[link] == KWHY_NONE)
			continue;
		start_ns = kwhy_whatif_recorded_start(graph, node->from[link]);
		latest_ns = start_ns > latest_ns ? start_ns : latest_ns;
	}
	return latest_ns;
}

int64_t kwhy_whatif_recorded_start(const struct kwhy_whatif_graph *graph, uint32_t node)
{
	if (node < graph->activity_count)
		return graph->recording->activities.start_ns[node];
	if (node < graph->activity_count + graph->call_count)
		return graph->recording->calls.start_ns[node - graph->activity_count];
	/* The recursion ends, since a joint follows only earlier joints. */
	return latest_recorded_start(graph, &graph->nodes[node]);
}

int64_t kwhy_whatif_recorded_end(const struct kwhy_whatif_graph *graph, uint32_t node)
{
	if (node < graph->activity_count)
		return graph->recording->activities.end_ns[node];
	if (node < graph->activity_count + graph->call_count)
		return graph->recording->calls.end_ns[node - graph->activity_count];
	return latest_recorded_start(graph, &graph->nodes[node]);
}
