/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transfers by NCCL: send and receive between two GPUs, and collectives of all GPUs. A process calls NCCL
 * from one thread, for all of its GPUs.
 */
#include "bench/pairs/collectives.h"
#include "bench/pairs/ranks.h"

#include <stdio.h>
#include <string.h>

enum { WORD = 4 };

static enum kwhy_status check(const struct kwhy_pair_testbed *testbed, enum kwhy_nccl_result result,
	const char *what, struct kwhy_error *error)
{
	if (result == KWHY_NCCL_SUCCESS)
		return KWHY_OK;
	return kwhy_fail(error, result == KWHY_NCCL_UNHANDLED_CUDA_ERROR ? KWHY_E_LOST : KWHY_E_UNSUPPORTED,
		"NCCL cannot %s: %s; NCCL_DEBUG=WARN says more", what,
		testbed->nccl.ncclGetErrorString(result));
}

enum kwhy_status kwhy_pair_nccl_load(struct kwhy_pair_testbed *testbed, struct kwhy_error *error)
{
	const struct kwhy_gpu *gpu = testbed->gpu_buffers[kwhy_pair_first_own(testbed)]->gpu;

	if (testbed->nccl.library)
		return KWHY_OK;
	if (strcmp(gpu->ops->name, "cuda") != 0)
		return kwhy_fail(
			error, KWHY_E_UNSUPPORTED, "NCCL works on CUDA alone, not on %s", gpu->ops->name);
	return kwhy_nccl_open(&testbed->nccl, error);
}

enum kwhy_status kwhy_pair_nccl_start(
	struct kwhy_pair_testbed *testbed, uint32_t one, uint32_t other, struct kwhy_error *error)
{
	uint32_t low = one < other ? one : other, high = one < other ? other : one;
	const int devices[] = {
		testbed->gpu_buffers[low]->gpu->facts.index, testbed->gpu_buffers[high]->gpu->facts.index};
	kwhy_nccl_communicator made[2] = {NULL, NULL};
	enum kwhy_status status = kwhy_pair_nccl_load(testbed, error);

	if (status ||
		testbed->communicators[kwhy_pair_is_own(testbed, one) ? one : other]
				      [kwhy_pair_is_own(testbed, one) ? other : one])
		return status;
	if (testbed->ranks)
		return kwhy_pair_ranks_nccl(testbed, one, other, error);
	status = check(testbed, testbed->nccl.ncclCommInitAll(made, 2, devices), "start", error);
	if (status)
		return status;
	testbed->communicators[low][high] = made[0];
	testbed->communicators[high][low] = made[1];
	return KWHY_OK;
}

enum kwhy_status kwhy_pair_nccl_start_all(struct kwhy_pair_testbed *testbed, struct kwhy_error *error)
{
	int devices[KWHY_PAIR_GPUS_MAX];
	enum kwhy_status status = kwhy_pair_nccl_load(testbed, error);

	if (status || testbed->all[kwhy_pair_first_own(testbed)])
		return status;
	if (testbed->ranks)
		return kwhy_pair_ranks_nccl(testbed, 0, 0, error);
	for (uint32_t i = 0; i < testbed->count; i++)
		devices[i] = testbed->gpu_buffers[i]->gpu->facts.index;
	return check(testbed, testbed->nccl.ncclCommInitAll(testbed->all, (int)testbed->count, devices),
		"start", error);
}

enum kwhy_status kwhy_pair_nccl_name(
	struct kwhy_pair_testbed *testbed, struct kwhy_nccl_id *out, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_pair_nccl_load(testbed, error);

	return status ? status : check(testbed, testbed->nccl.ncclGetUniqueId(out), "start", error);
}

enum kwhy_status kwhy_pair_nccl_join(struct kwhy_pair_testbed *testbed, const struct kwhy_nccl_id *id,
	uint32_t other, struct kwhy_error *error)
{
	bool all = other == testbed->own;
	kwhy_nccl_communicator *slot = all ? &testbed->all[testbed->own]
					   : &testbed->communicators[testbed->own][other];
	enum kwhy_status status = kwhy_pair_nccl_load(testbed, error);

	if (!status)
		status = kwhy_pair_set_current(testbed->gpu_buffers[testbed->own], error);
	if (status)
		return status;
	if (*slot)
		testbed->nccl.ncclCommDestroy(*slot);
	*slot = NULL;
	return check(testbed,
		testbed->nccl.ncclCommInitRank(slot, all ? (int)testbed->count : 2, *id,
			all ? (int)testbed->own : testbed->own > other),
		"start", error);
}

