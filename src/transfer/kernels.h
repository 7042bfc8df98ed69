/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TRANSFER_KERNELS_H
#define KWHY_TRANSFER_KERNELS_H

#include "gpu/gpu.h"
#include "transfer/mark.h"

/*
 * List and data of a slot as a kernel's argument, of as many bytes as every driver takes; kernels/move.cu has
 * the same. The list grows down from bytes + end, where the data begin. kwhy_transfer_move_packet_2k takes
 * the first KWHY_TRANSFER_PACKET_SHORT_BYTES of it.
 */
enum { KWHY_TRANSFER_PACKET_SHORT_BYTES = 2048 };

struct kwhy_transfer_packet {
	struct kwhy_transfer_mark mark;
	uint64_t base; /* what pieces that move take for the place of `end`; 0: none moves */
	uint32_t count, threads, in_order, end;
	uint64_t bytes[506];
};

/*
 * kernels/move.cu, and the same in C. On the host there is one more, kwhy_transfer_call: it calls a
 * kwhy_transfer_compute with its context and the chunk, and notes in the result's place that it failed.
 */
extern const struct kwhy_gpu_source kwhy_transfer_kernels;

/* kernels/convert.cu, and the same in C. */
extern const struct kwhy_gpu_source kwhy_transfer_convert_kernels;

#endif
