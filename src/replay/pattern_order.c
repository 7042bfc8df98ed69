/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/builder.h"

#include "base/sort.h"
#include "whatif/parts.h"

#include <stdlib.h>

/*
 * Decides what calls and work of the replay wait for. Visits the ops of all threads in the order of their
 * start_ns. An op or a work gets a wait only for ops that were visited before, or for their work, so that the
 * replay cannot deadlock.
 */

struct ordering {
	struct kwhy_replay_builder *builder;
	/* [replay streams] work that was issued last in the stream; KWHY_NONE: no work yet */
	uint32_t *tail;
	bool *work_is_issued; /* [works] whether an op that was visited issues the work */
	bool *op_has_begun;   /* [ops] whether the op was visited */
};

static int by_start(const void *context, uint32_t a, uint32_t b)
{
	const struct kwhy_replay_pattern *pattern = context;
	int64_t left = pattern->ops[a].start_ns, right = pattern->ops[b].start_ns;

	return (left > right) - (left < right);
}

static void mark(struct kwhy_replay_pattern *pattern, uint32_t work)
{
	if (pattern->works[work].mark == KWHY_NONE)
		pattern->works[work].mark = pattern->mark_count++;
}

/*
 * Replaces op->after_op, the index of a recorded call, by the op of that call. If that call is not replayed,
 * or its op was not visited yet, `op` does not wait, and the lost order is counted in pattern->left.orders.
 */
static void order_op(struct ordering *ordering, struct kwhy_replay_op *op)
{
	uint32_t call = op->after_op;

	if (call == KWHY_NONE)
		return;
	op->after_op = ordering->builder->op_of[call];
	if (op->after_op == KWHY_NONE || !ordering->op_has_begun[op->after_op]) {
		op->after_op = KWHY_NONE;
		ordering->builder->pattern->left.orders++;
	}
}

/*
 * The work for which a work in `replay_stream` must wait if its recorded row follows row `from`: the work of
 * `from` or, if `from` is dropped, of the closest earlier row that is not dropped. KWHY_NONE: there is no
 * such work; it is in replay_stream itself, whose order is kept anyway; or no visited op issues it, which
 * counts as a lost order.
 */
static uint32_t followed_work(const struct ordering *ordering, uint32_t from, uint32_t replay_stream)
{
	const struct kwhy_replay_builder *builder = ordering->builder;
	uint32_t row = kwhy_replay_left_of(builder, from), work;

	work = row == KWHY_NONE ? KWHY_NONE : builder->work_of[row];
	if (work == KWHY_NONE || builder->pattern->works[work].replay_stream == replay_stream)
		return KWHY_NONE;
	if (ordering->work_is_issued[work])
		return work;
	builder->pattern->left.orders++;
	return KWHY_NONE;
}

/*
 * Turns what a row follows in other streams (its links ORDER and CROSS to ends of rows) into waits of the
 * work `first`: the row's own work, or the first work of the graph launch that issues the row. A work has at
 * most two waits; a third counts as a lost order.
 */
static void order_row(struct ordering *ordering, uint32_t row, uint32_t first)
{
	const struct kwhy_whatif_node *node = &ordering->builder->graph->nodes[row];
	struct kwhy_replay_pattern *pattern = ordering->builder->pattern;
	static const size_t links[] = {KWHY_LINK_ORDER, KWHY_LINK_CROSS};

	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
		struct kwhy_replay_work *work = &pattern->works[first];
		uint32_t from = node->from[links[i]], before;

		if (from == KWHY_NONE || kwhy_whatif_follows_start(node, links[i]))
			continue;
		before = followed_work(ordering, from, work->replay_stream);
		if (before == KWHY_NONE || work->after[0] == before || work->after[1] == before)
			continue;
		if (work->after[0] != KWHY_NONE && work->after[1] != KWHY_NONE) {
			pattern->left.orders++;
			continue;
		}
		work->after[work->after[0] != KWHY_NONE] = before;
		mark(pattern, before);
	}
}

