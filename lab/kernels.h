/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_KERNELS_H
#define KWHY_LAB_KERNELS_H

#include "gpu/gpu.h"

/* CUDA C of the kernels in the folder kernels/ of a workload, compiled at run time for the GPU at hand,
 * NUL-terminated; and their forms for the host. */
#define LAB_KERNELS(workload)                        \
	extern const char kwhy_kernels_##workload[]; \
	extern const struct kwhy_gpu_host_kernel lab_##workload##_host_kernels[]

LAB_KERNELS(twin);
LAB_KERNELS(flow);
LAB_KERNELS(train);
LAB_KERNELS(decode);

#endif
