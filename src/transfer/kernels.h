/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TRANSFER_KERNELS_H
#define KWHY_TRANSFER_KERNELS_H

#include "gpu/gpu.h"
#include "transfer/mark.h"

/*
 * A slot's list and data as a kernel argument, in the largest size that every driver accepts. kernels/move.cu
 * has the same struct. The list grows down from bytes + end; the data begins there.
 * kwhy_transfer_move_packet_2k takes only the first KWHY_TRANSFER_PACKET_SHORT_BYTES.
 */
enum { KWHY_TRANSFER_PACKET_SHORT_BYTES = 2048 };

struct kwhy_transfer_packet {
	struct kwhy_transfer_mark mark;
	/*
	 * the address that stands for `end` in the pieces: kernels add the address of `end` in the packet,
	 * less `base`, to those addresses of a piece that its `moves` names; 0: nothing is added, since no
	 * data is in the packet
	 */
	uint64_t base;
	uint32_t count, threads, in_order, end;
	uint64_t bytes[506];
};

/*
 * The kernels in kernels/move.cu and their C versions. The host back end has one more kernel,
 * kwhy_transfer_call. It calls a kwhy_transfer_compute function with its context and a chunk, and stores a
 * failure in the chunk's result.
 */
extern const struct kwhy_gpu_source kwhy_transfer_kernels;

/* The kernels in kernels/convert.cu and their C versions. */
extern const struct kwhy_gpu_source kwhy_transfer_convert_kernels;

#endif
