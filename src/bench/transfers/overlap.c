/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/strategy.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>

/*
 * Transfers to the device followed by a kernel that works on the data and takes about as long as the copy.
 * Either the copy and the kernel run in sequence, or the data is moved in chunks with two or three buffers on
 * the device, so that a chunk is copied while a kernel works on the one before it. The number n of chunks is
 * chosen for the shortest time. Each chunk costs o = CHUNK_COST_S more. If all copies take as long as all
 * kernels, T seconds, the total time is T
 * + T / n + n o, which is least at n = sqrt(T / o).
 */

#define H2D KWHY_BENCH_BIT(KWHY_TRANSFER_H2D)
#define HOST KWHY_BENCH_BIT(KWHY_TRANSFER_BY_HOST)
#define MIN_BYTES (UINT64_C(1) << 20)
#define TRIAL_BYTES (UINT64_C(16) << 20)
/*
 * assumed cost of a further chunk in seconds: the driver calls for a copy, a launch, two events and two waits
 */
#define CHUNK_COST_S 10e-6

enum { SLOTS_MAX = 3, TRIAL_ROUNDS = 64, TRIALS = 3, CHUNK_STEP_BYTES = 65536 };

/*
 * State of an overlapped transfer of one size: the chunk size, and for each slot (a buffer for one chunk on
 * the device) the events after the copy into it and after the kernel that works on it.
 */
struct overlap {
	uint64_t chunk_bytes;
	uint32_t slots;
	struct kwhy_gpu_event *copied[SLOTS_MAX], *used[SLOTS_MAX];
};

static enum kwhy_status launch_work(struct kwhy_bench_work *work, uint64_t from, uint64_t bytes,
	uint32_t rounds, struct kwhy_gpu_stream *stream, struct kwhy_error *error)
{
	void *arguments[] = {&from, &bytes, &rounds, &work->buffers->counter};

	return kwhy_bench_launch(work->buffers, KWHY_BENCH_KERNEL_WORK, bytes / 4, arguments, stream, error);
}

/*
 * Number of bytes that the trials of find_rounds() copy and work on: 16 MiB, or the size of the smaller of
 * the two buffers of prepare().
 */
static uint64_t trial_bytes(const struct kwhy_bench_buffers *buffers)
{
	uint64_t device = buffers->device_buffers[KWHY_BENCH_STAGING].bytes,
		 host = buffers->host_buffers[KWHY_BENCH_PINNED][KWHY_BENCH_SOURCE].bytes,
		 both = device < host ? device : host;

	return both < TRIAL_BYTES ? both : TRIAL_BYTES;
}

/*
 * Seconds that a copy (rounds 0) or a kernel with that many rounds takes for trial_bytes(), measured on the
 * host: the shortest of three trials.
 */
static enum kwhy_status time_trial(
	struct kwhy_bench_work *work, uint32_t rounds, double *out_s, struct kwhy_error *error)
{
	struct kwhy_bench_buffers *buffers = work->buffers;
	struct kwhy_gpu_copy copy = work->to_device;
	uint64_t bytes = trial_bytes(buffers);
	enum kwhy_status status = KWHY_OK;

	copy.bytes = bytes;
	*out_s = INFINITY;
	for (int i = 0; !status && i < TRIALS; i++) {
		int64_t start_ns = kwhy_clock_mono_ns();

		status = rounds ? launch_work(work, copy.to, bytes, rounds, buffers->streams[0], error)
				: buffers->gpu->ops->copy(buffers->gpu, buffers->streams[0], &copy, error);
		if (!status)
			status = buffers->gpu->ops->synchronize(buffers->gpu, buffers->streams[0], error);
		*out_s = fmin(*out_s, (double)(kwhy_clock_mono_ns() - start_ns) * 1e-9);
	}
	return status;
}

/*
 * Sets buffers->rounds so that the work kernel takes as long as a copy of the same bytes, and
 * buffers->copy_s_per_byte. The time of the kernel is taken to be linear in the rounds.
 */
static enum kwhy_status find_rounds(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	struct kwhy_bench_buffers *buffers = work->buffers;
	double copy_s, few_s, many_s, round_s;
	enum kwhy_status status = time_trial(work, 0, &copy_s, error);

	if (!status)
		status = time_trial(work, 1, &few_s, error);
	if (!status)
		status = time_trial(work, TRIAL_ROUNDS, &many_s, error);
	if (status)
		return status;
	round_s = fmax((many_s - few_s) / (TRIAL_ROUNDS - 1), 1e-9);
	buffers->rounds = (uint32_t)fmin(fmax((copy_s - few_s) / round_s, 1), 1e6);
	buffers->copy_s_per_byte = copy_s / (double)trial_bytes(buffers);
	return KWHY_OK;
}

static enum kwhy_status prepare(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	struct kwhy_gpu_host source;
	enum kwhy_status status = kwhy_bench_host(
		work->buffers, KWHY_BENCH_PINNED, KWHY_BENCH_SOURCE, &source, error);

	if (!status)
		status = kwhy_bench_device(work->buffers, KWHY_BENCH_STAGING, &work->to_device.to, error);
	if (status)
		return status;
	work->to_device.from = kwhy_gpu_address(source.memory);
	work->to_device.bytes = work->bytes;
	return work->buffers->rounds ? KWHY_OK : find_rounds(work, error);
}

