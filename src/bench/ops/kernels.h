/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_OPS_KERNELS_H
#define KWHY_BENCH_OPS_KERNELS_H

#include "gpu/gpu.h"

/*
 * The kernels of `kwhy bench ops` (kernels/ops.cu), and their C versions for the host back end; tensor
 * kernels have no C version.
 */
extern const struct kwhy_gpu_source kwhy_ops_source;

#endif
