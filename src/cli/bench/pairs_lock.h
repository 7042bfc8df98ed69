/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_BENCH_PAIRS_LOCK_H
#define KWHY_CLI_BENCH_PAIRS_LOCK_H

#include "model/pairs.h"
#include "tune/guard.h"

/*
 * The locked clocks of the GPUs while pairs are measured. They are unlocked in every case, also if the
 * program crashes. Only one thread may use this struct.
 */
struct kwhy_pairs_lock {
	struct lock {
		struct kwhy_tune_guard guard;
		struct kwhy_tune_setting setting;
		bool is_open;
	} locks[KWHY_PAIR_GPUS_MAX];
	size_t count;
};

/*
 * Locks the graphics clock of each NVIDIA GPU that CUDA_VISIBLE_DEVICES shows to `mhz`. Call it before this
 * process has a second thread, because it forks, and before it has a context on a GPU, because a GPU on which
 * any process has a context is refused. End with kwhy_pairs_lock_end(), also after a failure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_lock_begin(
	struct kwhy_pairs_lock *lock, unsigned mhz, struct kwhy_error *error);

/*
 * Unlocks the clocks. `status` is the result of the measurement, which is returned if unlocking succeeds. If
 * unlocking fails, its error is returned, after the error of the measurement, if there is one, was printed.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_lock_end(
	struct kwhy_pairs_lock *lock, enum kwhy_status status, struct kwhy_error *error);

#endif
