/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/compat.h"

#include "bench/transfers/measure.h"
#include "fit/median.h"

enum { SAMPLES = 3, COUNTED = KWHY_BENCH_TIMED_COPIES };

static const struct {
	const char *name, *title;
	bool to_host, both_directions, by_kernel;
} tests[KWHY_BENCH_COMPAT_COUNT] = {
	{"host_to_device_memcpy_ce", "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)", false, false,
		false},
	{"device_to_host_memcpy_ce", "memcpy CE CPU(row) <- GPU(column) bandwidth (GB/s)", true, false,
		false},
	{"host_to_device_bidirectional_memcpy_ce", "memcpy CE CPU(row) <-> GPU(column) bandwidth (GB/s)",
		false, true, false},
	{"device_to_host_bidirectional_memcpy_ce", "memcpy CE CPU(row) <-> GPU(column) bandwidth (GB/s)",
		true, true, false},
	{"host_to_device_memcpy_sm", "memcpy SM CPU(row) -> GPU(column) bandwidth (GB/s)", false, false,
		true},
	{"device_to_host_memcpy_sm", "memcpy SM CPU(row) <- GPU(column) bandwidth (GB/s)", true, false, true},
};

const char *kwhy_bench_compat_name(enum kwhy_bench_compat which)
{
	return tests[which].name;
}

const char *kwhy_bench_compat_title(enum kwhy_bench_compat which)
{
	return tests[which].title;
}

/*
 * The copies of one test: those whose rate is measured (counted) and, in bidirectional tests, those in the
 * opposite direction (against).
 */
struct paired_run {
	struct kwhy_bench_buffers *buffers;
	struct kwhy_gpu_copy counted, against;
	bool has_against, by_kernel;
};

static enum kwhy_status prepare(struct kwhy_bench_buffers *buffers, enum kwhy_bench_compat which,
	uint64_t bytes, struct paired_run *out, struct kwhy_error *error)
{
	struct kwhy_gpu_host source, sink;
	uint64_t device_source, device_sink;
	enum kwhy_status status = kwhy_bench_host(
		buffers, KWHY_BENCH_PINNED, KWHY_BENCH_SOURCE, &source, error);

	if (!status)
		status = kwhy_bench_host(buffers, KWHY_BENCH_PINNED, KWHY_BENCH_SINK, &sink, error);
	if (!status)
		status = kwhy_bench_device(buffers, KWHY_BENCH_SOURCE, &device_source, error);
	if (!status)
		status = kwhy_bench_device(buffers, KWHY_BENCH_SINK, &device_sink, error);
	if (status)
		return status;
	*out = (struct paired_run){buffers, {device_sink, kwhy_gpu_address(source.memory), bytes},
		{kwhy_gpu_address(sink.memory), device_source, bytes}, tests[which].both_directions,
		tests[which].by_kernel};
	if (out->by_kernel) {
		out->counted.from = source.address;
		out->against.to = sink.address;
	}
	if (tests[which].to_host) {
		struct kwhy_gpu_copy other = out->counted;

		out->counted = out->against;
		out->against = other;
	}
	out->against.bytes = 2 * bytes;
	return KWHY_OK;
}

static enum kwhy_status queue_copy(struct paired_run *paired_run, struct kwhy_gpu_copy *copy,
	struct kwhy_gpu_stream *stream, struct kwhy_error *error)
{
	void *arguments[] = {&copy->to, &copy->from, &copy->bytes};

	if (paired_run->by_kernel)
		return kwhy_bench_launch(paired_run->buffers, KWHY_BENCH_KERNEL_COPY, copy->bytes / 16,
			arguments, stream, error);
	return paired_run->buffers->gpu->ops->copy(paired_run->buffers->gpu, stream, copy, error);
}

static enum kwhy_status queue_copies(struct paired_run *paired_run, struct kwhy_gpu_copy *copy,
	uint32_t stream, int count, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (int i = 0; !status && i < count; i++)
		status = queue_copy(paired_run, copy, paired_run->buffers->streams[stream], error);
	return status;
}

