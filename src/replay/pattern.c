/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/builder.h"

#include "whatif/parts.h"

#include <math.h>
#include <stdlib.h>

bool kwhy_replay_is_played(const struct kwhy_replay_builder *builder, uint32_t row)
{
	return kwhy_recording_device_of(builder->recording, row) == builder->pattern->device &&
		!kwhy_whatif_is_dropped(builder->graph, row);
}

uint32_t kwhy_replay_left_of(const struct kwhy_replay_builder *builder, uint32_t row)
{
	while (row < builder->graph->activity_count && kwhy_whatif_is_dropped(builder->graph, row))
		row = builder->graph->nodes[row].from[KWHY_LINK_ORDER];
	return row < builder->graph->activity_count ? row : KWHY_NONE;
}

uint32_t kwhy_replay_device(const struct kwhy_recording *recording)
{
	const size_t *first = recording->activities.first;
	uint32_t best = KWHY_NONE;

	for (uint32_t d = 0; d < recording->device_count; d++)
		if (first[d + 1] > first[d] &&
			(best == KWHY_NONE || first[d + 1] - first[d] > first[best + 1] - first[best]))
			best = d;
	return best;
}

static enum kwhy_status reserve(struct kwhy_replay_builder *builder, struct kwhy_error *error)
{
	size_t rows = builder->graph->activity_count, calls = builder->graph->call_count,
	       streams = builder->recording->stream_count;

	builder->first_row = calloc(calls + 3, sizeof(*builder->first_row));
	builder->rows = malloc((rows + 1) * sizeof(*builder->rows));
	builder->is_followed = calloc(calls + 1, sizeof(*builder->is_followed));
	builder->op_of = malloc((calls + 1) * sizeof(*builder->op_of));
	builder->work_of = malloc((rows + 1) * sizeof(*builder->work_of));
	builder->replay_stream_of = malloc(
		(KWHY_REPLAY_GROUPS * streams + 1) * sizeof(*builder->replay_stream_of));
	builder->apart = calloc(streams + 1, sizeof(*builder->apart));
	if (!builder->first_row || !builder->rows || !builder->is_followed || !builder->op_of ||
		!builder->work_of || !builder->replay_stream_of || !builder->apart)
		return kwhy_fail_memory(error, "the calls of a recording");
	for (size_t i = 0; i < calls; i++)
		builder->op_of[i] = KWHY_NONE;
	for (size_t i = 0; i < rows; i++)
		builder->work_of[i] = KWHY_NONE;
	for (size_t i = 0; i < KWHY_REPLAY_GROUPS * streams; i++)
		builder->replay_stream_of[i] = KWHY_NONE;
	return KWHY_OK;
}

static void release(struct kwhy_replay_builder *builder)
{
	free(builder->first_row);
	free(builder->rows);
	free(builder->is_followed);
	free(builder->op_of);
	free(builder->work_of);
	free(builder->row_of);
	free(builder->replay_stream_of);
	free(builder->apart);
}

static enum kwhy_status part(struct kwhy_replay_builder *builder, struct kwhy_error *error)
{
	uint32_t *last = malloc((builder->recording->stream_count + 1) * sizeof(*last));

	if (!last)
		return kwhy_fail_memory(error, "the order of streams");
	kwhy_replay_part_streams(builder, last);
	free(last);
	return KWHY_OK;
}

static enum kwhy_status read_accounts(struct kwhy_replay_builder *builder, struct kwhy_error *error)
{
	struct kwhy_replay_pattern *pattern = builder->pattern;
	const struct kwhy_ledger *ledger = builder->whatif->ledger;
	const struct kwhy_device_ledger *device_ledger = ledger ? &ledger->devices[pattern->device] : NULL;

	if (!device_ledger || !device_ledger->account_count)
		return KWHY_OK;
	pattern->accounts = kwhy_arena_alloc(
		&pattern->arena, device_ledger->account_count, sizeof(*pattern->accounts));
	if (!pattern->accounts)
		return kwhy_fail_memory(error, "the accounts of kernels");
	pattern->account_count = device_ledger->account_count;
	for (size_t i = 0; i < device_ledger->account_count; i++) {
		const struct kwhy_account *account = &device_ledger->accounts[i];
		bool known = account->gross_nj != KWHY_UNKNOWN_NJ && account->time_ns > 0;

		pattern->accounts[i] = (struct kwhy_replay_account){
			.name = kwhy_arena_copy(&pattern->arena, account->name),
			.power_w = known ? (double)account->gross_nj / (double)account->time_ns : NAN};
		if (!pattern->accounts[i].name)
			return kwhy_fail_memory(error, "the accounts of kernels");
	}
	return KWHY_OK;
}

