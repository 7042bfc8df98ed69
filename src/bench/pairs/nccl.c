/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL: send and receive between two GPUs, and collectives of all; one thread drives all that are ours. */
#include "bench/pairs/collectives.h"
#include "bench/pairs/ranks.h"

#include <stdio.h>
#include <string.h>

enum { WORD = 4 };

static enum kwhy_status check(const struct kwhy_pair_place *place, enum kwhy_nccl_result result,
	const char *what, struct kwhy_error *error)
{
	if (result == KWHY_NCCL_SUCCESS)
		return KWHY_OK;
	return kwhy_fail(error, result == KWHY_NCCL_UNHANDLED_CUDA_ERROR ? KWHY_E_LOST : KWHY_E_UNSUPPORTED,
		"NCCL cannot %s: %s; NCCL_DEBUG=WARN says more", what,
		place->nccl.ncclGetErrorString(result));
}

enum kwhy_status kwhy_pair_nccl_load(struct kwhy_pair_place *place, struct kwhy_error *error)
{
	const struct kwhy_gpu *gpu = place->rooms[kwhy_pair_first_own(place)]->gpu;

	if (place->nccl.library)
		return KWHY_OK;
	if (strcmp(gpu->ops->name, "cuda") != 0)
		return kwhy_fail(
			error, KWHY_E_UNSUPPORTED, "NCCL works on CUDA alone, not on %s", gpu->ops->name);
	return kwhy_nccl_open(&place->nccl, error);
}

enum kwhy_status kwhy_pair_nccl_start(
	struct kwhy_pair_place *place, uint32_t one, uint32_t other, struct kwhy_error *error)
{
	uint32_t low = one < other ? one : other, high = one < other ? other : one;
	const int devices[] = {place->rooms[low]->gpu->facts.index, place->rooms[high]->gpu->facts.index};
	kwhy_nccl_communicator made[2] = {NULL, NULL};
	enum kwhy_status status = kwhy_pair_nccl_load(place, error);

	if (status ||
		place->communicators[kwhy_pair_is_own(place, one) ? one : other]
				    [kwhy_pair_is_own(place, one) ? other : one])
		return status;
	if (place->ranks)
		return kwhy_pair_ranks_nccl(place, one, other, error);
	status = check(place, place->nccl.ncclCommInitAll(made, 2, devices), "start", error);
	if (status)
		return status;
	place->communicators[low][high] = made[0];
	place->communicators[high][low] = made[1];
	return KWHY_OK;
}

enum kwhy_status kwhy_pair_nccl_start_all(struct kwhy_pair_place *place, struct kwhy_error *error)
{
	int devices[KWHY_PAIR_GPUS_MOST];
	enum kwhy_status status = kwhy_pair_nccl_load(place, error);

	if (status || place->all[kwhy_pair_first_own(place)])
		return status;
	if (place->ranks)
		return kwhy_pair_ranks_nccl(place, 0, 0, error);
	for (uint32_t i = 0; i < place->count; i++)
		devices[i] = place->rooms[i]->gpu->facts.index;
	return check(
		place, place->nccl.ncclCommInitAll(place->all, (int)place->count, devices), "start", error);
}

enum kwhy_status kwhy_pair_nccl_name(
	struct kwhy_pair_place *place, struct kwhy_nccl_id *out, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_pair_nccl_load(place, error);

	return status ? status : check(place, place->nccl.ncclGetUniqueId(out), "start", error);
}

enum kwhy_status kwhy_pair_nccl_join(struct kwhy_pair_place *place, const struct kwhy_nccl_id *id,
	uint32_t other, struct kwhy_error *error)
{
	bool all = other == place->own;
	kwhy_nccl_communicator *slot = all ? &place->all[place->own]
					   : &place->communicators[place->own][other];
	enum kwhy_status status = kwhy_pair_nccl_load(place, error);

	if (!status)
		status = kwhy_pair_turn(place->rooms[place->own], error);
	if (status)
		return status;
	if (*slot)
		place->nccl.ncclCommDestroy(*slot);
	*slot = NULL;
	return check(place,
		place->nccl.ncclCommInitRank(
			slot, all ? (int)place->count : 2, *id, all ? (int)place->own : place->own > other),
		"start", error);
}

static void stop(struct kwhy_pair_place *place, kwhy_nccl_communicator *communicator)
{
	/* Of ranks of which one is gone, those that are left would wait for it. */
	if (*communicator && place->ranks && kwhy_pair_ranks_is_lost(place->ranks))
		place->nccl.ncclCommAbort(*communicator);
	else if (*communicator)
		place->nccl.ncclCommDestroy(*communicator);
	*communicator = NULL;
}

void kwhy_pair_nccl_drop(struct kwhy_pair_place *place)
{
	for (uint32_t i = 0; i < place->count; i++) {
		for (uint32_t k = 0; k < place->count; k++)
			stop(place, &place->communicators[i][k]);
		stop(place, &place->all[i]);
	}
}

void kwhy_pair_nccl_stop(struct kwhy_pair_place *place)
{
	kwhy_pair_nccl_drop(place);
	if (place->nccl.library)
		kwhy_nccl_close(&place->nccl);
	place->nccl.library = NULL;
}

/* 20805: 2.8.5; before 2.9: 2803. */
void kwhy_pair_nccl_version(const struct kwhy_pair_place *place, char out[16])
{
	int version = 0;

	out[0] = '\0';
	if (!place->nccl.library || place->nccl.ncclGetVersion(&version))
		return;
	if (version >= 10000)
		snprintf(out, 16, "%d.%d.%d", version / 10000 % 100, version / 100 % 100, version % 100);
	else
		snprintf(out, 16, "%d.%d.%d", version / 1000 % 100, version / 100 % 10, version % 100);
}

