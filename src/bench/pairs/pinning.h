/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_PINNING_H
#define KWHY_BENCH_PAIRS_PINNING_H

#include "bench/pairs/store.h"
#include "bench/pairs/testbed.h"

/*
 * Measures how the time of a transfer depends on the CPUs on which its host thread runs; that thread queues
 * the transfer and waits for it. There are three placements, which alternate: the source's NUMA node, another
 * node, and wherever the system puts the thread. Transfers are copies of 8 bytes and of 1 MiB, timed with
 * clocks that include the host's time, and copies through host memory of the same sizes. They run in both
 * directions between one pair of each kind of link. Nothing is measured, and pairs->pinning_missing says why,
 * if there are fewer than two nodes or the CPUs near to a GPU and far from it cannot be found. The thread's
 * CPU affinity is restored at the end. Transfers that are in `pairs` already are skipped.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_pinning_measure(const struct kwhy_pair_request *request,
	struct kwhy_pair_testbed *testbed, struct kwhy_pair_store *store, struct kwhy_pairs *pairs,
	struct kwhy_error *error);

#endif
