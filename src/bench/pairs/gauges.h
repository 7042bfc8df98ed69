/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_GAUGES_H
#define KWHY_BENCH_PAIRS_GAUGES_H

#include "bench/pairs/ranks.h"
#include "bench/pairs/store.h"
#include "bench/transfers/sensors.h"

/* The gauges of all GPUs while pairs are measured: temperature, power and clock rate. */
struct kwhy_pair_gauges {
	struct kwhy_pair_ranks *ranks; /* the processes that read the gauges; NULL: this one reads all */
	uint32_t count;		       /* number of GPUs */
	struct kwhy_bench_sensors sensors[KWHY_PAIR_GPUS_MAX]; /* the first entry owns them */
	int64_t due_ns; /* monotonic time at which readings are next kept */
};

/* Opens the gauges of this process's GPUs. Not for ranks, which open their own. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_gauges_open(
	const struct kwhy_pair_testbed *testbed, struct kwhy_pair_gauges *gauges, struct kwhy_error *error);
void kwhy_pair_gauges_close(struct kwhy_pair_gauges *gauges);

/* As kwhy_bench_conditions_fold(), for GPU number `gpu`. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_gauges_fold(const struct kwhy_pair_gauges *gauges, uint32_t gpu,
	size_t readings, struct kwhy_transfer_conditions *conditions, struct kwhy_error *error);

/*
 * Adds temperature, power and clock rate of every GPU to `pairs` and `store`, at most once a second. `store`
 * may be NULL.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_gauges_keep(struct kwhy_pair_gauges *gauges,
	struct kwhy_pairs *pairs, struct kwhy_pair_store *store, struct kwhy_error *error);

/* The lowest temperature of all GPUs, in degrees Celsius; NAN: no GPU reports one. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_gauges_coldest(
	const struct kwhy_pair_gauges *gauges, double *out_c, struct kwhy_error *error);
/*
 * As kwhy_pair_gauges_coldest(), but waits up to a second for the first reading, which comes some time after
 * the gauges were opened.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_gauges_await_coldest(
	const struct kwhy_pair_gauges *gauges, double *out_c, struct kwhy_error *error);

#endif