static void stop(struct kwhy_pair_testbed *testbed, kwhy_nccl_communicator *communicator)
{
	/*
	 * If a rank was lost, destroying a communicator would wait for it forever, so the communicator is
	 * aborted.
	 */
	if (*communicator && testbed->ranks && kwhy_pair_ranks_is_lost(testbed->ranks))
		testbed->nccl.ncclCommAbort(*communicator);
	else if (*communicator)
		testbed->nccl.ncclCommDestroy(*communicator);
	*communicator = NULL;
}

void kwhy_pair_nccl_drop(struct kwhy_pair_testbed *testbed)
{
	for (uint32_t i = 0; i < testbed->count; i++) {
		for (uint32_t k = 0; k < testbed->count; k++)
			stop(testbed, &testbed->communicators[i][k]);
		stop(testbed, &testbed->all[i]);
	}
}

void kwhy_pair_nccl_stop(struct kwhy_pair_testbed *testbed)
{
	kwhy_pair_nccl_drop(testbed);
	if (testbed->nccl.library)
		kwhy_nccl_close(&testbed->nccl);
	testbed->nccl.library = NULL;
}

/* Decodes ncclGetVersion(): 2803 is 2.8.3, and from version 2.9 on 20900 is 2.9.0. */
void kwhy_pair_nccl_version(const struct kwhy_pair_testbed *testbed, char out[16])
{
	int version = 0;

	out[0] = '\0';
	if (!testbed->nccl.library || testbed->nccl.ncclGetVersion(&version))
		return;
	if (version >= 10000)
		snprintf(out, 16, "%d.%d.%d", version / 10000 % 100, version / 100 % 100, version % 100);
	else
		snprintf(out, 16, "%d.%d.%d", version / 1000 % 100, version / 100 % 10, version % 100);
}

static kwhy_nccl_stream stream_of(const struct kwhy_pair_testbed *testbed, uint32_t i)
{
	return (kwhy_nccl_stream)(void *)testbed->gpu_buffers[i]->streams[0];
}

/*
 * Offset in bytes, in the source and sink buffers, of transfer `i` of a series: 0, except with the timing of
 * nccl-tests (KWHY_PAIR_QUEUED), where successive transfers use successive ranges and begin again when the
 * buffer ends.
 */
static uint64_t shift_of(const struct kwhy_pair_work *work, uint32_t i)
{
	uint64_t bytes = work->config->bytes;

	if (work->config->clock != KWHY_PAIR_QUEUED || !bytes)
		return 0;
	return i % (work->main->capacity / bytes) * bytes;
}

/*
 * Queues a send at the source and the matching receive at the target, for those of the two GPUs that this
 * process drives. In a communicator of two GPUs, the GPU with the lower number is NCCL's rank 0.
 */
static enum kwhy_nccl_result one_way(struct kwhy_pair_work *work, uint32_t source, uint32_t target,
	const struct kwhy_gpu_copy *bytes, uint64_t shift)
{
	const struct kwhy_pair_testbed *testbed = work->testbed;
	bool full = work->config->engine == KWHY_PAIR_NCCL_FULL;
	enum kwhy_nccl_result result = KWHY_NCCL_SUCCESS;

	if (kwhy_pair_is_own(testbed, source))
		result = testbed->nccl.ncclSend(kwhy_gpu_at(bytes->from + shift), bytes->bytes,
			KWHY_NCCL_UINT8, full ? (int)target : target > source,
			full ? testbed->all[source] : testbed->communicators[source][target],
			stream_of(testbed, source));
	if (result || !kwhy_pair_is_own(testbed, target))
		return result;
	return testbed->nccl.ncclRecv(kwhy_gpu_at(bytes->to + shift), bytes->bytes, KWHY_NCCL_UINT8,
		full ? (int)source : source > target,
		full ? testbed->all[target] : testbed->communicators[target][source],
		stream_of(testbed, target));
}

