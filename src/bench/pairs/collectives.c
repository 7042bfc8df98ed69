/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs/collectives.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 4, PHASES = 2, PIECE_BYTES = 512 << 10, PIECES_MAX = 16 };

/*
 * Argument of the kernel that runs a collective on the host back end: the addresses of the buffers and flags
 * of all GPUs. `own` is the GPU for which the kernel runs.
 */
struct together {
	uint64_t sources[KWHY_PAIR_GPUS_MAX], sinks[KWHY_PAIR_GPUS_MAX], flags[KWHY_PAIR_GPUS_MAX];
	uint64_t bytes, round;
	uint32_t count, own;
	enum kwhy_pair_engine engine;
};

static bool is_sliced(enum kwhy_pair_engine engine)
{
	return engine == KWHY_PAIR_ALL_GATHER || engine == KWHY_PAIR_REDUCE_SCATTER ||
		engine == KWHY_PAIR_ALL_EXCHANGE;
}

static bool is_sum(enum kwhy_pair_engine engine)
{
	return engine == KWHY_PAIR_ALL_REDUCE || engine == KWHY_PAIR_REDUCE_SCATTER;
}

uint64_t kwhy_pair_collective_bytes(enum kwhy_pair_engine engine, uint64_t bytes, uint32_t gpu_count)
{
	uint64_t unit = is_sliced(engine) ? (uint64_t)WORD * gpu_count : WORD;

	return bytes / unit * unit;
}

uint64_t kwhy_pair_collective_result_bytes(enum kwhy_pair_engine engine, uint64_t bytes, uint32_t gpu_count)
{
	return engine == KWHY_PAIR_REDUCE_SCATTER ? bytes / gpu_count : bytes;
}

/*
 * Offset in a source's pattern of the byte that GPU `own` receives at offset `at` of its result. part_bytes:
 * size of the buffer divided by the number of GPUs.
 */
static uint64_t offset_of(enum kwhy_pair_engine engine, uint64_t part_bytes, uint32_t own, uint64_t at)
{
	switch (engine) {
	case KWHY_PAIR_ALL_GATHER:
		return at % part_bytes;
	case KWHY_PAIR_ALL_EXCHANGE:
		return own * part_bytes + at % part_bytes;
	case KWHY_PAIR_REDUCE_SCATTER:
		return own * part_bytes + at;
	default:
		return at;
	}
}

static void expect_sum(
	const uint32_t *seeds, uint32_t gpu_count, uint64_t first, size_t count, unsigned char *out)
{
	uint32_t sum, word;

	for (size_t at = 0; at < count; at += WORD) {
		sum = 0;
		for (uint32_t k = 0; k < gpu_count; k++) {
			kwhy_bench_pattern_write(&word, WORD, seeds[k], first + at);
			sum += word;
		}
		memcpy(out + at, &sum, WORD);
	}
}

void kwhy_pair_collective_expect(const struct kwhy_pair_config *config, const uint32_t *seeds,
	uint32_t gpu_count, uint32_t own, uint64_t first, size_t count, unsigned char *out)
{
	bool parted = config->engine == KWHY_PAIR_ALL_GATHER || config->engine == KWHY_PAIR_ALL_EXCHANGE;
	uint64_t part_bytes = config->bytes / gpu_count;

	if (is_sum(config->engine)) {
		expect_sum(seeds, gpu_count, offset_of(config->engine, part_bytes, own, first), count, out);
		return;
	}
	for (size_t done = 0, length; done < count; done += length) {
		uint64_t at = first + done, left = parted ? part_bytes - at % part_bytes : count - done;

		length = left < count - done ? (size_t)left : count - done;
		kwhy_bench_pattern_write(out + done, length, seeds[parted ? at / part_bytes : 0],
			offset_of(config->engine, part_bytes, own, at));
	}
}

static uint64_t *flag_at(uint64_t flags, unsigned word)
{
	return (uint64_t *)(uintptr_t)flags + word;
}

/*
 * Reports in its flag that this GPU has reached a round, and waits until all other GPUs have reached it.
 * false: a GPU did not reach it before the timeout of kwhy_pair_flag_wait().
 */
static bool meet(const struct together *all, uint64_t round)
{
	uint64_t *late = flag_at(all->flags[all->own], KWHY_PAIR_LATE_WORD);

	__atomic_store_n(flag_at(all->flags[all->own], KWHY_PAIR_ROUND_WORD), round, __ATOMIC_RELEASE);
	for (uint32_t k = 0; k < all->count; k++)
		if (!kwhy_pair_flag_wait(flag_at(all->flags[k], KWHY_PAIR_ROUND_WORD), round, late))
			return false;
	return true;
}