static kwhy_nccl_stream stream_of(const struct kwhy_pair_place *place, uint32_t i)
{
	return (kwhy_nccl_stream)(void *)place->rooms[i]->streams[0];
}

/* How far into its buffers number `i` of a row lies: of those that are timed as nccl-tests does it moves on.
 */
static uint64_t shift_of(const struct kwhy_pair_work *work, uint32_t i)
{
	uint64_t bytes = work->config->bytes;

	if (work->config->clock != KWHY_PAIR_QUEUED || !bytes)
		return 0;
	return i % (work->main->capacity / bytes) * bytes;
}

/* In a communicator of two the one of the lower number is rank 0. */
static enum kwhy_nccl_result one_way(struct kwhy_pair_work *work, uint32_t source, uint32_t target,
	const struct kwhy_gpu_copy *bytes, uint64_t shift)
{
	const struct kwhy_pair_place *place = work->place;
	bool full = work->config->engine == KWHY_PAIR_NCCL_FULL;
	enum kwhy_nccl_result result = KWHY_NCCL_SUCCESS;

	if (kwhy_pair_is_own(place, source))
		result = place->nccl.ncclSend(kwhy_gpu_at(bytes->from + shift), bytes->bytes, KWHY_NCCL_UINT8,
			full ? (int)target : target > source,
			full ? place->all[source] : place->communicators[source][target],
			stream_of(place, source));
	if (result || !kwhy_pair_is_own(place, target))
		return result;
	return place->nccl.ncclRecv(kwhy_gpu_at(bytes->to + shift), bytes->bytes, KWHY_NCCL_UINT8,
		full ? (int)source : source > target,
		full ? place->all[target] : place->communicators[target][source], stream_of(place, target));
}

/* Ends the group whatever came of its calls, so that the library is left as it was found. */
static enum kwhy_status send_once(struct kwhy_pair_work *work, uint64_t shift, struct kwhy_error *error)
{
	const struct kwhy_pair_config *config = work->config;
	const struct kwhy_nccl *nccl = &work->place->nccl;
	enum kwhy_nccl_result result = nccl->ncclGroupStart(), ended;

	if (!result)
		result = one_way(work, config->source, config->target, &work->there, shift);
	if (!result && kwhy_pair_is_exchange(config->engine))
		result = one_way(work, config->target, config->source, &work->back, shift);
	ended = nccl->ncclGroupEnd();
	return check(work->place, result ? result : ended, "send", error);
}

enum kwhy_status kwhy_pair_issue_nccl(struct kwhy_pair_work *work, uint32_t count, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_pair_fork(work, error);

	for (uint32_t i = 0; !status && i < count; i++)
		status = send_once(work, shift_of(work, i), error);
	return status ? status : kwhy_pair_join(work, error);
}

/* As nccl-tests makes it of sends and receives. */
static enum kwhy_nccl_result exchange_all(
	const struct kwhy_pair_place *place, uint32_t i, const char *from, char *to, size_t part)
{
	enum kwhy_nccl_result result = KWHY_NCCL_SUCCESS;

	for (uint32_t k = 0; !result && k < place->count; k++) {
		result = place->nccl.ncclSend(
			from + k * part, part, KWHY_NCCL_UINT8, (int)k, place->all[i], stream_of(place, i));
		if (!result)
			result = place->nccl.ncclRecv(to + k * part, part, KWHY_NCCL_UINT8, (int)k,
				place->all[i], stream_of(place, i));
	}
	return result;
}

static enum kwhy_nccl_result one_of_all(const struct kwhy_pair_work *work, uint32_t i, uint64_t shift)
{
	const struct kwhy_pair_place *place = work->place;
	const struct kwhy_nccl *nccl = &place->nccl;
	const void *from = kwhy_gpu_at(place->rooms[i]->device[KWHY_BENCH_SOURCE] + shift);
	void *to = kwhy_gpu_at(place->rooms[i]->device[KWHY_BENCH_SINK] + shift);
	size_t words = work->config->bytes / WORD, part = words / place->count;

	switch (work->config->engine) {
	case KWHY_PAIR_ALL_REDUCE:
		return nccl->ncclAllReduce(
			from, to, words, KWHY_NCCL_UINT32, KWHY_NCCL_SUM, place->all[i], stream_of(place, i));
	case KWHY_PAIR_REDUCE_SCATTER:
		return nccl->ncclReduceScatter(
			from, to, part, KWHY_NCCL_UINT32, KWHY_NCCL_SUM, place->all[i], stream_of(place, i));
	case KWHY_PAIR_ALL_GATHER:
		return nccl->ncclAllGather(
			from, to, part, KWHY_NCCL_UINT32, place->all[i], stream_of(place, i));
	case KWHY_PAIR_BROADCAST:
		return nccl->ncclBroadcast(
			from, to, words, KWHY_NCCL_UINT32, 0, place->all[i], stream_of(place, i));
	default:
		return exchange_all(place, i, from, to, part * WORD);
	}
}

enum kwhy_status kwhy_pair_nccl_together(
	struct kwhy_pair_work *work, uint32_t number, struct kwhy_error *error)
{
	const struct kwhy_nccl *nccl = &work->place->nccl;
	enum kwhy_nccl_result result = nccl->ncclGroupStart(), ended;

	for (uint32_t i = 0; !result && i < work->place->count; i++)
		if (kwhy_pair_is_own(work->place, i))
			result = one_of_all(work, i, shift_of(work, number));
	ended = nccl->ncclGroupEnd();
	return check(
		work->place, result ? result : ended, kwhy_pair_engine_name(work->config->engine), error);
}
