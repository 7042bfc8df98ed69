/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_ENERGY_H
#define KWHY_BENCH_TRANSFERS_ENERGY_H

#include "bench/transfers/buffers.h"
#include "bench/transfers/store.h"

/*
 * What transfers cost in joules: each repeated for a burst that is long enough for the meters, which see a
 * tenth of a second at best. Some strategies at a few sizes, or those that were asked for; those of which the
 * transfers hold energies already are left out. Where no meter is of the GPU, the figures are unknown and
 * transfers->energy_missing says why.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_energies_measure(const struct kwhy_bench_request *request,
	struct kwhy_bench_buffers *buffers, struct kwhy_bench_store *store, struct kwhy_transfers *transfers,
	struct kwhy_error *error);

#endif
