/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_STORE_H
#define KWHY_BENCH_TRANSFERS_STORE_H

#include "bench/transfers/plan.h"
#include "model/transfers.h"

/*
 * Samples in a folder as they come (samples.csv, docs/formats/transfers.md), so that a sweep can be carried
 * on after an interruption, or evaluated again. The head holds the settings: what else is read there must be
 * of the same ones.
 */
struct kwhy_bench_store;

/* Makes the folder if need be. KWHY_E_USAGE where it holds samples already and `resume` is not asked. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_store_open(const struct kwhy_bench_request *request,
	struct kwhy_transfers *transfers, struct kwhy_bench_store **out, struct kwhy_error *error);

/* Appends the samples of a point from the one of this number on, and has them written. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_store_add(struct kwhy_bench_store *store,
	const struct kwhy_transfer_point *point, size_t from, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_bench_store_add_energy(
	struct kwhy_bench_store *store, const struct kwhy_transfer_energy *energy, struct kwhy_error *error);
void kwhy_bench_store_close(struct kwhy_bench_store *store);

/* What a folder holds, without any settings asked: points are made as they come. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_store_read(
	const char *folder, struct kwhy_transfers **out, struct kwhy_error *error);

#endif
