/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_BENCH_PAIRS_RANKS_H
#define KWHY_CLI_BENCH_PAIRS_RANKS_H

#include "bench/pairs/ranks.h"
#include "launch/ranks.h"

/* The ranks that measure pairs together: this process and the processes that it started. */
struct kwhy_pairs_ranks {
	struct kwhy_pair_ranks *ranks; /* NULL: this process measures alone */
	uint32_t rank, local_rank;
	struct kwhy_launch_ranks started;
};

/*
 * Finds the ranks from the environment variables of a launcher. If these are not set, it starts `wanted`
 * processes. `wanted` 0: as many ranks as the launcher states; 1: this process measures alone.
 * KWHY_E_USAGE: the launcher states another number than `wanted`. End with kwhy_pairs_ranks_done().
 */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_ranks_init(
	uint64_t wanted, struct kwhy_pairs_ranks *out, struct kwhy_error *error);
void kwhy_pairs_ranks_done(struct kwhy_pairs_ranks *ranks);

#endif
