/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/proxy.h"

#include "replay/proxy_kernels.h"

#include <stdlib.h>

enum {
	SERIES = 48, /* number of launches in a series; a gate blocks them until all are queued */
	REPEATS = 3,
	/*
	 * waits of two kernels, in cycles of the multiprocessor's clock. From the difference of their times
	 * the rate of the clock is computed, and from the time of the short one also period_ns.
	 */
	SMALL_TICKS = 200,
	LARGE_TICKS = 100000,
	LARGE_SERIES = 8,
	/* in ns: time for which kernels work while it is measured how late they end (over_ns) */
	WORK_NS = 10000,
	WORK_SERIES = 16,
	WARM_NS = 30000000,
	/*
	 * Length in ns of the kernels that test the device's clock. The steps of the clock are fine enough if
	 * kernels of 1.5 times this length take FINE_NS / 2 longer than kernels of this length, to within
	 * FINE_NS / 10.
	 */
	FINE_NS = 1000,
	MEMORY_BYTES = 256 << 20
};

/* Grid of one block of 32 threads, with which clocks and round-trip latencies are measured. */
static const struct kwhy_proxy_grid one_block = {
	.blocks = 1, .threads_per_block = 32, .period_ns = NAN, .power_w = {NAN, NAN, NAN, NAN}};

const char *kwhy_proxy_class_name(enum kwhy_proxy_class class)
{
	static const char *const names[KWHY_PROXY_CLASS_COUNT] = {"wait", "fma", "memory", "matrix"};

	return names[class];
}

/* All parameters of one launch of a proxy kernel. */
struct shot {
	struct kwhy_gpu_stream *stream;
	const struct kwhy_proxy_grid *grid;
	uint32_t class, busy, by_time;
	uint64_t ticks;
};

static enum kwhy_status shoot(
	const struct kwhy_proxies *proxies, const struct shot *shot, struct kwhy_error *error)
{
	uint64_t ticks = shot->ticks, sink = proxies->from, from = proxies->from, to = proxies->to,
		 words = proxies->words;
	uint32_t by_time = shot->by_time, busy = shot->busy;
	void *arguments[] = {&ticks, &by_time, &busy, &sink, &from, &to, &words};
	const struct kwhy_gpu_launch launch = {.kernel = proxies->kernels[shot->class],
		.blocks = shot->grid->blocks,
		.threads_per_block = shot->grid->threads_per_block,
		.arguments = arguments,
		.stream = shot->stream};

	return proxies->gpu->ops->launch(proxies->gpu, &launch, error);
}

/*
 * Number of ticks after which a kernel ends its loop. wait_ns: the wanted time less the kernel's overhead and
 * late_ns, the time by which it ends late, about one loop iteration. Without `by_time`, a tick is a cycle. If
 * wait_ns is 0 or negative by less than half of late_ns, the result is 1, which makes one iteration and comes
 * closer to the wanted length than none; if it is lower, 0.
 */
static uint64_t ticks_of(const struct kwhy_proxies *proxies, double wait_ns, double late_ns, bool by_time)
{
	if (wait_ns <= 0)
		return wait_ns > -late_ns / 2;
	return (uint64_t)(by_time ? wait_ns : wait_ns * proxies->ticks_per_ns);
}

enum kwhy_status kwhy_proxies_launch(
	const struct kwhy_proxies *proxies, const struct kwhy_proxy_launch *launch, struct kwhy_error *error)
{
	const struct kwhy_proxy_grid *grid = &proxies->grids[launch->grid];
	double late_ns = launch->choice.busy ? grid->over_ns[launch->choice.class] : 0;
	double wait_ns = launch->length_ns + launch->queued_ns - grid->period_ns - late_ns;
	bool by_time = wait_ns >= (proxies->has_fine_clock ? 0 : KWHY_PROXY_LONG_NS);
	const struct shot shot = {.stream = launch->stream,
		.grid = grid,
		.class = launch->choice.class,
		.busy = launch->choice.busy,
		.by_time = by_time,
		.ticks = ticks_of(proxies, wait_ns, late_ns, by_time)};

	return shoot(proxies, &shot, error);
}

