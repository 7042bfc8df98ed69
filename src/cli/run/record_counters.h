/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RUN_RECORD_COUNTERS_H
#define KWHY_CLI_RUN_RECORD_COUNTERS_H

#include "launch/signals.h"
#include "record/counters.h"
#include "record/meters.h"

/* Samples of performance counters, and what the user was told about them. */
struct kwhy_record_counting {
	struct kwhy_record_counters *counters; /* NULL: they are not sampled, and the functions do nothing */
	char told[1000]; /* the last message about missing samples; "": there was none */
};

/*
 * Waits until counters are sampled or cannot be, but at most for a limited time, and tells and notes why they
 * cannot. False: the user requested an end.
 */
KWHY_MUST_USE bool kwhy_record_counting_await(struct kwhy_record_counting *counting,
	struct kwhy_signals *signals, struct kwhy_record_meters *meters);

/* Ends the sampling, and tells and notes if samples are missing. */
void kwhy_record_counting_end(struct kwhy_record_counting *counting, struct kwhy_record_meters *meters);

#endif
