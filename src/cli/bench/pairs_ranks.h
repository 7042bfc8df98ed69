/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_BENCH_PAIRS_RANKS_H
#define KWHY_CLI_BENCH_PAIRS_RANKS_H

#include "bench/pairs/ranks.h"
#include "launch/ranks.h"

/*
 * What this process knows of the ranks that measure pairs together: its own rank, its link to the other
 * ranks, and the processes that it started.
 */
struct kwhy_pairs_ranks {
	struct kwhy_pair_ranks *ranks; /* NULL: this process measures alone */
	uint32_t rank, local_rank;
	struct kwhy_launch_ranks started;
};

/*
 * Connects to the other ranks if a launcher (torchrun, srun, mpirun) started them, as its environment
 * variables state. Without a launcher, starts `wanted` - 1 more processes as ranks. `wanted` 0: as many ranks
 * as the launcher states, or this process alone without a launcher; 1: this process alone in any case.
 * KWHY_E_USAGE: the launcher states another number than `wanted`, or there are more than KWHY_PAIR_GPUS_MAX
 * ranks. End with kwhy_pairs_ranks_done().
 */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_ranks_init(
	uint64_t wanted, struct kwhy_pairs_ranks *out, struct kwhy_error *error);
void kwhy_pairs_ranks_done(struct kwhy_pairs_ranks *ranks);

#endif
