/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_DECODE_HOST_ATTENTION_H
#define KWHY_LAB_DECODE_HOST_ATTENTION_H

#include "lab/decode/host_call.h"

/* Attention on the host, as kernels/decode/attention.cu and reading.cu, and where queries, keys and values
 * lie. */

/* A row of the product that gives queries, keys and values, to its place. */
void kwhy_decode_host_store_state(
	const struct kwhy_decode_host_call *call, uint32_t token, uint32_t row, float sum);

/* Of all tokens, in the call's layer. */
void kwhy_decode_host_attend_all(const struct kwhy_decode_host_call *call);

/* Of single tokens and of prompts. */
void kwhy_decode_host_attend(const struct kwhy_gpu_grid *grid, void **arguments);

#endif
