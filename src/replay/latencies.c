/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/latencies.h"

#include "base/clock.h"
#include "fit/median.h"

enum { ROUND_TRIPS = 64, WAIT_TICKS = 40000, COPY_BYTES = 256, SMALL_BYTES = 65536 };

/* The work whose round-trip latency is measured. */
struct round_trip {
	const struct kwhy_proxies *proxies;
	struct kwhy_gpu_copy copy;    /* copied bytes; 0 bytes: the work is a kernel */
	struct kwhy_gpu_graph *graph; /* NULL: the work is no graph */
	bool ends_with_call;
};

static enum kwhy_status issue(const struct round_trip *round_trip, struct kwhy_error *error)
{
	const struct kwhy_proxies *proxies = round_trip->proxies;
	struct kwhy_gpu *gpu = proxies->gpu;

	if (round_trip->graph)
		return gpu->ops->graph_launch(gpu, proxies->stream, round_trip->graph, error);
	return round_trip->copy.bytes ? gpu->ops->copy(gpu, proxies->stream, &round_trip->copy, error)
				      : kwhy_proxies_wait_once(proxies, WAIT_TICKS, error);
}

static enum kwhy_status time_round_trip(
	const struct round_trip *round_trip, double *out_ns, struct kwhy_error *error)
{
	const struct kwhy_proxies *proxies = round_trip->proxies;
	struct kwhy_gpu *gpu = proxies->gpu;
	int64_t start_ns = kwhy_clock_mono_ns();
	enum kwhy_status status = issue(round_trip, error);

	if (!status && !round_trip->ends_with_call)
		status = gpu->ops->synchronize(gpu, proxies->stream, error);
	*out_ns = (double)(kwhy_clock_mono_ns() - start_ns);
	return status;
}

static enum kwhy_status go_often(
	const struct round_trip *round_trip, double *out_ns, struct kwhy_error *error)
{
	double latencies_ns[ROUND_TRIPS];
	struct kwhy_median median;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < ROUND_TRIPS; i++)
		status = time_round_trip(round_trip, &latencies_ns[i], error);
	if (status)
		return status;
	kwhy_median_of(latencies_ns, ROUND_TRIPS, &median);
	*out_ns = median.median;
	return KWHY_OK;
}

static enum kwhy_status measure_copies(const struct kwhy_proxies *proxies, struct kwhy_replay_latencies *out,
	bool is_pinned, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = proxies->gpu;
	enum kwhy_gpu_host_kind kind = is_pinned ? KWHY_GPU_HOST_PINNED : KWHY_GPU_HOST_PAGEABLE;
	struct kwhy_gpu_host host = {.memory = NULL};
	enum kwhy_status status = gpu->ops->host_new(gpu, kind, COPY_BYTES, -1, &host, error);
	const struct round_trip up = {
		.proxies = proxies, .copy = {proxies->to, kwhy_gpu_address(host.memory), COPY_BYTES}};
	const struct round_trip down = {.proxies = proxies,
		.copy = {kwhy_gpu_address(host.memory), proxies->to, COPY_BYTES},
		.ends_with_call = kwhy_replay_ends_with_call(gpu, KWHY_REPLAY_D2H, kind)};

	if (!status)
		status = go_often(&up, &out->copy_ns[KWHY_REPLAY_H2D][is_pinned], error);
	if (!status)
		status = go_often(&down, &out->copy_ns[KWHY_REPLAY_D2H][is_pinned], error);
	if (host.memory)
		gpu->ops->host_free(gpu, &host);
	return status;
}

static enum kwhy_status wait_twice(void *context, struct kwhy_error *error)
{
	const struct round_trip *round_trip = context;
	enum kwhy_status status = kwhy_proxies_wait_once(round_trip->proxies, WAIT_TICKS, error);

	return status ? status : kwhy_proxies_wait_once(round_trip->proxies, WAIT_TICKS, error);
}

