/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_SWEEP_H
#define KWHY_BENCH_PAIRS_SWEEP_H

#include "bench/pairs/plan.h"

/*
 * Measures all pairs. Configurations are visited in rounds, each in a new order that the seed gives. Between
 * them a reference configuration is measured repeatedly, which shows drift. A configuration gets at least 10
 * samples, and more until the 95 % interval of its median is at most 2 % wide or it reaches its cap of
 * samples or time, which sets `capped`. The first visit compares the received bytes with those sent. Clock
 * rates, power limits and modes of the GPUs are not changed.
 * KWHY_OK is returned also if something ended the measurement early; then out->ended_early says what.
 * KWHY_E_UNSUPPORTED, with the remedy in the message: there are fewer than two GPUs. End with
 * kwhy_pairs_free().
 */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_measure(
	const struct kwhy_pair_request *request, struct kwhy_pairs **out, struct kwhy_error *error);
/*
 * For ranks other than 0: serves the measurement until rank 0 is done or ends. Keeps and reports no results.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_follow(
	const struct kwhy_pair_request *request, struct kwhy_error *error);

#endif