/*
 * Stores in `to` the sums, word by 32-bit word, of `bytes` bytes of all GPUs' sources, from the offset `from`
 * in each.
 */
static void add_up(const struct together *all, void *to, uint64_t from, uint64_t bytes)
{
	uint32_t *sum = to;

	memcpy(to, kwhy_gpu_at(all->sources[0] + from), bytes);
	for (uint32_t k = 1; k < all->count; k++) {
		const uint32_t *words = kwhy_gpu_at(all->sources[k] + from);

		for (uint64_t i = 0; i < bytes / WORD; i++)
			sum[i] += words[i];
	}
}

/*
 * The part of the result that GPU `k` computes in an all-reduce, before the GPUs copy each other's parts: its
 * offset and size in bytes.
 */
static void share_of(const struct together *all, uint32_t k, uint64_t *out_first, uint64_t *out_bytes)
{
	uint64_t words = all->bytes / WORD, first = words * k / all->count,
		 last = words * (k + 1) / all->count;

	*out_first = first * WORD;
	*out_bytes = (last - first) * WORD;
}

static void run_all_reduce(const struct together *all, uint64_t sink)
{
	uint64_t first, bytes;

	share_of(all, all->own, &first, &bytes);
	add_up(all, kwhy_gpu_at(sink + first), first, bytes);
	if (!meet(all, all->round + PHASES))
		return;
	for (uint32_t k = 0; k < all->count; k++) {
		if (k == all->own)
			continue;
		share_of(all, k, &first, &bytes);
		memcpy(kwhy_gpu_at(sink + first), kwhy_gpu_at(all->sinks[k] + first), bytes);
	}
}

/*
 * Kernel of a collective on the host back end, for GPU all->own: waits until all GPUs have started the round,
 * then copies or sums from the sources of all GPUs what this GPU has to receive. If a GPU is late by seconds,
 * it ends without a result.
 */
static void run_together(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct together *all = arguments[0];
	uint64_t sink = all->sinks[all->own], part = all->bytes / all->count;

	(void)grid;
	if (!meet(all, all->round + 1))
		return;
	switch (all->engine) {
	case KWHY_PAIR_ALL_REDUCE:
		run_all_reduce(all, sink);
		break;
	case KWHY_PAIR_REDUCE_SCATTER:
		add_up(all, kwhy_gpu_at(sink), all->own * part, part);
		break;
	case KWHY_PAIR_BROADCAST:
		memcpy(kwhy_gpu_at(sink), kwhy_gpu_at(all->sources[0]), all->bytes);
		break;
	default:
		for (uint32_t k = 0; k < all->count; k++)
			memcpy(kwhy_gpu_at(sink + k * part),
				kwhy_gpu_at(all->sources[k] +
					(all->engine == KWHY_PAIR_ALL_EXCHANGE ? all->own * part : 0)),
				part);
	}
}

static const struct kwhy_gpu_host_kernel on_host[] = {
	{"kwhy_pair_together", run_together, {sizeof(struct together)}}, {.name = NULL}};

static const struct kwhy_gpu_source host_source = {
	.title = "collectives of the host", .text = "", .on_host = on_host};

static bool is_host(const struct kwhy_pair_testbed *testbed, uint32_t i)
{
	return strcmp(testbed->gpu_buffers[i]->gpu->ops->name, "host") == 0;
}

static enum kwhy_status find_kernel(struct kwhy_pair_testbed *testbed, uint32_t i, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = testbed->gpu_buffers[i]->gpu;
	enum kwhy_status status = KWHY_OK;

	if (!testbed->together_modules[i])
		status = gpu->ops->module_new(gpu, &host_source, &testbed->together_modules[i], error);
	return status ? status
		      : gpu->ops->kernel_find(gpu, testbed->together_modules[i], "kwhy_pair_together",
				&testbed->together[i], error);
}

/* Overwrites a GPU's sink with the complement of the first byte that it will receive. */
static enum kwhy_status spoil(const struct kwhy_pair_work *work, uint32_t i, struct kwhy_error *error)
{
	const struct kwhy_pair_testbed *testbed = work->testbed;
	struct kwhy_bench_buffers *own_buffers = testbed->gpu_buffers[i];
	uint64_t bytes = kwhy_pair_collective_result_bytes(
		work->config->engine, work->config->bytes, testbed->count);
	unsigned char first[WORD];
	uint32_t seeds[KWHY_PAIR_GPUS_MAX];
	enum kwhy_status status;

