/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_FINDINGS_H
#define KWHY_BENCH_TRANSFERS_FINDINGS_H

#include "model/transfers.h"

/*
 * Two methods to compare, and the question that the comparison answers. The table ends with a row whose
 * question is NULL.
 */
struct kwhy_bench_baselines {
	const char *question, *better, *than;
	enum kwhy_transfer_clock clock;
};
extern const struct kwhy_bench_baselines kwhy_bench_baselines[];

/*
 * Evaluates the measured points and energies and stores the results in `transfers`: curves, the fastest
 * method for each size, the size from which one method beats another, and the number of transfers from
 * which page-locking saves time. One method beats another if the 95 % intervals of their medians do not
 * overlap. Sorts the points in the order of the tables of strategies. Pure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_transfers_conclude(
	struct kwhy_transfers *transfers, struct kwhy_error *error);

#endif
