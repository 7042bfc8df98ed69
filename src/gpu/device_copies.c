/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/device.h"

#include <stdlib.h>

enum { BATCH_ON_STACK = 128 };

static enum kwhy_status copy_now(
	struct kwhy_gpu *gpu, const struct kwhy_gpu_copy *copy, struct kwhy_error *error)
{
	struct kwhy_gpu_device *self = kwhy_gpu_device(gpu);

	return kwhy_gpu_device_check(
		self, kwhy_driver_copy_now(&self->driver, copy->to, copy->from, copy->bytes), "copy", error);
}

static enum kwhy_status copy_host_now(
	struct kwhy_gpu *gpu, const struct kwhy_gpu_copy *copy, struct kwhy_error *error)
{
	struct kwhy_gpu_device *self = kwhy_gpu_device(gpu);

	return kwhy_gpu_device_check(self,
		kwhy_driver_copy_host_now(&self->driver, copy->to, copy->from, copy->bytes), "copy", error);
}

static enum kwhy_status copy(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
	const struct kwhy_gpu_copy *copy, struct kwhy_error *error)
{
	struct kwhy_gpu_device *self = kwhy_gpu_device(gpu);

	return kwhy_gpu_device_check(self,
		kwhy_driver_copy(&self->driver, copy->to, copy->from, copy->bytes,
			kwhy_gpu_device_stream(self, stream)),
		"queue a copy", error);
}

/*
 * Queues a batch of copies, without those of 0 bytes. The driver wants destinations, sources and sizes in
 * three arrays, for which `columns` has space: 3 * `count` elements.
 */
static enum kwhy_cuda_result copy_columns(struct kwhy_gpu_device *self, kwhy_cuda_stream stream,
	const struct kwhy_gpu_copy *copies, size_t count, kwhy_cuda_address *columns)
{
	kwhy_cuda_address *to = columns, *from = to + count;
	size_t *bytes = (size_t *)(from + count), used = 0;

	_Static_assert(sizeof(size_t) == sizeof(kwhy_cuda_address), "a column of either fits");
	for (size_t i = 0; i < count; i++) {
		if (copies[i].bytes == 0)
			continue;
		to[used] = copies[i].to;
		from[used] = copies[i].from;
		bytes[used++] = copies[i].bytes;
	}
	if (used == 0)
		return KWHY_CUDA_SUCCESS;
	return kwhy_driver_copy_batch(&self->driver, to, from, bytes, used, stream);
}

static enum kwhy_status copy_batch(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
	const struct kwhy_gpu_copy *copies, size_t count, struct kwhy_error *error)
{
	struct kwhy_gpu_device *self = kwhy_gpu_device(gpu);
	kwhy_cuda_address small[3 * BATCH_ON_STACK], *columns = small;
	enum kwhy_cuda_result result;

	if (count > BATCH_ON_STACK)
		columns = calloc(count, 3 * sizeof(*columns));
	if (!columns)
		return kwhy_fail_memory(error, "a batch of copies");
	result = copy_columns(self, kwhy_gpu_device_stream(self, stream), copies, count, columns);
	if (columns != small)
		free(columns);
	return kwhy_gpu_device_check(self, result, "queue a batch of copies", error);
}

static enum kwhy_status fill(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, uint64_t address,
	uint8_t value, size_t bytes, struct kwhy_error *error)
{
	struct kwhy_gpu_device *self = kwhy_gpu_device(gpu);

	return kwhy_gpu_device_check(self,
		self->driver.fill(address, value, bytes, kwhy_gpu_device_stream(self, stream)), "fill memory",
		error);
}

static enum kwhy_status peer_enable(struct kwhy_gpu *gpu, struct kwhy_gpu *other, struct kwhy_error *error)
{
	struct kwhy_gpu_device *self = kwhy_gpu_device(gpu), *peer = kwhy_gpu_device(other);
	enum kwhy_cuda_result result;
	int can = 0;

	result = self->driver.can_access_peer(&can, self->device, peer->device);
	if (result == KWHY_CUDA_SUCCESS && !can)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"GPU %d does not reach GPU %d directly; copies between them go through the host",
			gpu->facts.index, other->facts.index);
	if (result == KWHY_CUDA_SUCCESS)
		result = kwhy_driver_enter(&self->driver, self->device, self->context);
	if (result == KWHY_CUDA_SUCCESS)
		result = kwhy_driver_peer_enable(&self->driver, peer->device, peer->context);
	if (result == KWHY_CUDA_PEER_ALREADY_ENABLED)
		result = KWHY_CUDA_SUCCESS;
	return kwhy_gpu_device_check(self, result, "reach the other GPU", error);
}

void kwhy_gpu_device_add_copies(struct kwhy_gpu_device *device)
{
	device->ops.copy_now = copy_now;
	device->ops.copy_host_now = copy_host_now;
	device->ops.copy = copy;
	device->ops.copy_batch = kwhy_driver_has_batch(&device->driver) ? copy_batch : NULL;
	device->ops.fill = fill;
	device->ops.peer_enable = peer_enable;
}
