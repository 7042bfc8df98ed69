/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/builder.h"

#include "base/column.h"
#include "base/sort.h"
#include "whatif/parts.h"

#include <stdlib.h>
#include <string.h>

/*
 * Turns the recorded calls of each thread into ops of the replay. A call that neither issues work nor waits
 * for work or another thread becomes part of the pause before the next op.
 */

static const struct kwhy_calls *calls_of(const struct kwhy_replay_builder *builder)
{
	return &builder->recording->calls;
}

/*
 * The call that issues a row after the changes, or the outermost of the calls around it (a library's call
 * that makes others); KWHY_NONE: the row has no recorded call, or a change dropped the call.
 */
static uint32_t issuer_of(const struct kwhy_replay_builder *builder, uint32_t row)
{
	uint32_t node = builder->graph->nodes[row].from[KWHY_LINK_ISSUE],
		 call = builder->recording->activities.call[row];

	if (node != KWHY_NONE)
		call = node - (uint32_t)builder->graph->activity_count;
	else if (call != KWHY_NONE)
		call = builder->graph->outer[call];
	if (call == KWHY_NONE ||
		kwhy_whatif_is_dropped(builder->graph, kwhy_whatif_call_node(builder->graph, call)))
		return KWHY_NONE;
	return call;
}

static int by_start(const void *context, uint32_t a, uint32_t b)
{
	const struct kwhy_whatif_graph *graph = context;

	return (graph->start_ns[a] > graph->start_ns[b]) - (graph->start_ns[a] < graph->start_ns[b]);
}

/*
 * Entry of first_row with the next free position in `rows` for rows of the call that issues `row`. It is
 * entry call + 1, which becomes the start of the next call's rows once all rows are listed. Rows without a
 * call come after those of all calls.
 */
static size_t *place_of(const struct kwhy_replay_builder *builder, uint32_t row)
{
	uint32_t call = issuer_of(builder, row);

	return &builder->first_row[(call == KWHY_NONE ? builder->graph->call_count : call) + 1];
}

enum kwhy_status kwhy_replay_list_rows(struct kwhy_replay_builder *builder, struct kwhy_error *error)
{
	size_t rows = builder->graph->activity_count, calls = builder->graph->call_count;
	uint32_t *order = NULL;
	enum kwhy_status status = kwhy_sort_order(rows, by_start, builder->graph, &order, error);

	if (status)
		return status;
	for (uint32_t row = 0; row < rows; row++)
		if (kwhy_replay_is_played(builder, row))
			place_of(builder, row)[1]++;
	for (size_t call = 1; call < calls + 3; call++)
		builder->first_row[call] += builder->first_row[call - 1];
	for (size_t i = 0; i < rows; i++) {
		uint32_t row = order ? order[i] : (uint32_t)i;

		if (kwhy_replay_is_played(builder, row))
			builder->rows[(*place_of(builder, row))++] = row;
	}
	free(order);
	return KWHY_OK;
}

static size_t issued(const struct kwhy_replay_builder *builder, size_t call)
{
	return builder->first_row[call + 1] - builder->first_row[call];
}

/*
 * The replayed row that a call waits for; KWHY_NONE: it waits for no replayed row. A launch that waited for
 * earlier work because the launch queue was full gets no row: the replayed launch waits for the queue by
 * itself.
 */
static uint32_t waited_for(const struct kwhy_replay_builder *builder, uint32_t call)
{
	uint32_t node = kwhy_whatif_call_node(builder->graph, call),
		 row = builder->graph->nodes[node].from[KWHY_LINK_JOIN];

	if (row == KWHY_NONE || row >= builder->graph->activity_count)
		return KWHY_NONE;
	row = kwhy_replay_left_of(builder, row);
	if (row == KWHY_NONE || !kwhy_replay_is_played(builder, row) ||
		(calls_of(builder)->class[call] == KWHY_CALL_LAUNCH && issuer_of(builder, row) != call))
		return KWHY_NONE;
	return row;
}

static bool is_left(const struct kwhy_replay_builder *builder, size_t call)
{
	return builder->graph->outer[call] == call &&
		!kwhy_whatif_is_dropped(
			builder->graph, kwhy_whatif_call_node(builder->graph, (uint32_t)call));
}

/*
 * The call of another thread that must end before this call begins, because that thread handed over work to
 * this one (a link KWHY_LINK_CROSS); KWHY_NONE: there is none.
 */
