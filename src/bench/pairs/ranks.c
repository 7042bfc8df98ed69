/* SPDX-License-Identifier: Apache-2.0 */
/* How ranks connect, exchange facts and access each other's memory. */
#include "bench/pairs/ranks.h"

#include "bench/pairs/rank_messages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HISTORY_S = 30, CHOICE_BYTES = 64 };

_Static_assert(sizeof(((struct kwhy_pair_ranks *)0)->facts) <= KWHY_PAIR_CALL_BYTES_MAX, "facts of all fit");

enum kwhy_status kwhy_pair_ranks_open(
	const struct kwhy_rank_link_request *request, struct kwhy_pair_ranks **out, struct kwhy_error *error)
{
	struct kwhy_pair_ranks *ranks = calloc(1, sizeof(*ranks));
	struct kwhy_rank_link link;
	enum kwhy_status status;

	if (!ranks)
		return kwhy_fail_memory(error, "what ranks know of each other");
	status = kwhy_rank_link_open(request, &link, error);
	if (!status)
		status = kwhy_pair_calls_init(&ranks->calls, &link, error);
	ranks->calls.check = kwhy_pair_rank_check;
	ranks->calls.serve = kwhy_pair_rank_serve;
	ranks->calls.context = ranks;
	if (status)
		free(ranks);
	else
		*out = ranks;
	return status;
}

/*
 * Waits until the work of this rank's GPU has ended, before memory that it uses is closed. On the host back
 * end the work may wait for the flag of a rank that has ended; the late flags end such a wait.
 */
static void end_work(const struct kwhy_pair_testbed *testbed)
{
	const struct kwhy_bench_buffers *buffers = testbed->gpu_buffers[testbed->own];
	uint64_t *flags = kwhy_gpu_at(testbed->flags[testbed->own]);
	struct kwhy_error why;
	enum kwhy_status status;

	if (!buffers || kwhy_pair_set_current(buffers, &why))
		return;
	if (strcmp(buffers->gpu->ops->name, "host") == 0) {
		__atomic_store_n(&flags[KWHY_PAIR_LATE_WORD], 1, __ATOMIC_RELAXED);
		__atomic_store_n(&flags[KWHY_PAIR_PUT_LATE_WORD], 1, __ATOMIC_RELAXED);
	}
	for (int i = 0; i < KWHY_BENCH_STREAMS; i++) {
		status = buffers->gpu->ops->synchronize(buffers->gpu, buffers->streams[i], &why);
		if (status) /* the device is lost, so nothing runs on it */
			return;
	}
}

void kwhy_pair_ranks_forget(struct kwhy_pair_ranks *ranks)
{
	struct kwhy_pair_testbed *testbed = ranks->testbed;
	struct kwhy_error why;

	if (!testbed)
		return;
	if (kwhy_rank_link_check(&ranks->calls.link, &why))
		ranks->is_lost = true;
	kwhy_pair_nccl_stop(testbed);
	end_work(testbed);
	kwhy_pair_marks_free(testbed, &ranks->begin);
	kwhy_pair_marks_free(testbed, &ranks->end);
	for (uint32_t i = 0; i < testbed->count; i++) {
		struct kwhy_bench_buffers *buffers = &ranks->gpu_buffers[i];

		if (!buffers->gpu || !buffers->device[KWHY_BENCH_SOURCE] ||
			kwhy_pair_set_current(buffers, &why))
			continue;
		buffers->gpu->ops->memory_close(buffers->gpu, buffers->device[KWHY_BENCH_SOURCE]);
		buffers->gpu->ops->memory_close(buffers->gpu, buffers->device[KWHY_BENCH_SINK]);
		buffers->gpu->ops->memory_close(buffers->gpu, testbed->flags[i]);
		buffers->device[KWHY_BENCH_SOURCE] = buffers->device[KWHY_BENCH_SINK] = 0;
	}
}

/*
 * Ends NCCL communicators and closes the memory of other ranks, in all ranks. All ranks of a communicator
 * must end it at the same time, so rank 0 first sends the request to all ranks, then ends its own
 * communicators, and only then awaits the answers.
 */
