/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/inside.h"

#include <string.h>

#define OUTPUT_ROW_BYTES (KWHY_FLOW_OUTPUTS * sizeof(float))

/*
 * `flow` on several GPUs: each has a part of the rows, all know what rows put out, and the host, which keeps
 * the books of all of them as for one GPU, says who merges. So flows of different GPUs meet, too, and where
 * they are does not depend on how many GPUs there are.
 */

static enum kwhy_status enter(struct kwhy_flow *rank, struct kwhy_error *error)
{
	return rank->gpu->ops->enter(rank->gpu, error);
}

/* Ends with its error, but leaves the thread at the first GPU. */
static enum kwhy_status come_back(struct kwhy_flow *flow, enum kwhy_status status, struct kwhy_error *error)
{
	struct kwhy_error other;
	enum kwhy_status entered = enter(flow, status ? &other : error);

	return status ? status : entered;
}

static enum kwhy_status open_group(struct kwhy_flow *flow, uint32_t gpus, struct kwhy_error *error)
{
	struct kwhy_collectives_member members[KWHY_FLOW_GPUS_MOST];

	if (flow->shape.flows % gpus)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"NCCL gathers parts of one size: %u flows cannot be divided among %u GPUs; take "
			"other "
			"--flows or --collectives own",
			flow->shape.flows, gpus);
	for (uint32_t i = 0; i < gpus; i++)
		members[i] = (struct kwhy_collectives_member){flow->ranks[i]->gpu, flow->ranks[i]->stream};
	return kwhy_collectives_nccl_new(members, gpus, &flow->group, error);
}

enum kwhy_status kwhy_flow_ranks_open(
	struct kwhy_flow *flow, const struct kwhy_flow_request *request, struct kwhy_error *error)
{
	enum kwhy_status status = request->other_count < KWHY_FLOW_GPUS_MOST
		? flow->gpu->ops->event_new(flow->gpu, false, &flow->settled, error)
		: kwhy_fail(error, KWHY_E_UNSUPPORTED, "%s takes up to %d GPUs, not %u", request->variant->id,
			  KWHY_FLOW_GPUS_MOST, request->other_count + 1);

	for (uint32_t i = 0; !status && i < request->other_count; i++) {
		struct kwhy_flow_request part = *request;
		struct kwhy_flow *rank;

		part.gpu = request->others[i];
		part.other_count = 0;
		part.by_nccl = false;
		status = kwhy_flow_open(&part, &rank, error);
		if (status)
			break;
		flow->ranks[flow->rank_count++] = rank;
	}
	for (uint32_t i = 0; i < flow->rank_count; i++) {
		uint64_t flows = flow->shape.flows;
		struct kwhy_flow *rank = flow->ranks[i];

		rank->first = (uint32_t)(flows * i / flow->rank_count);
		rank->count = (uint32_t)(flows * (i + 1) / flow->rank_count) - rank->first;
	}
	if (!status && request->by_nccl)
		status = open_group(flow, request->other_count + 1, error);
	return come_back(flow, status, error);
}

void kwhy_flow_ranks_close(struct kwhy_flow *flow)
{
	struct kwhy_error ignored;

	/* Nobody's memory goes while another GPU may still copy to it. */
	for (uint32_t i = 0; flow->rank_count > 1 && i < flow->rank_count; i++)
		if (!enter(flow->ranks[i], &ignored))
			(void)flow->gpu->ops->synchronize(
				flow->ranks[i]->gpu, flow->ranks[i]->stream, &ignored);
	if (flow->group)
		flow->group->ops->free(flow->group);
	flow->group = NULL;
	for (uint32_t i = 1; i < flow->rank_count; i++)
		kwhy_flow_close(flow->ranks[i]);
}

enum kwhy_status kwhy_flow_ranks_wait(struct kwhy_flow *flow, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < flow->rank_count; i++) {
		status = enter(flow->ranks[i], error);
		if (!status)
			status = kwhy_flow_wait(flow->ranks[i], error);
	}
	return come_back(flow, status, error);
}

/* What its rows put out goes to another, once that one has settled the step before. */
static enum kwhy_status give(
	struct kwhy_flow *rank, struct kwhy_flow *other, uint32_t step, struct kwhy_error *error)
{
	const struct kwhy_gpu_ops *ops = rank->gpu->ops;
	uint64_t place = rank->first * OUTPUT_ROW_BYTES;
	const struct kwhy_gpu_copy copy = {other->args.outputs_rows + place, rank->args.outputs_rows + place,
		rank->count * OUTPUT_ROW_BYTES};
	enum kwhy_status status = KWHY_OK;

