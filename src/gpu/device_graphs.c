/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/device.h"

static enum kwhy_status capture_begin(
	struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, struct kwhy_error *error)
{
	struct kwhy_gpu_device *self = kwhy_gpu_device(gpu);

	return kwhy_gpu_device_check(self,
		self->driver.capture_begin(
			kwhy_gpu_device_stream(self, stream), KWHY_CUDA_CAPTURE_THREAD_LOCAL),
		"record a graph", error);
}

static enum kwhy_status capture_end(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
	struct kwhy_gpu_graph **out, struct kwhy_error *error)
{
	struct kwhy_gpu_device *self = kwhy_gpu_device(gpu);
	const struct kwhy_driver *driver = &self->driver;
	kwhy_cuda_graph_exec exec = NULL;
	kwhy_cuda_graph graph = NULL;
	enum kwhy_status status = kwhy_gpu_device_check(self,
		driver->capture_end(kwhy_gpu_device_stream(self, stream), &graph), "record a graph", error);

	if (!status)
		status = kwhy_gpu_device_check(
			self, driver->graph_instantiate(&exec, graph, 0), "make a graph", error);
	if (graph)
		driver->graph_free(graph);
	if (!status)
		*out = (struct kwhy_gpu_graph *)(void *)exec;
	return status;
}

static enum kwhy_status graph_launch(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
	struct kwhy_gpu_graph *graph, struct kwhy_error *error)
{
	struct kwhy_gpu_device *self = kwhy_gpu_device(gpu);

	return kwhy_gpu_device_check(self,
		self->driver.graph_launch(
			(kwhy_cuda_graph_exec)(void *)graph, kwhy_gpu_device_stream(self, stream)),
		"launch a graph", error);
}

static void graph_free(struct kwhy_gpu *gpu, struct kwhy_gpu_graph *graph)
{
	if (graph)
		kwhy_gpu_device(gpu)->driver.graph_exec_free((kwhy_cuda_graph_exec)(void *)graph);
}

void kwhy_gpu_device_add_graphs(struct kwhy_gpu_device *device)
{
	const struct kwhy_driver *driver = &device->driver;

	if (!driver->capture_begin || !driver->capture_end || !driver->graph_instantiate ||
		!driver->graph_launch || !driver->graph_exec_free || !driver->graph_free)
		return;
	device->ops.capture_begin = capture_begin;
	device->ops.capture_end = capture_end;
	device->ops.graph_launch = graph_launch;
	device->ops.graph_free = graph_free;
}
