/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_COLLECTIVES_H
#define KWHY_BENCH_PAIRS_COLLECTIVES_H

#include "bench/pairs/testbed.h"

/*
 * Collective operations of all GPUs. On CUDA, NCCL runs them, with sums of unsigned 32-bit integers, which
 * are exact in any order. The host back end has its own implementation, with which the rest of the program
 * can be tested.
 */

/*
 * The largest size in bytes, at most `bytes`, that the collective can divide into equal parts; 0: `bytes` is
 * too small for any such size.
 */
uint64_t kwhy_pair_collective_bytes(enum kwhy_pair_engine engine, uint64_t bytes, uint32_t gpu_count);

/* Bytes of the result that each GPU receives. */
uint64_t kwhy_pair_collective_result_bytes(enum kwhy_pair_engine engine, uint64_t bytes, uint32_t gpu_count);

/*
 * Computes the result that GPU number `own` receives if GPU i sends the pattern of seeds[i]. Writes bytes
 * [first, first + count) of that result to `out`; `first` and `count` are multiples of 4.
 */
void kwhy_pair_collective_expect(const struct kwhy_pair_config *config, const uint32_t *seeds,
	uint32_t gpu_count, uint32_t own, uint64_t first, size_t count, unsigned char *out);

/*
 * Prepares a collective on all GPUs: their buffers, and NCCL's communicators or the host back end's
 * kernels. If `spoils`, overwrites the sinks, so that verification notices missing bytes.
 * KWHY_E_UNSUPPORTED: the message says what to do.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_collective_begin(
	struct kwhy_pair_work *work, bool spoils, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_collective_issue(
	struct kwhy_pair_work *work, uint32_t count, struct kwhy_error *error);
/*
 * On the host back end, the GPUs' parts of a collective wait for each other. Fails if one of these waits
 * took seconds and was given up.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_collective_check(
	const struct kwhy_pair_work *work, struct kwhy_error *error);
/*
 * Compares what the GPUs of this process received with what they should have received. Results up to 8 MiB
 * are compared completely, larger ones at 16 offsets.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_collective_verify(
	struct kwhy_pair_work *work, bool *out_same, struct kwhy_error *error);

#endif
