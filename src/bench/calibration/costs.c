/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/calibration/costs.h"

#include "base/clock.h"
#include "base/quantile.h"
#include "base/settle.h"

#include <math.h>
#include <stdlib.h>

enum {
	CALLS = 2000,
	WARM_CALLS = 200,
	COPIES = 7,
	QUEUE = 100,
	TURN = 500 /* number of calls, untimed ones included, after which the host pauses (kwhy_settle()) */
};

/*
 * The GPU, and the arguments of the calls that are timed: a launch, a graph, or a copy of `bytes` bytes
 * between device memory (`device`) and host memory (`host`).
 */
struct trial {
	struct kwhy_gpu *gpu;
	const struct kwhy_gpu_launch *launch;
	struct kwhy_gpu_graph *graph;
	uint64_t device;
	void *host;
	size_t bytes;
	char small[KWHY_COST_LATENCY_BYTES];
};

typedef enum kwhy_status trial_run(struct trial *trial, struct kwhy_error *error);

static enum kwhy_status run_launch(struct trial *trial, struct kwhy_error *error)
{
	return trial->gpu->ops->launch(trial->gpu, trial->launch, error);
}

static enum kwhy_status run_graph(struct trial *trial, struct kwhy_error *error)
{
	return trial->gpu->ops->graph_launch(trial->gpu, NULL, trial->graph, error);
}

static enum kwhy_status run_synchronize(struct trial *trial, struct kwhy_error *error)
{
	return trial->gpu->ops->synchronize(trial->gpu, NULL, error);
}

static enum kwhy_status run_copy_to(struct trial *trial, struct kwhy_error *error)
{
	const struct kwhy_gpu_copy copy = {trial->device, kwhy_gpu_address(trial->host), trial->bytes};

	return trial->gpu->ops->copy_host_now(trial->gpu, &copy, error);
}

static enum kwhy_status run_copy_from(struct trial *trial, struct kwhy_error *error)
{
	const struct kwhy_gpu_copy copy = {kwhy_gpu_address(trial->host), trial->device, trial->bytes};

	return trial->gpu->ops->copy_host_now(trial->gpu, &copy, error);
}

struct kwhy_measured kwhy_cost_summary(double *values, size_t count)
{
	const double middle = kwhy_middle_real(values, count);

	return (struct kwhy_measured){.value = middle, .sd = (values[count * 3 / 4] - values[count / 4]) / 2};
}

/*
 * Measures how long a call of run() takes on the host, in seconds: the median of `count` calls after `warm`
 * untimed ones. After every QUEUE calls, the host waits until the GPU has done all work; this wait is not
 * timed.
 */
static enum kwhy_status time_calls(struct trial *trial, trial_run *run, size_t count, size_t warm,
	struct kwhy_measured *out, struct kwhy_error *error)
{
	double *seconds = calloc(count, sizeof(*seconds));
	enum kwhy_status status = seconds ? KWHY_OK : kwhy_fail_memory(error, "timings");

	for (size_t i = 0; !status && i < warm + count; i++) {
		int64_t start_ns = kwhy_clock_mono_ns();

		status = run(trial, error);
		if (i >= warm)
			seconds[i - warm] = (double)(kwhy_clock_mono_ns() - start_ns) * 1e-9;
		if (!status && i % QUEUE == QUEUE - 1)
			status = trial->gpu->ops->synchronize(trial->gpu, NULL, error);
		if (!status && i % TURN == TURN - 1)
			kwhy_settle(KWHY_COST_SETTLE_NS);
	}
	if (!status)
		status = trial->gpu->ops->synchronize(trial->gpu, NULL, error);
	if (!status)
		*out = kwhy_cost_summary(seconds, count);
	free(seconds);
	return status;
}

static enum kwhy_status launch_once(void *trial, struct kwhy_error *error)
{
	return run_launch(trial, error);
}

static enum kwhy_status time_graph(struct trial *trial, struct kwhy_call_costs *out, struct kwhy_error *error)
{
	const struct kwhy_gpu_ops *ops = trial->gpu->ops;
	enum kwhy_status status;