void kwhy_pair_ranks_part(struct kwhy_pair_ranks *ranks)
{
	struct kwhy_pair_calls *calls = &ranks->calls;
	bool requested[KWHY_PAIR_GPUS_MAX] = {false};
	struct kwhy_error error;

	for (uint32_t i = 1; calls->link.rank == 0 && i < calls->link.size; i++)
		if (calls->link.sockets[i] >= 0 && !calls->is_requested[i])
			requested[i] = !kwhy_rank_request(calls, i, KWHY_RANK_PART, NULL, 0, &error);
	kwhy_pair_ranks_forget(ranks);
	for (uint32_t i = 1; i < calls->link.size; i++)
		if (requested[i])
			ranks->is_lost |= kwhy_pair_await(calls, i, NULL, 0, &error) != KWHY_OK;
}

/* Asks the other ranks to end. Left out are ranks that have not answered an earlier request. */
static void let_go(struct kwhy_pair_ranks *ranks)
{
	struct kwhy_error error;

	for (uint32_t i = 1; ranks->calls.link.rank == 0 && i < ranks->calls.link.size; i++)
		if (ranks->calls.link.sockets[i] >= 0 && !ranks->calls.is_requested[i])
			ranks->is_lost |= kwhy_pair_call(&ranks->calls, i, KWHY_RANK_STOP, NULL, 0, NULL, 0,
						  &error) != KWHY_OK;
}

void kwhy_pair_ranks_close(struct kwhy_pair_ranks *ranks)
{
	if (!ranks)
		return;
	let_go(ranks);
	kwhy_pair_calls_done(&ranks->calls);
	kwhy_bench_sensors_close(&ranks->sensors);
	free(ranks->socket_source);
	free(ranks->socket_sink);
	free(ranks);
}

bool kwhy_pair_ranks_is_lost(const struct kwhy_pair_ranks *ranks)
{
	for (uint32_t i = 0; i < ranks->calls.link.size; i++)
		if (i != ranks->calls.link.rank && ranks->calls.link.sockets[i] < 0)
			return true;
	return ranks->is_lost;
}

static enum kwhy_status share_memory(struct kwhy_pair_ranks *ranks, struct kwhy_error *error)
{
	struct kwhy_pair_testbed *testbed = ranks->testbed;
	struct kwhy_bench_buffers *buffers = testbed->gpu_buffers[testbed->own];
	struct kwhy_pair_rank_facts *facts = &ranks->facts[testbed->own];
	const struct kwhy_gpu_ops *ops = buffers->gpu->ops;
	uint64_t source = 0, sink = 0;
	struct kwhy_error why;
	enum kwhy_status status = kwhy_bench_device(buffers, KWHY_BENCH_SOURCE, &source, error);

	if (!status)
		status = kwhy_bench_device(buffers, KWHY_BENCH_SINK, &sink, error);
	if (status)
		return status;
	/* Failure is no error: NCCL and sockets can transfer between ranks whose memory is not shared. */
	facts->shares = ops->memory_share && !ops->memory_share(buffers->gpu, source, &facts->source, &why) &&
		!ops->memory_share(buffers->gpu, sink, &facts->sink, &why) &&
		!ops->memory_share(buffers->gpu, testbed->flags[testbed->own], &facts->flags, &why);
	return KWHY_OK;
}

static void tell(struct kwhy_pair_ranks *ranks, const char *settings)
{
	struct kwhy_pair_testbed *testbed = ranks->testbed;
	const struct kwhy_bench_buffers *buffers = testbed->gpu_buffers[testbed->own];
	const struct kwhy_gpu_facts *gpu = &buffers->gpu->facts;
	struct kwhy_pair_rank_facts *facts = &ranks->facts[testbed->own];
	struct kwhy_error why;

	snprintf(facts->name, sizeof(facts->name), "%s", gpu->name);
	snprintf(facts->pci_address, sizeof(facts->pci_address), "%s", gpu->pci_address);
	snprintf(facts->driver_api, sizeof(facts->driver_api), "%s", gpu->driver_api);
	snprintf(facts->driver, sizeof(facts->driver), "%s",
		ranks->sensors.driver ? ranks->sensors.driver : "");
	memcpy(facts->host, ranks->calls.link.hosts[testbed->own], sizeof(facts->host));
	snprintf(facts->settings, sizeof(facts->settings), "%s", settings);
	if (kwhy_pair_nccl_load(testbed, &why))
		snprintf(facts->no_nccl, sizeof(facts->no_nccl), "%.199s", why.text);
	kwhy_pair_nccl_version(testbed, facts->nccl);
	facts->process = ranks->calls.link.processes[testbed->own];
	facts->numa_node = gpu->numa_node;
	facts->architecture = gpu->architecture;
	facts->sm_count = gpu->sm_count;
	facts->memory_bytes = gpu->memory_bytes;
	facts->seed = buffers->seed;
}

