/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/strategy.h"

#include <string.h>

/*
 * Copies of one contiguous range by the copy engines, from and to each kind of host memory. Variants are
 * split over several streams, replayed from a graph, or have odd addresses.
 */

#define H2D KWHY_BENCH_BIT(KWHY_TRANSFER_H2D)
#define D2H KWHY_BENCH_BIT(KWHY_TRANSFER_D2H)
#define BOTH KWHY_BENCH_BIT(KWHY_TRANSFER_BOTH)
#define BACK_TO_BACK KWHY_BENCH_BIT(KWHY_TRANSFER_BACK_TO_BACK)
#define ISOLATED KWHY_BENCH_BIT(KWHY_TRANSFER_ISOLATED)
#define HOST KWHY_BENCH_BIT(KWHY_TRANSFER_BY_HOST)
#define ALL (BACK_TO_BACK | ISOLATED | HOST)

enum { SHIFT_FROM_BYTES = 1, SHIFT_TO_BYTES = 3, CHUNK_MIN_BYTES = 1024, PAGE_BYTES = 4096 };

/*
 * Prepares the copies of a transfer: one for each of its directions, with host memory of the kind
 * work->strategy->variant.
 */
static enum kwhy_status prepare(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	enum kwhy_bench_memory memory = (enum kwhy_bench_memory)work->strategy->variant;
	enum kwhy_status status = KWHY_OK;

	if (work->direction != KWHY_TRANSFER_D2H)
		status = kwhy_bench_copy_prepare(work, memory, false, work->bytes, error);
	if (!status && work->direction != KWHY_TRANSFER_H2D)
		status = kwhy_bench_copy_prepare(work, memory, true, work->bytes, error);
	work->stream_count = work->direction == KWHY_TRANSFER_BOTH ? 2 : 1;
	return status;
}

static const struct kwhy_gpu_copy *only_copy(const struct kwhy_bench_work *work)
{
	return work->direction == KWHY_TRANSFER_D2H ? &work->to_host : &work->to_device;
}

static enum kwhy_status issue(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = work->buffers->gpu;
	enum kwhy_status status = gpu->ops->copy(gpu, work->buffers->streams[0], only_copy(work), error);

	if (!status && work->direction == KWHY_TRANSFER_BOTH)
		status = gpu->ops->copy(gpu, work->buffers->streams[1], &work->to_host, error);
	return status;
}

/*
 * Copies with the driver's synchronous call, such as cuMemcpyHtoD(), which programs without streams use. A
 * copy to the device from pageable memory may still be running when the call returns.
 */
static enum kwhy_status issue_now(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	return work->buffers->gpu->ops->copy_host_now(work->buffers->gpu, only_copy(work), error);
}

/*
 * Prepares a copy whose source address is 1 byte and whose sink address is 3 bytes above an aligned address,
 * so that aligned vector accesses can be used for at most one of them.
 */
static enum kwhy_status prepare_unaligned(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	enum kwhy_status status = prepare(work, error);
	struct kwhy_gpu_copy *copy = work->direction == KWHY_TRANSFER_D2H ? &work->to_host : &work->to_device;

	copy->from += SHIFT_FROM_BYTES;
	copy->to += SHIFT_TO_BYTES;
	work->first = SHIFT_FROM_BYTES;
	return status;
}

static enum kwhy_status prepare_streams(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	work->stream_count = KWHY_BENCH_STREAMS;
	return kwhy_bench_copy_prepare(
		work, KWHY_BENCH_PINNED, work->direction == KWHY_TRANSFER_D2H, work->bytes, error);
}

static enum kwhy_status issue_streams(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = work->buffers->gpu;
	struct kwhy_gpu_copy part = *only_copy(work);
	uint64_t left = work->bytes, step = (left / KWHY_BENCH_STREAMS + 15) / 16 * 16;
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && left > 0; i++) {
		part.bytes = left < step ? left : step;
		status = gpu->ops->copy(gpu, work->buffers->streams[i], &part, error);
		part.to += part.bytes;
		part.from += part.bytes;
		left -= part.bytes;
	}
	return status;
}

static enum kwhy_status prepare_graph(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	enum kwhy_status status = prepare(work, error);

	return status ? status : kwhy_bench_capture(work, issue, error);
}

/*
 * Prepares a transfer of managed memory: no copy is made, but accesses migrate its pages. To the device: the
 * host has touched all pages, and a kernel reads all bytes. To the host: a kernel has read all bytes, and the
 * host touches (reads and writes) one word of each page.
 */
static enum kwhy_status prepare_managed(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	struct kwhy_gpu_host host;
	enum kwhy_status status = kwhy_bench_host(
		work->buffers, KWHY_BENCH_MANAGED, KWHY_BENCH_SOURCE, &host, error);

	if (!status)
		work->to_device.from = work->to_host.from = kwhy_gpu_address(host.memory);
	return status;
}

static void touch(struct kwhy_bench_work *work)
{
	volatile uint32_t *words = kwhy_gpu_at(work->to_device.from);

	for (uint64_t i = 0; i < (work->bytes + 3) / 4; i += PAGE_BYTES / 4)
		words[i] = words[i];
}

