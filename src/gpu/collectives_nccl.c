/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/collectives.h"
#include "vendor/nccl.h"

#include <stdlib.h>
#include <string.h>

struct by_nccl {
	struct kwhy_collectives group; /* first member of the struct, since callers hold a pointer to it */
	struct kwhy_nccl nccl;
	kwhy_nccl_communicator communicators[KWHY_COLLECTIVES_MEMBERS_MAX];
};

static enum kwhy_status check(
	const struct by_nccl *by, enum kwhy_nccl_result result, const char *what, struct kwhy_error *error)
{
	if (result == KWHY_NCCL_SUCCESS)
		return KWHY_OK;
	return kwhy_fail(error, result == KWHY_NCCL_UNHANDLED_CUDA_ERROR ? KWHY_E_LOST : KWHY_E_UNSUPPORTED,
		"NCCL cannot %s: %s; NCCL_DEBUG=WARN says more", what, by->nccl.ncclGetErrorString(result));
}

static kwhy_nccl_stream stream_of(const struct by_nccl *by, uint32_t member)
{
	return (kwhy_nccl_stream)(void *)by->group.members[member].stream;
}

/*
 * Ends the group of NCCL calls that ncclGroupStart() began, also if a call in it failed (`result`), as NCCL
 * needs that to stay usable. The first failure is reported.
 */
static enum kwhy_status end_group(
	struct by_nccl *by, enum kwhy_nccl_result result, const char *what, struct kwhy_error *error)
{
	enum kwhy_nccl_result ended = by->nccl.ncclGroupEnd();

	return check(by, result ? result : ended, what, error);
}

static enum kwhy_status reduce(struct kwhy_collectives *group, enum kwhy_nccl_type type,
	enum kwhy_nccl_operation operation, const uint64_t *places, uint32_t count, struct kwhy_error *error)
{
	struct by_nccl *by = (struct by_nccl *)group;
	enum kwhy_nccl_result result = by->nccl.ncclGroupStart();

	for (uint32_t i = 0; !result && i < group->count; i++)
		result = by->nccl.ncclAllReduce(kwhy_gpu_at(places[i]), kwhy_gpu_at(places[i]), count, type,
			operation, by->communicators[i], stream_of(by, i));
	return end_group(by, result, "reduce", error);
}

static enum kwhy_status nccl_sum(
	struct kwhy_collectives *group, const uint64_t *places, uint32_t count, struct kwhy_error *error)
{
	return reduce(group, KWHY_NCCL_UINT64, KWHY_NCCL_SUM, places, count, error);
}

static enum kwhy_status nccl_max(
	struct kwhy_collectives *group, const uint64_t *places, uint32_t count, struct kwhy_error *error)
{
	return reduce(group, KWHY_NCCL_UINT64, KWHY_NCCL_MAX, places, count, error);
}

static enum kwhy_status nccl_sum_floats(
	struct kwhy_collectives *group, const uint64_t *places, uint32_t count, struct kwhy_error *error)
{
	return reduce(group, KWHY_NCCL_FLOAT32, KWHY_NCCL_SUM, places, count, error);
}

static enum kwhy_status nccl_broadcast(
	struct kwhy_collectives *group, const uint64_t *places, uint32_t count, struct kwhy_error *error)
{
	struct by_nccl *by = (struct by_nccl *)group;
	enum kwhy_nccl_result result = by->nccl.ncclGroupStart();

	for (uint32_t i = 0; !result && i < group->count; i++)
		result = by->nccl.ncclBroadcast(kwhy_gpu_at(places[i]), kwhy_gpu_at(places[i]), count,
			KWHY_NCCL_FLOAT32, 0, by->communicators[i], stream_of(by, i));
	return end_group(by, result, "broadcast", error);
}

/*
 * Queues a member's sends and receives. NCCL matches the sends and receives between two members by their
 * order. In a group of two, the next and the previous member are the same; each member therefore sends the
 * row for the other's `to_above` first, and receives into `to_above` first.
 */
static enum kwhy_nccl_result exchange_member(
	struct by_nccl *by, uint32_t i, const struct kwhy_collectives_edges *edges, uint32_t count)
{
	int next = (int)((i + 1) % by->group.count),
	    before = (int)((i + by->group.count - 1) % by->group.count);
	kwhy_nccl_communicator own = by->communicators[i];
	kwhy_nccl_stream stream = stream_of(by, i);
	enum kwhy_nccl_result result = by->nccl.ncclSend(
		kwhy_gpu_at(edges->from_last), count, KWHY_NCCL_FLOAT32, next, own, stream);

