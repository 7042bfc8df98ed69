/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/device.h"

static kwhy_cuda_event event_of(const struct kwhy_gpu_event *event)
{
	return (kwhy_cuda_event)(void *)(size_t)event;
}

static enum kwhy_status stream_new(
	struct kwhy_gpu *gpu, struct kwhy_gpu_stream **out, struct kwhy_error *error)
{
	struct kwhy_gpu_device *self = kwhy_gpu_device(gpu);
	kwhy_cuda_stream stream = NULL;
	enum kwhy_status status = kwhy_gpu_device_check(self,
		self->driver.stream_new(&stream, KWHY_CUDA_STREAM_NON_BLOCKING), "make a stream", error);

	if (!status)
		*out = (struct kwhy_gpu_stream *)(void *)stream;
	return status;
}

static void stream_free(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream)
{
	if (stream)
		kwhy_gpu_device(gpu)->driver.stream_free((kwhy_cuda_stream)(void *)stream);
}

static enum kwhy_status stream_wait(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
	const struct kwhy_gpu_event *event, struct kwhy_error *error)
{
	struct kwhy_gpu_device *self = kwhy_gpu_device(gpu);

	return kwhy_gpu_device_check(self,
		self->driver.stream_wait(kwhy_gpu_device_stream(self, stream), event_of(event), 0),
		"make a stream wait", error);
}

static enum kwhy_status synchronize(
	struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, struct kwhy_error *error)
{
	struct kwhy_gpu_device *self = kwhy_gpu_device(gpu);

	return kwhy_gpu_device_check(self,
		self->driver.stream_synchronize(kwhy_gpu_device_stream(self, stream)), "finish its work",
		error);
}

static enum kwhy_status event_new(
	struct kwhy_gpu *gpu, bool timed, struct kwhy_gpu_event **out, struct kwhy_error *error)
{
	struct kwhy_gpu_device *self = kwhy_gpu_device(gpu);
	kwhy_cuda_event event = NULL;
	enum kwhy_status status = kwhy_gpu_device_check(self,
		self->driver.event_new(&event, timed ? 0 : KWHY_CUDA_EVENT_DISABLE_TIMING), "make an event",
		error);

	if (!status)
		*out = (struct kwhy_gpu_event *)(void *)event;
	return status;
}

static void event_free(struct kwhy_gpu *gpu, struct kwhy_gpu_event *event)
{
	if (event)
		kwhy_gpu_device(gpu)->driver.event_free(event_of(event));
}

static enum kwhy_status event_record(struct kwhy_gpu *gpu, struct kwhy_gpu_event *event,
	struct kwhy_gpu_stream *stream, struct kwhy_error *error)
{
	struct kwhy_gpu_device *self = kwhy_gpu_device(gpu);

	return kwhy_gpu_device_check(self,
		self->driver.event_record(event_of(event), kwhy_gpu_device_stream(self, stream)),
		"record an event", error);
}

static enum kwhy_status event_synchronize(
	struct kwhy_gpu *gpu, struct kwhy_gpu_event *event, struct kwhy_error *error)
{
	struct kwhy_gpu_device *self = kwhy_gpu_device(gpu);

	return kwhy_gpu_device_check(
		self, self->driver.event_synchronize(event_of(event)), "finish its work", error);
}

static enum kwhy_status event_reached(
	struct kwhy_gpu *gpu, struct kwhy_gpu_event *event, bool *out, struct kwhy_error *error)
{
	struct kwhy_gpu_device *self = kwhy_gpu_device(gpu);
	enum kwhy_cuda_result result = self->driver.event_query(event_of(event));

	*out = result == KWHY_CUDA_SUCCESS;
	if (result == KWHY_CUDA_NOT_READY)
		return KWHY_OK;
	return kwhy_gpu_device_check(self, result, "ask for an event", error);
}

static enum kwhy_status event_elapsed_ns(struct kwhy_gpu *gpu, const struct kwhy_gpu_event *start,
	const struct kwhy_gpu_event *end, double *out_ns, struct kwhy_error *error)
{
	struct kwhy_gpu_device *self = kwhy_gpu_device(gpu);
	float ms = 0;
	enum kwhy_status status = kwhy_gpu_device_check(self,
		self->driver.event_elapsed(&ms, event_of(start), event_of(end)),
		"tell the time between two events", error);

	if (!status)
		*out_ns = (double)ms * 1e6;
	return status;
}

void kwhy_gpu_device_add_streams(struct kwhy_gpu_ops *ops)
{
	ops->stream_new = stream_new;
	ops->stream_free = stream_free;
	ops->stream_wait = stream_wait;
	ops->synchronize = synchronize;
	ops->event_new = event_new;
	ops->event_free = event_free;
	ops->event_record = event_record;
	ops->event_synchronize = event_synchronize;
	ops->event_reached = event_reached;
	ops->event_elapsed_ns = event_elapsed_ns;
}
