/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TRANSFER_KERNELS_H
#define KWHY_TRANSFER_KERNELS_H

#include "gpu/gpu.h"
#include "transfer/mark.h"

/*
 * Argument of the kernels of the inline method: a slot's list and data, 4 KiB in all, which every driver
 * accepts. kernels/move.cu has the same struct. The list ends, and the data begins, `end` bytes after the
 * start of `bytes`. The argument of kwhy_transfer_move_packet_2k is only the first
 * KWHY_TRANSFER_PACKET_SHORT_BYTES of it.
 */
enum { KWHY_TRANSFER_PACKET_SHORT_BYTES = 2048 };

struct kwhy_transfer_packet {
	struct kwhy_transfer_mark mark;
	/*
	 * address at which the pieces assume that the data begins (at `end`). To those addresses of a piece
	 * that its `moves` names, kernels add the address at which the data really begins in the packet, less
	 * `base`; 0: nothing is added, since no data is in the packet
	 */
	uint64_t base;
	uint32_t count, threads, in_order, end;
	uint64_t bytes[506];
};

/*
 * The kernels in kernels/move.cu and their C versions. The host back end has one more kernel,
 * kwhy_transfer_call. It calls a program's function of type kwhy_transfer_compute for a chunk, and stores its
 * failure where the launch's argument says.
 */
extern const struct kwhy_gpu_source kwhy_transfer_kernels;

/* The kernels in kernels/convert.cu and their C versions. */
extern const struct kwhy_gpu_source kwhy_transfer_convert_kernels;

#endif
