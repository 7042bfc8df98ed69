/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/standin.h"

#include "replay/standin_kernels.h"

#include <stdlib.h>

enum {
	SERIES = 48, /* launches behind a gate */
	REPEATS = 3,
	SMALL_TICKS = 200, /* which a kernel that waits at all can keep to */
	LARGE_TICKS = 100000,
	LARGE_SERIES = 8,
	WORK_NS = 10000, /* of kernels whose lateness is measured */
	WORK_SERIES = 16,
	WARM_NS = 30000000,
	FINE_NS = 1000, /* which a fine clock tells from half as much again, to a fifth of the difference */
	MEMORY_BYTES = 256 << 20
};

/* The small grid by which the clock and round trips are measured. */
static const struct kwhy_standin_grid one_block = {
	.blocks = 1, .threads_per_block = 32, .period_ns = NAN, .power_w = {NAN, NAN, NAN, NAN}};

const char *kwhy_standin_class_name(enum kwhy_standin_class class)
{
	static const char *const names[KWHY_STANDIN_CLASS_COUNT] = {"wait", "fma", "memory", "matrix"};

	return names[class];
}

/* One launch in all detail. */
struct shot {
	struct kwhy_gpu_stream *stream;
	const struct kwhy_standin_grid *grid;
	uint32_t class, busy, by_time;
	uint64_t ticks;
};

static enum kwhy_status shoot(
	const struct kwhy_standins *standins, const struct shot *shot, struct kwhy_error *error)
{
	uint64_t ticks = shot->ticks, sink = standins->from, from = standins->from, to = standins->to,
		 words = standins->words;
	uint32_t by_time = shot->by_time, busy = shot->busy;
	void *arguments[] = {&ticks, &by_time, &busy, &sink, &from, &to, &words};
	const struct kwhy_gpu_launch launch = {.kernel = standins->kernels[shot->class],
		.blocks = shot->grid->blocks,
		.threads_per_block = shot->grid->threads_per_block,
		.arguments = arguments,
		.stream = shot->stream};

	return standins->gpu->ops->launch(standins->gpu, &launch, error);
}

/* One whose work is longer than its time does a turn of it, where that is nearer than none. */
static uint64_t ticks_of(const struct kwhy_standins *standins, double wait_ns, double late_ns, bool by_time)
{
	if (wait_ns <= 0)
		return wait_ns > -late_ns / 2;
	return (uint64_t)(by_time ? wait_ns : wait_ns * standins->ticks_per_ns);
}

enum kwhy_status kwhy_standins_launch(const struct kwhy_standins *standins,
	const struct kwhy_standin_launch *launch, struct kwhy_error *error)
{
	const struct kwhy_standin_grid *grid = &standins->grids[launch->grid];
	double late_ns = launch->choice.busy ? grid->over_ns[launch->choice.class] : 0;
	double wait_ns = launch->length_ns + launch->queued_ns - grid->period_ns - late_ns;
	bool by_time = wait_ns >= (standins->has_fine_clock ? 0 : KWHY_STANDIN_LONG_NS);
	const struct shot shot = {.stream = launch->stream,
		.grid = grid,
		.class = launch->choice.class,
		.busy = launch->choice.busy,
		.by_time = by_time,
		.ticks = ticks_of(standins, wait_ns, late_ns, by_time)};

	return shoot(standins, &shot, error);
}

/* --- What this GPU takes for them --- */

/* From the first to the last of `count` that were queued before the first began, a launch. */
static enum kwhy_status time_series(struct kwhy_standins *standins, const struct shot *shot, uint32_t count,
	double *out_ns, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = standins->gpu;
	const struct kwhy_gpu_ops *ops = gpu->ops;
	double elapsed_ns = NAN;
	enum kwhy_status status = ops->gate_hold(gpu, standins->gate, shot->stream, error);

	if (!status)
		status = ops->event_record(gpu, standins->start, shot->stream, error);
	for (uint32_t i = 0; !status && i < count; i++)
		status = shoot(standins, shot, error);
	if (!status)
		status = ops->event_record(gpu, standins->end, shot->stream, error);
	if (!status)
		status = ops->gate_open(gpu, standins->gate, error);
	if (!status)
		status = ops->synchronize(gpu, shot->stream, error);
	if (!status)
		status = ops->event_elapsed_ns(gpu, standins->start, standins->end, &elapsed_ns, error);
	*out_ns = elapsed_ns / count;
	return status;
}

/* The least of several: what disturbs only makes it longer. */
static enum kwhy_status time_least(struct kwhy_standins *standins, const struct shot *shot, uint32_t count,
	double *out_ns, struct kwhy_error *error)
{
	double least_ns = INFINITY, one_ns;
	/* what comes behind a gate must have run once */
	enum kwhy_status status = shoot(standins, shot, error);

	if (!status)
		status = standins->gpu->ops->synchronize(standins->gpu, shot->stream, error);
	for (int i = 0; !status && i < REPEATS; i++) {
		status = time_series(standins, shot, count, &one_ns, error);
		least_ns = fmin(least_ns, one_ns);
	}
	*out_ns = least_ns;
	return status;
}

