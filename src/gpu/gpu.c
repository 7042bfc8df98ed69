/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/gpu.h"

#include "gpu/backend.h"

static const struct {
	const char *name;
	enum kwhy_status (*count)(uint32_t *out, struct kwhy_error *error);
	enum kwhy_status (*open)(const char *device, struct kwhy_gpu **out, struct kwhy_error *error);
} backends[KWHY_GPU_BACKEND_COUNT] = {
	[KWHY_GPU_CUDA] = {"cuda", kwhy_gpu_cuda_count, kwhy_gpu_cuda_open},
	[KWHY_GPU_HIP] = {"hip", kwhy_gpu_hip_count, kwhy_gpu_hip_open},
	[KWHY_GPU_HOST] = {"host", kwhy_gpu_host_count, kwhy_gpu_host_open},
};

const char *kwhy_gpu_backend_name(enum kwhy_gpu_backend backend)
{
	return backends[backend].name;
}

enum kwhy_status kwhy_gpu_count(enum kwhy_gpu_backend backend, uint32_t *out, struct kwhy_error *error)
{
	return backends[backend].count(out, error);
}

enum kwhy_status kwhy_gpu_open(
	enum kwhy_gpu_backend backend, const char *device, struct kwhy_gpu **out, struct kwhy_error *error)
{
	return backends[backend].open(device, out, error);
}

enum kwhy_status kwhy_gpu_capture(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
	enum kwhy_status (*work)(void *context, struct kwhy_error *error), void *context,
	struct kwhy_gpu_graph **out, struct kwhy_error *error)
{
	struct kwhy_error unused;
	enum kwhy_status status, ended;

	*out = NULL;
	if (!gpu->ops->capture_begin)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "%s records no graphs", gpu->facts.name);
	status = gpu->ops->capture_begin(gpu, stream, error);
	if (status)
		return status;
	status = work(context, error);
	ended = gpu->ops->capture_end(gpu, stream, out, status ? &unused : error);
	if (status && !ended) {
		gpu->ops->graph_free(gpu, *out);
		*out = NULL;
	}
	return status ? status : ended;
}
