/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_STORE_H
#define KWHY_BENCH_TRANSFERS_STORE_H

#include "bench/transfers/plan.h"
#include "model/transfers.h"

/*
 * Writes samples to a folder as they are taken (samples.csv, docs/formats/transfers.md), so that a sweep can
 * be continued after an interruption, or evaluated again. The file begins with the settings of the run. A
 * later run appends rows only if its settings are the same.
 */
struct kwhy_bench_store;

/*
 * Opens the folder, or makes it. KWHY_E_USAGE: the folder holds samples already although request->resume is
 * false; or request->resume is true, and the folder holds no samples, or samples with other settings.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_store_open(const struct kwhy_bench_request *request,
	struct kwhy_transfers *transfers, struct kwhy_bench_store **out, struct kwhy_error *error);

/* Appends the samples of a point from index `from` on to samples.csv, and flushes the file. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_store_add(struct kwhy_bench_store *store,
	const struct kwhy_transfer_point *point, size_t from, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_bench_store_add_energy(
	struct kwhy_bench_store *store, const struct kwhy_transfer_energy *energy, struct kwhy_error *error);
void kwhy_bench_store_close(struct kwhy_bench_store *store);

/*
 * Reads a folder without comparing its settings, and makes the points that its rows name. Free *out with
 * kwhy_transfers_free().
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_store_read(
	const char *folder, struct kwhy_transfers **out, struct kwhy_error *error);

#endif
