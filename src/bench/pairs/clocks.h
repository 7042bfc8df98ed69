/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_CLOCKS_H
#define KWHY_BENCH_PAIRS_CLOCKS_H

#include "bench/pairs/testbed.h"

/*
 * A mark: one moment on the clock of a device and on that of the host. `event` was recorded on the device,
 * and before_ns and after_ns are the host's times around it. Of several attempts, the one with the shortest
 * time from before_ns to after_ns is kept. event NULL: no mark was taken, as for the GPU of another process.
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
 * Computes the drift of each device's clock against the host's, in ppm (positive: the device's clock runs
 * faster), from the marks at the start and at the end of a measurement. out[i] is the drift of GPU `i`; it is
 * left unchanged for a GPU of another process.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_drifts(struct kwhy_pair_testbed *testbed,
	const struct kwhy_pair_marks *begin, const struct kwhy_pair_marks *end, struct kwhy_pair_drift *out,
	struct kwhy_error *error);

#endif