/*
 * Chooses this rank's GPU: of the list in --device the entry at the rank's number, or without a list the GPU
 * whose number is local_rank, the rank's number on its host. If there is one GPU, it is that.
 */
static enum kwhy_status choose(const struct kwhy_pair_ranks *ranks, const struct kwhy_pair_request *request,
	char out[CHOICE_BYTES], struct kwhy_error *error)
{
	uint32_t count = 0, rank = ranks->calls.link.rank, size = ranks->calls.link.size,
		 local = request->local_rank;
	enum kwhy_status status = kwhy_gpu_count(request->backend, &count, error);

	if (status)
		return status;
	if (request->devices && request->device_count != size)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--device names %u GPUs and there are %u ranks; name one for each",
			request->device_count, size);
	if (request->devices)
		snprintf(out, CHOICE_BYTES, "%s", request->devices[rank]);
	else if (request->backend == KWHY_GPU_HOST ||
		count == 1) /* with one GPU, local_rank is no GPU number: the launcher may have hidden the
			       others from this process */
		snprintf(out, CHOICE_BYTES, "%u", count ? local % count : 0);
	else if (local >= count)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"rank %u is number %u on its host, which has %u GPUs; start one rank a GPU", rank,
			local, count);
	else
		snprintf(out, CHOICE_BYTES, "%u", local);
	return KWHY_OK;
}

enum kwhy_status kwhy_pair_ranks_testbed(struct kwhy_pair_ranks *ranks,
	const struct kwhy_pair_request *request, struct kwhy_pair_testbed *out, struct kwhy_error *error)
{
	char device[CHOICE_BYTES], settings[KWHY_PAIR_REQUEST_BYTES];
	enum kwhy_status status = choose(ranks, request, device, error);

	*out = (struct kwhy_pair_testbed){.ranks = ranks, .own = ranks->calls.link.rank};
	ranks->testbed = out;
	ranks->clock_s = request->clock_s;
	if (!status)
		status = kwhy_pair_testbed_open(out, out->own, request->backend, device,
			(size_t)request->most_bytes, request->seed, error);
	if (!status)
		status = kwhy_bench_sensors_open(
			out->gpu_buffers[out->own]->gpu, HISTORY_S, &ranks->sensors, error);
	if (!status)
		status = share_memory(ranks, error);
	if (!status)
		tell(ranks, kwhy_pair_request_text(request, settings));
	return status;
}

/*
 * Sets up the testbed's entry for the GPU of rank `i`: a copy of the entry of this rank's GPU, but with the
 * seed and, if this process can open them, the addresses of the other GPU's buffers and flags.
 */
static void reserve(struct kwhy_pair_ranks *ranks, uint32_t i)
{
	struct kwhy_pair_testbed *testbed = ranks->testbed;
	const struct kwhy_pair_rank_facts *facts = &ranks->facts[i];
	struct kwhy_bench_buffers *own = testbed->gpu_buffers[testbed->own],
				  *buffers = &ranks->gpu_buffers[i];
	struct kwhy_gpu *gpu = own->gpu;
	uint64_t addresses[3] = {0, 0, 0};
	const struct kwhy_gpu_shared *shared[] = {&facts->source, &facts->sink, &facts->flags};
	struct kwhy_error why;
	bool reaches = facts->shares && gpu->ops->memory_open &&
		strcmp(facts->host, ranks->facts[testbed->own].host) == 0;

	for (int k = 0; reaches && k < 3; k++)
		reaches = !gpu->ops->memory_open(gpu, shared[k], &addresses[k], &why);
	*buffers = *own;
	buffers->seed = facts->seed;
	memset(buffers->host, 0, sizeof(buffers->host));
	memset(buffers->device, 0, sizeof(buffers->device));
	if (reaches) {
		buffers->device[KWHY_BENCH_SOURCE] = addresses[0];
		buffers->device[KWHY_BENCH_SINK] = addresses[1];
		testbed->flags[i] = addresses[2];
	}
	testbed->gpu_buffers[i] = buffers;
	testbed->is_direct[testbed->own][i] = reaches;
}