static uint32_t handed_by(const struct kwhy_replay_builder *builder, size_t call)
{
	uint32_t node = builder->graph->nodes[builder->graph->activity_count + call].from[KWHY_LINK_CROSS];

	if (node == KWHY_NONE || node < builder->graph->activity_count ||
		node >= builder->graph->activity_count + builder->graph->call_count)
		return KWHY_NONE;
	return node - (uint32_t)builder->graph->activity_count;
}

static void find_followed(struct kwhy_replay_builder *builder)
{
	for (size_t call = 0; call < builder->graph->call_count; call++) {
		uint32_t from = is_left(builder, call) ? handed_by(builder, call) : KWHY_NONE;

		if (from != KWHY_NONE)
			builder->is_followed[from] = true;
	}
}

static void find_origin(struct kwhy_replay_builder *builder)
{
	const struct kwhy_whatif_graph *graph = builder->graph;
	size_t uncalled = graph->call_count;

	builder->origin_ns = INT64_MAX;
	for (size_t call = 0; call < graph->call_count; call++)
		if (issued(builder, call) &&
			graph->start_ns[graph->activity_count + call] < builder->origin_ns)
			builder->origin_ns = graph->start_ns[graph->activity_count + call];
	if (issued(builder, uncalled)) {
		int64_t start_ns = graph->start_ns[builder->rows[builder->first_row[uncalled]]];

		builder->origin_ns = start_ns < builder->origin_ns ? start_ns : builder->origin_ns;
	}
}

static enum kwhy_status add_op(
	struct kwhy_replay_pattern *pattern, const struct kwhy_replay_op *op, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_column_reserve((void **)&pattern->ops, &pattern->op_capacity,
		pattern->op_count + 1, sizeof(*pattern->ops), "calls", error);

	if (!status)
		pattern->ops[pattern->op_count++] = *op;
	return status;
}

static bool launches_graph(const struct kwhy_replay_builder *builder, uint32_t call)
{
	const char *name = kwhy_names_get(&builder->recording->names, calls_of(builder)->name[call]);

	return issued(builder, call) > 1 && (builder->changes->captured || strstr(name, "GraphLaunch"));
}

/*
 * Adds the rows that a call issues. If the call launches a graph, all its work goes to the stream of the
 * first row.
 */
static enum kwhy_status add_rows(
	struct kwhy_replay_builder *builder, size_t bucket, bool is_graph, struct kwhy_error *error)
{
	const uint32_t *rows = &builder->rows[builder->first_row[bucket]];
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < issued(builder, bucket); i++)
		status = kwhy_replay_add_row(builder, rows[i], is_graph ? rows[0] : rows[i], error);
	return status;
}

static int64_t not_negative(int64_t time_ns)
{
	return time_ns > 0 ? time_ns : 0;
}

static enum kwhy_status add_call(
	struct kwhy_replay_builder *builder, uint32_t call, int64_t gap_ns, struct kwhy_error *error)
{
	const struct kwhy_whatif_graph *graph = builder->graph;
	uint32_t at = kwhy_whatif_call_node(graph, call);
	const struct kwhy_whatif_node *node = &graph->nodes[at];
	bool is_graph = launches_graph(builder, call);
	struct kwhy_replay_op op = {
		.gap_ns = not_negative(gap_ns),
		.own_ns = kwhy_whatif_own_ns(graph, node),
		.return_ns = not_negative(kwhy_whatif_lag_ns(graph, node, KWHY_LINK_JOIN)),
		.start_ns = graph->start_ns[at] - builder->origin_ns,
		.work = (uint32_t)builder->pattern->work_count,
		.graph = is_graph ? 0 : KWHY_NONE,
		.wait = waited_for(builder, call),
		.after_op = handed_by(builder, call),
		.after_ns = not_negative(kwhy_whatif_lag_ns(graph, node, KWHY_LINK_CROSS)),
	};
	enum kwhy_status status = add_rows(builder, call, is_graph, error);

	if (status)
		return status;
	op.work_count = (uint32_t)builder->pattern->work_count - op.work;
	if (op.wait == KWHY_NONE && node->from[KWHY_LINK_JOIN] != KWHY_NONE && !op.work_count)
		op.own_ns = graph->end_ns[at] - graph->start_ns[at];
	builder->op_of[call] = (uint32_t)builder->pattern->op_count;
	return add_op(builder->pattern, &op, error);
}

/*
 * Whether a call is replayed. A call is replayed if it issues or awaits replayed work, if a call of another
 * thread must wait for it, or if it must wait for a call of another thread. The time of all other calls
 * becomes a pause.
 */
