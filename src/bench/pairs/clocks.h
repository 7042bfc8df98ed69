/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_CLOCKS_H
#define KWHY_BENCH_PAIRS_CLOCKS_H

#include "bench/pairs/testbed.h"

/*
 * The same moment on the clock of a device and on that of the host: an event on the device, and the host's
 * times before and after it. Of several attempts, the one with the shortest time from before_ns to after_ns
 * is kept. All zero: no moment was taken.
 */
struct kwhy_pair_mark {
	struct kwhy_gpu_event *event;
	int64_t before_ns,
		after_ns; /* CLOCK_MONOTONIC; the device reached the event between these two times */
};
struct kwhy_pair_marks {
	struct kwhy_pair_mark marks[KWHY_PAIR_GPUS_MAX];
};

KWHY_MUST_USE enum kwhy_status kwhy_pair_marks_take(
	struct kwhy_pair_testbed *testbed, struct kwhy_pair_marks *out, struct kwhy_error *error);
void kwhy_pair_marks_free(struct kwhy_pair_testbed *testbed, struct kwhy_pair_marks *marks);

/*
 * Computes how fast each device's clock runs relative to the host's, from the marks at the start and at the
 * end. `out` has one entry for each GPU.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_drifts(struct kwhy_pair_testbed *testbed,
	const struct kwhy_pair_marks *begin, const struct kwhy_pair_marks *end, struct kwhy_pair_drift *out,
	struct kwhy_error *error);

#endif
