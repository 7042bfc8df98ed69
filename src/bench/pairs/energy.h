/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_ENERGY_H
#define KWHY_BENCH_PAIRS_ENERGY_H

#include "bench/pairs/store.h"
#include "bench/pairs/testbed.h"

/*
 * Measures the energy of transfers at the source and at the target GPU, in joules per transfer, and appends
 * it to pairs->energies. Each transfer is repeated for request->burst_s, because meters resolve a tenth of a
 * second at best. For each kind of link, one pair of GPUs stands for all other pairs. The transfers of that
 * pair are measured in both directions, with the engines that keep a link busy, and at four sizes from 64 KiB
 * to 256 MiB, without those at which no time was measured. Transfers whose energies are in `pairs` already
 * are skipped. If a GPU has no meter, its figures are unknown and pairs->energy_missing says why.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_energies_measure(const struct kwhy_pair_request *request,
	struct kwhy_pair_testbed *testbed, struct kwhy_pair_store *store, struct kwhy_pairs *pairs,
	struct kwhy_error *error);

#endif
