/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_SWEEP_H
#define KWHY_BENCH_TRANSFERS_SWEEP_H

#include "bench/transfers/plan.h"

/*
 * Measures transfers. Points are visited in rounds, each in a new order that the seed gives, so that drift
 * affects all points alike. A visit takes a few samples; the first one also compares the received bytes with
 * those sent. A point is finished when the interval of its median is at most 2 % wide and it has had 80
 * visits or 30 ms, or when it reaches its cap of samples or time, which its result says. The device's clock
 * rates and limits are not changed.
 * KWHY_OK is returned also if something ended the measurement early; then out->ended_early says what.
 * KWHY_E_UNSUPPORTED: the received bytes differ from those sent, or, with the remedy in the message, there is
 * no GPU. End with kwhy_transfers_free().
 */
KWHY_MUST_USE enum kwhy_status kwhy_transfers_measure(
	const struct kwhy_bench_request *request, struct kwhy_transfers **out, struct kwhy_error *error);

/* When a point is finished: width of the interval over the median, and least number of samples. */
#define KWHY_BENCH_WIDTH_RATIO 0.02
enum { KWHY_BENCH_SAMPLES_MIN = 6 };

#endif
