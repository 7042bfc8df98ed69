/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WORKLOAD_KERNELS_H
#define KWHY_WORKLOAD_KERNELS_H

/* CUDA C of the kernels in workload/kernels/, compiled at run time for the GPU at hand; NUL-terminated. */
extern const char kwhy_kernels_flow[];
extern const char kwhy_kernels_train[];
extern const char kwhy_kernels_twin[];
extern const char kwhy_kernels_collectives[];
extern const char kwhy_kernels_decode[];

#endif
