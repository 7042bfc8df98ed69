/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_BATCH_H
#define KWHY_BENCH_PAIRS_BATCH_H

#include "bench/pairs/testbed.h"

enum { KWHY_PAIR_BATCH_SAMPLES = 5 };

/* A few samples of one configuration. */
struct kwhy_pair_batch {
	struct kwhy_pair_config config; /* its key alone */
	bool verifies;			/* looks whether the bytes came */
	uint32_t most;			/* samples wanted, at most KWHY_PAIR_BATCH_SAMPLES */
	uint32_t count;			/* that there are, also where it failed */
	bool verified;
	struct kwhy_pair_sample samples[KWHY_PAIR_BATCH_SAMPLES];
};

/*
 * On GPUs of this process, or led by it. KWHY_E_UNSUPPORTED: the engine cannot work between these;
 * KWHY_E_INPUT: the received bytes differ from those sent.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_batch(
	struct kwhy_pair_testbed *testbed, struct kwhy_pair_batch *batch, struct kwhy_error *error);

#endif