	for (uint32_t k = 0; k < testbed->count; k++)
		seeds[k] = testbed->gpu_buffers[k]->seed;
	kwhy_pair_collective_expect(work->config, seeds, testbed->count, i, 0, WORD, first);
	status = own_buffers->gpu->ops->fill(own_buffers->gpu, own_buffers->streams[0],
		own_buffers->device[KWHY_BENCH_SINK], (uint8_t)~first[0], bytes, error);
	return status ? status
		      : own_buffers->gpu->ops->synchronize(own_buffers->gpu, own_buffers->streams[0], error);
}

static enum kwhy_status begin_one(
	struct kwhy_pair_work *work, uint32_t i, bool spoils, struct kwhy_error *error)
{
	struct kwhy_bench_buffers *own_buffers = work->testbed->gpu_buffers[i];
	uint64_t address;
	enum kwhy_status status = kwhy_pair_set_current(own_buffers, error);

	if (!status)
		status = kwhy_bench_device(own_buffers, KWHY_BENCH_SOURCE, &address, error);
	if (!status)
		status = kwhy_bench_device(own_buffers, KWHY_BENCH_SINK, &address, error);
	if (!status && is_host(work->testbed, i))
		status = find_kernel(work->testbed, i, error);
	return status || !spoils ? status : spoil(work, i, error);
}

/*
 * For the host back end between ranks: checks that this rank can access the memory of all other ranks, from
 * which its collectives read. KWHY_E_UNSUPPORTED: it cannot.
 */
static enum kwhy_status check_reach(const struct kwhy_pair_testbed *testbed, struct kwhy_error *error)
{
	for (uint32_t i = 0; testbed->ranks && i < testbed->count; i++)
		if (i != testbed->own && !testbed->is_direct[testbed->own][i])
			return kwhy_fail(error, KWHY_E_UNSUPPORTED,
				"collectives of the host work on one host, and rank %u does not reach the "
				"memory of rank %u",
				testbed->own, i);
	return KWHY_OK;
}

enum kwhy_status kwhy_pair_collective_begin(
	struct kwhy_pair_work *work, bool spoils, struct kwhy_error *error)
{
	struct kwhy_pair_testbed *testbed = work->testbed;
	enum kwhy_status status = is_host(testbed, kwhy_pair_first_own(testbed))
		? check_reach(testbed, error)
		: kwhy_pair_nccl_start_all(testbed, error);

	for (uint32_t i = 0; !status && i < testbed->count; i++)
		if (kwhy_pair_is_own(testbed, i))
			status = begin_one(work, i, spoils, error);
	return status;
}

static enum kwhy_status launch_host(struct kwhy_pair_work *work, uint32_t i, struct kwhy_error *error)
{
	struct kwhy_pair_testbed *testbed = work->testbed;
	struct kwhy_bench_buffers *own_buffers = testbed->gpu_buffers[i];
	struct together all = {.bytes = work->config->bytes,
		.round = testbed->together_rounds,
		.count = testbed->count,
		.own = i,
		.engine = work->config->engine};
	void *arguments[] = {&all};
	struct kwhy_gpu_launch launch = {.kernel = testbed->together[i],
		.blocks = 1,
		.threads_per_block = 1,
		.arguments = arguments,
		.stream = own_buffers->streams[0]};

	for (uint32_t k = 0; k < testbed->count; k++) {
		all.sources[k] = testbed->gpu_buffers[k]->device[KWHY_BENCH_SOURCE];
		all.sinks[k] = testbed->gpu_buffers[k]->device[KWHY_BENCH_SINK];
		all.flags[k] = testbed->flags[k];
	}
	return own_buffers->gpu->ops->launch(own_buffers->gpu, &launch, error);
}

static enum kwhy_status issue_once(struct kwhy_pair_work *work, uint32_t number, struct kwhy_error *error)
{
	struct kwhy_pair_testbed *testbed = work->testbed;
	enum kwhy_status status = KWHY_OK;

	if (!is_host(testbed, kwhy_pair_first_own(testbed)))
		return kwhy_pair_nccl_together(work, number, error);
	for (uint32_t i = 0; !status && i < testbed->count; i++)
		if (kwhy_pair_is_own(testbed, i))
			status = launch_host(work, i, error);
	testbed->together_rounds += PHASES;
	return status;
}

enum kwhy_status kwhy_pair_fork_all(struct kwhy_pair_work *work, struct kwhy_error *error)
{
	struct kwhy_bench_buffers *main = work->main;
	enum kwhy_status status = kwhy_pair_set_current(main, error);

	if (!status)
		status = main->gpu->ops->event_record(main->gpu, main->fork, main->streams[0], error);
	for (uint32_t i = 0; !status && i < work->testbed->count; i++) {
		struct kwhy_bench_buffers *own_buffers = work->testbed->gpu_buffers[i];

		if (own_buffers == main || work->testbed->ranks)
			continue;
		status = kwhy_pair_set_current(own_buffers, error);
		if (!status)
			status = own_buffers->gpu->ops->stream_wait(
				own_buffers->gpu, own_buffers->streams[0], main->fork, error);
	}
	return status;
}

