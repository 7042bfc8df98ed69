/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_DECODE_HOST_WEIGHTS_H
#define KWHY_LAB_DECODE_HOST_WEIGHTS_H

#include "lab/decode/device.h"

/* Weights of the host's kernels of `decode`: they lie in memory as on a GPU. */

/* `columns` weights of `row` of the matrix that begins at `bytes`, each before its row's scale. */
void kwhy_decode_host_row_load(
	enum kwhy_decode_weights weights, const char *bytes, uint32_t row, uint32_t columns, float *out);

/* Host forms of kwhy_decode_fill and kwhy_decode_fill_floats. */
void kwhy_decode_host_fill(const struct kwhy_gpu_grid *grid, void **arguments);
void kwhy_decode_host_fill_floats(const struct kwhy_gpu_grid *grid, void **arguments);

#endif
