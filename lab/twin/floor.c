/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "lab/twin/run.h"

/* What is needed to launch one copy again and again. */
struct floor {
	struct kwhy_gpu *gpu;
	struct kwhy_gpu_stream *stream;
	struct kwhy_gpu_host host;
	uint64_t device;
	struct kwhy_gpu_graph *graph;
};

static enum kwhy_status send(void *context, struct kwhy_error *error)
{
	struct floor *floor = context;
	const struct kwhy_gpu_copy copy = {
		kwhy_gpu_address(floor->host.memory), floor->device, KWHY_TWIN_OBSERVED_BYTES};

	return floor->gpu->ops->copy(floor->gpu, floor->stream, &copy, error);
}

static enum kwhy_status prepare(struct floor *floor, struct kwhy_error *error)
{
	const struct kwhy_gpu_ops *ops = floor->gpu->ops;
	enum kwhy_status status = ops->enter(floor->gpu, error);

	if (!status)
		status = ops->stream_new(floor->gpu, &floor->stream, error);
	if (!status)
		status = ops->memory_new(floor->gpu, KWHY_TWIN_OBSERVED_BYTES, &floor->device, error);
	if (!status)
		status = ops->host_new(floor->gpu, KWHY_GPU_HOST_PINNED, KWHY_TWIN_OBSERVED_BYTES,
			floor->gpu->facts.numa_node, &floor->host, error);
	return status ? status
		      : kwhy_gpu_capture(floor->gpu, floor->stream, send, floor, &floor->graph, error);
}

static void done(struct floor *floor)
{
	const struct kwhy_gpu_ops *ops = floor->gpu->ops;

	struct kwhy_error ignored;

	/* What is still queued, after a failure, must not find its memory gone. */
	if (floor->stream)
		(void)ops->synchronize(floor->gpu, floor->stream, &ignored);
	if (floor->graph)
		ops->graph_free(floor->gpu, floor->graph);
	if (floor->stream)
		ops->stream_free(floor->gpu, floor->stream);
	if (floor->host.memory)
		ops->host_free(floor->gpu, &floor->host);
	ops->memory_free(floor->gpu, floor->device);
}

enum kwhy_status kwhy_twin_floor(
	struct kwhy_gpu *gpu, double *step_s, uint32_t count, struct kwhy_error *error)
{
	struct floor floor = {.gpu = gpu};
	enum kwhy_status status = prepare(&floor, error);

	for (uint32_t i = 0; !status && i < count; i++) {
		int64_t start_ns = kwhy_clock_mono_ns();

		status = gpu->ops->graph_launch(gpu, floor.stream, floor.graph, error);
		if (!status)
			status = gpu->ops->synchronize(gpu, floor.stream, error);
		step_s[i] = (double)(kwhy_clock_mono_ns() - start_ns) * 1e-9;
	}
	done(&floor);
	return status;
}
