/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_GPU_KERNELS_H
#define KWHY_GPU_KERNELS_H

/*
 * CUDA C source of the kernels in gpu/kernels/, which is compiled at run time for the GPU in use. Each is a
 * string that ends with NUL.
 */
extern const char kwhy_kernels_burn[];
extern const char kwhy_kernels_collectives[];
extern const char kwhy_kernels_gate[];

#endif
