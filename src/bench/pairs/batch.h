/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_BATCH_H
#define KWHY_BENCH_PAIRS_BATCH_H

#include "bench/pairs/testbed.h"

enum { KWHY_PAIR_BATCH_SAMPLES = 5 };

/* A few samples of one configuration, taken directly one after another. */
struct kwhy_pair_batch {
	struct kwhy_pair_config config; /* the configuration that is measured; config.samples is not used */
	bool verifies;			/* request: compare the received bytes with the sent ones */
	uint32_t most; /* request: largest number of samples, at most KWHY_PAIR_BATCH_SAMPLES; fewer are taken
			  if one takes long */
	uint32_t count; /* result: samples taken, also after a failure */
	bool verified;
	struct kwhy_pair_sample samples[KWHY_PAIR_BATCH_SAMPLES];
};

/*
 * Takes the samples. In a single process, the function drives both GPUs. With ranks, it must be called in the
 * rank that leads the configuration (kwhy_pair_ranks_leader()). KWHY_E_UNSUPPORTED: the engine cannot work
 * between the two GPUs. KWHY_E_INPUT: the received bytes differ from those sent.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_batch(
	struct kwhy_pair_testbed *testbed, struct kwhy_pair_batch *batch, struct kwhy_error *error);

#endif
