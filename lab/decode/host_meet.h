/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_DECODE_HOST_MEET_H
#define KWHY_LAB_DECODE_HOST_MEET_H

#include "lab/decode/device.h"

/* What GPUs that share a decoder tell each other, on the host, as kernels/decode/meet.cu. With one GPU
 * nothing is sent and nobody is waited for. */

/* The same place in the memory of a peer. */
void *kwhy_decode_host_at_peer(const struct kwhy_decode_args *args, uint64_t here, uint32_t peer);

/* Once a pass, before anything of a layer is sent. */
void kwhy_decode_host_begin_pass(const struct kwhy_decode_args *args, uint32_t layer);

/* The likeliest token of a slot, of all GPUs. */
uint64_t kwhy_decode_host_best(const struct kwhy_decode_args *args, uint32_t slot);

/* A part of a sum, to all; `place` in x. */
void kwhy_decode_host_send(
	const struct kwhy_decode_args *args, uint32_t layer, uint32_t matrix, uint64_t place, float value);

/* A token's x as it comes to a matrix, KWHY_DECODE_WORDS among them. */
const float *kwhy_decode_host_row(
	const struct kwhy_decode_args *args, uint32_t layer, uint32_t matrix, uint32_t token);

/* Returns when the parts of all GPUs are there; `what` as kwhy_decode_settle takes it. */
void kwhy_decode_host_await_parts(const struct kwhy_decode_args *args, uint32_t layer, uint32_t what);

#endif
