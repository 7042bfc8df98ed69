/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_PINNING_H
#define KWHY_BENCH_PAIRS_PINNING_H

#include "bench/pairs/store.h"
#include "bench/pairs/testbed.h"

/*
 * Measures how the time of a transfer depends on where the thread that queues it and waits for it runs: on
 * the source's NUMA node, on another node, or where the system puts it. Transfers are copies of 8 bytes and
 * of 1 MiB, timed by the clocks that involve the host, and copies through the host, between one pair of each
 * kind of link, in both directions. The three placements alternate. Where there are fewer than two nodes
 * pairs->pinning_missing says why nothing was measured. Afterwards the thread's CPU affinity is restored.
 * Transfers that `pairs` already holds are skipped.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_pinning_measure(const struct kwhy_pair_request *request,
	struct kwhy_pair_testbed *testbed, struct kwhy_pair_store *store, struct kwhy_pairs *pairs,
	struct kwhy_error *error);

#endif
