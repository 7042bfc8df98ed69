/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/builder.h"

#include "base/column.h"

#include <stdlib.h>

/* A hash table from sequences of work to graphs. */
struct sharing {
	struct kwhy_replay_pattern *pattern;
	uint32_t *slots; /* graph + 1; 0: the slot is free */
	size_t slot_count;
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
	return hash ^ hash >> 29;
}

static bool is_alike(const struct kwhy_replay_work *a, const struct kwhy_replay_work *b)
{
	return a->kind == b->kind && a->way == b->way && a->host == b->host &&
		a->replay_stream == b->replay_stream && a->grid == b->grid && a->account == b->account &&
		(a->kind == KWHY_REPLAY_KERNEL || a->bytes == b->bytes);
}

static uint64_t hash_of(const struct kwhy_replay_pattern *pattern, const struct kwhy_replay_op *op)
{
	uint64_t hash = op->work_count;

	for (uint32_t i = 0; i < op->work_count; i++) {
		const struct kwhy_replay_work *work = &pattern->works[op->work + i];

		hash = mix(hash, (uint64_t)work->kind << 16 | (uint64_t)work->way << 8 | work->host);
		hash = mix(hash, (uint64_t)work->replay_stream << 32 | work->grid);
		hash = mix(hash, (uint64_t)work->account);
		hash = mix(hash, work->kind == KWHY_REPLAY_KERNEL ? 0 : work->bytes);
	}
	return hash;
}

static bool holds(const struct kwhy_replay_pattern *pattern, const struct kwhy_replay_graph *graph,
	const struct kwhy_replay_op *op)
{
	if (graph->work_count != op->work_count)
		return false;
	for (uint32_t i = 0; i < op->work_count; i++)
		if (!is_alike(&pattern->works[graph->work + i], &pattern->works[op->work + i]))
			return false;
	return true;
}

static enum kwhy_status add_graph(
	struct sharing *sharing, const struct kwhy_replay_op *op, uint32_t *slot, struct kwhy_error *error)
{
	struct kwhy_replay_pattern *pattern = sharing->pattern;
	enum kwhy_status status = kwhy_column_reserve((void **)&pattern->graphs, &pattern->graph_capacity,
		pattern->graph_count + 1, sizeof(*pattern->graphs), "graphs", error);

	if (status)
		return status;
	pattern->graphs[pattern->graph_count++] = (struct kwhy_replay_graph){op->work, op->work_count, 0};
	*slot = (uint32_t)pattern->graph_count;
	return KWHY_OK;
}

/* Assigns a launch to a graph and adds up the lengths of its work, which take_means() divides. */
static enum kwhy_status share(struct sharing *sharing, struct kwhy_replay_op *op, struct kwhy_error *error)
{
	struct kwhy_replay_pattern *pattern = sharing->pattern;
	size_t at = hash_of(pattern, op) & (sharing->slot_count - 1);
	struct kwhy_replay_graph *graph;
	enum kwhy_status status = KWHY_OK;

	while (sharing->slots[at] && !holds(pattern, &pattern->graphs[sharing->slots[at] - 1], op))
		at = (at + 1) & (sharing->slot_count - 1);
	if (!sharing->slots[at])
		status = add_graph(sharing, op, &sharing->slots[at], error);
	if (status)
		return status;
	op->graph = sharing->slots[at] - 1;
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
	struct sharing sharing = {.pattern = pattern, .slot_count = 16};
	size_t launches = 0;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; i < pattern->op_count; i++)
		launches += pattern->ops[i].graph != KWHY_NONE;
	while (sharing.slot_count < 2 * launches)
		sharing.slot_count *= 2;
	sharing.slots = calloc(sharing.slot_count, sizeof(*sharing.slots));
	if (!sharing.slots)
		return kwhy_fail_memory(error, "graphs");
	for (size_t i = 0; !status && i < pattern->op_count; i++)
		if (pattern->ops[i].graph != KWHY_NONE)
			status = share(&sharing, &pattern->ops[i], error);
	free(sharing.slots);
	take_means(pattern);
	return status;
}
