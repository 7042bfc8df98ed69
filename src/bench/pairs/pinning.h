/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_PINNING_H
#define KWHY_BENCH_PAIRS_PINNING_H

#include "bench/pairs/store.h"
#include "bench/pairs/testbed.h"

/*
 * What it makes to a transfer whether the thread that queues it and waits for it runs on the source's NUMA
 * node, on another one, or where the system puts it: copies of 8 bytes and of 1 MiB by the clocks that the
 * host takes part in, and through the host, of one pair of each kind of link, both directions. The three take
 * turns. Where there are not two nodes pairs->pinning_missing says why. The thread's processors are
 * afterwards what they were. Those that the pairs hold already are left out.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_pinning_measure(const struct kwhy_pair_request *request,
	struct kwhy_pair_testbed *testbed, struct kwhy_pair_store *store, struct kwhy_pairs *pairs,
	struct kwhy_error *error);

#endif
