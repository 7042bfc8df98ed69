/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_COLLECTIVES_H
#define KWHY_BENCH_PAIRS_COLLECTIVES_H

#include "bench/pairs/testbed.h"

/*
 * Operations of all GPUs: NCCL's on CUDA, with 32-bit unsigned sums, which are exact in any order; on the
 * host our own, by which the rest of the program can be tried.
 */

/* The largest number of bytes up to `bytes` that such an operation divides into whole parts; 0: none. */
uint64_t kwhy_pair_collective_bytes(enum kwhy_pair_engine engine, uint64_t bytes, uint32_t gpu_count);

/* Bytes that each gets. */
uint64_t kwhy_pair_collective_result_bytes(enum kwhy_pair_engine engine, uint64_t bytes, uint32_t gpu_count);

/* What the GPU `own` of those with these seeds gets: bytes [first, first + count), both multiples of 4. */
void kwhy_pair_collective_expect(const struct kwhy_pair_config *config, const uint32_t *seeds,
	uint32_t gpu_count, uint32_t own, uint64_t first, size_t count, unsigned char *out);

/* Communicators or kernels of all, and their buffers. KWHY_E_UNSUPPORTED with the cure. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_collective_begin(
	struct kwhy_pair_work *work, bool spoils, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_collective_issue(
	struct kwhy_pair_work *work, uint32_t count, struct kwhy_error *error);
/* On the host, where they wait for each other: whether one was seconds late. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_collective_check(
	const struct kwhy_pair_work *work, struct kwhy_error *error);
/* Of the GPUs of this process: whole up to 8 MiB, above that in 16 places. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_collective_verify(
	struct kwhy_pair_work *work, bool *out_same, struct kwhy_error *error);

#endif