static void issue(struct ordering *ordering, uint32_t at)
{
	struct kwhy_replay_pattern *pattern = ordering->builder->pattern;
	struct kwhy_replay_work *work = &pattern->works[at];
	struct kwhy_replay_stream *replay_stream = &pattern->replay_streams[work->replay_stream];

	replay_stream->last_work = at;
	ordering->tail[work->replay_stream] = at;
	ordering->work_is_issued[at] = true;
}

static void issue_all(struct ordering *ordering, const struct kwhy_replay_op *op)
{
	for (uint32_t i = 0; i < op->work_count; i++) {
		uint32_t at = op->work + i, row = ordering->builder->row_of[at];

		if (row != KWHY_NONE)
			order_row(ordering, row, op->graph == KWHY_NONE ? at : op->work);
	}
	for (uint32_t i = 0; i < op->work_count; i++)
		issue(ordering, op->work + i);
}

/*
 * Whether `work` is the last one in its stream so far, so that waiting for the whole stream is the same as
 * waiting for `work`. The kernel that belongs to a packed copy (add_packing()) may follow `work`.
 */
static bool is_last_of_replay_stream(const struct ordering *ordering, uint32_t work)
{
	const struct kwhy_replay_builder *builder = ordering->builder;
	uint32_t tail = ordering->tail[builder->pattern->works[work].replay_stream];

	return tail == work || (tail == work + 1 && builder->row_of[tail] == KWHY_NONE);
}

static void order_wait(struct ordering *ordering, struct kwhy_replay_op *op)
{
	struct kwhy_replay_pattern *pattern = ordering->builder->pattern;
	uint32_t work = op->wait == KWHY_NONE ? KWHY_NONE : ordering->builder->work_of[op->wait];
	bool is_own = work >= op->work && work < op->work + op->work_count;

	if (op->wait == KWHY_NONE)
		return;
	op->wait = work;
	if (work == KWHY_NONE || !ordering->work_is_issued[work]) {
		op->wait = KWHY_NONE;
		pattern->left.orders++;
	} else if (is_own || is_last_of_replay_stream(ordering, work)) {
		op->wait_kind = KWHY_REPLAY_WAIT_REPLAY_STREAM;
	} else {
		op->wait_kind = KWHY_REPLAY_WAIT_WORK;
		mark(pattern, work);
	}
}

static enum kwhy_status walk(struct ordering *ordering, struct kwhy_error *error)
{
	struct kwhy_replay_pattern *pattern = ordering->builder->pattern;
	uint32_t *order = NULL;
	enum kwhy_status status = kwhy_sort_order(pattern->op_count, by_start, pattern, &order, error);

	for (size_t i = 0; !status && i < pattern->op_count; i++) {
		uint32_t at = order ? order[i] : (uint32_t)i;
		struct kwhy_replay_op *op = &pattern->ops[at];

		order_op(ordering, op);
		issue_all(ordering, op);
		order_wait(ordering, op);
		ordering->op_has_begun[at] = true;
	}
	free(order);
	return status;
}

enum kwhy_status kwhy_replay_order(struct kwhy_replay_builder *builder, struct kwhy_error *error)
{
	const struct kwhy_replay_pattern *pattern = builder->pattern;
	struct ordering ordering = {.builder = builder,
		.tail = malloc((pattern->replay_stream_count + 1) * sizeof(*ordering.tail)),
		.work_is_issued = calloc(pattern->work_count + 1, sizeof(*ordering.work_is_issued)),
		.op_has_begun = calloc(pattern->op_count + 1, sizeof(*ordering.op_has_begun))};
	enum kwhy_status status;

	if (ordering.tail && ordering.work_is_issued && ordering.op_has_begun) {
		for (size_t i = 0; i < pattern->replay_stream_count; i++)
			ordering.tail[i] = KWHY_NONE;
		status = walk(&ordering, error);
	} else {
		status = kwhy_fail_memory(error, "the order of calls");
	}
	free(ordering.tail);
	free(ordering.work_is_issued);
	free(ordering.op_has_begun);
	return status;
}