	if (!result)
		result = by->nccl.ncclSend(
			kwhy_gpu_at(edges->from_first), count, KWHY_NCCL_FLOAT32, before, own, stream);
	if (!result)
		result = by->nccl.ncclRecv(
			kwhy_gpu_at(edges->to_above), count, KWHY_NCCL_FLOAT32, before, own, stream);
	if (!result)
		result = by->nccl.ncclRecv(
			kwhy_gpu_at(edges->to_below), count, KWHY_NCCL_FLOAT32, next, own, stream);
	return result;
}

static enum kwhy_status nccl_exchange(struct kwhy_collectives *group,
	const struct kwhy_collectives_edges *edges, uint32_t count, struct kwhy_error *error)
{
	struct by_nccl *by = (struct by_nccl *)group;
	enum kwhy_nccl_result result = by->nccl.ncclGroupStart();

	for (uint32_t i = 0; !result && i < group->count; i++)
		result = exchange_member(by, i, &edges[i], count);
	return end_group(by, result, "exchange", error);
}

static enum kwhy_status nccl_gather(struct kwhy_collectives *group, const uint64_t *from, const uint64_t *to,
	uint32_t count, struct kwhy_error *error)
{
	struct by_nccl *by = (struct by_nccl *)group;
	enum kwhy_nccl_result result = by->nccl.ncclGroupStart();

	for (uint32_t i = 0; !result && i < group->count; i++)
		result = by->nccl.ncclAllGather(kwhy_gpu_at(from[i]), kwhy_gpu_at(to[i]), count,
			KWHY_NCCL_UINT64, by->communicators[i], stream_of(by, i));
	return end_group(by, result, "gather", error);
}

static void nccl_free(struct kwhy_collectives *group)
{
	struct by_nccl *by = (struct by_nccl *)group;

	for (uint32_t i = 0; i < group->count; i++)
		if (by->communicators[i])
			by->nccl.ncclCommDestroy(by->communicators[i]);
	if (by->nccl.library)
		kwhy_nccl_close(&by->nccl);
	free(by);
}

static const struct kwhy_collectives_ops nccl_ops = {
	.name = "nccl",
	.free = nccl_free,
	.sum = nccl_sum,
	.max = nccl_max,
	.sum_floats = nccl_sum_floats,
	.broadcast = nccl_broadcast,
	.exchange = nccl_exchange,
	.gather = nccl_gather,
};

static enum kwhy_status check_members(
	const struct kwhy_collectives_member *members, uint32_t count, struct kwhy_error *error)
{
	if (count < 1 || count > KWHY_COLLECTIVES_MEMBERS_MAX)
		return kwhy_fail(error, KWHY_E_INPUT, "a group of %u members; there may be 1 to %d", count,
			KWHY_COLLECTIVES_MEMBERS_MAX);
	if (strcmp(members[0].gpu->ops->name, "cuda") != 0)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "NCCL works on CUDA alone, not on %s; use own",
			members[0].gpu->ops->name);
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < i; k++)
			if (members[i].gpu == members[k].gpu)
				return kwhy_fail(error, KWHY_E_UNSUPPORTED,
					"NCCL takes one member a GPU; name %u GPUs, or use own", count);
	return KWHY_OK;
}

static enum kwhy_status open_communicators(struct by_nccl *by, struct kwhy_error *error)
{
	struct kwhy_gpu *first = by->group.members[0].gpu;
	int devices[KWHY_COLLECTIVES_MEMBERS_MAX];
	enum kwhy_status status;

	for (uint32_t i = 0; i < by->group.count; i++)
		devices[i] = by->group.members[i].gpu->facts.index;
	status = kwhy_nccl_open(&by->nccl, error);
	if (!status)
		status = check(by, by->nccl.ncclCommInitAll(by->communicators, (int)by->group.count, devices),
			"start", error);
	return status ? status : first->ops->enter(first, error);
}

enum kwhy_status kwhy_collectives_nccl_new(const struct kwhy_collectives_member *members, uint32_t count,
	struct kwhy_collectives **out, struct kwhy_error *error)
{
	enum kwhy_status status = check_members(members, count, error);
	struct by_nccl *by;

	if (status)
		return status;
	by = calloc(1, sizeof(*by));
	if (!by)
		return kwhy_fail_memory(error, "a group of GPUs");
	by->group.ops = &nccl_ops;
	by->group.count = count;
	memcpy(by->group.members, members, count * sizeof(*members));
	status = open_communicators(by, error);
	if (status)
		nccl_free(&by->group);
	else
		*out = &by->group;
	return status;
}
