/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepares a configuration before it is timed: checks whether its GPUs can access the memory that its engine
 * needs, makes buffers, and overwrites the buffers to which the transfer will write.
 */
#include "bench/pairs/collectives.h"
#include "bench/pairs/ranks.h"

#include <string.h>

/*
 * For a configuration between two processes (ranks): checks that the engine supports ranks, and that the GPU
 * which writes or reads can access the other one's memory.
 */
static enum kwhy_status check_ranks(const struct kwhy_pair_work *work, struct kwhy_error *error)
{
	const struct kwhy_pair_config *config = work->config;
	const struct kwhy_pair_testbed *testbed = work->testbed;
	uint32_t other = testbed->own == config->source ? config->target : config->source;

	switch (config->engine) {
	case KWHY_PAIR_STAGED:
	case KWHY_PAIR_PING_PONG:
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"%s is queued by one process; give --ranks 1 to measure it",
			kwhy_pair_engine_name(config->engine));
	case KWHY_PAIR_WRITE:
	case KWHY_PAIR_READ:
	case KWHY_PAIR_KERNEL:
	case KWHY_PAIR_PUT:
	case KWHY_PAIR_EXCHANGE:
		if (testbed->is_direct[testbed->own][other] ||
			(!kwhy_pair_is_shared(config) && !kwhy_pair_leads(work)))
			return KWHY_OK;
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"rank %u does not reach the memory of rank %u, which is on another host or shares "
			"none",
			testbed->own, other);
	default:
		return KWHY_OK;
	}
}

static enum kwhy_status check_engine(const struct kwhy_pair_work *work, struct kwhy_error *error)
{
	const struct kwhy_pair_testbed *testbed = work->testbed;
	const struct kwhy_pair_config *config = work->config;
	bool is_direct = testbed->is_direct[config->source][config->target],
	     is_direct_back = testbed->is_direct[config->target][config->source];

	if (kwhy_pair_is_collective(config->engine))
		return KWHY_OK; /* kwhy_pair_collective_begin() checks collectives */
	if (config->engine == KWHY_PAIR_NCCL_FULL)
		return kwhy_pair_nccl_start_all(work->testbed, error);
	if (config->engine == KWHY_PAIR_NCCL || config->engine == KWHY_PAIR_NCCL_EXCHANGE)
		return kwhy_pair_nccl_start(work->testbed, config->source, config->target, error);
	if (config->engine == KWHY_PAIR_SOCKET && !testbed->ranks)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"a socket lies between processes; start several, as with --ranks 2");
	if (config->engine == KWHY_PAIR_PUT && *testbed->no_put)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "%s", testbed->no_put);
	if (!testbed->ranks &&
		((config->engine == KWHY_PAIR_KERNEL && !is_direct) ||
			(config->engine == KWHY_PAIR_PUT && (!is_direct || !is_direct_back))))
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"GPU %u does not reach the memory of GPU %u directly, so no kernel of the one writes "
			"there; see kwhy doctor",
			config->source, config->target);
	return KWHY_OK;
}

/*
 * Gets the address of the buffer `role` on GPU `i`. If this process drives that GPU, the buffer is made if it
 * does not exist. *out is 0 if another process drives the GPU and its memory cannot be accessed.
 */
static enum kwhy_status find_buffer(const struct kwhy_pair_work *work, uint32_t i, enum kwhy_bench_role role,
	uint64_t *out, struct kwhy_error *error)
{
	struct kwhy_bench_buffers *buffers = work->testbed->gpu_buffers[i];
	enum kwhy_status status;

	*out = buffers->device[role];
	if (!kwhy_pair_is_own(work->testbed, i))
		return KWHY_OK;
	status = kwhy_pair_set_current(buffers, error);
	return status ? status : kwhy_bench_device(buffers, role, out, error);
}

static enum kwhy_status find_ends(struct kwhy_pair_work *work, struct kwhy_error *error)
{
	const struct kwhy_pair_config *config = work->config;
	enum kwhy_status status = find_buffer(
		work, config->source, KWHY_BENCH_SOURCE, &work->there.from, error);

	work->there.bytes = work->back.bytes = config->bytes;
	if (!status)
		status = find_buffer(work, config->source, KWHY_BENCH_SINK, &work->back.to, error);
	if (!status && config->engine == KWHY_PAIR_STAGED)
		status = kwhy_bench_host(
			work->source, KWHY_BENCH_PINNED, KWHY_BENCH_STAGING, &work->staging, error);
	if (!status)
		status = find_buffer(work, config->target, KWHY_BENCH_SOURCE, &work->back.from, error);
	return status ? status : find_buffer(work, config->target, KWHY_BENCH_SINK, &work->there.to, error);
}

/*
 * Makes the buffers of the load: copies that run at the same time as the timed transfer (enum
 * kwhy_pair_load). They are made before the timing, because no memory may be allocated while a gate holds a
 * stream.
 */
