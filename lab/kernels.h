/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_KERNELS_H
#define KWHY_LAB_KERNELS_H

/* CUDA C of the kernels in the folders kernels/ of the workloads, compiled at run time for the GPU at hand;
 * NUL-terminated. */
extern const char kwhy_kernels_flow[];
extern const char kwhy_kernels_train[];
extern const char kwhy_kernels_twin[];
extern const char kwhy_kernels_decode[];

#endif
