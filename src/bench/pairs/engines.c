/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Engines are the methods of a transfer between two GPUs: copies, kernels, NCCL and so on. This file queues
 * their transfers, and the load: copies that run at the same time as the timed transfer (enum
 * kwhy_pair_load).
 */
#include "bench/pairs/collectives.h"
#include "bench/pairs/ranks.h"

enum { PUT_THREADS = 1024, SLOTS = 2 };

#define PIECE_MIN_BYTES (UINT64_C(64) << 10)
#define PIECE_MAX_BYTES (UINT64_C(4) << 20)
#define PIECES_WANTED 8
#define PUT_MAX_BYTES (UINT64_C(256) << 10)

struct engine {
	enum kwhy_status (*issue)(struct kwhy_pair_work *work, uint32_t count, struct kwhy_error *error);
	unsigned clocks;
	uint64_t most_bytes;
};

static enum kwhy_status copy(const struct kwhy_bench_buffers *buffers, uint32_t stream,
	const struct kwhy_gpu_copy *bytes, struct kwhy_error *error)
{
	return buffers->gpu->ops->copy(buffers->gpu, buffers->streams[stream], bytes, error);
}

static enum kwhy_status record(const struct kwhy_bench_buffers *buffers, uint32_t stream,
	struct kwhy_gpu_event *event, struct kwhy_error *error)
{
	return buffers->gpu->ops->event_record(buffers->gpu, event, buffers->streams[stream], error);
}

static enum kwhy_status wait_for(const struct kwhy_bench_buffers *buffers, uint32_t stream,
	const struct kwhy_gpu_event *event, struct kwhy_error *error)
{
	return buffers->gpu->ops->stream_wait(buffers->gpu, buffers->streams[stream], event, error);
}

static enum kwhy_status issue_copies(struct kwhy_pair_work *work, uint32_t count, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_pair_set_current(work->main, error);

	for (uint32_t i = 0; !status && i < count; i++)
		status = copy(work->main, 0, &work->there, error);
	return status;
}

static enum kwhy_status issue_kernels(struct kwhy_pair_work *work, uint32_t count, struct kwhy_error *error)
{
	uint64_t bytes = work->there.bytes;
	void *arguments[] = {&work->there.to, &work->there.from, &bytes};
	enum kwhy_status status = kwhy_pair_set_current(work->main, error);

	for (uint32_t i = 0; !status && i < count; i++)
		status = kwhy_bench_launch(work->main, KWHY_BENCH_KERNEL_COPY, bytes / 16, arguments,
			work->main->streams[0], error);
	return status;
}

enum kwhy_status kwhy_pair_fork(struct kwhy_pair_work *work, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (work->is_forked)
		return KWHY_OK;
	status = kwhy_pair_set_current(work->main, error);
	if (!status)
		status = record(work->main, 0, work->main->fork, error);
	if (!status)
		status = kwhy_pair_set_current(work->target, error);
	return status ? status : wait_for(work->target, 0, work->main->fork, error);
}

enum kwhy_status kwhy_pair_join(struct kwhy_pair_work *work, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (work->is_forked)
		return KWHY_OK;
	status = kwhy_pair_set_current(work->target, error);
	if (!status)
		status = record(work->target, 0, work->target->joins[0], error);
	if (!status)
		status = kwhy_pair_set_current(work->main, error);
	return status ? status : wait_for(work->main, 0, work->target->joins[0], error);
}

static enum kwhy_status issue_exchange(struct kwhy_pair_work *work, uint32_t count, struct kwhy_error *error)
{
	bool is_there = kwhy_pair_is_own(work->testbed, work->config->source),
	     is_back = kwhy_pair_is_own(work->testbed, work->config->target);
	enum kwhy_status status = kwhy_pair_fork(work, error);

	for (uint32_t i = 0; !status && is_back && i < count; i++)
		status = copy(work->target, 0, &work->back, error);
	if (!status)
		status = kwhy_pair_set_current(work->main, error);
	for (uint32_t i = 0; !status && is_there && i < count; i++)
		status = copy(work->main, 0, &work->there, error);
	return status ? status : kwhy_pair_join(work, error);
}

static enum kwhy_status issue_ping_pong(struct kwhy_pair_work *work, uint32_t count, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < count; i++) {
		status = kwhy_pair_set_current(work->main, error);
		if (!status)
			status = copy(work->main, 0, &work->there, error);
		if (!status)
			status = kwhy_pair_fork(work, error);
		if (!status)
			status = copy(work->target, 0, &work->back, error);
		if (!status)
			status = kwhy_pair_join(work, error);
	}
	return status;
}

/*
 * Launches the kernel of a put (a transfer by stores of a kernel) on GPU `own`. In each round it writes
 * bytes->bytes bytes from bytes->from in its own memory to bytes->to in the memory of GPU `other`.
 */
