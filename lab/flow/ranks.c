/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/inside.h"
#include "lab/next.h"
#include "vendor/nvtx.h"

#include <string.h>

#define OUTPUT_ROW_BYTES (LAB_FLOW_OUTPUTS * sizeof(float))

/*
 * `flow` on several GPUs: each has a part of the rows, of one size, all get what rows put out, and the host
 * says who merges, as for one GPU. So flows of different GPUs meet, too, and where they are does not depend
 * on how many GPUs there are.
 */

static enum kwhy_status enter(struct lab_flow *rank, struct kwhy_error *error)
{
	return rank->gpu->ops->enter(rank->gpu, error);
}

/* Ends with its error, but leaves the thread at the first GPU. */
static enum kwhy_status come_back(struct lab_flow *flow, enum kwhy_status status, struct kwhy_error *error)
{
	struct kwhy_error other;
	enum kwhy_status entered = enter(flow, status ? &other : error);

	return status ? status : entered;
}

static enum kwhy_status open_group(struct lab_flow *flow, bool by_nccl, struct kwhy_error *error)
{
	struct kwhy_collectives_member members[KWHY_COLLECTIVES_MEMBERS_MOST];

	for (uint32_t i = 0; i < flow->rank_count; i++) {
		struct lab_flow *rank = flow->ranks[i];

		rank->count = flow->shape.flows / flow->rank_count;
		rank->first = rank->count * i;
		members[i] = (struct kwhy_collectives_member){rank->gpu, rank->stream};
	}
	return by_nccl ? kwhy_collectives_nccl_new(members, flow->rank_count, &flow->group, error)
		       : kwhy_collectives_own_new(members, flow->rank_count, &flow->group, error);
}

enum kwhy_status lab_flow_ranks_open(
	struct lab_flow *flow, const struct lab_flow_request *request, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	if (request->gpu_count > LAB_FLOW_GPUS_MOST || request->shape.flows % request->gpu_count)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"GPUs have parts of one size: %u flows cannot be divided among %u GPUs, %d at most; "
			"take other --flows",
			request->shape.flows, request->gpu_count, LAB_FLOW_GPUS_MOST);
	for (uint32_t i = 1; !status && i < request->gpu_count; i++) {
		struct lab_flow_request part = *request;

		part.gpus += i;
		part.gpu_count = 1;
		status = lab_flow_open(&part, &flow->ranks[i], error);
		if (!status)
			flow->rank_count++;
	}
	NEXT(status, open_group(flow, request->by_nccl, error));
	return come_back(flow, status, error);
}

void lab_flow_ranks_close(struct lab_flow *flow)
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
		lab_flow_close(flow->ranks[i]);
}

enum kwhy_status lab_flow_ranks_wait(struct lab_flow *flow, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < flow->rank_count; i++) {
		status = enter(flow->ranks[i], error);
		NEXT(status, lab_flow_wait(flow->ranks[i], error));
	}
	return come_back(flow, status, error);
}

/* What rows put out goes to all. A rank's stream has settled the step before when it gets there. */
static enum kwhy_status gather(struct lab_flow *flow, struct kwhy_error *error)
{
	uint64_t from[LAB_FLOW_GPUS_MOST], to[LAB_FLOW_GPUS_MOST];
	uint64_t part_bytes = flow->count * OUTPUT_ROW_BYTES;

	for (uint32_t i = 0; i < flow->rank_count; i++) {
		to[i] = flow->ranks[i]->args.outputs_rows;
		from[i] = to[i] + i * part_bytes;
	}
	flow->tally.calls++;
	flow->tally.gathers++;
	flow->tally.gathered_bytes += part_bytes * flow->rank_count * (flow->rank_count - 1);
	return flow->group->ops->gather(
		flow->group, from, to, (uint32_t)(part_bytes / sizeof(uint64_t)), error);
}

static enum kwhy_status compute(struct lab_flow *rank, uint32_t step, struct kwhy_error *error)
{
	uint64_t place = step % 2 * (uint64_t)rank->shape.flows + rank->first;
	enum kwhy_status status = enter(rank, error);

	NEXT(status, lab_flow_issue_plain(rank, step, rank->first, rank->count, error));
	return status ? status
		      : lab_flow_copy_out(rank, rank->moved + rank->first,
				rank->args.moved + place * sizeof(*rank->moved),
				rank->count * sizeof(*rank->moved), error);
}

static enum kwhy_status settle(struct lab_flow *flow, uint32_t step, struct kwhy_error *error)
{
	enum kwhy_status status = lab_flow_ranks_wait(flow, error);

	for (uint32_t i = 1; !status && i < flow->rank_count; i++) {
		const struct lab_flow *rank = flow->ranks[i];

		memcpy(flow->moved + rank->first, rank->moved + rank->first,
			rank->count * sizeof(*rank->moved));
	}
	if (!status)
		lab_flow_roster_step(&flow->roster, step, flow->moved, &flow->records[step]);
	for (uint32_t i = 0; !status && i < flow->rank_count; i++) {
		status = enter(flow->ranks[i], error);
		NEXT(status, lab_flow_settle(flow->ranks[i], &flow->roster, step, error));
	}
	return status;
}

enum kwhy_status lab_flow_ranks_step(struct lab_flow *flow, uint32_t step, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < flow->rank_count; i++)
		status = compute(flow->ranks[i], step, error);
	status = come_back(flow, status, error);
	if (!status && flow->rank_count > 1)
		status = gather(flow, error);
	kwhy_nvtx_push("memory operations");
	NEXT(status, settle(flow, step, error));
	kwhy_nvtx_pop();
	return come_back(flow, status, error);
}
