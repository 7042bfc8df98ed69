/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_SWEEP_H
#define KWHY_BENCH_PAIRS_SWEEP_H

#include "bench/pairs/plan.h"

/*
 * Measures all pairs of GPUs. Configurations are measured in rounds, a batch of samples of each in a random
 * order that follows from the seed. One reference configuration is measured again after every 20 batches, to
 * detect drift. A configuration gets at least 10 samples. It gets more until the 95 % interval of its median
 * is at most as wide as 2 % of the median, or until it reaches its limit of samples or time, which sets
 * `capped`. With its first samples, the received bytes are compared with those sent. Clock rates, power
 * limits and modes of the GPUs are not changed. If the time is over, the user interrupts, or a device or rank
 * is lost, it returns KWHY_OK with the results so far, and (*out)->ended_early says why. KWHY_E_UNSUPPORTED:
 * there are fewer than two GPUs; the message says what to do. End with kwhy_pairs_free().
 */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_measure(
	const struct kwhy_pair_request *request, struct kwhy_pairs **out, struct kwhy_error *error);
/*
 * In ranks other than 0: does this rank's part of the measurement until rank 0 finishes or ends. Rank 0 keeps
 * and reports the results.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_follow(
	const struct kwhy_pair_request *request, struct kwhy_error *error);

#endif
