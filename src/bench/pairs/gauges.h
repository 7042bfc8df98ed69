/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_GAUGES_H
#define KWHY_BENCH_PAIRS_GAUGES_H

#include "bench/pairs/ranks.h"
#include "bench/pairs/store.h"
#include "bench/transfers/sensors.h"

/* What the gauges of all GPUs show while pairs are measured. */
struct kwhy_pair_gauges {
	struct kwhy_pair_ranks *ranks;			       /* whose gauges they are; NULL: ours */
	uint32_t count;					       /* of GPUs */
	struct kwhy_bench_sensors sensors[KWHY_PAIR_GPUS_MAX]; /* ours; the first owns them */
	int64_t due_ns;					       /* when readings are kept again */
};

/* Ours; ranks have opened theirs. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_gauges_open(
	const struct kwhy_pair_testbed *testbed, struct kwhy_pair_gauges *gauges, struct kwhy_error *error);
void kwhy_pair_gauges_close(struct kwhy_pair_gauges *gauges);

/* As kwhy_bench_conditions_fold(), of that GPU. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_gauges_fold(const struct kwhy_pair_gauges *gauges, uint32_t gpu,
	size_t readings, struct kwhy_transfer_conditions *conditions, struct kwhy_error *error);

/* Once a second: temperatures and powers of all GPUs go to `pairs` and to `store`, which may be NULL. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_gauges_keep(struct kwhy_pair_gauges *gauges,
	struct kwhy_pairs *pairs, struct kwhy_pair_store *store, struct kwhy_error *error);

/* The lowest temperature; NAN: no GPU tells its own. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_gauges_coldest(
	const struct kwhy_pair_gauges *gauges, double *out_c, struct kwhy_error *error);
/* The same, with a timeout: gauges are first read some time after they were opened. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_gauges_await_coldest(
	const struct kwhy_pair_gauges *gauges, double *out_c, struct kwhy_error *error);

#endif
