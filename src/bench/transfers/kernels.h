/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_KERNELS_H
#define KWHY_BENCH_TRANSFERS_KERNELS_H

#include "gpu/gpu.h"

#include <stddef.h>
#include <stdint.h>

/* The kernels of the transfer benchmark (kernels/transfer.cu), with C versions for the host back end. */
extern const struct kwhy_gpu_source kwhy_bench_source;

enum kwhy_bench_kernel {
	KWHY_BENCH_KERNEL_PATTERN,
	KWHY_BENCH_KERNEL_CHECK,
	KWHY_BENCH_KERNEL_COPY,
	KWHY_BENCH_KERNEL_READ,
	KWHY_BENCH_KERNEL_WORK,
	KWHY_BENCH_KERNEL_PIECES,
	KWHY_BENCH_KERNEL_EXPAND,
	KWHY_BENCH_KERNEL_COUNT
};

const char *kwhy_bench_kernel_name(enum kwhy_bench_kernel kernel);

/*
 * Descriptors that the kernels for pieces and for compressed chunks read: where each is in the source (from)
 * and in the sink (to). Offsets and sizes are in bytes.
 */
struct kwhy_bench_piece {
	uint32_t from, to, bytes;
};
struct kwhy_bench_chunk {
	uint32_t from, compressed_bytes, to, bytes;
};

/*
 * Writes `bytes` bytes of the pseudo-random pattern of `seed` to `to`, beginning with byte `first` of the
 * pattern.
 */
void kwhy_bench_pattern_write(void *to, size_t bytes, uint32_t seed, uint64_t first);
/*
 * The sum that kwhy_transfer_read() should compute: of all 32-bit words and of the up to three remaining
 * bytes.
 */
uint64_t kwhy_bench_sum(const void *from, uint64_t bytes);

#endif
