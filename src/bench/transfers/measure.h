/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_MEASURE_H
#define KWHY_BENCH_TRANSFERS_MEASURE_H

#include "bench/transfers/strategy.h"

/* As nvbandwidth does it: warm-up copies, then those that are timed, all in the queue before the first runs.
 */
enum { KWHY_BENCH_WARM_COPIES = 4, KWHY_BENCH_TIMED_COPIES = 16 };

/* Fills `work` and prepares its strategy. After KWHY_OK end with kwhy_bench_work_end(). */
KWHY_MUST_USE enum kwhy_status kwhy_bench_work_begin(struct kwhy_bench_buffers *buffers,
	const struct kwhy_bench_strategy *strategy, const struct kwhy_transfer_point *point,
	struct kwhy_bench_work *work, struct kwhy_error *error);
void kwhy_bench_work_end(struct kwhy_bench_work *work);

/* One transfer that is not timed, done when it returns. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_warm_up(struct kwhy_bench_work *work, struct kwhy_error *error);

/*
 * One sample: seconds of a transfer. Back to back: the mean of those that are timed. Above
 * KWHY_BENCH_FEW_BYTES a burst is four copies after one, since nothing of a start is left in it.
 */
#define KWHY_BENCH_FEW_BYTES (UINT64_C(128) << 20)
KWHY_MUST_USE enum kwhy_status kwhy_bench_sample(struct kwhy_bench_work *work, enum kwhy_transfer_clock clock,
	double *out_s, struct kwhy_error *error);

#endif
