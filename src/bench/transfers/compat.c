/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/compat.h"

#include "bench/transfers/measure.h"
#include "fit/median.h"

enum { SAMPLES = 3, COUNTED = KWHY_BENCH_TIMED_COPIES };

static const struct {
	const char *name, *title;
	bool to_host, both_ways, by_kernel;
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

/* One test: the copy that counts, and the one against it. */
struct duel {
	struct kwhy_bench_room *room;
	struct kwhy_gpu_copy counted, against;
	bool has_against, by_kernel;
};

static enum kwhy_status prepare(struct kwhy_bench_room *room, enum kwhy_bench_compat which, uint64_t bytes,
	struct duel *out, struct kwhy_error *error)
{
	struct kwhy_gpu_host source, sink;
	uint64_t device_source, device_sink;
	enum kwhy_status status = kwhy_bench_host(room, KWHY_BENCH_PINNED, KWHY_BENCH_SOURCE, &source, error);

	if (!status)
		status = kwhy_bench_host(room, KWHY_BENCH_PINNED, KWHY_BENCH_SINK, &sink, error);
	if (!status)
		status = kwhy_bench_device(room, KWHY_BENCH_SOURCE, &device_source, error);
	if (!status)
		status = kwhy_bench_device(room, KWHY_BENCH_SINK, &device_sink, error);
	if (status)
		return status;
	*out = (struct duel){room, {device_sink, kwhy_gpu_address(source.memory), bytes},
		{kwhy_gpu_address(sink.memory), device_source, bytes}, tests[which].both_ways,
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

static enum kwhy_status queue_copy(struct duel *duel, struct kwhy_gpu_copy *copy,
	struct kwhy_gpu_stream *stream, struct kwhy_error *error)
{
	void *arguments[] = {&copy->to, &copy->from, &copy->bytes};

	if (duel->by_kernel)
		return kwhy_bench_launch(
			duel->room, KWHY_BENCH_KERNEL_COPY, copy->bytes / 16, arguments, stream, error);
	return duel->room->gpu->ops->copy(duel->room->gpu, stream, copy, error);
}

static enum kwhy_status queue_copies(
	struct duel *duel, struct kwhy_gpu_copy *copy, uint32_t stream, int count, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (int i = 0; !status && i < count; i++)
		status = queue_copy(duel, copy, duel->room->streams[stream], error);
	return status;
}

/* The other way begins when the counted copies do. */
static enum kwhy_status queue_all(struct duel *duel, struct kwhy_error *error)
{
	struct kwhy_bench_room *room = duel->room;
	struct kwhy_gpu *gpu = room->gpu;
	enum kwhy_status status = queue_copies(duel, &duel->counted, 0, KWHY_BENCH_WARM_COPIES, error);

	if (!status)
		status = gpu->ops->event_record(gpu, room->begin, room->streams[0], error);
	if (!status && duel->has_against)
		status = gpu->ops->stream_wait(gpu, room->streams[1], room->begin, error);
	if (!status && duel->has_against)
		status = queue_copies(duel, &duel->against, 1, COUNTED, error);
	if (!status)
		status = queue_copies(duel, &duel->counted, 0, COUNTED, error);
	return status ? status : gpu->ops->event_record(gpu, room->end, room->streams[0], error);
}

static enum kwhy_status sample(struct duel *duel, double *out_gb_per_s, struct kwhy_error *error)
{
	struct kwhy_bench_room *room = duel->room;
	struct kwhy_gpu *gpu = room->gpu;
	double time_ns = 0, whole_us;
	struct kwhy_error other;
	enum kwhy_status status = gpu->ops->gate_hold(gpu, room->gate, room->streams[0], error), opened;

	if (status)
		return status;
	status = queue_all(duel, error);
	opened = gpu->ops->gate_open(gpu, room->gate, status ? &other : error);
	status = status ? status : opened;
	for (int i = 0; !status && i < 2; i++)
		status = gpu->ops->synchronize(gpu, room->streams[i], error);
	if (!status)
		status = gpu->ops->event_elapsed_ns(gpu, room->begin, room->end, &time_ns, error);
	whole_us = (double)(uint64_t)(time_ns / 1000);
	*out_gb_per_s = (double)duel->counted.bytes * COUNTED / whole_us * 1e-3;
	return status;
}

static enum kwhy_status measure(struct kwhy_bench_room *room, uint64_t bytes,
	double out_gb_per_s[KWHY_BENCH_COMPAT_COUNT], struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (int which = 0; !status && which < KWHY_BENCH_COMPAT_COUNT; which++) {
		double samples[SAMPLES] = {0};
		struct kwhy_median median;
		struct duel duel;

		status = prepare(room, (enum kwhy_bench_compat)which, bytes, &duel, error);
		/* A kernel that is loaded behind a gate would wait for it for ever. */
		if (!status)
			status = queue_copies(&duel, &duel.counted, 0, 1, error);
		if (!status)
			status = room->gpu->ops->synchronize(room->gpu, room->streams[0], error);
		for (int i = 0; !status && i < SAMPLES; i++)
			status = sample(&duel, &samples[i], error);
		kwhy_median_of(samples, SAMPLES, &median);
		out_gb_per_s[which] = median.median;
	}
	return status;
}

enum kwhy_status kwhy_bench_compat_measure(enum kwhy_gpu_backend backend, const char *device, uint64_t bytes,
	uint64_t seed, double out_gb_per_s[KWHY_BENCH_COMPAT_COUNT], struct kwhy_error *error)
{
	struct kwhy_bench_room *room = NULL;
	struct kwhy_gpu *gpu;
	enum kwhy_status status = kwhy_gpu_open(backend, device, &gpu, error);

	if (status)
		return status;
	status = gpu->ops->enter(gpu, error);
	if (!status)
		status = kwhy_bench_room_new(gpu, (size_t)(2 * bytes), (uint32_t)seed, &room, error);
	if (!status)
		status = measure(room, bytes, out_gb_per_s, error);
	kwhy_bench_room_free(room);
	gpu->ops->close(gpu);
	return status;
}
