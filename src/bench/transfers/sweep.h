/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_SWEEP_H
#define KWHY_BENCH_TRANSFERS_SWEEP_H

#include "bench/transfers/plan.h"

/*
 * Measures transfers. Points (strategy, direction, clock and size) are visited in rounds, in each round in a
 * random order that follows from the seed, so that drift affects all points alike. Each visit takes a few
 * samples. The first visit also compares the received bytes with those sent. A point is finished when two
 * conditions hold: the width of the 95 % interval of its median is at most 2 % of the median, and its visits
 * were 80 or took 30 ms in all. It is also finished, with `capped` set, when it reaches its limit of samples
 * or time with a wider interval. The device's clock rates and limits are not changed. If the time is over,
 * the user interrupts or the device is lost, it returns KWHY_OK with the results so far, and
 * (*out)->ended_early says why. KWHY_E_UNSUPPORTED: the received bytes differ from those sent, or there is no
 * GPU. End with kwhy_transfers_free().
 */
KWHY_MUST_USE enum kwhy_status kwhy_transfers_measure(
	const struct kwhy_bench_request *request, struct kwhy_transfers **out, struct kwhy_error *error);

/*
 * KWHY_BENCH_WIDTH_RATIO: largest ratio of the width of a finished point's interval to the point's median.
 * KWHY_BENCH_SAMPLES_MIN: least number of samples of a finished point.
 */
#define KWHY_BENCH_WIDTH_RATIO 0.02
enum { KWHY_BENCH_SAMPLES_MIN = 6 };

#endif