/*
 * Queues one transfer to the target or, for an exchange, one in each direction, as an NCCL group. The group
 * is ended even if a call in it failed, so that NCCL stays usable.
 */
static enum kwhy_status send_once(struct kwhy_pair_work *work, uint64_t shift, struct kwhy_error *error)
{
	const struct kwhy_pair_config *config = work->config;
	const struct kwhy_nccl *nccl = &work->testbed->nccl;
	enum kwhy_nccl_result result = nccl->ncclGroupStart(), ended;

	if (!result)
		result = one_way(work, config->source, config->target, &work->there, shift);
	if (!result && kwhy_pair_is_exchange(config->engine))
		result = one_way(work, config->target, config->source, &work->back, shift);
	ended = nccl->ncclGroupEnd();
	return check(work->testbed, result ? result : ended, "send", error);
}

enum kwhy_status kwhy_pair_issue_nccl(struct kwhy_pair_work *work, uint32_t count, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_pair_fork(work, error);

	for (uint32_t i = 0; !status && i < count; i++)
		status = send_once(work, shift_of(work, i), error);
	return status ? status : kwhy_pair_join(work, error);
}

/*
 * Queues GPU `i`'s part of an all-to-all, as sends to and receives from all GPUs; nccl-tests does the same.
 */
static enum kwhy_nccl_result exchange_all(
	const struct kwhy_pair_testbed *testbed, uint32_t i, const char *from, char *to, size_t part)
{
	enum kwhy_nccl_result result = KWHY_NCCL_SUCCESS;

	for (uint32_t k = 0; !result && k < testbed->count; k++) {
		result = testbed->nccl.ncclSend(from + k * part, part, KWHY_NCCL_UINT8, (int)k,
			testbed->all[i], stream_of(testbed, i));
		if (!result)
			result = testbed->nccl.ncclRecv(to + k * part, part, KWHY_NCCL_UINT8, (int)k,
				testbed->all[i], stream_of(testbed, i));
	}
	return result;
}

static enum kwhy_nccl_result one_of_all(const struct kwhy_pair_work *work, uint32_t i, uint64_t shift)
{
	const struct kwhy_pair_testbed *testbed = work->testbed;
	const struct kwhy_nccl *nccl = &testbed->nccl;
	const void *from = kwhy_gpu_at(testbed->gpu_buffers[i]->device[KWHY_BENCH_SOURCE] + shift);
	void *to = kwhy_gpu_at(testbed->gpu_buffers[i]->device[KWHY_BENCH_SINK] + shift);
	size_t words = work->config->bytes / WORD, part = words / testbed->count;

	switch (work->config->engine) {
	case KWHY_PAIR_ALL_REDUCE:
		return nccl->ncclAllReduce(from, to, words, KWHY_NCCL_UINT32, KWHY_NCCL_SUM, testbed->all[i],
			stream_of(testbed, i));
	case KWHY_PAIR_REDUCE_SCATTER:
		return nccl->ncclReduceScatter(from, to, part, KWHY_NCCL_UINT32, KWHY_NCCL_SUM,
			testbed->all[i], stream_of(testbed, i));
	case KWHY_PAIR_ALL_GATHER:
		return nccl->ncclAllGather(
			from, to, part, KWHY_NCCL_UINT32, testbed->all[i], stream_of(testbed, i));
	case KWHY_PAIR_BROADCAST:
		return nccl->ncclBroadcast(
			from, to, words, KWHY_NCCL_UINT32, 0, testbed->all[i], stream_of(testbed, i));
	default:
		return exchange_all(testbed, i, from, to, part * WORD);
	}
}

enum kwhy_status kwhy_pair_nccl_together(
	struct kwhy_pair_work *work, uint32_t number, struct kwhy_error *error)
{
	const struct kwhy_nccl *nccl = &work->testbed->nccl;
	enum kwhy_nccl_result result = nccl->ncclGroupStart(), ended;

	for (uint32_t i = 0; !result && i < work->testbed->count; i++)
		if (kwhy_pair_is_own(work->testbed, i))
			result = one_of_all(work, i, shift_of(work, number));
	ended = nccl->ncclGroupEnd();
	return check(
		work->testbed, result ? result : ended, kwhy_pair_engine_name(work->config->engine), error);
}