	if (!ops->capture_begin)
		return KWHY_OK;
	status = kwhy_gpu_capture(trial->gpu, NULL, launch_once, trial, &trial->graph, error);
	if (!status)
		status = time_calls(trial, run_graph, CALLS, WARM_CALLS, &out->graph_launch_s, error);
	ops->graph_free(trial->gpu, trial->graph);
	return status;
}

static enum kwhy_status time_small(struct trial *trial, struct kwhy_call_costs *out, struct kwhy_error *error)
{
	enum kwhy_status status = time_calls(trial, run_launch, CALLS, WARM_CALLS, &out->launch_s, error);

	if (!status)
		status = time_calls(trial, run_synchronize, CALLS, WARM_CALLS, &out->synchronize_s, error);
	if (!status)
		status = time_graph(trial, out, error);
	trial->host = trial->small;
	trial->bytes = sizeof(trial->small);
	if (!status)
		status = time_calls(trial, run_copy_to, CALLS, WARM_CALLS, &out->copy_latency_s, error);
	return status;
}

/*
 * Measures the rate of a large copy in bytes per second. The rate is the number of bytes divided by the
 * duration of the copy; its relative spread is that of the duration.
 */
static enum kwhy_status time_copies(
	struct trial *trial, trial_run *run, struct kwhy_measured *out, struct kwhy_error *error)
{
	struct kwhy_measured seconds;
	enum kwhy_status status = time_calls(trial, run, COPIES, 2, &seconds, error);

	if (status)
		return status;
	out->value = (double)trial->bytes / seconds.value;
	out->sd = out->value * seconds.sd / seconds.value;
	return KWHY_OK;
}

static void fill_random(void *memory, size_t bytes, uint32_t seed)
{
	uint32_t *words = memory, state = seed | 1;

	for (size_t i = 0; i < bytes / sizeof(*words); i++) {
		state ^= state << 13;
		state ^= state >> 17;
		state ^= state << 5;
		words[i] = state;
	}
}

static enum kwhy_status time_both(struct trial *trial, void *host, uint32_t seed, struct kwhy_measured *to,
	struct kwhy_measured *from, struct kwhy_error *error)
{
	enum kwhy_status status;

	trial->host = host;
	trial->bytes = KWHY_COST_COPY_BYTES;
	fill_random(host, trial->bytes, seed);
	status = time_copies(trial, run_copy_to, to, error);
	return status ? status : time_copies(trial, run_copy_from, from, error);
}

struct kwhy_call_costs kwhy_call_costs_unknown(void)
{
	const struct kwhy_measured unknown = {.value = NAN, .sd = NAN};

	return (struct kwhy_call_costs){unknown, unknown, unknown, unknown, unknown, unknown, unknown,
		unknown, kwhy_graph_costs_unknown()};
}

enum kwhy_status kwhy_call_costs_measure(struct kwhy_gpu *gpu, const struct kwhy_loads *loads, uint32_t seed,
	struct kwhy_call_costs *out, struct kwhy_error *error)
{
	struct kwhy_gpu_launch launch = {
		.kernel = kwhy_loads_nothing(loads), .blocks = 1, .threads_per_block = 32};
	struct trial trial = {.gpu = gpu, .launch = &launch};
	struct kwhy_gpu_host pinned = {0};
	void *pageable = malloc(KWHY_COST_COPY_BYTES);
	enum kwhy_status status = pageable ? KWHY_OK : kwhy_fail_memory(error, "a copy's host memory");
	size_t device_bytes;

	*out = kwhy_call_costs_unknown();
	trial.device = kwhy_loads_memory(loads, &device_bytes);
	if (!status)
		status = gpu->ops->host_new(
			gpu, KWHY_GPU_HOST_PINNED, KWHY_COST_COPY_BYTES, -1, &pinned, error);
	if (!status)
		status = time_small(&trial, out, error);
	if (!status)
		status = kwhy_graph_costs_measure(gpu, &launch, &out->graph, error);
	if (!status)
		status = time_both(&trial, pinned.memory, seed, &out->h2d_pinned, &out->d2h_pinned, error);
	if (!status)
		status = time_both(&trial, pageable, seed, &out->h2d_pageable, &out->d2h_pageable, error);
	gpu->ops->host_free(gpu, &pinned);
	free(pageable);
	return status;
}
