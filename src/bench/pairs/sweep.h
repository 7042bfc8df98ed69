/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_SWEEP_H
#define KWHY_BENCH_PAIRS_SWEEP_H

#include "bench/pairs/plan.h"

/*
 * Measures all pairs. Configurations are visited in rounds, each round in a new order of the seed; between
 * them a reference is measured again and again, which shows drift. Each gets 10 samples at least, more until
 * the 95 % interval of its median is 2 % wide, or to a cap of number or time, which it then says. The first
 * visit looks whether the bytes came. Clocks, limits and modes stay as they are.
 *
 * KWHY_OK also where something ended it early: out->ended_early says what. KWHY_E_UNSUPPORTED with the cure
 * where there are not two GPUs. End with kwhy_pairs_free().
 */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_measure(
	const struct kwhy_pair_request *request, struct kwhy_pairs **out, struct kwhy_error *error);
/* Of ranks but the first: does its part until rank 0 is done or ends; keeps and tells nothing. */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_follow(
	const struct kwhy_pair_request *request, struct kwhy_error *error);

#endif
