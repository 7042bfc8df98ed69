/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_SWEEP_H
#define KWHY_BENCH_TRANSFERS_SWEEP_H

#include "bench/transfers/plan.h"

/*
 * Measures transfers. Points are visited in rounds, each round in a new order that the seed gives, so that
 * what drifts meanwhile meets all of them; a visit takes a few samples, the first one also looks whether the
 * bytes came. A point is left when the interval of its median is at most 2 % wide, or at its cap of samples
 * or time, which it then says. The device changes neither clocks nor limits.
 *
 * KWHY_OK also where something ended it early: out->ended_early says what. Bytes that came wrong are
 * KWHY_E_UNSUPPORTED. KWHY_E_UNSUPPORTED without a GPU, with the cure. End with kwhy_transfers_free().
 */
KWHY_MUST_USE enum kwhy_status kwhy_transfers_measure(
	const struct kwhy_bench_request *request, struct kwhy_transfers **out, struct kwhy_error *error);

/* When a point is left. */
#define KWHY_BENCH_WIDTH_RATIO 0.02
enum { KWHY_BENCH_SAMPLES_MIN = 6 };

#endif
