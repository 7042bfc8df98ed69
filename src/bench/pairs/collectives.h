/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_COLLECTIVES_H
#define KWHY_BENCH_PAIRS_COLLECTIVES_H

#include "bench/pairs/testbed.h"

/*
 * Collective operations in which all GPUs take part. On CUDA, NCCL runs them; sums are of unsigned 32-bit
 * integers, which do not depend on the order of the additions. For tests without a GPU, the host back end has
 * its own implementation.
 */

/*
 * Rounds `bytes` down to a multiple of 4 or, for a collective that gives or takes a separate part for each
 * GPU, of 4 * gpu_count. 0: `bytes` is smaller than that.
 */
uint64_t kwhy_pair_collective_bytes(enum kwhy_pair_engine engine, uint64_t bytes, uint32_t gpu_count);

/*
 * Size in bytes of the result that each GPU receives: `bytes`, or `bytes` / gpu_count for a reduce-scatter.
 */
uint64_t kwhy_pair_collective_result_bytes(enum kwhy_pair_engine engine, uint64_t bytes, uint32_t gpu_count);

/*
 * Computes the result that GPU number `own` receives if GPU i sends the pattern of seeds[i]. Writes bytes
 * [first, first + count) of that result to `out`; `first` and `count` are multiples of 4.
 */
void kwhy_pair_collective_expect(const struct kwhy_pair_config *config, const uint32_t *seeds,
	uint32_t gpu_count, uint32_t own, uint64_t first, size_t count, unsigned char *out);

/*
 * Prepares a collective on all GPUs: their buffers, and NCCL's communicators or the host back end's kernels.
 * If `spoils`, overwrites the sinks, so that verification notices missing bytes. KWHY_E_UNSUPPORTED: NCCL
 * cannot be used, or a rank of the host back end cannot access the memory of another.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_collective_begin(
	struct kwhy_pair_work *work, bool spoils, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_collective_issue(
	struct kwhy_pair_work *work, uint32_t count, struct kwhy_error *error);
/*
 * Checks, on the host back end, whose GPUs wait for each other in every collective, that no wait of a GPU of
 * this process has reached its timeout of some seconds. KWHY_E_UNSUPPORTED: one has. Always KWHY_OK on CUDA.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_collective_check(
	const struct kwhy_pair_work *work, struct kwhy_error *error);
/*
 * Compares what the GPUs of this process received with what they should have received. Results of up to 8 MiB
 * are compared completely, of larger ones 16 evenly spaced pieces of 512 KiB.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_collective_verify(
	struct kwhy_pair_work *work, bool *out_same, struct kwhy_error *error);

#endif
