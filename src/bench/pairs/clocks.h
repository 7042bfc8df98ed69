/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_CLOCKS_H
#define KWHY_BENCH_PAIRS_CLOCKS_H

#include "bench/pairs/testbed.h"

/*
 * One moment on a device's clock and on the host's: of several attempts, the one that the host bounds most
 * closely. All zero: not taken.
 */
struct kwhy_pair_mark {
	struct kwhy_gpu_event *event;
	int64_t before_ns, after_ns; /* the host's monotonic clock; the event completed between them */
};
struct kwhy_pair_marks {
	struct kwhy_pair_mark marks[KWHY_PAIR_GPUS_MAX];
};

KWHY_MUST_USE enum kwhy_status kwhy_pair_marks_take(
	struct kwhy_pair_testbed *testbed, struct kwhy_pair_marks *out, struct kwhy_error *error);
void kwhy_pair_marks_free(struct kwhy_pair_testbed *testbed, struct kwhy_pair_marks *marks);

/* The rate of each device's clock against the host's between two marks; `out` has one entry a GPU. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_drifts(struct kwhy_pair_testbed *testbed,
	const struct kwhy_pair_marks *begin, const struct kwhy_pair_marks *end, struct kwhy_pair_drift *out,
	struct kwhy_error *error);

#endif