static enum kwhy_status find_load(struct kwhy_pair_work *work, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	struct kwhy_gpu_host host;
	uint64_t address;

	if (work->config->load == KWHY_PAIR_ALONE || work->config->load == KWHY_PAIR_REFERENCE)
		return KWHY_OK;
	for (uint32_t i = 0; !status && i < work->testbed->count; i++) {
		status = kwhy_pair_set_current(work->testbed->gpu_buffers[i], error);
		if (!status)
			status = kwhy_bench_device(
				work->testbed->gpu_buffers[i], KWHY_BENCH_SOURCE, &address, error);
		if (!status)
			status = kwhy_bench_device(
				work->testbed->gpu_buffers[i], KWHY_BENCH_STAGING, &address, error);
	}
	if (!status && work->config->load == KWHY_PAIR_FROM_HOST) {
		status = kwhy_pair_set_current(work->target, error);
		if (!status)
			status = kwhy_bench_host(
				work->target, KWHY_BENCH_PINNED, KWHY_BENCH_SOURCE, &host, error);
	}
	return status;
}

/*
 * Overwrites a sink on `target` with the complement of the first byte that it will receive from `source`, so
 * that verification notices bytes that were not written.
 */
static enum kwhy_status spoil(const struct kwhy_bench_buffers *source,
	const struct kwhy_bench_buffers *target, uint64_t sink, uint64_t bytes, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = target->gpu;
	enum kwhy_status status = kwhy_pair_set_current(target, error);
	uint8_t byte;

	kwhy_bench_pattern_write(&byte, 1, source->seed, 0);
	if (!status)
		status = gpu->ops->fill(gpu, target->streams[0], sink, (uint8_t)~byte, bytes, error);
	return status ? status : gpu->ops->synchronize(gpu, target->streams[0], error);
}

bool kwhy_pair_goes_back(const struct kwhy_pair_work *work)
{
	return work->config->engine == KWHY_PAIR_PUT || work->config->engine == KWHY_PAIR_PING_PONG ||
		kwhy_pair_is_exchange(work->config->engine);
}

/* Overwrites the buffers to which the transfer will write, where they are on GPUs of this process. */
static enum kwhy_status spoil_ends(struct kwhy_pair_work *work, struct kwhy_error *error)
{
	const struct kwhy_pair_config *config = work->config;
	enum kwhy_status status = KWHY_OK;

	if (kwhy_pair_is_own(work->testbed, config->target))
		status = spoil(work->source, work->target, work->there.to, config->bytes, error);
	if (!status && kwhy_pair_goes_back(work) && kwhy_pair_is_own(work->testbed, config->source))
		status = spoil(work->target, work->source, work->back.to, config->bytes, error);
	return status;
}

/*
 * Makes the host buffers from which the socket sends and into which it receives. If `spoils`, fills the
 * receiving buffer with the complement of the first byte that it will receive.
 */
static enum kwhy_status begin_socket(const struct kwhy_pair_work *work, bool spoils, struct kwhy_error *error)
{
	struct kwhy_pair_ranks *ranks = work->testbed->ranks;
	enum kwhy_status status = kwhy_pair_ranks_buffers(ranks, work->config->bytes, error);
	uint8_t byte;

	kwhy_bench_pattern_write(&byte, 1, work->source->seed, 0);
	if (!status && spoils)
		memset(ranks->socket_sink, (uint8_t)~byte, work->config->bytes);
	return status;
}

static enum kwhy_status begin_ends(struct kwhy_pair_work *work, bool spoils, struct kwhy_error *error)
{
	enum kwhy_status status = find_ends(work, error);

	if (!status)
		status = find_load(work, error);
	return status || !spoils ? status : spoil_ends(work, error);
}

enum kwhy_status kwhy_pair_work_begin(struct kwhy_pair_testbed *testbed,
	const struct kwhy_pair_config *config, bool spoils, struct kwhy_pair_work *out,
	struct kwhy_error *error)
{
	enum kwhy_status status;

	*out = (struct kwhy_pair_work){.testbed = testbed,
		.config = config,
		.source = testbed->gpu_buffers[config->source],
		.target = testbed->gpu_buffers[config->target]};
	out->main = config->engine == KWHY_PAIR_READ ? out->target : out->source;
	status = testbed->ranks ? check_ranks(out, error) : KWHY_OK;
	if (!status)
		status = check_engine(out, error);
	if (status)
		return status;
	status = kwhy_pair_is_collective(config->engine) ? kwhy_pair_collective_begin(out, spoils, error)
		: config->engine == KWHY_PAIR_SOCKET	 ? begin_socket(out, spoils, error)
							 : begin_ends(out, spoils, error);
	return status ? status : kwhy_pair_ranks_begin(out, spoils, error);
}