static enum kwhy_status issue_serial(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = work->buffers->gpu;
	struct kwhy_gpu_stream *stream = work->buffers->streams[0];
	enum kwhy_status status = gpu->ops->copy(gpu, stream, &work->to_device, error);

	return status
		? status
		: launch_work(work, work->to_device.to, work->bytes, work->buffers->rounds, stream, error);
}

static void release(struct kwhy_bench_work *work)
{
	struct kwhy_gpu *gpu = work->buffers->gpu;
	struct overlap *overlap = work->own;

	for (uint32_t i = 0; overlap && i < SLOTS_MAX; i++) {
		gpu->ops->event_free(gpu, overlap->copied[i]);
		gpu->ops->event_free(gpu, overlap->used[i]);
	}
	free(overlap);
	work->own = NULL;
}

/* Prepares an overlapped transfer; work->strategy->variant is the number of slots on the device. */
static enum kwhy_status prepare_overlap(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = work->buffers->gpu;
	struct overlap *overlap = calloc(1, sizeof(*overlap));
	enum kwhy_status status = overlap ? prepare(work, error) : kwhy_fail_memory(error, "an overlap");
	double chunks;

	work->own = overlap;
	if (status)
		return status;
	chunks = fmax(sqrt((double)work->bytes * work->buffers->copy_s_per_byte / CHUNK_COST_S), 2);
	overlap->slots = (uint32_t)work->strategy->variant;
	overlap->chunk_bytes = ((uint64_t)((double)work->bytes / chunks) / CHUNK_STEP_BYTES + 1) *
		CHUNK_STEP_BYTES;
	for (uint32_t i = 0; !status && i < overlap->slots; i++) {
		status = gpu->ops->event_new(gpu, false, &overlap->copied[i], error);
		if (!status)
			status = gpu->ops->event_new(gpu, false, &overlap->used[i], error);
	}
	work->stream_count = 2;
	return status;
}

/*
 * Queues chunk number `which`, whose bytes begin at offset `done`: its copy into its slot, after the kernel
 * that used the slot last, and the kernel that works on it.
 */
static enum kwhy_status issue_chunk(
	struct kwhy_bench_work *work, uint32_t which, uint64_t done, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = work->buffers->gpu;
	struct kwhy_gpu_stream *copying = work->buffers->streams[0], *working = work->buffers->streams[1];
	const struct overlap *overlap = work->own;
	uint32_t slot = which % overlap->slots;
	uint64_t left = work->bytes - done;
	struct kwhy_gpu_copy copy = {work->to_device.to + slot * overlap->chunk_bytes,
		work->to_device.from + done, left < overlap->chunk_bytes ? left : overlap->chunk_bytes};
	enum kwhy_status status = KWHY_OK;

	if (which >= overlap->slots)
		status = gpu->ops->stream_wait(gpu, copying, overlap->used[slot], error);
	if (!status)
		status = gpu->ops->copy(gpu, copying, &copy, error);
	if (!status)
		status = gpu->ops->event_record(gpu, overlap->copied[slot], copying, error);
	if (!status)
		status = gpu->ops->stream_wait(gpu, working, overlap->copied[slot], error);
	if (!status)
		status = launch_work(work, copy.to, copy.bytes, work->buffers->rounds, working, error);
	return status ? status : gpu->ops->event_record(gpu, overlap->used[slot], working, error);
}

static enum kwhy_status issue_overlap(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	const struct overlap *overlap = work->own;
	enum kwhy_status status = KWHY_OK;
	uint32_t which = 0;

	for (uint64_t done = 0; !status && done < work->bytes; done += overlap->chunk_bytes)
		status = issue_chunk(work, which++, done, error);
	return status;
}

/*
 * Runs the transfer again and compares the sum that its kernels compute with the sum of one kernel over the
 * same pattern in the device's source buffer.
 */
static enum kwhy_status verify(struct kwhy_bench_work *work, bool *out_same, struct kwhy_error *error)
{
	uint64_t device, sum = 0, expected = 1;
	enum kwhy_status status = kwhy_bench_device(work->buffers, KWHY_BENCH_SOURCE, &device, error);

	if (!status)
		status = kwhy_bench_counter_clear(work->buffers, error);
	if (!status)
		status = kwhy_bench_issue(work, error);
	if (!status)
		status = kwhy_bench_counter_read(work->buffers, &sum, error);
	if (!status)
		status = kwhy_bench_counter_clear(work->buffers, error);
	if (!status)
		status = launch_work(
			work, device, work->bytes, work->buffers->rounds, work->buffers->streams[0], error);
	if (!status)
		status = kwhy_bench_counter_read(work->buffers, &expected, error);
	*out_same = sum == expected;
	return status;
}

#define OVERLAP_ROW(name, words, slots)                                                            \
	{                                                                                          \
		.id = name, .title = words, .memory = "pinned", .directions = H2D, .clocks = HOST, \
		.least_bytes = MIN_BYTES, .step_bytes = 4, .prepare = prepare_overlap,             \
		.issue = issue_overlap, .verify = verify, .release = release, .variant = slots     \
	}

const struct kwhy_bench_strategy kwhy_bench_overlaps[] = {
	{.id = "serial",
		.title = "a pinned copy, then a kernel that takes as long",
		.memory = "pinned",
		.directions = H2D,
		.clocks = HOST,
		.least_bytes = MIN_BYTES,
		.step_bytes = 4,
		.prepare = prepare,
		.issue = issue_serial,
		.verify = verify},
	OVERLAP_ROW("overlap-2", "the same in chunks, two buffers", 2),
	OVERLAP_ROW("overlap-3", "the same in chunks, three buffers", 3),
	{.id = NULL},
};
