/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_DECODE_HOST_CHOOSING_H
#define LAB_DECODE_HOST_CHOOSING_H

#include "gpu/gpu.h"

/* Tokens picked and drawn from logits on the host, as kernels/choosing.cu. */
void lab_decode_host_pick(const struct kwhy_gpu_grid *grid, void **arguments);
void lab_decode_host_choose(const struct kwhy_gpu_grid *grid, void **arguments);

#endif
