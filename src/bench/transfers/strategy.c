/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/strategy.h"

#include <string.h>

enum { GAP_BYTES = 48 };

static const struct kwhy_bench_strategy *const families[] = {
	kwhy_bench_copies,
	kwhy_bench_kernels,
	kwhy_bench_compression,
	kwhy_bench_narrowings,
	kwhy_bench_overlaps,
	kwhy_bench_loaders,
	kwhy_bench_piecewise,
};

const struct kwhy_bench_strategy *kwhy_bench_strategy_at(size_t index)
{
	for (size_t family = 0; family < sizeof(families) / sizeof(families[0]); family++)
		for (const struct kwhy_bench_strategy *row = families[family]; row->id; row++)
			if (index-- == 0)
				return row;
	return NULL;
}

bool kwhy_bench_strategy_takes(const struct kwhy_bench_strategy *strategy,
	enum kwhy_transfer_direction direction, uint64_t bytes, uint32_t pieces)
{
	if (!(strategy->directions & KWHY_BENCH_BIT(direction)))
		return false;
	if (bytes < strategy->least_bytes || (strategy->most_bytes && bytes > strategy->most_bytes))
		return false;
	if (strategy->step_bytes && bytes % strategy->step_bytes != 0)
		return false;
	return !strategy->most_pieces || pieces <= strategy->most_pieces;
}

const struct kwhy_bench_strategy *kwhy_bench_strategy_find(const char *id)
{
	const struct kwhy_bench_strategy *strategy;

	for (size_t i = 0; (strategy = kwhy_bench_strategy_at(i)); i++)
		if (strcmp(strategy->id, id) == 0)
			return strategy;
	return NULL;
}

uint64_t kwhy_bench_stride(uint64_t piece_bytes, uint32_t pieces)
{
	return pieces > 1 ? (piece_bytes + 15) / 16 * 16 + GAP_BYTES : piece_bytes;
}

/* Bytes from the start of the first piece to the end of the last piece. */
static uint64_t extent_of(const struct kwhy_bench_work *work)
{
	return (work->pieces - 1) * work->stride + work->piece_bytes;
}

static bool has_way(const struct kwhy_bench_work *work, enum kwhy_transfer_direction direction)
{
	return work->direction == direction || work->direction == KWHY_TRANSFER_BOTH;
}

/*
 * The byte with which sinks are overwritten before a verified transfer: the complement of the first byte that
 * they will receive, so that even a sink of one byte then differs from the expected result.
 */
static uint8_t spoiling(const struct kwhy_bench_work *work)
{
	uint8_t byte;

	kwhy_bench_pattern_write(&byte, 1, work->buffers->seed, work->first);
	return (uint8_t)~byte;
}

enum kwhy_status kwhy_bench_spoil_sinks(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = work->buffers->gpu;
	enum kwhy_status status = KWHY_OK;

	if (has_way(work, KWHY_TRANSFER_H2D) && work->to_device.to) {
		status = gpu->ops->fill(gpu, work->buffers->streams[0], work->to_device.to, spoiling(work),
			extent_of(work), error);
		if (!status)
			status = gpu->ops->synchronize(gpu, work->buffers->streams[0], error);
	}
	if (!status && has_way(work, KWHY_TRANSFER_D2H) && work->to_host.to)
		memset(kwhy_gpu_at(work->to_host.to), spoiling(work), extent_of(work));
	return status;
}

static enum kwhy_status verify_device(struct kwhy_bench_work *work, bool *out_same, struct kwhy_error *error)
{
	struct kwhy_bench_buffers *buffers = work->buffers;
	uint64_t extent = extent_of(work), wrong;
	void *arguments[] = {&work->to_device.to, &extent, &buffers->seed, &work->first, &work->stride,
		&work->piece_bytes, &buffers->counter};
	enum kwhy_status status = kwhy_bench_counter_clear(buffers, error);

	if (!status)
		status = kwhy_bench_launch(
			buffers, KWHY_BENCH_KERNEL_CHECK, extent, arguments, buffers->streams[0], error);
	if (!status)
		status = kwhy_bench_counter_read(buffers, &wrong, error);
	if (!status)
		*out_same = wrong == 0;
	return status;
}

static enum kwhy_status verify_host(struct kwhy_bench_work *work, bool *out_same, struct kwhy_error *error)
{
	const uint8_t *sink = kwhy_gpu_at(work->to_host.to), *pattern;
	struct kwhy_gpu_host host;
	enum kwhy_status status = kwhy_bench_host(
		work->buffers, KWHY_BENCH_PAGEABLE, KWHY_BENCH_SOURCE, &host, error);

