/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_FINDINGS_H
#define KWHY_BENCH_TRANSFERS_FINDINGS_H

#include "model/transfers.h"

/*
 * A question in the report and the two strategies whose times answer it: whether and from which size `better`
 * is faster than `than`. The table ends with a row whose question is NULL.
 */
struct kwhy_bench_baselines {
	const char *question, *better, *than;
	enum kwhy_transfer_clock clock;
};
extern const struct kwhy_bench_baselines kwhy_bench_baselines[];

/*
 * Evaluates the measured points and energies and stores the results in `transfers`: curves, the limits of the
 * transfer engine, the fastest strategy for each size, the ranges of sizes in which one strategy beats
 * another, the use of compression, and the number of transfers from which page-locking saves time. One
 * strategy beats another if the 95 % intervals of their medians do not overlap. Sorts transfers->points in
 * the order of the tables of strategies. Pure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_transfers_conclude(
	struct kwhy_transfers *transfers, struct kwhy_error *error);

#endif
