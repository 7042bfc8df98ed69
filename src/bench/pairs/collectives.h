/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_COLLECTIVES_H
#define KWHY_BENCH_PAIRS_COLLECTIVES_H

#include "bench/pairs/testbed.h"

/*
 * Collective operations of all GPUs. On CUDA NCCL does them, with 32-bit unsigned sums, which are exact in
 * any order. The host back end has an implementation of its own, with which the rest of the program can be
 * tested.
 */

/*
 * The largest size up to `bytes` that the collective divides into equal whole parts, in bytes; 0: there is no
 * such size.
 */
uint64_t kwhy_pair_collective_bytes(enum kwhy_pair_engine engine, uint64_t bytes, uint32_t gpu_count);

/* Bytes that each GPU receives. */
uint64_t kwhy_pair_collective_result_bytes(enum kwhy_pair_engine engine, uint64_t bytes, uint32_t gpu_count);

/*
 * Computes what GPU number `own` receives when GPU i sends the pattern of seeds[i]. Writes bytes [first,
 * first + count) of it; both numbers are multiples of 4.
 */
void kwhy_pair_collective_expect(const struct kwhy_pair_config *config, const uint32_t *seeds,
	uint32_t gpu_count, uint32_t own, uint64_t first, size_t count, unsigned char *out);

/*
 * Prepares the communicators or kernels of all GPUs, and their buffers. KWHY_E_UNSUPPORTED: the message names
 * the remedy.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_collective_begin(
	struct kwhy_pair_work *work, bool spoils, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_collective_issue(
	struct kwhy_pair_work *work, uint32_t count, struct kwhy_error *error);
/* On the host back end, where the parts wait for each other: fails if one of them was late by seconds. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_collective_check(
	const struct kwhy_pair_work *work, struct kwhy_error *error);
/*
 * Checks what the GPUs of this process received: all bytes up to 8 MiB, samples at 16 offsets of larger
 * results.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_collective_verify(
	struct kwhy_pair_work *work, bool *out_same, struct kwhy_error *error);

#endif