static enum kwhy_status launch_put(struct kwhy_pair_work *work, const struct kwhy_gpu_copy *bytes,
	uint32_t own, uint32_t other, uint32_t rounds, struct kwhy_error *error)
{
	struct kwhy_pair_testbed *testbed = work->testbed;
	struct kwhy_bench_buffers *buffers = testbed->gpu_buffers[own];
	uint64_t size = bytes->bytes, to = bytes->to, from = bytes->from, theirs = testbed->flags[other],
		 mine = testbed->flags[own], late = mine + 8 * sizeof(uint64_t), first = testbed->put_rounds;
	uint32_t leads = buffers == work->main;
	void *arguments[] = {&to, &from, &size, &theirs, &mine, &first, &rounds, &leads, &late};
	struct kwhy_gpu_launch launch = {.kernel = testbed->puts[own],
		.blocks = 1,
		.threads_per_block = PUT_THREADS,
		.arguments = arguments,
		.stream = buffers->streams[0]};
	enum kwhy_status status = kwhy_pair_set_current(buffers, error);

	return status ? status : buffers->gpu->ops->launch(buffers->gpu, &launch, error);
}

static enum kwhy_status issue_puts(struct kwhy_pair_work *work, uint32_t count, struct kwhy_error *error)
{
	uint32_t source = work->config->source, target = work->config->target;
	enum kwhy_status status = kwhy_pair_fork(work, error);

	if (!status && kwhy_pair_is_own(work->testbed, target))
		status = launch_put(work, &work->back, target, source, count, error);
	if (!status && kwhy_pair_is_own(work->testbed, source))
		status = launch_put(work, &work->there, source, target, count, error);
	work->testbed->put_rounds += count;
	return status ? status : kwhy_pair_join(work, error);
}

/*
 * Queues one transfer that goes through two slots of host memory, piece by piece: the target reads one slot
 * while the source fills the other.
 */
static enum kwhy_status stage_once(
	struct kwhy_pair_work *work, uint64_t piece_bytes, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	uint64_t left = work->there.bytes;
	struct kwhy_gpu_copy out = {.from = work->there.from}, in = {.to = work->there.to};

	for (uint32_t i = 0; !status && left > 0; i++) {
		uint32_t slot = i % SLOTS;

		out.bytes = in.bytes = left < piece_bytes ? left : piece_bytes;
		out.to = in.from = kwhy_gpu_address(work->staging.memory) + slot * piece_bytes;
		status = kwhy_pair_set_current(work->source, error);
		if (!status && i >= SLOTS)
			status = wait_for(work->source, 0, work->target->joins[slot], error);
		if (!status)
			status = copy(work->source, 0, &out, error);
		if (!status)
			status = record(work->source, 0, work->source->joins[slot], error);
		if (!status)
			status = kwhy_pair_set_current(work->target, error);
		if (!status)
			status = wait_for(work->target, 0, work->source->joins[slot], error);
		if (!status)
			status = copy(work->target, 0, &in, error);
		if (!status)
			status = record(work->target, 0, work->target->joins[slot], error);
		out.from += out.bytes;
		in.to += in.bytes;
		left -= out.bytes;
	}
	return status;
}

static enum kwhy_status issue_staged(struct kwhy_pair_work *work, uint32_t count, struct kwhy_error *error)
{
	uint64_t piece_bytes = work->there.bytes / PIECES_WANTED / 256 * 256;
	enum kwhy_status status = KWHY_OK;

	if (piece_bytes < PIECE_MIN_BYTES)
		piece_bytes = PIECE_MIN_BYTES;
	if (piece_bytes > PIECE_MAX_BYTES)
		piece_bytes = PIECE_MAX_BYTES;
	for (uint32_t i = 0; !status && i < count; i++)
		status = stage_once(work, piece_bytes, error);
	return status;
}

#define BIT(clock) (1u << (clock))
#define ROWS (BIT(KWHY_PAIR_BACK_TO_BACK) | BIT(KWHY_PAIR_QUEUED))

static const struct engine engines[KWHY_PAIR_ENGINE_COUNT] = {
	[KWHY_PAIR_WRITE] = {issue_copies,
		BIT(KWHY_PAIR_BACK_TO_BACK) | BIT(KWHY_PAIR_ISOLATED) | BIT(KWHY_PAIR_BY_HOST) |
			BIT(KWHY_PAIR_CALL),
		0},
	[KWHY_PAIR_READ] = {issue_copies, BIT(KWHY_PAIR_BACK_TO_BACK), 0},
	[KWHY_PAIR_KERNEL] = {issue_kernels, BIT(KWHY_PAIR_BACK_TO_BACK), 0},
	[KWHY_PAIR_STAGED] = {issue_staged, BIT(KWHY_PAIR_BY_HOST), 0},
	[KWHY_PAIR_PUT] = {issue_puts, BIT(KWHY_PAIR_BACK_TO_BACK), PUT_MAX_BYTES},
	[KWHY_PAIR_PING_PONG] = {issue_ping_pong, BIT(KWHY_PAIR_BACK_TO_BACK), 0},
	[KWHY_PAIR_EXCHANGE] = {issue_exchange, BIT(KWHY_PAIR_BACK_TO_BACK), 0},
	[KWHY_PAIR_NCCL] = {kwhy_pair_issue_nccl, ROWS | BIT(KWHY_PAIR_ISOLATED), 0},
	[KWHY_PAIR_NCCL_EXCHANGE] = {kwhy_pair_issue_nccl, ROWS, 0},
	[KWHY_PAIR_NCCL_FULL] = {kwhy_pair_issue_nccl, ROWS, 0},
	/* A socket has no issue function, since it has no queue: its bytes are sent while they are timed. */
	[KWHY_PAIR_SOCKET] = {NULL, BIT(KWHY_PAIR_BACK_TO_BACK) | BIT(KWHY_PAIR_BY_HOST),
		KWHY_PAIR_SOCKET_BYTES_MAX},
	[KWHY_PAIR_ALL_REDUCE] = {kwhy_pair_collective_issue, ROWS, 0},
	[KWHY_PAIR_ALL_GATHER] = {kwhy_pair_collective_issue, ROWS, 0},
	[KWHY_PAIR_REDUCE_SCATTER] = {kwhy_pair_collective_issue, ROWS, 0},
	[KWHY_PAIR_BROADCAST] = {kwhy_pair_collective_issue, ROWS, 0},
	[KWHY_PAIR_ALL_EXCHANGE] = {kwhy_pair_collective_issue, ROWS, 0},
};