/*
 * Checks that a rank has the same settings as rank 0 (else KWHY_E_USAGE), and a GPU that no lower rank has
 * (else KWHY_E_UNSUPPORTED).
 */
static enum kwhy_status check_facts(
	const struct kwhy_pair_ranks *ranks, uint32_t rank, struct kwhy_error *error)
{
	const struct kwhy_pair_rank_facts *facts = &ranks->facts[rank];

	if (strcmp(facts->settings, ranks->facts[0].settings) != 0)
		return kwhy_fail(error, KWHY_E_USAGE,
			"rank %u was asked for '%.160s', rank 0 for '%.160s'; give all ranks one command",
			rank, facts->settings, ranks->facts[0].settings);
	for (uint32_t i = 0; *facts->pci_address && i < rank; i++)
		if (strcmp(facts->host, ranks->facts[i].host) == 0 &&
			strcmp(facts->pci_address, ranks->facts[i].pci_address) == 0)
			return kwhy_fail(error, KWHY_E_UNSUPPORTED,
				"ranks %u and %u both have GPU %s of %s; start no more ranks than there are "
				"GPUs",
				i, rank, facts->pci_address, facts->host);
	return KWHY_OK;
}

enum kwhy_status kwhy_pair_ranks_learn(struct kwhy_pair_ranks *ranks, struct kwhy_error *error)
{
	struct kwhy_pair_testbed *testbed = ranks->testbed;
	uint32_t size = ranks->calls.link.size;
	enum kwhy_status status = kwhy_pair_set_current(testbed->gpu_buffers[testbed->own], error);

	for (uint32_t i = 0; !status && i < size; i++)
		status = check_facts(ranks, i, error);
	for (uint32_t i = 0; !status && i < size; i++)
		if (i != testbed->own)
			reserve(ranks, i);
	if (!status)
		testbed->count = size;
	return status;
}

enum kwhy_status kwhy_pair_ranks_meet(struct kwhy_pair_ranks *ranks, struct kwhy_error *error)
{
	struct kwhy_pair_testbed *testbed = ranks->testbed;
	uint32_t size = ranks->calls.link.size;
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 1; !status && i < size; i++)
		status = kwhy_pair_call(&ranks->calls, i, KWHY_RANK_FACTS, NULL, 0, &ranks->facts[i],
			sizeof(ranks->facts[i]), error);
	if (!status)
		status = kwhy_pair_ranks_learn(ranks, error);
	ranks->has_learned = !status;
	for (uint32_t i = 1; !status && i < size; i++)
		status = kwhy_pair_call(&ranks->calls, i, KWHY_RANK_LEARN, ranks->facts,
			size * sizeof(ranks->facts[0]), testbed->is_direct[i], sizeof(testbed->is_direct[i]),
			error);
	return status;
}

enum kwhy_status kwhy_pair_ranks_serve(struct kwhy_pair_ranks *ranks, struct kwhy_error *error)
{
	return kwhy_pair_serve_all(&ranks->calls, &ranks->done, error);
}

static const char *known(struct kwhy_arena *arena, const char *text)
{
	return *text ? kwhy_arena_copy(arena, text) : NULL;
}

void kwhy_pair_ranks_describe(const struct kwhy_pair_ranks *ranks, struct kwhy_pairs *out)
{
	struct kwhy_arena *arena = &out->arena;

	out->rank_count = ranks->calls.link.size;
	for (uint32_t i = 0; i < out->rank_count; i++) {
		const struct kwhy_pair_rank_facts *facts = &ranks->facts[i];

		out->gpus[i] = (struct kwhy_pair_gpu){.name = known(arena, facts->name),
			.pci_address = known(arena, facts->pci_address),
			.numa_node = facts->numa_node,
			.architecture = facts->architecture,
			.sm_count = facts->sm_count,
			.memory_bytes = facts->memory_bytes};
		out->ranks[i] = (struct kwhy_pair_rank){
			known(arena, facts->host), facts->process, NAN, NAN, {NAN, NAN}};
	}
}
