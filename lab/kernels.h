/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_KERNELS_H
#define KWHY_LAB_KERNELS_H

#include "gpu/gpu.h"

/* CUDA C of the kernels in the folders kernels/ of the workloads, compiled at run time for the GPU at hand;
 * NUL-terminated. */
extern const char kwhy_kernels_flow[];
extern const char kwhy_kernels_train[];
extern const char kwhy_kernels_twin[];
extern const char kwhy_kernels_decode[];

/* Their forms for the host. */
extern const struct kwhy_gpu_host_kernel lab_flow_host_kernels[];
extern const struct kwhy_gpu_host_kernel lab_train_host_kernels[];
extern const struct kwhy_gpu_host_kernel lab_twin_host_kernels[];
extern const struct kwhy_gpu_host_kernel lab_decode_host_kernels[];

#endif