unsigned kwhy_pair_clocks(enum kwhy_pair_engine engine)
{
	return engines[engine].clocks;
}

uint64_t kwhy_pair_most_bytes(enum kwhy_pair_engine engine)
{
	return engines[engine].most_bytes;
}

enum kwhy_status kwhy_pair_issue(struct kwhy_pair_work *work, uint32_t count, struct kwhy_error *error)
{
	return engines[work->config->engine].issue(work, count, error);
}

/*
 * Queues copies of the load from `source` to `target`, two GPUs that need not be those of the timed transfer,
 * on a stream of `source` other than its first.
 */
static enum kwhy_status issue_beside(struct kwhy_pair_work *work, uint32_t source, uint32_t target,
	uint32_t count, struct kwhy_error *error)
{
	struct kwhy_bench_buffers *from = work->testbed->gpu_buffers[source],
				  *to = work->testbed->gpu_buffers[target];
	uint32_t stream = 1 + target % (KWHY_BENCH_STREAMS - 1);
	struct kwhy_gpu_copy bytes = {.to = to->device[KWHY_BENCH_STAGING],
		.from = from->device[KWHY_BENCH_SOURCE],
		.bytes = work->config->bytes};
	enum kwhy_status status = kwhy_pair_set_current(from, error);

	if (!status)
		status = wait_for(from, stream, work->main->fork, error);
	for (uint32_t i = 0; !status && i < count; i++)
		status = copy(from, stream, &bytes, error);
	return status;
}

static enum kwhy_status issue_from_host(struct kwhy_pair_work *work, uint32_t count, struct kwhy_error *error)
{
	struct kwhy_bench_buffers *to = work->target;
	struct kwhy_gpu_copy bytes = {.to = to->device[KWHY_BENCH_STAGING],
		.from = kwhy_gpu_address(to->host[KWHY_BENCH_PINNED][KWHY_BENCH_SOURCE].memory),
		.bytes = work->config->bytes};
	enum kwhy_status status = kwhy_pair_set_current(to, error);

	if (!status)
		status = wait_for(to, 1, work->main->fork, error);
	for (uint32_t i = 0; !status && i < count; i++)
		status = copy(to, 1, &bytes, error);
	return status;
}

/* The lowest GPU number, not below `from`, of a GPU that takes no part in the timed transfer. */
static uint32_t another(const struct kwhy_pair_work *work, uint32_t from)
{
	while (from == work->config->source || from == work->config->target)
		from++;
	return from;
}

static enum kwhy_status issue_to_all(struct kwhy_pair_work *work, uint32_t count, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < work->testbed->count; i++)
		for (uint32_t k = 0; !status && k < work->testbed->count; k++)
			if (i != k && (i != work->config->source || k != work->config->target))
				status = issue_beside(work, i, k, count, error);
	return status;
}

enum kwhy_status kwhy_pair_load_issue(struct kwhy_pair_work *work, uint32_t count, struct kwhy_error *error)
{
	const struct kwhy_pair_config *config = work->config;
	uint32_t third = another(work, 0);
	enum kwhy_status status = kwhy_pair_set_current(work->main, error);

	if (!status)
		status = record(work->main, 0, work->main->fork, error);
	if (status)
		return status;
	switch (config->load) {
	case KWHY_PAIR_SAME_SOURCE:
		return issue_beside(work, config->source, third, count, error);
	case KWHY_PAIR_SAME_TARGET:
		return issue_beside(work, third, config->target, count, error);
	case KWHY_PAIR_DISJOINT:
		return issue_beside(work, third, another(work, third + 1), count, error);
	case KWHY_PAIR_ALL_TO_ALL:
		return issue_to_all(work, count, error);
	case KWHY_PAIR_FROM_HOST:
		return issue_from_host(work, count, error);
	default:
		return KWHY_OK;
	}
}
