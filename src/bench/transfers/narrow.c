/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/strategy.h"
#include "kwhy/transfer.h"

#include <stdlib.h>
#include <string.h>

/*
 * Transfers of 32-bit floats that one CPU thread first converts to a shorter format. The size of a transfer
 * is that of the floats before conversion.
 */

#define H2D KWHY_BENCH_BIT(KWHY_TRANSFER_H2D)
#define HOST KWHY_BENCH_BIT(KWHY_TRANSFER_BY_HOST)
#define MAX_BYTES (UINT64_C(256) << 20)
#define INT8_SCALE (1 / 127.0f) /* scale of the 8-bit integers: floats are divided by it and rounded */

enum { MIN_BYTES = 64, STEP_BYTES = 4 };

static float scale_of(const struct kwhy_bench_work *work)
{
	return work->strategy->variant == KWHY_TRANSFER_I8 ? INT8_SCALE : 1;
}

static size_t narrow_bytes(const struct kwhy_bench_work *work)
{
	return work->bytes / sizeof(float) * kwhy_transfer_format_bytes((int)work->strategy->variant);
}

/* Makes the floats to convert: pseudo-random values in [-1, 1), similar to weights of a network. */
static enum kwhy_status make_numbers(struct kwhy_bench_buffers *buffers, struct kwhy_error *error)
{
	size_t bytes = buffers->capacity < MAX_BYTES ? buffers->capacity : MAX_BYTES,
	       count = bytes / sizeof(float);

	buffers->numbers = malloc(bytes);
	if (!buffers->numbers)
		return kwhy_fail_memory(error, "numbers to convert");
	kwhy_bench_pattern_write(buffers->numbers, bytes, buffers->seed, 0);
	for (size_t i = 0; i < count; i++) {
		int32_t word;

		memcpy(&word, &buffers->numbers[i], sizeof(word));
		buffers->numbers[i] = (float)word * 0x1p-31f;
	}
	return KWHY_OK;
}

static enum kwhy_status prepare(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	struct kwhy_gpu_host staging;
	enum kwhy_status status = work->buffers->numbers ? KWHY_OK : make_numbers(work->buffers, error);

	if (!status)
		status = kwhy_bench_host(
			work->buffers, KWHY_BENCH_PINNED, KWHY_BENCH_STAGING, &staging, error);
	if (!status)
		status = kwhy_bench_device(work->buffers, KWHY_BENCH_SINK, &work->to_device.to, error);
	if (status)
		return status;
	work->own = staging.memory;
	work->to_device.from = kwhy_gpu_address(staging.memory);
	work->to_device.bytes = narrow_bytes(work);
	work->link_bytes = (double)work->to_device.bytes;
	return KWHY_OK;
}

static enum kwhy_status convert(const struct kwhy_bench_work *work, void *to, struct kwhy_error *error)
{
	if (kwhy_transfer_convert(to, work->buffers->numbers, work->bytes / sizeof(float),
		    (int)work->strategy->variant, scale_of(work)) != KWHY_TRANSFER_OK)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "numbers are not converted to this format");
	return KWHY_OK;
}

static enum kwhy_status issue(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = work->buffers->gpu;
	enum kwhy_status status = convert(work, work->own, error);

	return status ? status : gpu->ops->copy(gpu, work->buffers->streams[0], &work->to_device, error);
}

/* Converts the same floats again on the CPU and compares the result with the bytes in the device's sink. */
static enum kwhy_status verify(struct kwhy_bench_work *work, bool *out_same, struct kwhy_error *error)
{
	struct kwhy_gpu_copy back = {.from = work->to_device.to, .bytes = work->to_device.bytes};
	struct kwhy_gpu_host sink;
	enum kwhy_status status = kwhy_bench_host(
		work->buffers, KWHY_BENCH_PAGEABLE, KWHY_BENCH_SINK, &sink, error);

	if (status)
		return status;
	back.to = kwhy_gpu_address(sink.memory);
	status = work->buffers->gpu->ops->copy_now(work->buffers->gpu, &back, error);
	if (!status)
		status = convert(work, work->own, error);
	*out_same = !status && memcmp(sink.memory, work->own, back.bytes) == 0;
	return status;
}

#define NARROW_ROW(name, words, format)                                                                      \
	{                                                                                                    \
		.id = name, .title = words, .memory = "pageable, converted to pinned", .directions = H2D,    \
		.clocks = HOST, .least_bytes = MIN_BYTES, .most_bytes = MAX_BYTES, .step_bytes = STEP_BYTES, \
		.prepare = prepare, .issue = issue, .verify = verify, .variant = format                      \
	}

const struct kwhy_bench_strategy kwhy_bench_narrowings[] = {
	NARROW_ROW("as-fp16", "converted to 16-bit floats first", KWHY_TRANSFER_F16),
	NARROW_ROW("as-bf16", "converted to bfloat16 first", KWHY_TRANSFER_BF16),
	NARROW_ROW("as-int8", "converted to scaled 8-bit integers first", KWHY_TRANSFER_I8),
	{.id = NULL},
};
