/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_KERNELS_H
#define KWHY_LAB_KERNELS_H

#include "gpu/gpu.h"

/*
 * The kernels of a workload (folder kernels/): their text in CUDA C, which ends in NUL and is compiled for
 * the GPU at run time, and the same kernels compiled as C for the host back end.
 */
#define LAB_KERNELS(workload)                        \
	extern const char kwhy_kernels_##workload[]; \
	extern const struct kwhy_gpu_host_kernel lab_##workload##_host_kernels[]

LAB_KERNELS(twin);
LAB_KERNELS(flow);
LAB_KERNELS(train);
LAB_KERNELS(decode);

#endif
