/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TRANSFER_KERNELS_H
#define KWHY_TRANSFER_KERNELS_H

#include "gpu/gpu.h"
#include "transfer/mark.h"

/*
 * List and data of a slot as a kernel argument, in the largest size that every driver accepts;
 * kernels/move.cu has the same struct. The list grows down from bytes + end, where the data begins.
 * kwhy_transfer_move_packet_2k takes only the first KWHY_TRANSFER_PACKET_SHORT_BYTES.
 */
enum { KWHY_TRANSFER_PACKET_SHORT_BYTES = 2048 };

struct kwhy_transfer_packet {
	struct kwhy_transfer_mark mark;
	uint64_t base; /* address that moved pieces assume for `end`; 0: no piece moves */
	uint32_t count, threads, in_order, end;
	uint64_t bytes[506];
};

/*
 * kernels/move.cu and its C version. The host back end has one more kernel, kwhy_transfer_call, which calls a
 * kwhy_transfer_compute with its context and the chunk, and stores a failure in the result.
 */
extern const struct kwhy_gpu_source kwhy_transfer_kernels;

/* kernels/convert.cu and its C version. */
extern const struct kwhy_gpu_source kwhy_transfer_convert_kernels;

#endif