static enum kwhy_status read_managed(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	void *arguments[] = {&work->to_device.from, &work->bytes, &work->buffers->counter};

	return kwhy_bench_launch(work->buffers, KWHY_BENCH_KERNEL_READ, work->bytes / 16, arguments,
		work->buffers->streams[0], error);
}

static enum kwhy_status rewind_managed(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (work->direction == KWHY_TRANSFER_H2D) {
		touch(work);
		return KWHY_OK;
	}
	status = read_managed(work, error);
	return status
		? status
		: work->buffers->gpu->ops->synchronize(work->buffers->gpu, work->buffers->streams[0], error);
}

static enum kwhy_status issue_managed(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	if (work->direction == KWHY_TRANSFER_H2D)
		return read_managed(work, error);
	touch(work);
	return KWHY_OK;
}

/* Reads the managed memory by a kernel and verifies that it holds the pattern, by its sum. */
static enum kwhy_status verify_managed(struct kwhy_bench_work *work, bool *out_same, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_bench_counter_clear(work->buffers, error);

	if (!status)
		status = read_managed(work, error);
	return status ? status : kwhy_bench_verify_sum(work, out_same, error);
}

/*
 * Waits for the last copy, which ran on the default stream, because verification runs on a stream that does
 * not wait for it.
 */
static enum kwhy_status verify_now(struct kwhy_bench_work *work, bool *out_same, struct kwhy_error *error)
{
	enum kwhy_status status = work->buffers->gpu->ops->synchronize(work->buffers->gpu, NULL, error);

	return status ? status : kwhy_bench_verify_sinks(work, out_same, error);
}

const struct kwhy_bench_strategy kwhy_bench_copies[] = {
	{.id = "pageable",
		.is_plain = true,
		.title = "a copy from or to memory as programs get it",
		.memory = "pageable",
		.directions = H2D | D2H,
		.clocks = HOST,
		.returns_done = true,
		.prepare = prepare,
		.issue = issue_now,
		.verify = verify_now,
		.variant = KWHY_BENCH_PAGEABLE},
	{.id = "pinned",
		.is_plain = true,
		.title = "a queued copy from or to page-locked memory",
		.memory = "pinned",
		.directions = H2D | D2H | BOTH,
		.clocks = ALL,
		.prepare = prepare,
		.issue = issue,
		.verify = kwhy_bench_verify_sinks,
		.variant = KWHY_BENCH_PINNED},
	{.id = "write-combined",
		.is_plain = true,
		.title = "a queued copy from memory that the CPU writes past its caches",
		.memory = "write-combined",
		.directions = H2D,
		.clocks = ALL,
		.prepare = prepare,
		.issue = issue,
		.verify = kwhy_bench_verify_sinks,
		.variant = KWHY_BENCH_WRITE_COMBINED},
	{.id = "registered",
		.is_plain = true,
		.title = "a queued copy, memory page-locked after it was allocated",
		.memory = "registered",
		.directions = H2D | D2H,
		.clocks = BACK_TO_BACK | HOST,
		.prepare = prepare,
		.issue = issue,
		.verify = kwhy_bench_verify_sinks,
		.variant = KWHY_BENCH_REGISTERED},
	{.id = "unaligned",
		.title = "a queued copy between odd addresses",
		.memory = "pinned",
		.directions = H2D | D2H,
		.clocks = BACK_TO_BACK | HOST,
		.prepare = prepare_unaligned,
		.issue = issue,
		.verify = kwhy_bench_verify_sinks,
		.variant = KWHY_BENCH_PINNED},
	{.id = "streams",
		.is_plain = true,
		.title = "four parts, each on a stream of its own",
		.memory = "pinned",
		.directions = H2D | D2H,
		.clocks = BACK_TO_BACK | HOST,
		.least_bytes = CHUNK_MIN_BYTES,
		.prepare = prepare_streams,
		.issue = issue_streams,
		.verify = kwhy_bench_verify_sinks},
	{.id = "graph",
		.is_plain = true,
		.title = "a copy recorded in a graph, launched again",
		.memory = "pinned",
		.directions = H2D | D2H,
		.clocks = BACK_TO_BACK | HOST,
		.prepare = prepare_graph,
		.issue = kwhy_bench_graph_issue,
		.verify = kwhy_bench_verify_sinks,
		.release = kwhy_bench_graph_release,
		.variant = KWHY_BENCH_PINNED},
	{.id = "numa-near",
		.title = "a queued copy, memory on the NUMA node of the GPU",
		.memory = "pinned, near",
		.directions = H2D | D2H,
		.clocks = BACK_TO_BACK,
		.prepare = prepare,
		.issue = issue,
		.verify = kwhy_bench_verify_sinks,
		.variant = KWHY_BENCH_NEAR},
	{.id = "numa-far",
		.title = "a queued copy, memory on another NUMA node",
		.memory = "pinned, far",
		.directions = H2D | D2H,
		.clocks = BACK_TO_BACK,
		.prepare = prepare,
		.issue = issue,
		.verify = kwhy_bench_verify_sinks,
		.variant = KWHY_BENCH_FAR},
	{.id = "managed",
		.title = "managed memory, whose pages move when they are touched",
		.memory = "managed",
		.directions = H2D | D2H,
		.clocks = HOST,
		.only_if_asked = true,
		.prepare = prepare_managed,
		.rewind = rewind_managed,
		.issue = issue_managed,
		.verify = verify_managed},
	{.id = NULL},
};
