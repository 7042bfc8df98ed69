/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_MEASURE_H
#define KWHY_BENCH_TRANSFERS_MEASURE_H

#include "bench/transfers/strategy.h"

/*
 * Numbers of untimed and of timed copies in a back-to-back sample, as in nvbandwidth. All these copies are
 * queued behind a closed gate before the first of them runs.
 */
enum { KWHY_BENCH_WARM_COPIES = 4, KWHY_BENCH_TIMED_COPIES = 16 };

/*
 * Fills `work` with the size, direction and pieces of a point, begins its buffers and prepares its strategy.
 * After KWHY_OK end with kwhy_bench_work_end(). KWHY_E_UNSUPPORTED: this machine cannot run the strategy.
 * KWHY_E_MEMORY: memory is short.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_work_begin(struct kwhy_bench_buffers *buffers,
	const struct kwhy_bench_strategy *strategy, const struct kwhy_transfer_point *point,
	struct kwhy_bench_work *work, struct kwhy_error *error);
void kwhy_bench_work_end(struct kwhy_bench_work *work);

/* Runs one untimed transfer and waits for its end. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_warm_up(struct kwhy_bench_work *work, struct kwhy_error *error);

/*
 * Takes one sample: the seconds of one transfer. For back-to-back copies, it is the mean of the timed copies.
 * For sizes above KWHY_BENCH_FEW_BYTES, only four copies are timed after one untimed copy, since the time to
 * start a copy is negligible there.
 */
#define KWHY_BENCH_FEW_BYTES (UINT64_C(128) << 20)
KWHY_MUST_USE enum kwhy_status kwhy_bench_sample(struct kwhy_bench_work *work, enum kwhy_transfer_clock clock,
	double *out_s, struct kwhy_error *error);

#endif
