/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_CLOCKS_H
#define KWHY_BENCH_PAIRS_CLOCKS_H

#include "bench/pairs/testbed.h"

/* One moment on each device's clock and on the host's; the closest of several. Zero: none. */
struct kwhy_pair_mark {
	struct kwhy_gpu_event *event;
	int64_t before_ns, after_ns; /* monotonic; the event was reached between them */
};
struct kwhy_pair_marks {
	struct kwhy_pair_mark marks[KWHY_PAIR_GPUS_MAX];
};

KWHY_MUST_USE enum kwhy_status kwhy_pair_marks_take(
	struct kwhy_pair_testbed *testbed, struct kwhy_pair_marks *out, struct kwhy_error *error);
void kwhy_pair_marks_free(struct kwhy_pair_testbed *testbed, struct kwhy_pair_marks *marks);

/* How each device's clock ran between two moments. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_drifts(struct kwhy_pair_testbed *testbed,
	const struct kwhy_pair_marks *begin, const struct kwhy_pair_marks *end, struct kwhy_pair_drift *out,
	struct kwhy_error *error);

#endif
