/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_ENERGY_H
#define KWHY_BENCH_PAIRS_ENERGY_H

#include "bench/pairs/store.h"
#include "bench/pairs/testbed.h"

/*
 * What transfers cost in joules at both ends: each repeated for a burst that is long enough for the meters,
 * which see a tenth of a second at best. Of each kind of link one pair, both directions; engines that fill a
 * link, at a few of the sizes that were measured. Those of which the pairs hold energies already are left
 * out. Where a GPU has no meter its figures are unknown and pairs->energy_missing says why.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_energies_measure(const struct kwhy_pair_request *request,
	struct kwhy_pair_testbed *testbed, struct kwhy_pair_store *store, struct kwhy_pairs *pairs,
	struct kwhy_error *error);

#endif
