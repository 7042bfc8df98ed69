/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's send and receive between two GPUs, one thread driving both. */
#include "bench/pair_place.h"

#include <string.h>

static enum kwhy_status check(const struct kwhy_pair_place *place, enum kwhy_nccl_result result,
	const char *what, struct kwhy_error *error)
{
	if (result == KWHY_NCCL_SUCCESS)
		return KWHY_OK;
	return kwhy_fail(error, result == KWHY_NCCL_UNHANDLED_CUDA_ERROR ? KWHY_E_LOST : KWHY_E_UNSUPPORTED,
		"NCCL cannot %s: %s; NCCL_DEBUG=WARN says more", what,
		place->nccl.ncclGetErrorString(result));
}

enum kwhy_status kwhy_pair_nccl_start(
	struct kwhy_pair_place *place, uint32_t one, uint32_t other, struct kwhy_error *error)
{
	uint32_t low = one < other ? one : other, high = one < other ? other : one;
	const struct kwhy_gpu *first = place->rooms[low]->gpu, *second = place->rooms[high]->gpu;
	const int devices[] = {first->facts.index, second->facts.index};
	kwhy_nccl_communicator made[2] = {NULL, NULL};
	enum kwhy_status status = KWHY_OK;

	if (place->communicators[one][other])
		return KWHY_OK;
	if (strcmp(first->ops->name, "cuda") != 0)
		return kwhy_fail(
			error, KWHY_E_UNSUPPORTED, "NCCL works on CUDA alone, not on %s", first->ops->name);
	if (!place->nccl.library)
		status = kwhy_nccl_open(&place->nccl, error);
	if (!status)
		status = check(place, place->nccl.ncclCommInitAll(made, 2, devices), "start", error);
	if (status)
		return status;
	place->communicators[low][high] = made[0];
	place->communicators[high][low] = made[1];
	return KWHY_OK;
}

void kwhy_pair_nccl_stop(struct kwhy_pair_place *place)
{
	for (uint32_t i = 0; i < place->count; i++)
		for (uint32_t k = 0; k < place->count; k++)
			if (place->communicators[i][k]) {
				place->nccl.ncclCommDestroy(place->communicators[i][k]);
				place->communicators[i][k] = NULL;
			}
	if (place->nccl.library)
		kwhy_nccl_close(&place->nccl);
	place->nccl.library = NULL;
}

/* In a communicator of two the one of the lower number is rank 0. */
static enum kwhy_nccl_result one_way(
	struct kwhy_pair_work *work, uint32_t source, uint32_t target, const struct kwhy_gpu_copy *bytes)
{
	const struct kwhy_pair_place *place = work->place;
	enum kwhy_nccl_result result = place->nccl.ncclSend((const void *)(uintptr_t)bytes->from,
		bytes->bytes, KWHY_NCCL_UINT8, target > source, place->communicators[source][target],
		(kwhy_nccl_stream)(void *)place->rooms[source]->streams[0]);

	if (result)
		return result;
	return place->nccl.ncclRecv((void *)(uintptr_t)bytes->to, bytes->bytes, KWHY_NCCL_UINT8,
		source > target, place->communicators[target][source],
		(kwhy_nccl_stream)(void *)place->rooms[target]->streams[0]);
}

/* Ends the group whatever came of its calls, so that the library is left as it was found. */
static enum kwhy_status send_once(struct kwhy_pair_work *work, struct kwhy_error *error)
{
	const struct kwhy_pair_config *config = work->config;
	const struct kwhy_nccl *nccl = &work->place->nccl;
	enum kwhy_nccl_result result = nccl->ncclGroupStart(), ended;

	if (!result)
		result = one_way(work, config->source, config->target, &work->there);
	if (!result && kwhy_pair_is_exchange(config->engine))
		result = one_way(work, config->target, config->source, &work->back);
	ended = nccl->ncclGroupEnd();
	return check(work->place, result ? result : ended, "send", error);
}

enum kwhy_status kwhy_pair_issue_nccl(struct kwhy_pair_work *work, uint32_t count, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_pair_fork(work, error);

	for (uint32_t i = 0; !status && i < count; i++)
		status = send_once(work, error);
	return status ? status : kwhy_pair_join(work, error);
}