/*
 * Computes for each account the number and total time of its kernels, and the length and grid of the longest.
 */
static void sum_accounts(struct kwhy_replay_pattern *pattern)
{
	for (size_t i = 0; i < pattern->work_count; i++) {
		const struct kwhy_replay_work *work = &pattern->works[i];
		struct kwhy_replay_account *account;

		if (work->kind != KWHY_REPLAY_KERNEL || work->account == KWHY_NONE)
			continue;
		account = &pattern->accounts[work->account];
		if (!account->count || work->length_ns > account->longest_ns) {
			account->longest_ns = work->length_ns;
			account->grid = work->grid;
		}
		account->count++;
		account->time_ns += work->length_ns;
	}
}

static void count(struct kwhy_replay_pattern *pattern)
{
	uint64_t *const kinds[] = {&pattern->kernels, &pattern->copies, &pattern->fills};

	for (size_t i = 0; i < pattern->work_count; i++)
		(*kinds[pattern->works[i].kind])++;
	for (size_t i = 0; i < pattern->op_count; i++)
		pattern->waits += pattern->ops[i].wait_kind != KWHY_REPLAY_WAIT_NONE;
}

static void find_span(struct kwhy_replay_builder *builder)
{
	const struct kwhy_replay_pattern *pattern = builder->pattern;
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;

	for (uint32_t row = 0; row < builder->graph->activity_count; row++) {
		if (builder->work_of[row] == KWHY_NONE)
			continue;
		if (builder->graph->start_ns[row] < first_ns) {
			first_ns = builder->graph->start_ns[row];
			builder->pattern->first_work = builder->work_of[row];
		}
		if (builder->graph->end_ns[row] > last_ns)
			last_ns = builder->graph->end_ns[row];
	}
	builder->pattern->span_ns = pattern->work_count ? last_ns - first_ns : 0;
}

static enum kwhy_status build(struct kwhy_replay_builder *builder, struct kwhy_error *error)
{
	struct kwhy_replay_pattern *pattern = builder->pattern;
	const struct kwhy_whatif_delays *delays = &builder->graph->delays;
	enum kwhy_status status = reserve(builder, error);

	pattern->queued_ns = delays->queued_ns[KWHY_ACTIVITY_KERNEL][KWHY_ACTIVITY_KERNEL];
	pattern->issue_ns = delays->issue_ns[KWHY_ACTIVITY_KERNEL];
	pattern->return_ns = delays->return_ns[KWHY_CALL_SYNC];
	if (!status)
		status = part(builder, error);
	if (!status)
		status = read_accounts(builder, error);
	if (!status)
		status = kwhy_replay_list_rows(builder, error);
	if (!status)
		status = kwhy_replay_read_threads(builder, error);
	if (!status)
		status = kwhy_replay_order(builder, error);
	if (!status)
		status = kwhy_replay_share_graphs(pattern, error);
	if (status)
		return status;
	find_span(builder);
	sum_accounts(pattern);
	count(pattern);
	return pattern->work_count ? KWHY_OK
				   : kwhy_fail(error, KWHY_E_INPUT,
					     "these changes leave no work to replay; leave one of them out");
}

enum kwhy_status kwhy_replay_pattern_new(const struct kwhy_whatif *whatif,
	const struct kwhy_replay_changes *changes, struct kwhy_replay_pattern **out, struct kwhy_error *error)
{
	struct kwhy_replay_builder builder = {
		.whatif = whatif, .graph = whatif->graph, .recording = whatif->recording, .changes = changes};
	enum kwhy_status status;

	if (kwhy_replay_device(whatif->recording) == KWHY_NONE)
		return kwhy_fail(error, KWHY_E_INPUT,
			"the recording holds no activity of a device, so there is nothing to replay; record "
			"what runs on the GPUs, as kwhy record does without --power-only");
	builder.pattern = calloc(1, sizeof(*builder.pattern));
	if (!builder.pattern)
		return kwhy_fail_memory(error, "the calls of a recording");
	builder.pattern->device = kwhy_replay_device(whatif->recording);
	status = build(&builder, error);
	release(&builder);
	if (status)
		kwhy_replay_pattern_free(builder.pattern);
	else
		*out = builder.pattern;
	return status;
}

void kwhy_replay_pattern_free(struct kwhy_replay_pattern *pattern)
{
	if (!pattern)
		return;
	kwhy_arena_done(&pattern->arena);
	free(pattern->threads);
	free(pattern->ops);
	free(pattern->works);
	free(pattern->replay_streams);
	free(pattern->grids);
	free(pattern->graphs);
	free(pattern);
}
