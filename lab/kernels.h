/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_KERNELS_H
#define KWHY_LAB_KERNELS_H

#include "gpu/gpu.h"

/*
 * Kernels in the folder kernels/ of a workload: as CUDA C that ends in NUL, which is compiled at run time for
 * the GPU, and in a form for the host.
 */
#define LAB_KERNELS(workload)                        \
	extern const char kwhy_kernels_##workload[]; \
	extern const struct kwhy_gpu_host_kernel lab_##workload##_host_kernels[]

LAB_KERNELS(twin);
LAB_KERNELS(flow);
LAB_KERNELS(train);
LAB_KERNELS(decode);

#endif
