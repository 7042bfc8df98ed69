/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_GPU_BACKEND_H
#define KWHY_GPU_BACKEND_H

#include "gpu/gpu.h"

/*
 * The functions that each back end provides for gpu.c, which selects among back ends: the number of its GPUs,
 * and opening one. `device` is as in kwhy_gpu_open(): a number, a PCI address, or NULL for the first device.
 */
KWHY_MUST_USE enum kwhy_status kwhy_gpu_cuda_count(uint32_t *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_gpu_cuda_open(
	const char *device, struct kwhy_gpu **out, struct kwhy_error *error);

KWHY_MUST_USE enum kwhy_status kwhy_gpu_hip_count(uint32_t *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_gpu_hip_open(
	const char *device, struct kwhy_gpu **out, struct kwhy_error *error);

KWHY_MUST_USE enum kwhy_status kwhy_gpu_host_count(uint32_t *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_gpu_host_open(
	const char *device, struct kwhy_gpu **out, struct kwhy_error *error);

#endif
