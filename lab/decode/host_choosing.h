/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_DECODE_HOST_CHOOSING_H
#define KWHY_LAB_DECODE_HOST_CHOOSING_H

#include "lab/decode/device.h"

/* On the host, as kernels/decode/choosing.cu: each slot's best becomes the key of its likeliest token. */
void kwhy_decode_host_pick(const struct kwhy_gpu_grid *grid, void **arguments);

/* Choosing on the host, as kernels/decode/choosing.cu: of the logits that the last product has left, each
 * slot's best becomes the key of a token drawn by temperature among those that top-k and top-p keep. */
void kwhy_decode_host_choose(const struct kwhy_gpu_grid *grid, void **arguments);

#endif
