/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_STORE_H
#define KWHY_BENCH_TRANSFERS_STORE_H

#include "bench/transfers/plan.h"
#include "model/transfers.h"

/*
 * Writes samples to a folder as they are taken (samples.csv, docs/formats/transfers.md), so that a sweep can
 * be continued after an interruption, or evaluated again. The head of the file holds the settings; rows are
 * only added with the same settings.
 */
struct kwhy_bench_store;

/*
 * Opens the folder, and makes it if need be. KWHY_E_USAGE: it holds samples already and request->resume is
 * false, or it holds none or samples of other settings and it is true.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_store_open(const struct kwhy_bench_request *request,
	struct kwhy_transfers *transfers, struct kwhy_bench_store **out, struct kwhy_error *error);

/* Appends a point's samples from number `from` on, and flushes the file. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_store_add(struct kwhy_bench_store *store,
	const struct kwhy_transfer_point *point, size_t from, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_bench_store_add_energy(
	struct kwhy_bench_store *store, const struct kwhy_transfer_energy *energy, struct kwhy_error *error);
void kwhy_bench_store_close(struct kwhy_bench_store *store);

/* Reads a folder of any settings. Points are made as their rows appear. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_store_read(
	const char *folder, struct kwhy_transfers **out, struct kwhy_error *error);

#endif