/* Queues all copies of a sample. Copies in the opposite direction begin when the counted copies begin. */
static enum kwhy_status queue_all(struct paired_run *paired_run, struct kwhy_error *error)
{
	struct kwhy_bench_buffers *buffers = paired_run->buffers;
	struct kwhy_gpu *gpu = buffers->gpu;
	enum kwhy_status status = queue_copies(
		paired_run, &paired_run->counted, 0, KWHY_BENCH_WARM_COPIES, error);

	if (!status)
		status = gpu->ops->event_record(gpu, buffers->begin, buffers->streams[0], error);
	if (!status && paired_run->has_against)
		status = gpu->ops->stream_wait(gpu, buffers->streams[1], buffers->begin, error);
	if (!status && paired_run->has_against)
		status = queue_copies(paired_run, &paired_run->against, 1, COUNTED, error);
	if (!status)
		status = queue_copies(paired_run, &paired_run->counted, 0, COUNTED, error);
	return status ? status : gpu->ops->event_record(gpu, buffers->end, buffers->streams[0], error);
}

static enum kwhy_status sample(struct paired_run *paired_run, double *out_gb_per_s, struct kwhy_error *error)
{
	struct kwhy_bench_buffers *buffers = paired_run->buffers;
	struct kwhy_gpu *gpu = buffers->gpu;
	double time_ns = 0, whole_us;
	struct kwhy_error other;
	enum kwhy_status status = gpu->ops->gate_hold(gpu, buffers->gate, buffers->streams[0], error), opened;

	if (status)
		return status;
	status = queue_all(paired_run, error);
	opened = gpu->ops->gate_open(gpu, buffers->gate, status ? &other : error);
	status = status ? status : opened;
	for (int i = 0; !status && i < 2; i++)
		status = gpu->ops->synchronize(gpu, buffers->streams[i], error);
	if (!status)
		status = gpu->ops->event_elapsed_ns(gpu, buffers->begin, buffers->end, &time_ns, error);
	whole_us = (double)(uint64_t)(time_ns / 1000);
	*out_gb_per_s = (double)paired_run->counted.bytes * COUNTED / whole_us * 1e-3;
	return status;
}

static enum kwhy_status measure(struct kwhy_bench_buffers *buffers, uint64_t bytes,
	double out_gb_per_s[KWHY_BENCH_COMPAT_COUNT], struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (int which = 0; !status && which < KWHY_BENCH_COMPAT_COUNT; which++) {
		double samples[SAMPLES] = {0};
		struct kwhy_median median;
		struct paired_run paired_run;

		status = prepare(buffers, (enum kwhy_bench_compat)which, bytes, &paired_run, error);
		/*
		 * This untimed copy loads the kernel. Loading a kernel waits for the device and would never
		 * end while a gate is closed.
		 */
		if (!status)
			status = queue_copies(&paired_run, &paired_run.counted, 0, 1, error);
		if (!status)
			status = buffers->gpu->ops->synchronize(buffers->gpu, buffers->streams[0], error);
		for (int i = 0; !status && i < SAMPLES; i++)
			status = sample(&paired_run, &samples[i], error);
		kwhy_median_of(samples, SAMPLES, &median);
		out_gb_per_s[which] = median.median;
	}
	return status;
}

enum kwhy_status kwhy_bench_compat_measure(enum kwhy_gpu_backend backend, const char *device, uint64_t bytes,
	uint64_t seed, double out_gb_per_s[KWHY_BENCH_COMPAT_COUNT], struct kwhy_error *error)
{
	struct kwhy_bench_buffers *buffers = NULL;
	struct kwhy_gpu *gpu;
	enum kwhy_status status = kwhy_gpu_open(backend, device, &gpu, error);

	if (status)
		return status;
	status = gpu->ops->enter(gpu, error);
	if (!status)
		status = kwhy_bench_buffers_new(gpu, (size_t)(2 * bytes), (uint32_t)seed, &buffers, error);
	if (!status)
		status = measure(buffers, bytes, out_gb_per_s, error);
	kwhy_bench_buffers_free(buffers);
	gpu->ops->close(gpu);
	return status;
}
