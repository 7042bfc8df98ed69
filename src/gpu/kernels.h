/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_GPU_KERNELS_H
#define KWHY_GPU_KERNELS_H

/* CUDA C of the kernels in gpu/kernels/, compiled at run time for the GPU at hand; NUL-terminated. */
extern const char kwhy_kernels_burn[];
extern const char kwhy_kernels_collectives[];
extern const char kwhy_kernels_gate[];

#endif
