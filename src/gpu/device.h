/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_GPU_DEVICE_H
#define KWHY_GPU_DEVICE_H

#include "gpu/gpu.h"
#include "vendor/driver.h"
#include "vendor/rtc.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * A GPU of the back ends for CUDA and HIP. Its streams, events, modules, kernels and graphs are the driver's
 * own objects under kwhy's type names, so an application's CUstream can be used as a stream here.
 */
struct kwhy_gpu_device {
	struct kwhy_gpu gpu; /* must be the first member, as kwhy_gpu_device() casts a pointer to it */
	struct kwhy_gpu_ops ops;
	struct kwhy_driver driver;
	struct kwhy_rtc compiler;
	kwhy_cuda_device device;
	kwhy_cuda_context context;
	kwhy_cuda_stream stream; /* the stream that NULL stands for in calls */
	bool pageable_access;	 /* whether kernels can access pageable host memory */
	atomic_bool lost;
	/* protects gate_module and gate_kernel, which are made with the first gate */
	pthread_mutex_t gate_lock;
	struct kwhy_gpu_module *gate_module;
	const struct kwhy_gpu_kernel *gate_kernel;
};

static inline struct kwhy_gpu_device *kwhy_gpu_device(struct kwhy_gpu *gpu)
{
	return (struct kwhy_gpu_device *)(void *)gpu;
}

static inline kwhy_cuda_stream kwhy_gpu_device_stream(
	const struct kwhy_gpu_device *device, struct kwhy_gpu_stream *stream)
{
	return stream ? (kwhy_cuda_stream)(void *)stream : device->stream;
}

/*
 * Converts a driver's result to a status. The message is "<GPU> cannot <what>: <the driver's words>; <what to
 * do>". KWHY_E_LOST: the context is unusable, and stays so in this process.
 */
enum kwhy_status kwhy_gpu_device_check(struct kwhy_gpu_device *device, enum kwhy_cuda_result result,
	const char *what, struct kwhy_error *error);

/*
 * Each function sets some of the function pointers in the table of calls (struct kwhy_gpu_ops). A pointer
 * stays NULL if the driver lacks the calls that the pointer's function needs.
 */
void kwhy_gpu_device_add_kernels(struct kwhy_gpu_ops *ops);
void kwhy_gpu_device_add_memory(struct kwhy_gpu_device *device);
void kwhy_gpu_device_add_copies(struct kwhy_gpu_device *device);
void kwhy_gpu_device_add_streams(struct kwhy_gpu_ops *ops);
void kwhy_gpu_device_add_graphs(struct kwhy_gpu_device *device);
void kwhy_gpu_device_add_gates(struct kwhy_gpu_ops *ops);

#endif