/* --- Overheads of proxy kernels on this GPU --- */

/*
 * Time in ns per launch in a series of `count` launches, all of which were queued before the first kernel
 * began.
 */
static enum kwhy_status time_series(struct kwhy_proxies *proxies, const struct shot *shot, uint32_t count,
	double *out_ns, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = proxies->gpu;
	const struct kwhy_gpu_ops *ops = gpu->ops;
	double elapsed_ns = NAN;
	enum kwhy_status status = ops->gate_hold(gpu, proxies->gate, shot->stream, error);

	if (!status)
		status = ops->event_record(gpu, proxies->start, shot->stream, error);
	for (uint32_t i = 0; !status && i < count; i++)
		status = shoot(proxies, shot, error);
	if (!status)
		status = ops->event_record(gpu, proxies->end, shot->stream, error);
	if (!status)
		status = ops->gate_open(gpu, proxies->gate, error);
	if (!status)
		status = ops->synchronize(gpu, shot->stream, error);
	if (!status)
		status = ops->event_elapsed_ns(gpu, proxies->start, proxies->end, &elapsed_ns, error);
	*out_ns = elapsed_ns / count;
	return status;
}

/* Time per launch in the fastest of several series, because disturbances only make a series longer. */
static enum kwhy_status time_least(struct kwhy_proxies *proxies, const struct shot *shot, uint32_t count,
	double *out_ns, struct kwhy_error *error)
{
	double least_ns = INFINITY, one_ns;
	/*
	 * Launches the kernel once before, because a first launch loads code, which could not be done while a
	 * gate holds the stream.
	 */
	enum kwhy_status status = shoot(proxies, shot, error);

	if (!status)
		status = proxies->gpu->ops->synchronize(proxies->gpu, shot->stream, error);
	for (int i = 0; !status && i < REPEATS; i++) {
		status = time_series(proxies, shot, count, &one_ns, error);
		least_ns = fmin(least_ns, one_ns);
	}
	*out_ns = least_ns;
	return status;
}

/* Keeps the GPU busy before measuring, since clocks rise under load. */
static enum kwhy_status warm_up(struct kwhy_proxies *proxies, struct kwhy_error *error)
{
	const struct shot shot = {.stream = proxies->stream,
		.grid = &one_block,
		.class = KWHY_PROXY_FMA,
		.busy = KWHY_PROXY_BUSY,
		.by_time = 1,
		.ticks = WARM_NS};
	enum kwhy_status status = shoot(proxies, &shot, error);

	return status ? status : proxies->gpu->ops->synchronize(proxies->gpu, proxies->stream, error);
}

static enum kwhy_status measure_rate(struct kwhy_proxies *proxies, struct kwhy_error *error)
{
	struct shot shot = {.stream = proxies->stream, .grid = &one_block, .ticks = SMALL_TICKS};
	double small_ns = NAN, large_ns = NAN;
	enum kwhy_status status = time_least(proxies, &shot, SERIES, &small_ns, error);

	shot.ticks = LARGE_TICKS;
	if (!status)
		status = time_least(proxies, &shot, LARGE_SERIES, &large_ns, error);
	if (status)
		return status;
	if (!(large_ns > small_ns))
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"kernels that wait longer take no longer on this GPU, so nothing can be timed by "
			"them; update its driver");
	proxies->ticks_per_ns = (LARGE_TICKS - SMALL_TICKS) / (large_ns - small_ns);
	proxies->one_period_ns = fmax(small_ns - SMALL_TICKS / proxies->ticks_per_ns, 0);
	return KWHY_OK;
}

/*
 * Sets has_fine_clock: whether the steps of the device's global timer are fine enough for kernels of a
 * microsecond. They are 32 ns on some GPUs and 1 us on others.
 */
static enum kwhy_status look_at_clock(struct kwhy_proxies *proxies, struct kwhy_error *error)
{
	struct shot shot = {.stream = proxies->stream, .grid = &one_block, .ticks = FINE_NS, .by_time = true};
	double short_ns = NAN, long_ns = NAN;
	enum kwhy_status status = time_least(proxies, &shot, SERIES, &short_ns, error);

