/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_BENCH_PAIRS_RANKS_H
#define KWHY_CLI_BENCH_PAIRS_RANKS_H

#include "bench/pairs/ranks.h"
#include "launch/ranks.h"

/* Whether this process is one of several that measure pairs together, and those that it started for that. */
struct kwhy_pairs_ranks {
	struct kwhy_pair_ranks *ranks; /* NULL: this process alone */
	uint32_t rank, local_rank;
	struct kwhy_launch_ranks started;
};

/*
 * By the variables of a launcher; where there are none, `wanted` are started here. 0: whatever the launcher
 * says, 1: this process alone. KWHY_E_USAGE where the two differ. End with kwhy_pairs_ranks_done().
 */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_ranks_init(
	uint64_t wanted, struct kwhy_pairs_ranks *out, struct kwhy_error *error);
void kwhy_pairs_ranks_done(struct kwhy_pairs_ranks *ranks);

#endif
