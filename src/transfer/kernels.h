/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TRANSFER_KERNELS_H
#define KWHY_TRANSFER_KERNELS_H

#include "gpu/gpu.h"

/*
 * kernels/move.cu, and the same in C. On the host there is one more, kwhy_transfer_call: it calls a
 * kwhy_transfer_compute with its context and the chunk, and notes in the result's place that it failed.
 */
extern const struct kwhy_gpu_source kwhy_transfer_kernels;

/* kernels/convert.cu, and the same in C. */
extern const struct kwhy_gpu_source kwhy_transfer_convert_kernels;

#endif