static bool is_called(struct kwhy_replay_builder *builder, size_t call)
{
	uint8_t class = calls_of(builder)->class[call];

	if (issued(builder, call) || waited_for(builder, (uint32_t)call) != KWHY_NONE ||
		builder->is_followed[call] || handed_by(builder, call) != KWHY_NONE)
		return true;
	builder->pattern->left.allocations += class == KWHY_CALL_ALLOC || class == KWHY_CALL_FREE;
	return false;
}

/*
 * Pause in ns from the end of the thread's last replayed call (ended_ns) to the start of `call`, without the
 * time for which the thread waited for another thread. INT64_MIN: there was no such call, and the pause
 * begins at time 0 of the pattern.
 */
static int64_t gap_before(const struct kwhy_replay_builder *builder, size_t call, int64_t ended_ns)
{
	const struct kwhy_whatif_graph *graph = builder->graph;
	size_t at = graph->activity_count + call;
	uint32_t before = graph->nodes[at].from[KWHY_LINK_ORDER];

	if (ended_ns == INT64_MIN)
		return graph->start_ns[at] - builder->origin_ns;
	if (before == KWHY_NONE || handed_by(builder, call) == KWHY_NONE)
		return graph->start_ns[at] - ended_ns;
	return graph->end_ns[before] - ended_ns +
		kwhy_whatif_lag_ns(graph, &graph->nodes[at], KWHY_LINK_ORDER);
}

static enum kwhy_status read_thread(
	struct kwhy_replay_builder *builder, size_t thread, struct kwhy_error *error)
{
	const struct kwhy_whatif_graph *graph = builder->graph;
	struct kwhy_replay_pattern *pattern = builder->pattern;
	const size_t *first = calls_of(builder)->first;
	size_t before = pattern->op_count;
	int64_t ended_ns = INT64_MIN;
	enum kwhy_status status = KWHY_OK;

	for (size_t call = first[thread]; !status && call < first[thread + 1]; call++) {
		size_t at = graph->activity_count + call;

		if (!is_left(builder, call) || graph->start_ns[at] < builder->origin_ns ||
			graph->start_ns[at] > graph->last_ns || !is_called(builder, call))
			continue;
		status = add_call(builder, (uint32_t)call, gap_before(builder, call, ended_ns), error);
		ended_ns = graph->end_ns[at];
	}
	if (pattern->op_count > before)
		pattern->threads[pattern->thread_count++] = (struct kwhy_replay_thread){
			(uint32_t)before, (uint32_t)(pattern->op_count - before)};
	return status;
}

/*
 * Reads work whose call is unknown. An additional thread of the replay issues each piece at the time at which
 * the piece starts in the simulated graph.
 */
static enum kwhy_status read_uncalled(struct kwhy_replay_builder *builder, struct kwhy_error *error)
{
	struct kwhy_replay_pattern *pattern = builder->pattern;
	size_t bucket = builder->graph->call_count, before = pattern->op_count;
	const uint32_t *rows = &builder->rows[builder->first_row[bucket]];
	int64_t last_ns = builder->origin_ns;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < issued(builder, bucket); i++) {
		int64_t start_ns = builder->graph->start_ns[rows[i]];
		struct kwhy_replay_op op = {.gap_ns = not_negative(start_ns - last_ns),
			.start_ns = start_ns - builder->origin_ns,
			.work = (uint32_t)pattern->work_count,
			.graph = KWHY_NONE,
			.wait = KWHY_NONE,
			.after_op = KWHY_NONE};

		status = kwhy_replay_add_row(builder, rows[i], rows[i], error);
		op.work_count = (uint32_t)pattern->work_count - op.work;
		if (!status)
			status = add_op(pattern, &op, error);
		last_ns = start_ns > last_ns ? start_ns : last_ns;
		pattern->left.uncalled++;
	}
	if (pattern->op_count > before)
		pattern->threads[pattern->thread_count++] = (struct kwhy_replay_thread){
			(uint32_t)before, (uint32_t)(pattern->op_count - before)};
	return status;
}

enum kwhy_status kwhy_replay_read_threads(struct kwhy_replay_builder *builder, struct kwhy_error *error)
{
	size_t threads = builder->recording->thread_count;
	enum kwhy_status status = KWHY_OK;

	builder->pattern->threads = malloc((threads + 1) * sizeof(*builder->pattern->threads));
	if (!builder->pattern->threads)
		return kwhy_fail_memory(error, "the threads of a recording");
	find_followed(builder);
	find_origin(builder);
	for (size_t t = 0; !status && t < threads; t++)
		status = read_thread(builder, t, error);
	return status ? status : read_uncalled(builder, error);
}