	if (!rank->count)
		return KWHY_OK;
	rank->tally.calls += step ? 2 : 1;
	rank->tally.peer_copies++;
	rank->tally.peer_bytes += copy.bytes;
	if (step)
		status = ops->stream_wait(rank->gpu, rank->stream, other->settled, error);
	return status ? status : ops->copy(rank->gpu, rank->stream, &copy, error);
}

/* The same for all at once. A rank's stream has settled the step before when it gets there. */
static enum kwhy_status gather(struct kwhy_flow *flow, struct kwhy_error *error)
{
	uint64_t from[KWHY_FLOW_GPUS_MOST], to[KWHY_FLOW_GPUS_MOST];
	uint64_t part_bytes = flow->count * OUTPUT_ROW_BYTES;

	if (!part_bytes)
		return KWHY_OK;
	for (uint32_t i = 0; i < flow->rank_count; i++) {
		struct kwhy_flow *rank = flow->ranks[i];

		to[i] = rank->args.outputs_rows;
		from[i] = to[i] + rank->first * OUTPUT_ROW_BYTES;
		rank->tally.calls++;
		rank->tally.peer_bytes += part_bytes * (flow->rank_count - 1);
	}
	flow->tally.gathers++;
	return flow->group->ops->gather(
		flow->group, from, to, (uint32_t)(part_bytes / sizeof(uint64_t)), error);
}

static enum kwhy_status compute(
	struct kwhy_flow *flow, struct kwhy_flow *rank, uint32_t step, struct kwhy_error *error)
{
	uint64_t place = step % 2 * (uint64_t)flow->shape.flows + rank->first;
	enum kwhy_status status = enter(rank, error);

	if (!status)
		status = kwhy_flow_issue_plain(rank, step, rank->first, rank->count, error);
	for (uint32_t i = 0; !status && !flow->group && i < flow->rank_count; i++)
		if (flow->ranks[i] != rank)
			status = give(rank, flow->ranks[i], step, error);
	return status ? status
		      : kwhy_flow_copy_out(rank, rank->moved + rank->first,
				rank->args.moved + place * sizeof(*rank->moved),
				rank->count * sizeof(*rank->moved), error);
}

/* A rank learns what became of all rows, and makes what its own begin the next step with. */
static enum kwhy_status settle(
	struct kwhy_flow *flow, struct kwhy_flow *rank, uint32_t step, struct kwhy_error *error)
{
	size_t rows = flow->shape.flows, half = step % 2 * rows;
	enum kwhy_status status = enter(rank, error);

	memcpy(rank->fresh, flow->books.fresh, rows * sizeof(*rank->fresh));
	memcpy(rank->next, flow->books.next, rows * sizeof(*rank->next));
	if (!status)
		status = kwhy_flow_copy_in(rank, rank->args.fresh + half * sizeof(*rank->fresh), rank->fresh,
			rows * sizeof(*rank->fresh), error);
	if (!status)
		status = kwhy_flow_copy_in(rank, rank->args.next + half * sizeof(*rank->next), rank->next,
			rows * sizeof(*rank->next), error);
	if (!status)
		status = kwhy_flow_launch(rank, KWHY_FLOW_SETTLE, step, rank->first, rank->count, error);
	rank->tally.calls++;
	return status ? status : rank->gpu->ops->event_record(rank->gpu, rank->settled, rank->stream, error);
}

static enum kwhy_status keep_books(struct kwhy_flow *flow, uint32_t step, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_flow_ranks_wait(flow, error);

	for (uint32_t i = 0; !status && i < flow->rank_count; i++) {
		const struct kwhy_flow *rank = flow->ranks[i];

		memmove(flow->moved + rank->first, rank->moved + rank->first,
			rank->count * sizeof(*rank->moved));
	}
	if (!status)
		kwhy_flow_books_step(&flow->books, step, flow->moved, &flow->records[step]);
	for (uint32_t i = 0; !status && i < flow->rank_count; i++)
		status = settle(flow, flow->ranks[i], step, error);
	return come_back(flow, status, error);
}

enum kwhy_status kwhy_flow_ranks_step(struct kwhy_flow *flow, uint32_t step, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < flow->rank_count; i++)
		status = compute(flow, flow->ranks[i], step, error);
	if (!status && flow->group)
		status = gather(flow, error);
	status = come_back(flow, status, error);
	if (status)
		return status;
	kwhy_flow_component_begin(flow, KWHY_FLOW_MEMORY);
	status = keep_books(flow, step, error);
	return kwhy_flow_component_end(flow, KWHY_FLOW_MEMORY, status, error);
}
