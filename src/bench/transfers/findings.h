/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_FINDINGS_H
#define KWHY_BENCH_TRANSFERS_FINDINGS_H

#include "model/transfers.h"

/* Ways that are compared, and the question that this answers; ended by one without. */
struct kwhy_bench_baselines {
	const char *question, *better, *than;
	enum kwhy_transfer_clock clock;
};
extern const struct kwhy_bench_baselines kwhy_bench_baselines[];

/*
 * What follows from measured points and energies, put beside them: curves, the fastest method for each size,
 * the size from which one method beats another, and when page-locking pays. One way beats another where the
 * 95 % intervals of their medians do not meet. Puts the points in the order of the strategies' table. Pure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_transfers_conclude(
	struct kwhy_transfers *transfers, struct kwhy_error *error);

#endif