	if (status)
		return status;
	pattern = (const uint8_t *)host.memory + work->first;
	*out_same = true;
	for (uint32_t i = 0; *out_same && i < work->pieces; i++)
		*out_same = memcmp(sink + i * work->stride, pattern + i * work->stride, work->piece_bytes) ==
			0;
	return KWHY_OK;
}

enum kwhy_status kwhy_bench_verify_sinks(
	struct kwhy_bench_work *work, bool *out_same, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	*out_same = true;
	if (has_way(work, KWHY_TRANSFER_H2D) && work->to_device.to)
		status = verify_device(work, out_same, error);
	if (!status && *out_same && has_way(work, KWHY_TRANSFER_D2H) && work->to_host.to)
		status = verify_host(work, out_same, error);
	return status;
}

enum kwhy_status kwhy_bench_verify_sum(struct kwhy_bench_work *work, bool *out_same, struct kwhy_error *error)
{
	struct kwhy_gpu_host source;
	uint64_t sum = 0;
	enum kwhy_status status = kwhy_bench_counter_read(work->buffers, &sum, error);

	if (!status)
		status = kwhy_bench_host(
			work->buffers, KWHY_BENCH_PAGEABLE, KWHY_BENCH_SOURCE, &source, error);
	if (!status)
		*out_same = sum == kwhy_bench_sum(source.memory, work->bytes);
	return status;
}

enum kwhy_status kwhy_bench_copy_prepare(struct kwhy_bench_work *work, enum kwhy_bench_memory memory,
	bool to_host, uint64_t bytes, struct kwhy_error *error)
{
	struct kwhy_gpu_copy *copy = to_host ? &work->to_host : &work->to_device;
	struct kwhy_gpu_host host;
	uint64_t device;
	enum kwhy_status status = kwhy_bench_host(
		work->buffers, memory, to_host ? KWHY_BENCH_SINK : KWHY_BENCH_SOURCE, &host, error);

	if (!status)
		status = kwhy_bench_device(
			work->buffers, to_host ? KWHY_BENCH_SOURCE : KWHY_BENCH_SINK, &device, error);
	if (status)
		return status;
	copy->from = to_host ? device : kwhy_gpu_address(host.memory);
	copy->to = to_host ? kwhy_gpu_address(host.memory) : device;
	copy->bytes = bytes;
	return KWHY_OK;
}

struct issue {
	struct kwhy_bench_work *work;
	enum kwhy_status (*run)(struct kwhy_bench_work *work, struct kwhy_error *error);
};

static enum kwhy_status run_issue(void *context, struct kwhy_error *error)
{
	const struct issue *issue = context;

	return issue->run(issue->work, error);
}

enum kwhy_status kwhy_bench_capture(struct kwhy_bench_work *work,
	enum kwhy_status (*issue)(struct kwhy_bench_work *work, struct kwhy_error *error),
	struct kwhy_error *error)
{
	struct issue recorded = {work, issue};

	return kwhy_gpu_capture(
		work->buffers->gpu, work->buffers->streams[0], run_issue, &recorded, &work->graph, error);
}

enum kwhy_status kwhy_bench_graph_issue(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	return work->buffers->gpu->ops->graph_launch(
		work->buffers->gpu, work->buffers->streams[0], work->graph, error);
}

void kwhy_bench_graph_release(struct kwhy_bench_work *work)
{
	if (work->graph)
		work->buffers->gpu->ops->graph_free(work->buffers->gpu, work->graph);
	work->graph = NULL;
}

enum kwhy_status kwhy_bench_issue(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_bench_fork(work, error);

	if (!status)
		status = work->strategy->issue(work, error);
	return status ? status : kwhy_bench_join(work, error);
}

enum kwhy_status kwhy_bench_fork(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	struct kwhy_bench_buffers *buffers = work->buffers;
	struct kwhy_gpu *gpu = buffers->gpu;
	enum kwhy_status status = KWHY_OK;

	if (work->stream_count > 1)
		status = gpu->ops->event_record(gpu, buffers->fork, buffers->streams[0], error);
	for (uint32_t i = 1; !status && i < work->stream_count; i++)
		status = gpu->ops->stream_wait(gpu, buffers->streams[i], buffers->fork, error);
	return status;
}

enum kwhy_status kwhy_bench_join(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	struct kwhy_bench_buffers *buffers = work->buffers;
	struct kwhy_gpu *gpu = buffers->gpu;
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 1; !status && i < work->stream_count; i++) {
		status = gpu->ops->event_record(gpu, buffers->joins[i], buffers->streams[i], error);
		if (!status)
			status = gpu->ops->stream_wait(gpu, buffers->streams[0], buffers->joins[i], error);
	}
	return status;
}
