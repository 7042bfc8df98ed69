/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_WARM_H
#define KWHY_BENCH_PAIRS_WARM_H

#include "bench/pairs/plan.h"
#include "bench/pairs/testbed.h"

/*
 * Warms all GPUs for at least `seconds` by copies of request->most_bytes from each GPU to the next.
 * KWHY_E_UNSUPPORTED: a GPU cannot access the memory of the next.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_warm(const struct kwhy_pair_request *request,
	struct kwhy_pair_testbed *testbed, double seconds, struct kwhy_error *error);

#endif
