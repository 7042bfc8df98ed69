/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_ENERGY_H
#define KWHY_BENCH_TRANSFERS_ENERGY_H

#include "bench/transfers/buffers.h"
#include "bench/transfers/store.h"

/*
 * Measures the energy of transfers in joules per transfer and appends it to transfers->energies and to
 * `store` (NULL: it is not written to a file). Each transfer is repeated for request->burst_s, because meters
 * resolve a tenth of a second at best. The requested strategies or, if none are requested, a default
 * selection are measured at a few sizes. Transfers whose energies are in `transfers` already are skipped. If
 * the GPU has no meter, energies are unknown and transfers->energy_missing says why.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_energies_measure(const struct kwhy_bench_request *request,
	struct kwhy_bench_buffers *buffers, struct kwhy_bench_store *store, struct kwhy_transfers *transfers,
	struct kwhy_error *error);

#endif