static enum kwhy_status measure_graph(
	const struct kwhy_proxies *proxies, struct kwhy_replay_latencies *out, struct kwhy_error *error)
{
	struct round_trip round_trip = {.proxies = proxies};
	double wait_ns = WAIT_TICKS / proxies->ticks_per_ns;
	enum kwhy_status status;

	out->graph_ns = out->kernel_ns;
	if (!proxies->gpu->ops->capture_begin)
		return KWHY_OK;
	status = kwhy_gpu_capture(
		proxies->gpu, proxies->stream, wait_twice, &round_trip, &round_trip.graph, error);
	if (status)
		return status;
	status = go_often(&round_trip, &out->graph_ns, error);
	out->graph_ns = fmax(out->graph_ns - 2 * wait_ns - proxies->one_period_ns, 0);
	proxies->gpu->ops->graph_free(proxies->gpu, round_trip.graph);
	return status;
}

enum kwhy_status kwhy_replay_latencies_measure(
	const struct kwhy_proxies *proxies, struct kwhy_replay_latencies *out, struct kwhy_error *error)
{
	const struct round_trip kernel = {.proxies = proxies};
	enum kwhy_status status = go_often(&kernel, &out->kernel_ns, error);

	out->kernel_ns = fmax(out->kernel_ns - WAIT_TICKS / proxies->ticks_per_ns, 0);
	if (!status)
		status = measure_graph(proxies, out, error);
	if (!status)
		status = measure_copies(proxies, out, false, error);
	return status ? status : measure_copies(proxies, out, true, error);
}

const char *kwhy_replay_call_name(enum kwhy_replay_call call)
{
	static const char *const names[KWHY_REPLAY_CALL_COUNT] = {
		"launch", "copy", "pageable-copy", "device-copy", "fill", "graph"};

	return names[call];
}

double kwhy_replay_added_ns(
	const struct kwhy_replay_latencies *latencies, enum kwhy_replay_call kind, uint32_t pieces)
{
	const struct kwhy_replay_call_times *times = &latencies->calls[kind];

	if (kind == KWHY_REPLAY_CALL_GRAPH)
		pieces = 1;
	return times->count ? (times->recorded_ns - times->here_ns) * pieces : 0;
}

double kwhy_replay_late_of_waits_ns(const struct kwhy_replay_latencies *latencies)
{
	return fmin(fmax(latencies->late_ns, -latencies->kernel_ns), latencies->kernel_ns);
}

/*
 * Latency in ns of issuing a kind of work and waiting for it. It is the measured round-trip latency less the
 * time of the work itself: for a copy between host and device of at most SMALL_BYTES its recorded length; for
 * all other work the duration of a kernel that does nothing.
 */
static double both_ns(const struct kwhy_replay_latencies *latencies, const struct kwhy_proxies *proxies,
	const struct kwhy_replay_pattern *pattern, const struct kwhy_replay_work *work)
{
	double kernel_ns = fmax(proxies->one_period_ns - (double)pattern->queued_ns, 0);

	if (work->kind == KWHY_REPLAY_COPY && work->way != KWHY_REPLAY_D2D && work->bytes <= SMALL_BYTES)
		return fmax(latencies->copy_ns[work->way][work->host == KWHY_GPU_HOST_PINNED] -
				(double)work->length_ns,
			0);
	return fmax(latencies->kernel_ns - kernel_ns, 0);
}

struct kwhy_replay_overhead kwhy_replay_overhead_of(const struct kwhy_replay_latencies *latencies,
	const struct kwhy_proxies *proxies, const struct kwhy_replay_pattern *pattern,
	const struct kwhy_replay_work *work)
{
	double overhead_ns = both_ns(latencies, proxies, pattern, work), issue_ratio = 0.5;

	if (pattern->issue_ns > 0 && pattern->return_ns > 0)
		issue_ratio = (double)pattern->issue_ns / (double)(pattern->issue_ns + pattern->return_ns);
	return (struct kwhy_replay_overhead){overhead_ns * issue_ratio, overhead_ns * (1 - issue_ratio)};
}
