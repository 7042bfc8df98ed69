/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/strategy.h"

/*
 * Strategies in which a kernel moves the bytes or uses them in place: a copy kernel, and kernels that read or
 * write host memory directly ("mapped"). There are also two baselines: a copy followed by a kernel that
 * reads, and a kernel that reads data that is already on the device.
 */

#define H2D KWHY_BENCH_BIT(KWHY_TRANSFER_H2D)
#define D2H KWHY_BENCH_BIT(KWHY_TRANSFER_D2H)
#define BOTH KWHY_BENCH_BIT(KWHY_TRANSFER_BOTH)
#define BACK_TO_BACK KWHY_BENCH_BIT(KWHY_TRANSFER_BACK_TO_BACK)
#define HOST KWHY_BENCH_BIT(KWHY_TRANSFER_BY_HOST)

enum use { USE_MAPPED, USE_COPIED, USE_KEPT };

static enum kwhy_status prepare_to_device(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_bench_mapped(
		work->buffers, KWHY_BENCH_PINNED, KWHY_BENCH_SOURCE, &work->to_device.from, error);

	if (!status)
		status = kwhy_bench_device(work->buffers, KWHY_BENCH_SINK, &work->to_device.to, error);
	work->to_device.bytes = work->bytes;
	return status;
}

/*
 * Prepares a transfer to the host. The sink has two addresses: to_host.to for the host, which verifies it,
 * and mapped_sink for kernels.
 */
static enum kwhy_status prepare_to_host(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	struct kwhy_gpu_host sink;
	enum kwhy_status status = kwhy_bench_host(
		work->buffers, KWHY_BENCH_PINNED, KWHY_BENCH_SINK, &sink, error);

	if (!status && !sink.address)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "kernels do not reach host memory here");
	if (!status)
		status = kwhy_bench_device(work->buffers, KWHY_BENCH_SOURCE, &work->to_host.from, error);
	if (status)
		return status;
	work->to_host.to = kwhy_gpu_address(sink.memory);
	work->to_host.bytes = work->bytes;
	work->mapped_sink = sink.address;
	return KWHY_OK;
}

static enum kwhy_status prepare(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	if (work->direction != KWHY_TRANSFER_D2H)
		status = prepare_to_device(work, error);
	if (!status && work->direction != KWHY_TRANSFER_H2D)
		status = prepare_to_host(work, error);
	work->stream_count = work->direction == KWHY_TRANSFER_BOTH ? 2 : 1;
	return status;
}

static enum kwhy_status launch_copy(struct kwhy_bench_work *work, uint64_t to, uint64_t from,
	struct kwhy_gpu_stream *stream, struct kwhy_error *error)
{
	void *arguments[] = {&to, &from, &work->bytes};

	return kwhy_bench_launch(
		work->buffers, KWHY_BENCH_KERNEL_COPY, work->bytes / 16, arguments, stream, error);
}

static enum kwhy_status issue_copy(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	struct kwhy_gpu_stream **streams = work->buffers->streams;
	enum kwhy_status status = KWHY_OK;

	if (work->direction != KWHY_TRANSFER_D2H)
		status = launch_copy(work, work->to_device.to, work->to_device.from, streams[0], error);
	if (!status && work->direction != KWHY_TRANSFER_H2D)
		status = launch_copy(
			work, work->mapped_sink, work->to_host.from, streams[work->stream_count - 1], error);
	return status;
}

static enum kwhy_status launch_read(struct kwhy_bench_work *work, uint64_t from, struct kwhy_error *error)
{
	void *arguments[] = {&from, &work->bytes, &work->buffers->counter};

	return kwhy_bench_launch(work->buffers, KWHY_BENCH_KERNEL_READ, work->bytes / 16, arguments,
		work->buffers->streams[0], error);
}

/*
 * Launches a kernel that reads each byte once: from host memory over the link (USE_MAPPED), from the sink on
 * the device after a copy to it (USE_COPIED), or from data that is already on the device (USE_KEPT).
 */
static enum kwhy_status issue_use(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = work->buffers->gpu;
	enum kwhy_status status;

	if (work->strategy->variant != USE_COPIED)
		return launch_read(work, work->to_device.from, error);
	status = gpu->ops->copy(gpu, work->buffers->streams[0], &work->to_device, error);
	return status ? status : launch_read(work, work->to_device.to, error);
}

static enum kwhy_status verify_use(struct kwhy_bench_work *work, bool *out_same, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_bench_counter_clear(work->buffers, error);

	if (!status)
		status = issue_use(work, error);
	return status ? status : kwhy_bench_verify_sum(work, out_same, error);
}

/*
 * To the device: as issue_use(). To the host: launches a kernel that writes the pattern directly to host
 * memory, without reading device memory.
 */
static enum kwhy_status issue_mapped(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	void *arguments[] = {&work->mapped_sink, &work->bytes, &work->buffers->seed};

	if (work->direction == KWHY_TRANSFER_H2D)
		return issue_use(work, error);
	return kwhy_bench_launch(work->buffers, KWHY_BENCH_KERNEL_PATTERN, work->bytes / 16, arguments,
		work->buffers->streams[0], error);
}

static enum kwhy_status verify_mapped(struct kwhy_bench_work *work, bool *out_same, struct kwhy_error *error)
{
	if (work->direction == KWHY_TRANSFER_H2D)
		return verify_use(work, out_same, error);
	return kwhy_bench_verify_sinks(work, out_same, error);
}

/* Prepares a read of data that is already in the device's source buffer. */
static enum kwhy_status prepare_kept(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	work->link_bytes = 0;
	return kwhy_bench_device(work->buffers, KWHY_BENCH_SOURCE, &work->to_device.from, error);
}

/*
 * Prepares a kernel that accesses host memory directly. In a transfer to the device it reads the bytes and
 * writes them nowhere, so there is no sink on the device.
 */
static enum kwhy_status prepare_mapped(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	enum kwhy_status status = prepare(work, error);

	work->to_device.to = 0;
	return status;
}

const struct kwhy_bench_strategy kwhy_bench_kernels[] = {
	{.id = "copy-kernel",
		.is_plain = true,
		.title = "a kernel copies between pinned and device memory",
		.memory = "pinned",
		.directions = H2D | D2H | BOTH,
		.clocks = BACK_TO_BACK | HOST,
		.prepare = prepare,
		.issue = issue_copy,
		.verify = kwhy_bench_verify_sinks},
	{.id = "mapped",
		.title = "the kernel that uses the data reads or writes host memory",
		.memory = "pinned",
		.directions = H2D | D2H,
		.clocks = BACK_TO_BACK | HOST,
		.prepare = prepare_mapped,
		.issue = issue_mapped,
		.verify = verify_mapped,
		.variant = USE_MAPPED},
	{.id = "copied-and-read",
		.title = "a pinned copy, then the kernel that reads it",
		.memory = "pinned",
		.directions = H2D,
		.clocks = BACK_TO_BACK | HOST,
		.prepare = prepare,
		.issue = issue_use,
		.verify = verify_use,
		.variant = USE_COPIED},
	{.id = "kept",
		.title = "the kernel alone, the data being there from before",
		.memory = "none",
		.directions = H2D,
		.clocks = BACK_TO_BACK | HOST,
		.is_not_a_transfer = true,
		.prepare = prepare_kept,
		.issue = issue_use,
		.verify = verify_use,
		.variant = USE_KEPT},
	{.id = NULL},
};
