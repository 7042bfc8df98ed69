/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_WARM_H
#define KWHY_BENCH_PAIRS_WARM_H

#include "bench/pairs/plan.h"
#include "bench/pairs/testbed.h"

/*
 * Copies the largest size between all GPUs for the given seconds, so that they are warm. KWHY_E_UNSUPPORTED:
 * ranks that do not reach each other.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_warm(const struct kwhy_pair_request *request,
	struct kwhy_pair_testbed *testbed, double seconds, struct kwhy_error *error);

#endif
