/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_GAUGES_H
#define KWHY_BENCH_PAIRS_GAUGES_H

#include "bench/pairs/ranks.h"
#include "bench/pairs/store.h"
#include "bench/transfers/sensors.h"

/* The gauges (temperature, power and clock rate) of all GPUs, which are read while pairs are measured. */
struct kwhy_pair_gauges {
	/* the ranks, each of which reads the gauges of its own GPU; NULL: this process reads all gauges */
	struct kwhy_pair_ranks *ranks;
	uint32_t count; /* number of GPUs */
	/*
	 * gauges of each GPU; all share the sensors and the sampler, which
	 * kwhy_bench_sensors_close(&sensors[0]) frees
	 */
	struct kwhy_bench_sensors sensors[KWHY_PAIR_GPUS_MAX];
	int64_t due_ns; /* next time on CLOCK_MONOTONIC at which kwhy_pair_gauges_keep() reads the gauges */
};

/*
 * Opens the gauges of all GPUs in a run of one process. In a run with ranks it must not be called, because
 * each rank opens those of its own GPU.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_gauges_open(
	const struct kwhy_pair_testbed *testbed, struct kwhy_pair_gauges *gauges, struct kwhy_error *error);
void kwhy_pair_gauges_close(struct kwhy_pair_gauges *gauges);

/* Does the same as kwhy_bench_conditions_fold() for GPU number `gpu`. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_gauges_fold(const struct kwhy_pair_gauges *gauges, uint32_t gpu,
	size_t readings, struct kwhy_transfer_conditions *conditions, struct kwhy_error *error);

/*
 * Appends the temperature, power and clock rate of every GPU to `pairs` and `store`, at most once a second.
 * `store` may be NULL.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_gauges_keep(struct kwhy_pair_gauges *gauges,
	struct kwhy_pairs *pairs, struct kwhy_pair_store *store, struct kwhy_error *error);

/*
 * Gets the last known temperature of the coldest GPU, in degrees Celsius; NAN: no GPU reports its
 * temperature.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_gauges_coldest(
	const struct kwhy_pair_gauges *gauges, double *out_c, struct kwhy_error *error);
/*
 * Does the same as kwhy_pair_gauges_coldest(), but waits up to a second for the first reading, which comes
 * some time after the gauges were opened.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_gauges_await_coldest(
	const struct kwhy_pair_gauges *gauges, double *out_c, struct kwhy_error *error);

#endif
