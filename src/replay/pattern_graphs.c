/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/builder.h"

#include "base/column.h"
#include "base/map.h"
#include "base/text.h"

/* State of the search for graphs that consist of the same sequence of work. */
struct sharing {
	struct kwhy_replay_pattern *pattern;
	struct kwhy_map graphs; /* from the key that write_key() writes to the index of the graph */
	struct kwhy_text key;
};

/*
 * Writes the key of a graph launch: kind, direction, memory, stream, grid, account and bytes of each piece of
 * its work, but not the length. Launches with equal keys share a graph.
 */
static void write_key(struct sharing *sharing, const struct kwhy_replay_op *op)
{
	kwhy_text_clear(&sharing->key);
	for (uint32_t i = 0; i < op->work_count; i++) {
		const struct kwhy_replay_work *work = &sharing->pattern->works[op->work + i];
		const uint64_t numbers[] = {
			(uint64_t)work->kind << 16 | (uint64_t)work->way << 8 | work->host,
			(uint64_t)work->replay_stream << 32 | work->grid, (uint64_t)work->account,
			work->kind == KWHY_REPLAY_KERNEL ? 0 : work->bytes};

		kwhy_text_add_bytes(&sharing->key, numbers, sizeof(numbers));
	}
}

static enum kwhy_status add_graph(
	struct kwhy_replay_pattern *pattern, const struct kwhy_replay_op *op, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_column_reserve((void **)&pattern->graphs, &pattern->graph_capacity,
		pattern->graph_count + 1, sizeof(*pattern->graphs), "graphs", error);

	if (!status)
		pattern->graphs[pattern->graph_count++] = (struct kwhy_replay_graph){
			op->work, op->work_count, 0};
	return status;
}

static enum kwhy_status find_graph(
	struct sharing *sharing, struct kwhy_replay_op *op, struct kwhy_error *error)
{
	struct kwhy_replay_pattern *pattern = sharing->pattern;
	struct kwhy_map_slot *slot;
	enum kwhy_status status;

	write_key(sharing, op);
	status = kwhy_text_check(&sharing->key, error);
	if (!status)
		status = kwhy_map_add_bytes(&sharing->graphs, sharing->key.data, sharing->key.length,
			(uint32_t)pattern->graph_count, &slot, error);
	if (!status && slot->value == pattern->graph_count)
		status = add_graph(pattern, op, error);
	if (!status)
		op->graph = slot->value;
	return status;
}

/*
 * Assigns a launch to the graph with its sequence of work, and adds the lengths of that work to those of the
 * graph's first launch. take_means() divides the sums by the number of launches.
 */
static enum kwhy_status share(struct sharing *sharing, struct kwhy_replay_op *op, struct kwhy_error *error)
{
	struct kwhy_replay_pattern *pattern = sharing->pattern;
	enum kwhy_status status = find_graph(sharing, op, error);
	struct kwhy_replay_graph *graph;

	if (status)
		return status;
	graph = &pattern->graphs[op->graph];
	graph->launches++;
	for (uint32_t i = 0; graph->work != op->work && i < op->work_count; i++)
		pattern->works[graph->work + i].length_ns += pattern->works[op->work + i].length_ns;
	return KWHY_OK;
}

static void take_means(struct kwhy_replay_pattern *pattern)
{
	for (size_t g = 0; g < pattern->graph_count; g++) {
		const struct kwhy_replay_graph *graph = &pattern->graphs[g];

		for (uint32_t i = 0; i < graph->work_count; i++)
			pattern->works[graph->work + i].length_ns /= graph->launches;
	}
}

enum kwhy_status kwhy_replay_share_graphs(struct kwhy_replay_pattern *pattern, struct kwhy_error *error)
{
	struct sharing sharing = {.pattern = pattern};
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < pattern->op_count; i++)
		if (pattern->ops[i].graph != KWHY_NONE)
			status = share(&sharing, &pattern->ops[i], error);
	kwhy_map_done(&sharing.graphs);
	kwhy_text_done(&sharing.key);
	take_means(pattern);
	return status;
}