/* Clocks rise under load. */
static enum kwhy_status warm_up(struct kwhy_standins *standins, struct kwhy_error *error)
{
	const struct shot shot = {.stream = standins->stream,
		.grid = &one_block,
		.class = KWHY_STANDIN_FMA,
		.busy = KWHY_STANDIN_BUSY,
		.by_time = 1,
		.ticks = WARM_NS};
	enum kwhy_status status = shoot(standins, &shot, error);

	return status ? status : standins->gpu->ops->synchronize(standins->gpu, standins->stream, error);
}

static enum kwhy_status measure_rate(struct kwhy_standins *standins, struct kwhy_error *error)
{
	struct shot shot = {.stream = standins->stream, .grid = &one_block, .ticks = SMALL_TICKS};
	double small_ns = NAN, large_ns = NAN;
	enum kwhy_status status = time_least(standins, &shot, SERIES, &small_ns, error);

	shot.ticks = LARGE_TICKS;
	if (!status)
		status = time_least(standins, &shot, LARGE_SERIES, &large_ns, error);
	if (status)
		return status;
	if (!(large_ns > small_ns))
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"kernels that wait longer take no longer on this GPU, so nothing can be timed by "
			"them; update its driver");
	standins->ticks_per_ns = (LARGE_TICKS - SMALL_TICKS) / (large_ns - small_ns);
	standins->one_period_ns = fmax(small_ns - SMALL_TICKS / standins->ticks_per_ns, 0);
	return KWHY_OK;
}

/* Steps of the device's clock are 32 ns on some GPUs, a microsecond on others. */
static enum kwhy_status look_at_clock(struct kwhy_standins *standins, struct kwhy_error *error)
{
	struct shot shot = {
		.stream = standins->stream, .grid = &one_block, .ticks = FINE_NS, .by_time = true};
	double short_ns = NAN, long_ns = NAN;
	enum kwhy_status status = time_least(standins, &shot, SERIES, &short_ns, error);

	shot.ticks += FINE_NS / 2;
	if (!status)
		status = time_least(standins, &shot, SERIES, &long_ns, error);
	standins->has_fine_clock = fabs(long_ns - short_ns - FINE_NS / 2.0) < FINE_NS / 10.0;
	return status;
}

enum kwhy_status kwhy_standins_wait_once(
	const struct kwhy_standins *standins, uint64_t ticks, struct kwhy_error *error)
{
	const struct shot shot = {.stream = standins->stream, .grid = &one_block, .ticks = ticks};

	return shoot(standins, &shot, error);
}

/* Of kernels that work all the time. */
static enum kwhy_status measure_lateness(
	struct kwhy_standins *standins, struct kwhy_standin_grid *grid, struct kwhy_error *error)
{
	struct shot shot = {.stream = standins->stream,
		.grid = grid,
		.busy = KWHY_STANDIN_BUSY,
		.ticks = (uint64_t)(WORK_NS * standins->ticks_per_ns)};
	double period_ns = NAN;
	enum kwhy_status status = KWHY_OK;

	for (shot.class = KWHY_STANDIN_FMA; !status && shot.class < KWHY_STANDIN_CLASS_COUNT; shot.class ++) {
		status = time_least(standins, &shot, WORK_SERIES, &period_ns, error);
		grid->over_ns[shot.class] = fmax(period_ns - WORK_NS - grid->period_ns, 0);
	}
	return status;
}

static enum kwhy_status measure_grid(struct kwhy_standins *standins, const struct kwhy_replay_grid *wanted,
	struct kwhy_standin_grid *out, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = standins->gpu;
	uint32_t sms = gpu->facts.sm_count ? gpu->facts.sm_count : 1, least = UINT32_MAX;
	struct shot shot = {.stream = standins->stream, .grid = out, .ticks = SMALL_TICKS};
	enum kwhy_status status = KWHY_OK;

	for (size_t class = 0; !status && class < KWHY_STANDIN_CLASS_COUNT; class ++) {
		uint32_t resident = 0;

		status = gpu->ops->resident_blocks(
			gpu, standins->kernels[class], wanted->threads_per_block, &resident, error);
		least = resident < least ? resident : least;
	}
	if (status)
		return status;
	*out = (struct kwhy_standin_grid){.blocks = wanted->blocks,
		.threads_per_block = wanted->threads_per_block,
		.is_capped = gpu->facts.architecture && wanted->blocks > (uint64_t)least * sms,
		.period_ns = NAN,
		.power_w = {NAN, NAN, NAN, NAN}};
	if (out->is_capped)
		out->blocks = least * sms;
	status = time_least(standins, &shot, SERIES, &out->period_ns, error);
	out->period_ns = fmax(out->period_ns - SMALL_TICKS / standins->ticks_per_ns, 0);
	return status ? status : measure_lateness(standins, out, error);
}