	shot.ticks += FINE_NS / 2;
	if (!status)
		status = time_least(proxies, &shot, SERIES, &long_ns, error);
	proxies->has_fine_clock = fabs(long_ns - short_ns - FINE_NS / 2.0) < FINE_NS / 10.0;
	return status;
}

enum kwhy_status kwhy_proxies_wait_once(
	const struct kwhy_proxies *proxies, uint64_t ticks, struct kwhy_error *error)
{
	const struct shot shot = {.stream = proxies->stream, .grid = &one_block, .ticks = ticks};

	return shoot(proxies, &shot, error);
}

/*
 * Measures over_ns, how late kernels end that work on all multiprocessors, for each class except the waiting
 * one.
 */
static enum kwhy_status measure_lateness(
	struct kwhy_proxies *proxies, struct kwhy_proxy_grid *grid, struct kwhy_error *error)
{
	struct shot shot = {.stream = proxies->stream,
		.grid = grid,
		.busy = KWHY_PROXY_BUSY,
		.ticks = (uint64_t)(WORK_NS * proxies->ticks_per_ns)};
	double period_ns = NAN;
	enum kwhy_status status = KWHY_OK;

	for (shot.class = KWHY_PROXY_FMA; !status && shot.class < KWHY_PROXY_CLASS_COUNT; shot.class ++) {
		status = time_least(proxies, &shot, WORK_SERIES, &period_ns, error);
		grid->over_ns[shot.class] = fmax(period_ns - WORK_NS - grid->period_ns, 0);
	}
	return status;
}

static enum kwhy_status measure_grid(struct kwhy_proxies *proxies, const struct kwhy_replay_grid *wanted,
	struct kwhy_proxy_grid *out, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = proxies->gpu;
	uint32_t sms = gpu->facts.sm_count ? gpu->facts.sm_count : 1, least = UINT32_MAX;
	struct shot shot = {.stream = proxies->stream, .grid = out, .ticks = SMALL_TICKS};
	enum kwhy_status status = KWHY_OK;

	for (size_t class = 0; !status && class < KWHY_PROXY_CLASS_COUNT; class ++) {
		uint32_t resident = 0;

		status = gpu->ops->resident_blocks(
			gpu, proxies->kernels[class], wanted->threads_per_block, &resident, error);
		least = resident < least ? resident : least;
	}
	if (status)
		return status;
	*out = (struct kwhy_proxy_grid){.blocks = wanted->blocks,
		.threads_per_block = wanted->threads_per_block,
		.is_capped = gpu->facts.architecture && wanted->blocks > (uint64_t)least * sms,
		.period_ns = NAN,
		.power_w = {NAN, NAN, NAN, NAN}};
	if (out->is_capped)
		out->blocks = least * sms;
	status = time_least(proxies, &shot, SERIES, &out->period_ns, error);
	out->period_ns = fmax(out->period_ns - SMALL_TICKS / proxies->ticks_per_ns, 0);
	return status ? status : measure_lateness(proxies, out, error);
}

static void read_lengths(struct kwhy_proxies *proxies, const struct kwhy_replay_pattern *pattern)
{
	for (size_t i = 0; i < proxies->grid_count; i++) {
		int64_t time_ns = 0;
		uint64_t count = 0;

		for (size_t k = 0; k < pattern->account_count; k++)
			if (pattern->accounts[k].count && pattern->accounts[k].grid == i) {
				time_ns += pattern->accounts[k].time_ns;
				count += pattern->accounts[k].count;
			}
		proxies->grids[i].length_ns = count ? (double)time_ns / (double)count : KWHY_PROXY_LONG_NS;
	}
}

enum kwhy_status kwhy_proxies_measure_grids(
	struct kwhy_proxies *proxies, const struct kwhy_replay_pattern *pattern, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	free(proxies->grids);
	proxies->grid_count = 0;
	proxies->grids = calloc(pattern->grid_count + 1, sizeof(*proxies->grids));
	if (!proxies->grids)
		return kwhy_fail_memory(error, "grids");
	for (size_t i = 0; !status && i < pattern->grid_count; i++) {
		status = measure_grid(proxies, &pattern->grids[i], &proxies->grids[i], error);
		proxies->grid_count += !status;
	}
	read_lengths(proxies, pattern);
	return status;
}