/* Makes the main stream wait for the first streams of all other GPUs. */
static enum kwhy_status join_all(struct kwhy_pair_work *work, struct kwhy_error *error)
{
	struct kwhy_bench_buffers *main = work->main;
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < work->testbed->count; i++) {
		struct kwhy_bench_buffers *own_buffers = work->testbed->gpu_buffers[i];

		if (own_buffers == main || work->testbed->ranks)
			continue;
		status = kwhy_pair_set_current(own_buffers, error);
		if (!status)
			status = own_buffers->gpu->ops->event_record(
				own_buffers->gpu, own_buffers->joins[0], own_buffers->streams[0], error);
		if (!status)
			status = kwhy_pair_set_current(main, error);
		if (!status)
			status = main->gpu->ops->stream_wait(
				main->gpu, main->streams[0], own_buffers->joins[0], error);
	}
	return status;
}

enum kwhy_status kwhy_pair_collective_issue(
	struct kwhy_pair_work *work, uint32_t count, struct kwhy_error *error)
{
	enum kwhy_status status = work->is_forked ? KWHY_OK : kwhy_pair_fork_all(work, error);

	for (uint32_t i = 0; !status && i < count; i++)
		status = issue_once(work, i, error);
	return status || work->is_forked ? status : join_all(work, error);
}

enum kwhy_status kwhy_pair_collective_check(const struct kwhy_pair_work *work, struct kwhy_error *error)
{
	const struct kwhy_pair_testbed *testbed = work->testbed;

	for (uint32_t i = 0; i < testbed->count; i++)
		if (kwhy_pair_is_own(testbed, i) && is_host(testbed, i) &&
			__atomic_load_n(flag_at(testbed->flags[i], KWHY_PAIR_LATE_WORD), __ATOMIC_RELAXED))
			return kwhy_fail(error, KWHY_E_UNSUPPORTED,
				"GPU %u waited for seconds for the others of a collective; close other "
				"programs",
				i);
	return KWHY_OK;
}

static enum kwhy_status verify_piece(const struct kwhy_pair_work *work, uint32_t i, uint64_t first,
	size_t count, unsigned char *buffers, bool *out_same, struct kwhy_error *error)
{
	const struct kwhy_pair_testbed *testbed = work->testbed;
	struct kwhy_bench_buffers *own_buffers = testbed->gpu_buffers[i];
	struct kwhy_gpu_copy copy = {.to = kwhy_gpu_address(buffers),
		.from = own_buffers->device[KWHY_BENCH_SINK] + first,
		.bytes = count};
	uint32_t seeds[KWHY_PAIR_GPUS_MAX];
	enum kwhy_status status = own_buffers->gpu->ops->copy_now(own_buffers->gpu, &copy, error);

	for (uint32_t k = 0; k < testbed->count; k++)
		seeds[k] = testbed->gpu_buffers[k]->seed;
	kwhy_pair_collective_expect(work->config, seeds, testbed->count, i, first, count, buffers + count);
	if (!status)
		*out_same = memcmp(buffers, buffers + count, count) == 0;
	return status;
}

static enum kwhy_status verify_one(
	const struct kwhy_pair_work *work, uint32_t i, bool *out_same, struct kwhy_error *error)
{
	uint64_t bytes = kwhy_pair_collective_result_bytes(
			 work->config->engine, work->config->bytes, work->testbed->count),
		 pieces = (bytes + PIECE_BYTES - 1) / PIECE_BYTES;
	size_t length = bytes < PIECE_BYTES ? (size_t)bytes : PIECE_BYTES;
	unsigned char *buffers = malloc(2 * length);
	enum kwhy_status status = buffers ? kwhy_pair_set_current(work->testbed->gpu_buffers[i], error)
					  : kwhy_fail_memory(error, "what a collective is checked by");

	if (pieces > PIECES_MAX)
		pieces = PIECES_MAX;
	*out_same = true;
	for (uint64_t k = 0; !status && *out_same && k < pieces; k++) {
		uint64_t first = pieces > 1 ? (bytes - length) / WORD * k / (pieces - 1) * WORD : 0;

		status = verify_piece(work, i, first, length, buffers, out_same, error);
	}
	free(buffers);
	return status;
}

enum kwhy_status kwhy_pair_collective_verify(
	struct kwhy_pair_work *work, bool *out_same, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	*out_same = true;
	for (uint32_t i = 0; !status && *out_same && i < work->testbed->count; i++)
		if (kwhy_pair_is_own(work->testbed, i))
			status = verify_one(work, i, out_same, error);
	return status;
}