static void read_lengths(struct kwhy_standins *standins, const struct kwhy_replay_pattern *pattern)
{
	for (size_t i = 0; i < standins->grid_count; i++) {
		int64_t time_ns = 0;
		uint64_t count = 0;

		for (size_t k = 0; k < pattern->account_count; k++)
			if (pattern->accounts[k].count && pattern->accounts[k].grid == i) {
				time_ns += pattern->accounts[k].time_ns;
				count += pattern->accounts[k].count;
			}
		standins->grids[i].length_ns = count ? (double)time_ns / (double)count : KWHY_STANDIN_LONG_NS;
	}
}

enum kwhy_status kwhy_standins_measure_grids(
	struct kwhy_standins *standins, const struct kwhy_replay_pattern *pattern, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	free(standins->grids);
	standins->grid_count = 0;
	standins->grids = calloc(pattern->grid_count + 1, sizeof(*standins->grids));
	if (!standins->grids)
		return kwhy_fail_memory(error, "grids");
	for (size_t i = 0; !status && i < pattern->grid_count; i++) {
		status = measure_grid(standins, &pattern->grids[i], &standins->grids[i], error);
		standins->grid_count += !status;
	}
	read_lengths(standins, pattern);
	return status;
}

/* --- Making them --- */

static enum kwhy_status find_kernels(struct kwhy_standins *standins, struct kwhy_error *error)
{
	static const char *const names[KWHY_STANDIN_CLASS_COUNT] = {
		"kwhy_standin_wait", "kwhy_standin_fma", "kwhy_standin_memory", "kwhy_standin_matrix"};
	struct kwhy_gpu *gpu = standins->gpu;
	enum kwhy_status status = gpu->ops->module_new(gpu, &kwhy_standin_source, &standins->module, error);

	for (size_t i = 0; !status && i < KWHY_STANDIN_CLASS_COUNT; i++)
		status = gpu->ops->kernel_find(gpu, standins->module, names[i], &standins->kernels[i], error);
	return status;
}

/* Random data in what the memory class copies; the host's does not copy and needs a page alone. */
static enum kwhy_status make_memory(struct kwhy_standins *standins, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = standins->gpu;
	size_t bytes = gpu->facts.architecture ? MEMORY_BYTES : 4096;
	uint64_t count = bytes / sizeof(uint32_t);
	uint32_t seed = 1;
	void *arguments[] = {&seed, &standins->from, &count};
	struct kwhy_gpu_launch launch = {
		.blocks = 1024, .threads_per_block = 256, .arguments = arguments, .stream = standins->stream};
	enum kwhy_status status = gpu->ops->memory_new(gpu, bytes, &standins->from, error);

	if (!status)
		status = gpu->ops->memory_new(gpu, bytes, &standins->to, error);
	if (!status)
		status = gpu->ops->kernel_find(
			gpu, standins->module, "kwhy_standin_fill", &launch.kernel, error);
	if (!status)
		status = gpu->ops->launch(gpu, &launch, error);
	standins->words = bytes / 16;
	return status ? status : gpu->ops->synchronize(gpu, standins->stream, error);
}

static enum kwhy_status make(struct kwhy_standins *standins, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = standins->gpu;
	enum kwhy_status status = gpu->ops->stream_new(gpu, &standins->stream, error);

	if (!status)
		status = gpu->ops->gate_new(gpu, &standins->gate, error);
	if (!status)
		status = gpu->ops->event_new(gpu, true, &standins->start, error);
	if (!status)
		status = gpu->ops->event_new(gpu, true, &standins->end, error);
	if (!status)
		status = find_kernels(standins, error);
	if (!status)
		status = make_memory(standins, error);
	if (!status)
		status = warm_up(standins, error);
	if (!status)
		status = measure_rate(standins, error);
	return status ? status : look_at_clock(standins, error);
}

enum kwhy_status kwhy_standins_new(struct kwhy_gpu *gpu, struct kwhy_standins **out, struct kwhy_error *error)
{
	struct kwhy_standins *standins = calloc(1, sizeof(*standins));
	enum kwhy_status status;

	if (!standins)
		return kwhy_fail_memory(error, "kernels that stand for others");
	standins->gpu = gpu;
	standins->idle_w = NAN;
	status = make(standins, error);
	if (status)
		kwhy_standins_free(standins);
	else
		*out = standins;
	return status;
}

void kwhy_standins_free(struct kwhy_standins *standins)
{
	const struct kwhy_gpu_ops *ops;

	if (!standins)
		return;
	ops = standins->gpu->ops;
	ops->gate_free(standins->gpu, standins->gate);
	ops->event_free(standins->gpu, standins->start);
	ops->event_free(standins->gpu, standins->end);
	ops->stream_free(standins->gpu, standins->stream);
	ops->memory_free(standins->gpu, standins->from);
	ops->memory_free(standins->gpu, standins->to);
	ops->module_free(standins->gpu, standins->module);
	free(standins->grids);
	free(standins);
}