/* --- Creation --- */

static enum kwhy_status find_kernels(struct kwhy_proxies *proxies, struct kwhy_error *error)
{
	static const char *const names[KWHY_PROXY_CLASS_COUNT] = {
		"kwhy_proxy_wait", "kwhy_proxy_fma", "kwhy_proxy_memory", "kwhy_proxy_matrix"};
	struct kwhy_gpu *gpu = proxies->gpu;
	enum kwhy_status status = gpu->ops->module_new(gpu, &kwhy_proxy_source, &proxies->module, error);

	for (size_t i = 0; !status && i < KWHY_PROXY_CLASS_COUNT; i++)
		status = gpu->ops->kernel_find(gpu, proxies->module, names[i], &proxies->kernels[i], error);
	return status;
}

/*
 * Allocates the buffers of the memory class and fills them with random data. On the host no kernel copies, so
 * one page is enough.
 */
static enum kwhy_status make_memory(struct kwhy_proxies *proxies, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = proxies->gpu;
	size_t bytes = gpu->facts.architecture ? MEMORY_BYTES : 4096;
	uint64_t count = bytes / sizeof(uint32_t);
	uint32_t seed = 1;
	void *arguments[] = {&seed, &proxies->from, &count};
	struct kwhy_gpu_launch launch = {
		.blocks = 1024, .threads_per_block = 256, .arguments = arguments, .stream = proxies->stream};
	enum kwhy_status status = gpu->ops->memory_new(gpu, bytes, &proxies->from, error);

	if (!status)
		status = gpu->ops->memory_new(gpu, bytes, &proxies->to, error);
	if (!status)
		status = gpu->ops->kernel_find(
			gpu, proxies->module, "kwhy_proxy_fill", &launch.kernel, error);
	if (!status)
		status = gpu->ops->launch(gpu, &launch, error);
	proxies->words = bytes / 16;
	return status ? status : gpu->ops->synchronize(gpu, proxies->stream, error);
}

static enum kwhy_status make(struct kwhy_proxies *proxies, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = proxies->gpu;
	enum kwhy_status status = gpu->ops->stream_new(gpu, &proxies->stream, error);

	if (!status)
		status = gpu->ops->gate_new(gpu, &proxies->gate, error);
	if (!status)
		status = gpu->ops->event_new(gpu, true, &proxies->start, error);
	if (!status)
		status = gpu->ops->event_new(gpu, true, &proxies->end, error);
	if (!status)
		status = find_kernels(proxies, error);
	if (!status)
		status = make_memory(proxies, error);
	if (!status)
		status = warm_up(proxies, error);
	if (!status)
		status = measure_rate(proxies, error);
	return status ? status : look_at_clock(proxies, error);
}

enum kwhy_status kwhy_proxies_new(struct kwhy_gpu *gpu, struct kwhy_proxies **out, struct kwhy_error *error)
{
	struct kwhy_proxies *proxies = calloc(1, sizeof(*proxies));
	enum kwhy_status status;

	if (!proxies)
		return kwhy_fail_memory(error, "kernels that stand for others");
	proxies->gpu = gpu;
	proxies->idle_w = NAN;
	status = make(proxies, error);
	if (status)
		kwhy_proxies_free(proxies);
	else
		*out = proxies;
	return status;
}

void kwhy_proxies_free(struct kwhy_proxies *proxies)
{
	const struct kwhy_gpu_ops *ops;

	if (!proxies)
		return;
	ops = proxies->gpu->ops;
	ops->gate_free(proxies->gpu, proxies->gate);
	ops->event_free(proxies->gpu, proxies->start);
	ops->event_free(proxies->gpu, proxies->end);
	ops->stream_free(proxies->gpu, proxies->stream);
	ops->memory_free(proxies->gpu, proxies->from);
	ops->memory_free(proxies->gpu, proxies->to);
	ops->module_free(proxies->gpu, proxies->module);
	free(proxies->grids);
	free(proxies);
}
